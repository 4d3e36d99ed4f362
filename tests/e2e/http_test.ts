/** `rousseau serve` as a process: what it does not let in, and what that costs it. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { Folders, leftovers } from "../harness.ts";
import { HttpProgram } from "../soak/http_program.ts";

const BODY_BYTES = 100 * 1024 * 1024;

/** What a refused body may cost the server, in MiB: far less than the body. */
const MAX_COST_MIB = 48;

/** Sends a head and then bytes until the server has had enough; the status it answered with. */
async function flood(
  url: string,
  head: string,
): Promise<number> {
  const { hostname, port } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const encoder = new TextEncoder();
  await connection.write(encoder.encode(
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nMcp-Session-Id: x\r\n${head}\r\n\r\n`,
  ));
  const piece = new Uint8Array(64 * 1024).fill(0x20);
  const chunk = head.startsWith("Transfer-Encoding")
    ? new Uint8Array([
      ...encoder.encode(`${piece.length.toString(16)}\r\n`),
      ...piece,
      ...encoder.encode("\r\n"),
    ])
    : piece;
  let sent = 0;
  const answer = (async () => {
    const bytes = new Uint8Array(1024);
    const n = await connection.read(bytes).catch(() => null);
    return new TextDecoder().decode(bytes.subarray(0, n ?? 0));
  })();
  try {
    while (sent < BODY_BYTES) {
      for (let at = 0; at < chunk.length;) {
        at += await connection.write(chunk.subarray(at));
      }
      sent += piece.length;
    }
  } catch {
    // The server has closed the connection.
  }
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await answer)?.[1]);
  connection.close();
  return status;
}

Deno.test("100 MB of body, with its length or in chunks, are refused and not held", async () => {
  await using folders = await Folders.make();
  await using program = await HttpProgram.start(folders);
  const session = await program.open();
  const before = Deno.build.os === "linux" ? await program.memory() : 0;
  for (
    const head of [
      `Content-Length: ${BODY_BYTES}`,
      "Transfer-Encoding: chunked",
    ]
  ) {
    assertEquals(await flood(program.url, head), 413, head);
  }
  const reply = await program.request(session, "p", "ping", {});
  assertEquals(reply.result, {});
  if (Deno.build.os !== "linux") return;
  assertLess(await program.memory() - before, MAX_COST_MIB);
});

Deno.test("a server over HTTP ends by SIGTERM with streams open and a command running, and takes the command along", async () => {
  await using folders = await Folders.make();
  const program = await HttpProgram.start(folders);
  const session = await program.open();
  const stream = await fetch(program.url, {
    headers: { Accept: "text/event-stream", "Mcp-Session-Id": session },
  });
  const command = program.request(session, "b", "tools/call", {
    name: "bash",
    arguments: { command: "echo > begun; sleep 600" },
  }).catch(() => undefined);
  while (!await Deno.stat(`${folders.root}/begun`).catch(() => undefined)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const startedAt = performance.now();
  program.child.kill("SIGTERM");
  const { code } = await program.child.status;
  assertEquals(code, 143);
  assertLess(performance.now() - startedAt, 2_000);
  await command;
  await stream.body?.cancel().catch(() => {});
  await program[Symbol.asyncDispose]();
  assert(
    !(await leftovers(folders.base)).some((line) => line.includes("sleep 600")),
  );
});
