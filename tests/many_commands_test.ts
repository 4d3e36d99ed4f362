/** A server of many commands. */
import { assert, assertEquals } from "@std/assert";
import { type AnyCommand, command, McpServer } from "../lib/library.ts";

/** How much longer 500 commands may take than 5; the floor is what a start costs anyway. */
const MAX_RATIO = 1.5;

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

Deno.test("a process that serves 500 commands starts and lists within 1.5 times the time of one with 5", async () => {
  const library = new URL("../lib/library.ts", import.meta.url).href;
  const config = new URL("../deno.json", import.meta.url).pathname;
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/many.ts`,
      `import { command, McpServer } from "${library}";
const server = new McpServer({ name: "many", version: "1" });
for (let i = 0; i < Number(Deno.args[0]); i++) {
  server.register(command({
    name: \`command_\${i}\`, summary: "A command",
    input: { type: "object", properties: { value: { type: "string" } } },
    tool: { name: \`command_\${i}\` }, run: () => "",
  }));
}
await server.serve(Deno.stdin.readable, Deno.stdout.writable);
`,
    );
    const input = new TextEncoder().encode(
      `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n`,
    );
    const once = async (n: number) => {
      const startedAt = performance.now();
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--config",
          config,
          "--no-prompt",
          "-R",
          `${folder}/many.ts`,
          `${n}`,
        ],
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(input);
      await writer.close();
      const { success } = await child.output();
      assert(success);
      return performance.now() - startedAt;
    };
    const least = async (n: number, before: number) =>
      Math.min(before, await once(n));
    let few = await once(5).then(() => Infinity);
    let many = Infinity;
    // The least of pairs: other work on the machine only adds.
    for (let i = 0; i < 8; i++) {
      few = await least(5, few);
      many = await least(500, many);
    }
    assert(many <= few * MAX_RATIO, `${many} ms, and ${few} ms with 5`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
