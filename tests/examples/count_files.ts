import { command, McpServer } from "../../lib/library.ts";

const countFiles = command({
  name: "count_files",
  summary: "Count files under a path.",
  input: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
  tool: { name: "count_files" },
  async run({ path }, { signal }) {
    let n = 0;
    for await (const entry of Deno.readDir(path)) {
      signal.throwIfAborted();
      if (entry.isFile) n++;
    }
    return `${n}`;
  },
});
const server = new McpServer({ name: "counter", version: "0.1.0" });
const { stdin, stdout } = Deno;
await server.register(countFiles).serve(stdin.readable, stdout.writable);
