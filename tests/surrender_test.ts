/** Once a server has all that it needs, it gives up the permissions that it needs no more. */
import { assertEquals } from "@std/assert";
import { run } from "../lib/cli.ts";
import type { Platform, Surrendered } from "../lib/platform.ts";
import { buildProgram } from "../lib/program.ts";
import { Stop } from "../lib/system.ts";

const PROBE = new URL("fixtures/surrender_probe.ts", import.meta.url).pathname;
const CONFIG = new URL("deno.json", import.meta.url).pathname;

/** What the probe says under these grants. */
async function probe(grants: readonly string[], kinds: readonly Surrendered[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--config",
      CONFIG,
      ...grants,
      PROBE,
      ...kinds,
    ],
    env: { KNOWN: "value" },
  }).output();
  const decoder = new TextDecoder();
  assertEquals(code, 0, decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
}

const ALL = [
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-run",
  "--allow-sys=uid,homedir",
  "--allow-net=127.0.0.1,localhost",
];

Deno.test("permissions that are given up are gone, and variables that were there stay known", async () => {
  const kinds: Surrendered[] = ["env", "net", "run", "sys", "write"];
  const told = { known: "value", sameNames: true };
  assertEquals(await probe(ALL, kinds), { ...told, before: kinds, after: [] });
  assertEquals(await probe(ALL, ["env", "net", "sys"]), {
    ...told,
    before: kinds,
    after: ["run", "write"],
  });
  assertEquals(await probe(["--allow-env=KNOWN"], ["env", "net"]), {
    ...told,
    before: [],
    after: [],
  });
});

/** What a program gave up by the end of its input, in order. */
async function given(
  args: readonly string[],
  messages: readonly unknown[] = [],
): Promise<Surrendered[][]> {
  const root = await Deno.makeTempDir({ prefix: "rousseau-test-" });
  const surrendered: Surrendered[][] = [];
  const platform: Platform = {
    os: "linux",
    env: (name) =>
      ({ ROUSSEAU_STATE_PATH: `${root}/s.db`, ROUSSEAU_TOKEN: "x".repeat(20) })[
        name
      ],
    home: undefined,
    temp: "/temporary",
    cwd: "/",
    execPath: undefined,
    uid: 1000,
    surrender: (kinds) => void surrendered.push([...kinds]),
  };
  const controller = new AbortController();
  const { root: tree, options } = buildProgram({
    platform,
    launch: { command: "/opt/rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const initialize = {
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  };
  const lines = [initialize, ...messages].map((message, id) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, ...message as object })}\n`
  );
  try {
    await run(tree, [...args, "--root", root], {
      stdin: new Blob(lines).stream(),
      stdout: new WritableStream(),
      stderr: {
        write(bytes) {
          // An HTTP server ends when it is told to.
          if (new TextDecoder().decode(bytes).includes("serving http")) {
            controller.abort(new Stop(143));
          }
          return Promise.resolve();
        },
      },
      env: platform.env,
      signal: controller.signal,
    }, options);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
  return surrendered;
}

const READ = {
  method: "tools/call",
  params: { name: "read", arguments: { path: "." } },
};

Deno.test("a server gives up what it reads at its start, and running programs where none is offered", async () => {
  assertEquals(await given(["mcp"]), [["env", "net", "sys"]]);
  assertEquals(await given(["serve", "--port", "0"]), [["env", "net", "sys"]]);
  assertEquals(await given(["mcp", "--exclude", "shell"]), [
    ["env", "net", "sys", "run"],
  ]);
});

Deno.test("in mode read-only a server gives up writing, once the store is open where it records", async () => {
  const readOnly = ["mcp", "--mode", "read-only"];
  const first: Surrendered[] = ["env", "net", "sys", "run"];
  assertEquals(await given(readOnly), [first]);
  assertEquals(await given(readOnly, [READ]), [first, ["write"]]);
  assertEquals(
    await given([...readOnly, "--no-record", "--sessions", "none"], [READ]),
    [["write"], first],
  );
  assertEquals(await given([...readOnly, "--sandbox", "require"], [READ]), [
    ["env", "net", "sys"],
  ]);
});

Deno.test("a call on the command line gives up nothing", async () => {
  assertEquals(await given(["read", "."]), []);
});
