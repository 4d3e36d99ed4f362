/** The administrator's policy bounds flags, variables and files; where it cannot be trusted, nothing starts. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type CommandContext, UsageError } from "../lib/command.ts";
import { examine } from "../lib/doctor.ts";
import { introduce } from "../lib/instructions.ts";
import { wholeOffer } from "../lib/selection.ts";
import { type Config, loadConfig, type Loaded } from "../lib/config.ts";
import { MACHINE_KEYS, MAX_POLICY_BYTES } from "../lib/machine_policy.ts";
import type { Platform } from "../lib/platform.ts";
import { createScope } from "../lib/scope.ts";
import { SETTINGS } from "../lib/settings.ts";
import { startWorld, type World } from "../lib/world.ts";

/** A machine whose policy lies in a folder of the test's. */
class Machine implements AsyncDisposable {
  private constructor(readonly base: string) {}

  static async make(policy?: string): Promise<Machine> {
    const base = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "rousseau-test-" }),
    );
    for (const folder of ["etc", "work/in", "work/out", "home"]) {
      await Deno.mkdir(`${base}/${folder}`, { recursive: true });
    }
    const machine = new Machine(base);
    if (policy !== undefined) {
      await Deno.writeTextFile(machine.file, policy, { mode: 0o644 });
    }
    return machine;
  }

  get file(): string {
    return `${this.base}/etc/policy.yaml`;
  }

  platform(variables: Record<string, string> = {}): Platform {
    return {
      os: "linux",
      env: (name) => variables[name],
      home: `${this.base}/home`,
      temp: variables.TMPDIR ?? "/tmp",
      cwd: "/",
      execPath: undefined,
      uid: Deno.uid() ?? 0,
      machinePolicy: { path: this.file, owner: Deno.uid() ?? 0 },
    };
  }

  async load(
    flags: Record<string, unknown> = {},
    variables: Record<string, string> = {},
  ): Promise<Loaded> {
    return await loadConfig({ flags, platform: this.platform(variables) });
  }

  async world(
    flags: Record<string, unknown> = {},
    variables: Record<string, string> = {},
    log: string[] = [],
  ): Promise<World> {
    return await startWorld({
      flags,
      platform: this.platform(variables),
      writeLog: (bytes) => {
        log.push(new TextDecoder().decode(bytes));
        return Promise.resolve();
      },
    });
  }

  async refusal(): Promise<string> {
    return (await assertRejects(() => this.load(), UsageError)).message;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.base, { recursive: true });
  }
}

function figures({ mode, sandbox, record, sessions }: Config): unknown[] {
  return [
    mode,
    sandbox?.mode,
    sandbox?.allowNet,
    record,
    sessions.visible,
  ];
}

Deno.test("without a policy of the machine's nothing is bounded", async () => {
  await using machine = await Machine.make();
  const { config, warnings } = await machine.load({ mode: "full" });
  assertEquals([config.mode, config.machine, warnings], [
    "full",
    undefined,
    [],
  ]);
});

Deno.test("the machine's policy bounds flags, variables, files and defaults alike", async () => {
  await using machine = await Machine.make(`
mode: read-only
sandbox: require
allow_net: false
record: full
sessions: { visible: none }
`);
  const bounded = ["read-only", "require", false, "full", "none"];
  assertEquals(figures((await machine.load()).config), bounded);
  const flags = {
    mode: "full",
    sandbox: "off",
    // deno-lint-ignore camelcase -- the flags' names
    allow_net: true,
    // deno-lint-ignore camelcase
    no_record: true,
    sessions: "all",
  };
  const byFlags = await machine.load(flags);
  assertEquals(figures(byFlags.config), bounded);
  assertEquals(byFlags.warnings.map((warning) => warning.split(" by ")[0]), [
    "mode: full became read-only",
    "allow_net: true became false",
    "sessions.visible: all became none",
    "sandbox: off became require",
    "record: off became full",
  ]);
  const byVariables = await machine.load({}, {
    ROUSSEAU_MODE: "open",
    ROUSSEAU_SANDBOX: "auto",
    ROUSSEAU_ALLOW_NET: "1",
    ROUSSEAU_RECORD: "calls",
    ROUSSEAU_SESSIONS_VISIBLE: "project",
  });
  assertEquals(figures(byVariables.config), bounded);
  const config = `${machine.base}/config.yaml`;
  await Deno.writeTextFile(
    config,
    "mode: open\nsandbox: off\nallow_net: true\nrecord: off\n",
  );
  assertEquals(figures((await machine.load({ config })).config), bounded);
});

Deno.test("what is narrower than the machine's policy stays", async () => {
  await using machine = await Machine.make(
    "mode: open\nsandbox: auto\nallow_net: true\nrecord: calls\n",
  );
  const { config, warnings } = await machine.load({
    mode: "read-only",
    sandbox: "require",
  });
  assertEquals(figures(config), [
    "read-only",
    "require",
    false,
    "full",
    "project",
  ]);
  assertEquals(warnings, []);
});

Deno.test("every key that bounds is one of the settings", async () => {
  await using machine = await Machine.make(
    [
      "mode: full",
      "allow_net: true",
      "sandbox: off",
      "record: off",
      "sessions: { visible: all }",
      "roots: [/]",
      "read: [/]",
      "sandbox_writable: [/]",
      "env: [A]",
      "bash: { env_passthrough: [B] }",
      "scope: { deny_read: [x], deny_write: [y] }",
      "exclude: [shell]",
      "policy: { default: ask }",
    ].join("\n"),
  );
  const { config } = await machine.load();
  assertEquals(config.machine?.within, {
    roots: ["/"],
    read: ["/"],
    sandbox_writable: ["/"],
  });
  assertEquals(config.policy?.[0]?.otherwise, "ask");
  const keys = Object.values(MACHINE_KEYS).flatMap((keys): readonly string[] =>
    Array.isArray(keys) ? keys : Object.keys(keys)
  );
  const settings = SETTINGS.map(({ key }) => key);
  assertEquals(keys.filter((key) => !settings.includes(key)), []);
});

Deno.test("deny lists and left-out tools of the machine are added, and no mode goes past them", async () => {
  await using machine = await Machine.make(
    "scope: { deny_read: [/srv/keys] }\nexclude: [bash]\n",
  );
  const { config } = await machine.load({ mode: "full", exclude: ["edit"] });
  assertEquals(
    [config.mode, config.scope.denyRead, config.exclude],
    ["open", ["/srv/keys"], ["edit", "bash"]],
  );
});

Deno.test("variables that commands get are of those that the machine allows", async () => {
  await using machine = await Machine.make("env: [A, P_*]\n");
  const { config, warnings } = await machine.load({
    env: ["A", "P_X", "SECRET"],
  });
  assertEquals(config.env, ["A", "P_X"]);
  assertStringIncludes(warnings[0]!, "env: SECRET passed over");
});

Deno.test("where calls have to be recorded they are not recorded in memory", async () => {
  await using machine = await Machine.make("record: calls\n");
  const { config } = await machine.load({}, {
    ROUSSEAU_STATE_PATH: ":memory:",
  });
  assertEquals(config.state.path, undefined);
});

Deno.test("roots lie in the machine's folders, by real path, whoever names them", async () => {
  await using machine = await Machine.make();
  const { base } = machine;
  await Deno.writeTextFile(machine.file, `roots: [${base}/work/in]\n`);
  await Deno.symlink(`${base}/work/out`, `${base}/work/in/link`);
  await Deno.mkdir(`${base}/work/in/deep`);
  const roots = async (root: string[]) => (await machine.world({ root })).roots;
  assertEquals(await roots([`${base}/work/in/deep`, `${base}/work/out`]), [
    `${base}/work/in/deep`,
  ]);
  for (const outside of [`${base}/work/out`, `${base}/work/in/link`, base]) {
    const error = await assertRejects(() => roots([outside]), UsageError);
    assertStringIncludes(error.message, "the machine's policy allows");
  }
  const world = await machine.world({}, { ROUSSEAU_ROOT: "", PWD: base });
  assertEquals(world.roots, []);
  // A client stands in for roots that nobody named, and is bounded all the same.
  const { scope } = await createScope({
    platform: world.platform,
    config: world.config,
    hostRoots: [`file://${base}/work/out`, `file://${base}/work/in/deep`],
  });
  assertEquals(scope.roots, [`${base}/work/in/deep`]);
});

Deno.test("no variable opens a folder as a temporary one or a toolchain's outside the machine's folders", async () => {
  await using machine = await Machine.make();
  const { base } = machine;
  await Deno.writeTextFile(
    machine.file,
    `roots: [${base}/work/in]\nread: [${base}/work/in]\n`,
  );
  const variables = { TMPDIR: "/srv", CARGO_HOME: "/srv/cargo" };
  const world = await machine.world({
    root: [`${base}/work/in`],
    read: [`${base}/work/out`],
    mode: "full",
  }, variables);
  await world.ready();
  await world.scope.ready();
  assertEquals([world.config.mode, world.config.read], ["workspace", []]);
  const { writable, readable } = world.scope;
  const opened = [...writable, ...readable]
    .filter((folder) => folder.startsWith("/srv"));
  assertEquals(opened, []);
});

Deno.test("a policy that others could have written stops the start, with the way out", async () => {
  await using machine = await Machine.make("mode: open\n");
  const { file } = machine;
  await Deno.chmod(file, 0o664);
  assertStringIncludes(await machine.refusal(), `write to ${file}`);
  await Deno.chmod(file, 0o646);
  assertStringIncludes(await machine.refusal(), "chmod go-w");
  await Deno.chmod(file, 0o644);
  await Deno.chmod(`${machine.base}/etc`, 0o777);
  assertStringIncludes(
    await machine.refusal(),
    `others may write to ${machine.base}/etc`,
  );
  await Deno.chmod(`${machine.base}/etc`, 0o755);
  assertEquals((await machine.load()).config.mode, "workspace");
});

Deno.test("a policy of another owner stops the start", async () => {
  await using machine = await Machine.make("mode: open\n");
  const platform = machine.platform();
  const owner = (Deno.uid() ?? 0) + 1;
  const { message } = await assertRejects(
    () =>
      loadConfig({
        flags: {},
        platform: {
          ...platform,
          machinePolicy: { path: machine.file, owner },
        },
      }),
    UsageError,
  );
  assertStringIncludes(message, `belongs to user ${Deno.uid()}`);
  assertStringIncludes(message, "nothing runs without it");
});

Deno.test("a policy that is a link, a folder, too large or no such text stops the start", async () => {
  await using machine = await Machine.make();
  const { file } = machine;
  await Deno.symlink("/nowhere", file);
  assertStringIncludes(await machine.refusal(), "not a plain file");
  await Deno.remove(file);
  await Deno.mkdir(file);
  assertStringIncludes(await machine.refusal(), "not a plain file");
  await Deno.remove(file);
  for (
    const [text, problem] of [
      ["#".repeat(MAX_POLICY_BYTES + 1), `${MAX_POLICY_BYTES} bytes`],
      ["mode: [", "at line 2"],
      ["mode: wide", "must be one of"],
      ["mod: open", 'unknown key "mod"; did you mean "mode"'],
      ["drain: 3", "drain: is nothing that it can bound"],
      ["custom_tools: []", "custom_tools: is nothing that it can bound"],
      ["roots: [work]", "is not an absolute path"],
      ["scope: { deny_read: ['!.ssh'] }", "would open a place"],
      ["policy: { rules: [{ deny: true, toll: x }] }", 'unknown key "toll"'],
    ] as const
  ) {
    await Deno.writeTextFile(file, text);
    const message = await machine.refusal();
    assertStringIncludes(message, file);
    assertStringIncludes(message, problem);
  }
  await Deno.writeTextFile(file, "#".repeat(MAX_POLICY_BYTES));
  assertEquals((await machine.load()).warnings, []);
});

Deno.test("S11: no flag, variable or file moves or lifts the machine's policy, and no tool may change it", async () => {
  await using machine = await Machine.make("mode: read-only\n");
  const config = `${machine.base}/mine.yaml`;
  await Deno.writeTextFile(config, "mode: full\npolicy: { default: allow }\n");
  const world = await machine.world({ config, mode: "full" }, {
    ROUSSEAU_POLICY: "/dev/null",
    ROUSSEAU_MODE: "full",
    XDG_CONFIG_HOME: machine.base,
  });
  await world.ready();
  assertEquals(world.config.mode, "read-only");
  for (const own of [machine.file, config]) {
    for (const access of ["read", "write"] as const) {
      assertStringIncludes(
        world.scope.denial(own, access) ?? "",
        "belongs to rousseau itself",
      );
    }
  }
});

Deno.test("a rule for a tool that is none stops the start; one of the machine's is told", async () => {
  await using machine = await Machine.make(
    "policy: { rules: [{ deny: true, tool: raed }] }\n",
  );
  const log: string[] = [];
  const world = await machine.world({}, {}, log);
  await world.logger.flush();
  assertStringIncludes(log.join(""), 'there is no tool \\"raed\\"');
  const config = `${machine.base}/mine.yaml`;
  await Deno.writeTextFile(
    config,
    "policy: { rules: [{ ask: true, tool: raed }] }\n",
  );
  const { message } = await assertRejects(
    () => machine.world({ config }),
    UsageError,
  );
  assertStringIncludes(message, 'there is no tool "raed"; did you mean "read"');
});

Deno.test("a policy that cannot be used is told though the settings are still being read", async () => {
  await using machine = await Machine.make("mode: wide\n");
  const file = Promise.withResolvers<string>();
  const loading = loadConfig({
    flags: {},
    platform: machine.platform(),
    readTextFile: () => file.promise,
  });
  // By then the policy has been read; nobody may take its failure for one that nobody waits for.
  const told = assertRejects(() => loading, UsageError, "nothing runs without");
  await Deno.lstat(machine.file);
  setTimeout(() => file.resolve("mode: open\n"), 50);
  await told;
});

Deno.test("doctor and the server's instructions say that there are rules, and whose", async () => {
  await using machine = await Machine.make(
    "policy: { default: ask, rules: [{ deny: true, tool: bash }] }\n",
  );
  const world = await machine.world();
  await world.ready();
  const checks = await examine({
    platform: world.platform,
    version: "1",
    open: () => Promise.resolve(world),
    // Nothing may run, and the store is not looked at.
    mayDo: () => false,
    ctx: {} as CommandContext,
  });
  assertEquals(
    checks.filter(({ name }) => name === "policy").map(({ detail }) => detail),
    [
      `${machine.file} bounds these settings`,
      `1 rule in ${machine.file}, else ask`,
    ],
  );
  const { instructions } = introduce(world, wholeOffer(world));
  assertStringIncludes(instructions ?? "", "has set rules on calls");
});
