import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type CommandContext, UsageError } from "../lib/command.ts";
import { type Check, examine, report } from "../lib/doctor.ts";
import type { Platform } from "../lib/platform.ts";
import { Printed } from "../lib/results.ts";
import { openWorld, type World } from "../lib/world.ts";

async function inFolder(body: (root: string, state: string) => Promise<void>) {
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${base}/root`);
    await body(`${base}/root`, `${base}/state/sessions.db`);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

function platform(env: Record<string, string> = {}, cwd = "/"): Platform {
  return {
    os: "linux",
    env: (name) => env[name] || undefined,
    home: "/home/nobody-here",
    temp: "/tmp",
    cwd,
    execPath: undefined,
    uid: 1000,
  };
}

const ctx: CommandContext = {
  signal: new AbortController().signal,
  progress() {},
  ...new Printed(),
  log() {},
  client: { capabilities: {} },
  ask: () => Promise.reject(new Error("nobody to ask")),
  meta: {},
};

async function examined(
  on: Platform,
  flags: Record<string, unknown>,
  denied: string[] = [],
): Promise<Check[]> {
  let world: World | undefined;
  const checks = await examine({
    platform: on,
    version: "1.2.3",
    open: async () =>
      world = await openWorld({
        flags,
        platform: on,
        writeLog: () => Promise.resolve(),
      }),
    mayDo: ({ name }) => !denied.includes(name),
    ctx,
  });
  await world?.close(false);
  return checks;
}

const verdict = (checks: Check[], name: string) =>
  checks.filter((check) => check.name === name).map(({ verdict }) => verdict);

Deno.test("in a sound place every check is well, and nothing needs a fix", async () => {
  await inFolder(async (root, state) => {
    const on = platform({ PATH: "/usr/bin", ROUSSEAU_STATE_PATH: state });
    const checks = await examined(on, { root: [root] });
    assertEquals(
      checks.filter((check) =>
        check.verdict === "fail" || check.verdict === "warn"
      ),
      [],
    );
    assertEquals(new Set(checks.map(({ name }) => name)).size >= 9, true);
    assertStringIncludes(checks[0]!.detail, "1.2.3");
    assertStringIncludes(report(checks), `✔ root`);
    assertStringIncludes(report(checks), state);
  });
});

Deno.test("missing permissions are named with the flag that grants them", async () => {
  await inFolder(async (root, state) => {
    const on = platform({ PATH: "/usr/bin", ROUSSEAU_STATE_PATH: state });
    const checks = await examined(on, { root: [root] }, [
      "run",
      "env",
      "write",
    ]);
    assertEquals(verdict(checks, "permission.run"), ["warn"]);
    const text = report(checks);
    for (const flag of ["--allow-run", "--allow-env", "--allow-write"]) {
      assertStringIncludes(text, `fix: Start Deno with ${flag}`);
    }
    assertStringIncludes(text, "bash is not offered");
    // Nothing runs, so nothing is said of what would be around it.
    assertEquals(verdict(checks, "shell"), ["info"]);
    assertEquals(verdict(checks, "sandbox"), []);
    assertEquals(verdict(checks, "path"), []);
    assertEquals(verdict(checks, "store"), ["fail"]);
    const folder = state.replace(/\/[^/]*$/, "");
    assertStringIncludes(
      text,
      `fix: Start Deno with --allow-read="${folder}" --allow-write="${folder}"`,
    );
  });
});

Deno.test("where no variable may be read that is the cause that is told", async () => {
  await inFolder(async (root) => {
    const on = { ...platform(), home: undefined };
    const checks = await examined(on, { root: [root] }, ["env"]);
    const told = (name: string) =>
      checks.find((check) => check.name === name && check.verdict !== "ok");
    assertEquals(
      told("path")?.detail,
      "PATH may not be read, so commands may not be found",
    );
    assertEquals(
      told("store")?.detail,
      "unavailable: no folder is known for it, since no variable may be read",
    );
    assertStringIncludes(told("store")?.fix ?? "", "--allow-env");
    assertStringIncludes(told("tools")?.detail ?? "", "--allow-env");
  });
});

Deno.test("the shell that is named is the one that runs commands", async () => {
  await inFolder(async (root, state) => {
    const on = platform({ PATH: "/bin", ROUSSEAU_STATE_PATH: state });
    const shell = (await examined(on, { root: [root] }))
      .find(({ name }) => name === "shell")!;
    const { stdout } = await new Deno.Command("/bin/sh", {
      args: ["-c", "command -v bash || echo '/bin/sh, since there is no bash'"],
    }).output();
    assertEquals(shell.detail, new TextDecoder().decode(stdout).trim());
  });
});

Deno.test("without a root the report says which line the host needs", async () => {
  await inFolder(async (_root, state) => {
    const checks = await examined(
      platform({ PATH: "/bin", ROUSSEAU_STATE_PATH: state }),
      {},
    );
    assertEquals(verdict(checks, "root"), ["warn"]);
    assertStringIncludes(report(checks), '"--root"');
  });
});

Deno.test("wrong settings are a failure and end the examination", async () => {
  const checks = await examined(platform(), { mode: "opne" });
  assertEquals(checks.at(-1)?.verdict, "fail");
  assertStringIncludes(checks.at(-1)!.detail, 'did you mean "open"?');
  assert(checks.at(-1)!.fix);
});

Deno.test("a store that cannot be opened is a failure with a fix", async () => {
  await inFolder(async (root) => {
    await Deno.writeTextFile(`${root}/file`, "");
    const on = platform({
      PATH: "/bin",
      ROUSSEAU_STATE_PATH: `${root}/file/sessions.db`,
    });
    const checks = await examined(on, { root: [root] });
    assertEquals(verdict(checks, "store"), ["fail"]);
    assertStringIncludes(report(checks), "ROUSSEAU_STATE_PATH");
  });
});

Deno.test("an empty PATH and a project file that asks for more are warned of", async () => {
  await inFolder(async (root, state) => {
    await Deno.writeTextFile(`${root}/.rousseau.yaml`, "mode: full\n");
    const checks = await examined(platform({ ROUSSEAU_STATE_PATH: state }), {
      root: [root],
    });
    assertEquals(verdict(checks, "path"), ["warn"]);
    assertStringIncludes(report(checks), "wider than");
  });
});

Deno.test("what is no mistake in the settings is called a bug", async () => {
  const checks = await examine({
    platform: platform(),
    version: "1",
    open: () => Promise.reject(new TypeError("oops")),
    ctx,
  });
  assertEquals(checks.at(-1)?.fix, "Report this as a bug.");
  const usage = await examine({
    platform: platform(),
    version: "1",
    open: () => Promise.reject(new UsageError("bad key")),
    ctx,
  });
  assertEquals(usage.at(-1)?.detail, "bad key");
});
