/** A server of many commands. What they cost is measured by `deno task bench`. */
import { assertEquals } from "@std/assert";
import { type AnyCommand, command, McpServer } from "../lib/library.ts";

function commands(n: number): AnyCommand[] {
  return Array.from({ length: n }, (_, i) =>
    command({
      name: `command_${i}`,
      summary: `Command ${i}`,
      input: {
        type: "object",
        properties: { value: { type: "string" }, count: { type: "integer" } },
        required: ["value"],
      },
      tool: { name: `command_${i}` },
      run: ({ value }) => value,
    }));
}

Deno.test("a server of 500 commands lists them all, in order", async () => {
  const server = new McpServer({ name: "many", version: "1" });
  for (const one of commands(500)) server.register(one);
  const lines = [
    {
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    },
    { id: 1, method: "tools/list" },
  ].map((line) => `${JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
  let text = "";
  await server.serve(
    ReadableStream.from([new TextEncoder().encode(lines.join(""))]),
    new WritableStream({
      write: (bytes) => void (text += new TextDecoder().decode(bytes)),
    }),
  );
  const { result } = JSON.parse(text.trim().split("\n")[1]!);
  assertEquals(
    result.tools.map(({ name }: { name: string }) => name),
    Array.from({ length: 500 }, (_, i) => `command_${i}`),
  );
});
