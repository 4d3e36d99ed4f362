/** The official conformance suite against the fixtures, over the real HTTP transport. It needs the npm registry. */
import { assertEquals } from "@std/assert";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";

const SERVER = new URL("../fixtures/conformance_server.ts", import.meta.url);

const CONFIG = new URL("../../deno.json", import.meta.url);

/** Scenarios of extensions that this server does not have: tasks. They are not scored. */
const EXTENSIONS = /^✗ tasks-/;

/** Starts the fixture server; its endpoint's address. */
async function start(): Promise<{ url: string; stop: () => Promise<void> }> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--config",
      CONFIG.pathname,
      "--allow-read",
      "--allow-net=127.0.0.1",
      "--allow-env",
      SERVER.pathname,
      "0",
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = process.stdout.getReader();
  const { value } = await reader.read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async stop() {
      process.kill("SIGKILL");
      await reader.cancel();
      await process.status;
    },
  };
}

for (const revision of ["2025-11-25", "2026-07-28"]) {
  Deno.test(`every scored scenario of the conformance suite passes for ${revision}`, async () => {
    const folder = await Deno.makeTempDir();
    const server = await start();
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
        line.startsWith("✗") && !EXTENSIONS.test(line)
      );
      assertEquals([code, failed], [0, []], said.slice(-4000));
    } finally {
      await server.stop();
      await Deno.remove(folder, { recursive: true });
    }
  });
}
