/** Rules between a call and its tool, where the caller is a person at a terminal, a client with folders, a declared tool. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { run } from "../lib/cli.ts";
import { type CommandContext, CommandError } from "../lib/command.ts";
import type { Platform } from "../lib/platform.ts";
import { runByRules } from "../lib/policy_gate.ts";
import { buildProgram } from "../lib/program.ts";
import { createScope } from "../lib/scope.ts";
import { Stop } from "../lib/system.ts";
import { openWorld } from "../lib/world.ts";

const platform: Platform = {
  os: "linux",
  env: (name) =>
    ({ PATH: "/usr/bin:/bin", ROUSSEAU_STATE_PATH: ":memory:" })[name],
  home: undefined,
  temp: "/temporary",
  cwd: "/",
  execPath: undefined,
  uid: 1000,
};

/** Runs `body` with a root, and a configuration file beside it. */
async function withRoot(
  config: string,
  body: (root: string, file: string) => Promise<void>,
): Promise<void> {
  const base = await Deno.realPath(
    await Deno.makeTempDir({ prefix: "rousseau-test-" }),
  );
  try {
    await Deno.mkdir(`${base}/root`);
    await Deno.writeTextFile(`${base}/config.yaml`, config);
    await body(`${base}/root`, `${base}/config.yaml`);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

/** One command line at a terminal on which `typed` is typed; without it the question is interrupted. */
async function atTerminal(
  args: readonly string[],
  typed: string | undefined,
) {
  const interrupt = new AbortController();
  const chunks: string[][] = [[], []];
  const write = (i: number) => (bytes: Uint8Array) => {
    const text = new TextDecoder().decode(bytes);
    chunks[i]!.push(text);
    // Ctrl-C where nothing is typed.
    if (typed === undefined && text.includes("[y/N]")) {
      interrupt.abort(new Stop(130));
    }
  };
  const { root, options } = buildProgram({
    platform,
    launch: { command: "/opt/rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const code = await run(root, args, {
    stdin: typed === undefined
      ? new ReadableStream()
      : new Blob([typed]).stream(),
    stdinIsTerminal: true,
    stdout: new WritableStream({ write: write(0) }),
    stderr: new WritableStream({ write: write(1) }).getWriter(),
    env: platform.env,
    signal: interrupt.signal,
  }, options);
  return { code, out: chunks[0]!.join(""), err: chunks[1]!.join("") };
}

const ASKING = `
policy: { rules: [{ ask: shared, path: "*.lock" }, { ask: true, tool: one }] }
sandbox: off
custom_tools:
  - name: one
    description: Prints one word
    input: { type: object, properties: { content: { type: string } } }
    argv: [printf, "%s", "{content}"]
`;

Deno.test("at a terminal the person is asked there, and y is the only yes", async () => {
  await withRoot(ASKING, async (root, file) => {
    for (
      const [typed, isAllowed] of [
        ["y\n", true],
        [" YES \n", true],
        ["yes", true],
        ["\n", false],
        ["n\n", false],
        ["yy\n", false],
        ["", false],
      ] as const
    ) {
      const { code, err } = await atTerminal(
        ["write", "a.lock", typed, "--root", root, "--config", file],
        typed,
      );
      assertStringIncludes(err, `Allow write?\n\non ${root}/a.lock`);
      assertEquals(code, isAllowed ? 0 : 1, typed);
      const now = await Deno.readTextFile(`${root}/a.lock`).catch(() => "");
      assertEquals(now, isAllowed ? typed : "", typed);
      await Deno.remove(`${root}/a.lock`).catch(() => {});
      if (!isAllowed) assertStringIncludes(err, "refused by the person");
    }
  });
});

Deno.test("Ctrl-C ends a question, and nothing is done", async () => {
  await withRoot(ASKING, async (root, file) => {
    const { code } = await atTerminal(
      ["write", "a.lock", "x", "--root", root, "--config", file],
      undefined,
    );
    assertEquals(code, 130);
    const found = await Deno.lstat(`${root}/a.lock`).catch(() => undefined);
    assertEquals(found, undefined);
  });
});

Deno.test("of a declared tool the person sees every argument, whatever its name", async () => {
  await withRoot(ASKING, async (root, file) => {
    const { code, out, err } = await atTerminal(
      ["one", "--content", "w", "--root", root, "--config", file],
      "y\n",
    );
    assertEquals([code, out], [0, "w"], err);
    assertStringIncludes(err, '{"content":"w"}');
  });
});

const base: CommandContext = {
  signal: new AbortController().signal,
  progress() {},
  print() {},
  warn() {},
  stdin: () => new ReadableStream(),
  log() {},
  client: { capabilities: {} },
  ask: () => Promise.resolve({ action: "accept" }),
  meta: {},
};

Deno.test("a client that narrows its roots does not move the places that rules speak of", async () => {
  await withRoot(
    "policy: { rules: [{ deny: true, path: sub/keys }] }",
    async (root, file) => {
      await Deno.mkdir(`${root}/sub/keys`, { recursive: true });
      const world = await openWorld({
        flags: { root: [root], config: file },
        platform,
        writeLog: () => Promise.resolve(),
      });
      const { scope } = await createScope({
        platform,
        config: world.config,
        hostRoots: [`${root}/sub`],
      });
      assertEquals(scope.roots, [`${root}/sub`]);
      const result = await runByRules(
        { tool: "read", run: () => "read" },
        { path: "keys/a" },
        { ...world.extend(base), scope },
      ).catch((error) => error.message as string);
      assertStringIncludes(`${result}`, "refused by policy.rules[0]");
      await world.close(false);
    },
  );
});

Deno.test("programs keep the scope that their sandbox is made from, file tools get one with the rules in it", async () => {
  await withRoot("policy: { default: ask }", async (root, file) => {
    const world = await openWorld({
      flags: { root: [root], config: file },
      platform,
      writeLog: () => Promise.resolve(),
    });
    const ctx = world.extend(base);
    for (
      const [tool, isSame] of [
        ["bash", true],
        ["declared", true],
        ["read", false],
        ["write", false],
        ["edit", false],
        ["grep", false],
        ["rousseau_undo", false],
      ] as const
    ) {
      await runByRules(
        {
          tool,
          run: (_args, given) => {
            assertEquals(given.scope === world.scope, isSame, tool);
            assertEquals(given.scope.describe(), world.scope.describe());
            assertEquals(given.scope.mode, "workspace");
            return "";
          },
        },
        { path: root, command: "x" },
        ctx,
      );
    }
    await world.close(false);
  });
});

Deno.test("what was allowed for one rule and place opens no other", async () => {
  await withRoot(
    "policy: { rules: [{ ask: true, path: a }, { ask: true, path: b }] }",
    async (root, file) => {
      const world = await openWorld({
        flags: { root: [root], config: file },
        platform,
        writeLog: () => Promise.resolve(),
      });
      await Deno.mkdir(`${root}/a`);
      await runByRules(
        {
          tool: "grep",
          run: async (_args, { scope }) => {
            assertEquals(scope.denial(`${root}/a/x`, "read"), undefined);
            assertEquals(scope.denial(`${root}/c`, "read"), undefined);
            for (const closed of ["b", "c/a/x"]) {
              assertStringIncludes(
                scope.denial(`${root}/${closed}`, "read") ?? "",
                "name it in the call",
              );
            }
            await assertRejects(
              () => scope.resolve(`${root}/b`, "write"),
              CommandError,
              "policy.rules[1] in ",
            );
            return "";
          },
        },
        { path: "a" },
        world.extend(base),
      );
      await world.close(false);
    },
  );
});
