import { assert, assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "../lib/command.ts";
import { loadConfig, tightened } from "../lib/config.ts";
import type { Platform } from "../lib/platform.ts";
import { MAX_DRAIN_S, MIN_ANSWER_CHARS, SETTINGS } from "../lib/settings.ts";
import { MAX_PROJECT_FILE_CHARS } from "../lib/settings_file.ts";
import { ANSWER_CHARS, MAX_ANSWER_CHARS } from "../lib/tool.ts";

function platform(env: Record<string, string> = {}): Platform {
  return {
    os: "linux",
    env: (name) => env[name] || undefined,
    home: "/home/me",
    temp: "/tmp",
    cwd: "/work",
    execPath: undefined,
    uid: 1000,
  };
}

const USER_FILE = "/home/me/.config/rousseau/config.yaml";

function files(contents: Record<string, string> = {}) {
  return (path: string) =>
    Object.hasOwn(contents, path)
      ? Promise.resolve(contents[path]!)
      : Promise.reject(new Deno.errors.NotFound(`No such file: ${path}`));
}

function load(
  { flags = {}, env = {}, yaml, more = {} }: {
    flags?: Record<string, unknown>;
    env?: Record<string, string>;
    yaml?: string;
    more?: Record<string, string>;
  } = {},
) {
  const contents = yaml === undefined ? more : { ...more, [USER_FILE]: yaml };
  return loadConfig({
    flags,
    platform: platform(env),
    readTextFile: files(contents),
  });
}

async function refusal(options: Parameters<typeof load>[0]): Promise<string> {
  return (await assertRejects(() => load(options), UsageError)).message;
}

Deno.test("without any source the settings are the defaults", async () => {
  const { config, file, warnings } = await load();
  assertEquals([file, warnings], [undefined, []]);
  assertEquals(config, {
    mode: "workspace",
    roots: [],
    read: [],
    env: [],
    scope: { denyRead: [], denyWrite: [] },
    limits: { answerChars: ANSWER_CHARS },
    expose: ["all"],
    exclude: [],
    bash: { timeout: undefined, envPassthrough: [], loginPath: true },
    sandbox: { mode: "auto", allowNet: false, writable: [] },
    state: { path: undefined },
    record: "full",
    sessions: { visible: "project" },
    log: { level: "warn", format: "text" },
    serve: {},
    drain: 10,
  });
  assert(Object.isFrozen(config));
});

Deno.test("a flag outranks the environment, that the file, that the default", async () => {
  const yaml = "log:\n  level: error\n";
  const env = { ROUSSEAU_LOG_LEVEL: "info" };
  const level = async (options: Parameters<typeof load>[0]) =>
    (await load(options)).config.log.level;
  assertEquals(await level({}), "warn");
  assertEquals(await level({ yaml }), "error");
  assertEquals(await level({ yaml, env }), "info");
  assertEquals(
    await level({ yaml, env, flags: { log_level: "debug" } }),
    "debug",
  );
});

Deno.test("every setting can be given in the file and in its variable", async () => {
  const yaml = `
mode: open
roots: [~/a, /b]
read: /c
env: [A, B]
scope: {deny_read: ["!~/.ssh", "x,y"], deny_write: z}
limits: {answer_chars: 5000}
expose: files,shell
exclude: [bash]
bash: {timeout: 2.5, env_passthrough: [CI_*], login_path: false}
state: {path: ~/s.db}
record: off
sandbox: require
allow_net: true
sandbox_writable: [~/cache]
sessions: {visible: none, keep_days: 7, max_size: 1.5 GiB}
log: {level: warning, format: json}
serve: {port: 0, host: "::1"}
drain: 0
`;
  const expected = {
    mode: "open",
    roots: ["/home/me/a", "/b"],
    read: ["/c"],
    env: ["A", "B"],
    scope: { denyRead: ["!~/.ssh", "x,y"], denyWrite: ["z"] },
    limits: { answerChars: 5000 },
    expose: ["files", "shell"],
    exclude: ["bash"],
    bash: { timeout: 2.5, envPassthrough: ["CI_*"], loginPath: false },
    sandbox: { mode: "require", allowNet: true, writable: ["/home/me/cache"] },
    state: { path: "/home/me/s.db" },
    record: "off",
    sessions: { visible: "none", keepDays: 7, maxBytes: 1_610_612_736 },
    log: { level: "warn", format: "json" },
    serve: { port: 0, host: "::1" },
    drain: 0,
  };
  const fromFile = await load({ yaml });
  assertEquals(fromFile.config as unknown, expected);
  assertEquals(fromFile.file, USER_FILE);
  const env = {
    ROUSSEAU_MODE: "open",
    ROUSSEAU_READ: "/c",
    ROUSSEAU_ENV: "A, B",
    ROUSSEAU_SCOPE_DENY_READ: "!~/.ssh:x,y",
    ROUSSEAU_SCOPE_DENY_WRITE: "z",
    ROUSSEAU_LIMITS_ANSWER_CHARS: "5000",
    ROUSSEAU_EXPOSE: "files,shell",
    ROUSSEAU_EXCLUDE: "bash",
    ROUSSEAU_BASH_TIMEOUT: "2.5",
    ROUSSEAU_BASH_ENV_PASSTHROUGH: "CI_*",
    ROUSSEAU_BASH_LOGIN_PATH: "0",
    ROUSSEAU_STATE_PATH: "~/s.db",
    ROUSSEAU_RECORD: "off",
    ROUSSEAU_SANDBOX: "require",
    ROUSSEAU_ALLOW_NET: "1",
    ROUSSEAU_SANDBOX_WRITABLE: "~/cache",
    ROUSSEAU_SESSIONS_VISIBLE: "none",
    ROUSSEAU_SESSIONS_KEEP_DAYS: "7",
    ROUSSEAU_SESSIONS_MAX_SIZE: "1.5GiB",
    ROUSSEAU_LOG_LEVEL: "warning",
    ROUSSEAU_LOG_FORMAT: "json",
    ROUSSEAU_SERVE_PORT: "0",
    ROUSSEAU_SERVE_HOST: "::1",
    ROUSSEAU_DRAIN: "0",
  };
  assertEquals((await load({ env })).config as unknown, {
    ...expected,
    roots: [],
  });
  assertEquals(
    SETTINGS.map((setting) => setting.env).toSorted(),
    [...Object.keys(env), "ROUSSEAU_ROOT"].toSorted(),
  );
});

Deno.test("flags are read as the command line gives them", async () => {
  const { config } = await load({
    flags: {
      root: ["~/x", "/y,z"],
      tools: ["files,bash", "sessions"],
      no_record: true,
      drain: 3,
    },
  });
  assertEquals(config.roots, ["/home/me/x", "/y,z"]);
  assertEquals(config.expose, ["files", "bash", "sessions"]);
  assertEquals([config.record, config.drain], ["off", 3]);
});

Deno.test("ROUSSEAU_ROOT outranks the roots of the file and is left to the search for roots", async () => {
  const yaml = "roots: /from-file";
  const env = { ROUSSEAU_ROOT: "/from-env" };
  assertEquals((await load({ yaml, env })).config.roots, []);
  assertEquals(
    (await load({ yaml, env, flags: { root: ["/x"] } })).config.roots,
    ["/x"],
  );
});

Deno.test("unknown variables are ignored, unknown keys name the nearest and the file", async () => {
  await load({ env: { ROUSSEAU_WHATEVER: "x" } });
  const cases: [string, string][] = [
    ["log: {levl: debug}", `unknown key "log.levl"; did you mean "log.level"?`],
    ["mod: open", `unknown key "mod"; did you mean "mode"?`],
    ["zzz: 1", `unknown key "zzz"`],
    ["bash: {xyz: 1}", `unknown key "bash.xyz"`],
    ["level: debug", `unknown key "level"; did you mean "log.level"?`],
  ];
  for (const [yaml, message] of cases) {
    assertEquals(await refusal({ yaml }), `${USER_FILE}: ${message}`);
  }
});

Deno.test("a wrong value is told with where it stands and what it should be", async () => {
  const cases: [Parameters<typeof load>[0], string][] = [
    [
      { yaml: "log: {level: loud}" },
      `${USER_FILE}: log.level: must be one of debug, info, warn, error, got "loud"`,
    ],
    [
      { yaml: "mode: 5" },
      `${USER_FILE}: mode: must be one of workspace, open, read-only, full, got 5`,
    ],
    [
      { yaml: "roots: {a: 1}" },
      `${USER_FILE}: roots: must be a list of strings, got {"a":1}`,
    ],
    [
      { yaml: "roots: [1]" },
      `${USER_FILE}: roots: must be a list of strings, got [1]`,
    ],
    [{ yaml: "bash: 5" }, `${USER_FILE}: bash: must hold keys and values`],
    [
      { yaml: "bash: {login_path: 'yes'}" },
      `${USER_FILE}: bash.login_path: must be true or false, got "yes"`,
    ],
    [
      { yaml: "sessions: {max_size: 5 parsecs}" },
      `${USER_FILE}: sessions.max_size: must be a size of at least 1MB, such as 500MB or 1GiB, got "5 parsecs"`,
    ],
    [
      { yaml: "sessions: {max_size: 999999}" },
      `${USER_FILE}: sessions.max_size: must be a size of at least 1MB, such as 500MB or 1GiB, got 999999`,
    ],
    [{ yaml: "- a" }, `${USER_FILE}: must hold keys and values`],
    [
      { env: { ROUSSEAU_MODE: "opne" } },
      'ROUSSEAU_MODE: must be one of workspace, open, read-only, full, got "opne"; did you mean "open"?',
    ],
    [
      { env: { ROUSSEAU_DRAIN: "soon" } },
      `ROUSSEAU_DRAIN: must be a number from 0 to ${MAX_DRAIN_S}, got "soon"`,
    ],
    [
      { flags: { log_level: "loud" } },
      '--log-level: must be one of debug, info, warn, error, got "loud"',
    ],
    [
      { flags: { drain: -1 } },
      `--drain: must be a number from 0 to ${MAX_DRAIN_S}, got -1`,
    ],
  ];
  for (const [options, message] of cases) {
    assertEquals(await refusal(options), message);
  }
  assert((await refusal({ yaml: "a: [" })).startsWith(`${USER_FILE}: `));
});

Deno.test("numbers are taken up to their bounds and refused beyond", async () => {
  const chars = (value: unknown) => ({
    yaml: `limits: {answer_chars: ${value}}`,
  });
  for (const value of [MIN_ANSWER_CHARS, MAX_ANSWER_CHARS]) {
    assertEquals((await load(chars(value))).config.limits.answerChars, value);
  }
  for (const value of [MIN_ANSWER_CHARS - 1, MAX_ANSWER_CHARS + 1, 1500.5]) {
    assert(
      (await refusal(chars(value))).includes(
        "must be a whole number from 1000 to 262144",
      ),
    );
  }
});

Deno.test("a named file must be there, a default one need not", async () => {
  const more = { "/work/c.yaml": "mode: open" };
  assertEquals(
    (await load({ flags: { config: "c.yaml" }, more })).config.mode,
    "open",
  );
  assertEquals(
    (await load({ env: { ROUSSEAU_CONFIG: "/work/c.yaml" }, more })).file,
    "/work/c.yaml",
  );
  assert(
    (await refusal({ flags: { config: "gone.yaml" } })).includes(
      "/work/gone.yaml",
    ),
  );
  assertEquals((await load({ yaml: "" })).config.mode, "workspace");
  const xdg = await load({
    env: { XDG_CONFIG_HOME: "/x" },
    more: { "/x/rousseau/config.yaml": "mode: full" },
  });
  assertEquals(xdg.config.mode, "full");
});

Deno.test("a default file that Deno's permissions hide is passed over with a warning, one that the system hides is an error", async () => {
  const failing = (error: Error) =>
    loadConfig({
      flags: {},
      platform: platform(),
      readTextFile: () => Promise.reject(error),
    });
  const { warnings } = await failing(
    new Deno.errors.NotCapable("no read access"),
  );
  assertEquals(warnings, [
    `${USER_FILE}: may not be read by this process; passed over`,
  ]);
  await assertRejects(
    () => failing(new Deno.errors.PermissionDenied("denied")),
    UsageError,
    USER_FILE,
  );
});

async function project(
  yaml: string | undefined,
  flags: Record<string, unknown> = {},
) {
  const { config } = await load({ flags });
  const result = await tightened(config, "/repo", {
    platform: platform(),
    readTextFile: files(
      yaml === undefined ? {} : { "/repo/.rousseau.yaml": yaml },
    ),
  });
  return { before: config, ...result };
}

Deno.test("a project's file may tighten", async () => {
  const { config, file, warnings } = await project(
    "mode: read-only\nscope: {deny_read: [secrets], deny_write: [dist]}\nexpose: [files]\nexclude: [bash]",
    { mode: "open" },
  );
  assertEquals([file, warnings], ["/repo/.rousseau.yaml", []]);
  assertEquals(config.mode, "read-only");
  assertEquals(config.scope, { denyRead: ["secrets"], denyWrite: ["dist"] });
  assertEquals([config.expose, config.projectExpose, config.exclude], [
    ["all"],
    ["files"],
    ["bash"],
  ]);
});

Deno.test("a project's file cannot widen anything", async () => {
  const { before, config, warnings } = await project(
    "mode: full\nroots: [/]\nread: [/]\nscope: {deny_read: ['!~/.ssh']}\nstate: {path: x}\nenv: [SECRET]",
  );
  assertEquals({ ...config, scope: before.scope }, { ...before });
  assertEquals(config.scope.denyRead, []);
  assertEquals(warnings.length, 6);
});

Deno.test("without a project's file the settings are the same value; with a broken one there are none", async () => {
  const { before, config } = await project(undefined);
  assert(before === config);
  await assertRejects(
    () => project("mod: read-only"),
    UsageError,
    'unknown key "mod"',
  );
  await assertRejects(
    () => project(`# ${"x".repeat(MAX_PROJECT_FILE_CHARS)}`),
    UsageError,
    "over the limit",
  );
  await project(`# ${"x".repeat(MAX_PROJECT_FILE_CHARS - 2)}`);
});

Deno.test("a project's file that is a pipe or a link is refused, not waited for", async () => {
  const root = await Deno.makeTempDir();
  try {
    await Deno.symlink("/dev/zero", `${root}/.rousseau.yaml`);
    const { config } = await load();
    await assertRejects(
      () => tightened(config, root, { platform: platform() }),
      UsageError,
      "is not a plain file",
    );
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
