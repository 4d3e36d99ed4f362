/** A host that reads no answers: what it says last is heard all the same, and nothing outlives it. */
import { assertEquals, assertLess } from "@std/assert";
import {
  commandLine,
  environment,
  Folders,
  leftovers,
  PATIENCE,
} from "../harness.ts";

/** Answers of a quarter of a megabyte each: more than are held for a client that does not read. */
const READS = 120;

const GOES = {
  "closes its end of the input": () => Promise.resolve(),
  "is gone": (child: Deno.ChildProcess) => child.stdout.cancel(),
};

for (const [how, go] of Object.entries(GOES)) {
  Deno.test(`a host that leaves 16 MiB unread and then ${how} ends the server and its commands`, async () => {
    await using folders = await Folders.make();
    const path = await folders.write(
      "a.txt",
      `${"x".repeat(99)}\n`.repeat(2500),
    );
    const [command, ...args] = await commandLine([
      "mcp",
      "--root",
      folders.root,
      "--drain",
      "1",
    ]);
    const child = new Deno.Command(command!, {
      args,
      cwd: folders.root,
      env: await environment(folders),
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const writer = child.stdin.getWriter();
    const encoder = new TextEncoder();
    let id = 0;
    const send = async (method: string, params: unknown) => {
      const message = { jsonrpc: "2.0", id: ++id, method, params };
      await writer.write(encoder.encode(`${JSON.stringify(message)}\n`));
    };
    const call = (name: string, given: unknown) =>
      send("tools/call", { name, arguments: given });
    await send("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    await call("bash", { command: "sleep 600" });
    for (let i = 0; i < READS; i++) {
      await call("read", { path, limit: 262_144 });
    }
    const shell = async () =>
      (await leftovers(folders.base)).some((line) =>
        line.includes("sleep 600")
      );
    const deadline = Date.now() + PATIENCE;
    while (!await shell() && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // Each comes when what was sent before has been taken in.
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await call("read", { path, limit: 262_144 });
    }
    const startedAt = performance.now();
    await writer.close();
    await go(child);
    const { code } = await child.status;
    assertEquals(code, 0);
    // The drain limit, and the time for the last answers.
    assertLess(performance.now() - startedAt, 10_000);
    if (!child.stdout.locked) await child.stdout.cancel();
    assertEquals(await leftovers(folders.base), []);
  });
}
