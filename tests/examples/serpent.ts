import { command, mcpCommand, run, systemFrom } from "../../lib/library.ts";

const text = { type: "string" } as const;
const echo = command({
  name: "echo",
  summary: "Echo a message",
  input: {
    type: "object",
    properties: {
      message: { type: "array", items: text, default: ["Hello, World!"] },
      repeat: { type: "integer", minimum: 0, default: 2 },
    },
  },
  positionals: ["message"],
  tool: { name: "echo" },
  run: ({ message, repeat }) =>
    Array(repeat).fill(message.join(" ")).join("\n"),
});

const name = "serpent-mcp-example";
const about = { name, version: "1.0.0", author: "Coder" };
const version = command({
  name: "version",
  summary: "Get version information",
  resource: { uri: "version", mimeType: "application/json" },
  run: () => JSON.stringify(about),
});

const hidden = command({
  name: "hidden",
  summary: "Not over MCP",
  run: () => "hidden",
});

const commands = [echo, version, hidden, mcpCommand(about)];
const root = { name, summary: "CLI and MCP server", commands };
Deno.exit(await run(root, Deno.args, systemFrom(Deno)));
