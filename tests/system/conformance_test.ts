/**
 * The official conformance suite against the fixtures, over the real HTTP transport, and over stdio behind a bridge. It
 * needs the npm registry.
 */
import { assertEquals } from "@std/assert";
import { commandLine, environment, Folders } from "../harness.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";

const SERVER = new URL("../fixtures/conformance_server.ts", import.meta.url);

const BRIDGE = new URL("../fixtures/stdio_bridge.ts", import.meta.url);

const CONFIG = new URL("../../deno.json", import.meta.url);

/** What is not scored and may fail: the extension for tasks; and behind the bridge, which knows no tool's schema, headers. */
const UNSCORED = /^✗ tasks-/;
const UNSCORED_BEHIND_BRIDGE =
  /^✗ (tasks-|http-custom-header-server-validation)/;

/** Starts a program of the fixtures that prints its endpoint's address. */
async function start(
  args: string[],
): Promise<{ url: string; stop: () => Promise<void> }> {
  const process = new Deno.Command(Deno.execPath(), {
    args,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.getReader();
  const { value } = await reader.read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async stop() {
      process.kill("SIGTERM");
      await reader.cancel();
      await process.status;
    },
  };
}

const RUN = ["run", "--quiet", "--no-prompt", "--config", CONFIG.pathname];

const FIXTURES = [
  ...RUN,
  "--allow-read",
  "--allow-net=127.0.0.1",
  "--allow-env",
  SERVER.pathname,
];

/** What the product fails: nothing but what has no fixture. */
const EXPECTED = new URL("./conformance_expected.yml", import.meta.url);

const TRANSPORTS = {
  HTTP: [...FIXTURES, "0"],
  "stdio behind a bridge": [
    ...RUN,
    "--allow-read",
    "--allow-net=127.0.0.1",
    "--allow-env",
    "--allow-run",
    BRIDGE.pathname,
    ...FIXTURES,
    "stdio",
  ],
};

const REVISIONS = ["2025-11-25", "2026-07-28"];

/** Milliseconds that one run of the suite may take; it needs about five seconds. */
const SUITE_MS = 120_000;

/** How often a run that never ended is begun again: the suite's own process was seen to wait for ever. */
const ATTEMPTS = 2;

/** What the suite says of the server at `url`, and the checks that it warns of. */
async function judge(
  url: string,
  args: string[],
): Promise<{ code: number; said: string; warned: string[] }> {
  const folder = await Deno.makeTempDir();
  try {
    for (let attempt = 1;; attempt++) {
      const late = AbortSignal.timeout(SUITE_MS);
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--quiet", "--no-config", "-A", SUITE],
          ...["server", "--url", url, "-o", `results${attempt}`, ...args],
        ],
        cwd: folder,
        signal: late,
      }).output();
      const decoder = new TextDecoder();
      const said = decoder.decode(stdout) + decoder.decode(stderr);
      if (late.aborted && attempt < ATTEMPTS) {
        // deno-lint-ignore no-console -- where it waited is not seen again
        console.error(`the suite did not end: ${said.slice(-2000)}`);
        continue;
      }
      const warned = await warnings(`${folder}/results${attempt}`);
      return { code, said, warned };
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The ids of the checks that ended with a warning, from what the suite wrote for each scenario. */
async function warnings(folder: string): Promise<string[]> {
  const warned: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${name}/checks.json`);
    const checks: { id: string; status: string }[] = JSON.parse(text);
    warned.push(
      ...checks.filter(({ status }) => status === "WARNING").map(({ id }) =>
        `${name}: ${id}`
      ),
    );
  }
  return warned;
}

for (const revision of REVISIONS) {
  for (const [transport, args] of Object.entries(TRANSPORTS)) {
    Deno.test(`every scored scenario of the conformance suite passes for ${revision} over ${transport}`, async () => {
      const unscored = transport === "HTTP" ? UNSCORED : UNSCORED_BEHIND_BRIDGE;
      const server = await start(args);
      try {
        const { code, said, warned } = await judge(server.url, [
          "--requirements",
          revision,
        ]);
        const failed = said.split("\n").filter((line) =>
          line.startsWith("✗") && !unscored.test(line)
        );
        const found = [code, failed, warned];
        assertEquals(found, [0, [], []], said.slice(-4000));
      } finally {
        await server.stop();
      }
    });
  }

  Deno.test(`the product passes all of the conformance suite for ${revision} that needs no fixture`, async () => {
    await using folders = await Folders.make();
    const [command, ...args] = await commandLine([
      ...["serve", "--root", folders.root, "--port", "0", "--no-auth"],
    ]);
    // The source needs the network that the binary has from its compilation.
    const network = args[0] === "run" ? ["--allow-net=127.0.0.1"] : [];
    const process = new Deno.Command(command!, {
      args: args.toSpliced(1, 0, ...network),
      cwd: folders.root,
      env: await environment(folders),
      clearEnv: true,
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const reader = process.stderr.pipeThrough(
      new TextDecoderStream() as TransformStream<Uint8Array, string>,
    ).getReader();
    try {
      let text = "";
      let url: string | undefined;
      while ((url = /http:\S+/.exec(text)?.[0]) === undefined) {
        const { value, done } = await reader.read();
        if (done) throw new Error(text);
        text += value;
      }
      const { code, said } = await judge(url, [
        ...["--requirements", revision],
        ...["--expected-failures", EXPECTED.pathname],
      ]);
      assertEquals(code, 0, said.slice(-4000));
    } finally {
      process.kill("SIGTERM");
      await reader.cancel();
      await process.status;
    }
  });
}
