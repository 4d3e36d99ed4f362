/**
 * The official conformance suite against the fixtures, over the real HTTP transport, and over stdio behind a bridge. It
 * needs the npm registry.
 */
import { assertEquals } from "@std/assert";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";

const SERVER = new URL("../fixtures/conformance_server.ts", import.meta.url);

const BRIDGE = new URL("../fixtures/stdio_bridge.ts", import.meta.url);

const CONFIG = new URL("../../deno.json", import.meta.url);

/** What is not scored and may fail: the extension for tasks; and behind the bridge, what tests HTTP itself. */
const UNSCORED = /^✗ tasks-/;
const UNSCORED_BEHIND_BRIDGE = /^✗ (tasks-|http-)/;

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

for (const revision of ["2025-11-25", "2026-07-28"]) {
  for (const [transport, args] of Object.entries(TRANSPORTS)) {
    Deno.test(`every scored scenario of the conformance suite passes for ${revision} over ${transport}`, async () => {
      const unscored = transport === "HTTP" ? UNSCORED : UNSCORED_BEHIND_BRIDGE;
      const folder = await Deno.makeTempDir();
      const server = await start(args);
      try {
        const { code, stdout, stderr } = await new Deno.Command(
          Deno.execPath(),
          {
            args: [
              "run",
              "--quiet",
              "--no-config",
              "-A",
              SUITE,
              "server",
              "--url",
              server.url,
              "--requirements",
              revision,
            ],
            cwd: folder,
          },
        ).output();
        const said = new TextDecoder().decode(stdout) +
          new TextDecoder().decode(stderr);
        const failed = said.split("\n").filter((line) =>
          line.startsWith("✗") && !unscored.test(line)
        );
        assertEquals([code, failed], [0, []], said.slice(-4000));
      } finally {
        await server.stop();
        await Deno.remove(folder, { recursive: true });
      }
    });
  }
}
