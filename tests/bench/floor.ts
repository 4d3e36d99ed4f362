/** The least a server can be: what it costs to start the runtime, split lines and answer. Not MCP beyond that. */
const decoder = new TextDecoder(), encoder = new TextEncoder();
let rest = "";
for await (const chunk of Deno.stdin.readable) {
  const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
  rest = lines.pop() as string;
  const answers = await Promise.all(lines.map(async (line) => {
    const { id, params } = JSON.parse(line);
    const path = params?.arguments?.path;
    const text = path ? await Deno.readTextFile(path) : "";
    const result = path ? { content: [{ type: "text", text }] } : {};
    return id === undefined
      ? ""
      : JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n";
  }));
  await Deno.stdout.write(encoder.encode(answers.join("")));
}
