/**
 * One command, three ways: from a shell, over MCP, and as a function.
 *
 * @module
 */
import { call } from "../lib/call.ts";
import { run, type RunOptions } from "../lib/cli.ts";
import type { AnyCommand } from "../lib/command.ts";
import { mcpCommand } from "../lib/mcp_command.ts";
import type { ToolResult } from "../lib/mcp.ts";
import type { System } from "../lib/system.ts";

/** Runs a command line. */
export async function shell(
  root: AnyCommand,
  args: readonly string[],
  { input = "", env = {}, ...more }: {
    input?: string;
    env?: Readonly<Record<string, string>>;
    options?: RunOptions;
  } & Omit<Partial<System>, "env"> = {},
): Promise<{ code: number; out: string; err: string }> {
  const { options, ...system } = more;
  const text: [string, string] = ["", ""];
  const decoder = [new TextDecoder(), new TextDecoder()] as const;
  const write = (i: 0 | 1) => (bytes: Uint8Array) =>
    void (text[i] += decoder[i].decode(bytes, { stream: true }));
  const code = await run(root, args, {
    stdin: new Blob([input]).stream(),
    stdout: new WritableStream({ write: write(0) }),
    stderr: new WritableStream({ write: write(1) }).getWriter(),
    env: (name) => env[name],
    ...system,
  }, options);
  return { code, out: text[0], err: text[1] };
}

/** A root with the commands under it, and `mcp`. */
export function program(
  commands: readonly AnyCommand[],
  more: Partial<AnyCommand> = {},
): AnyCommand {
  const mcp = mcpCommand({ name: "prog", version: "1" }) as AnyCommand;
  return { name: "prog", summary: "P", ...more, commands: [...commands, mcp] };
}

// deno-lint-ignore no-explicit-any
type Message = any;

/** Sends requests to `prog mcp`; resolves to results and errors in their order. */
export async function requests(
  root: AnyCommand,
  list: readonly { method: string; params?: unknown }[],
  options: Parameters<typeof shell>[2] = {},
  args: readonly string[] = ["mcp"],
): Promise<Message[]> {
  const initialize = {
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    },
  };
  const lines = [initialize, ...list].map((message, id) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`
  );
  const { out, err, code } = await shell(root, args, {
    ...options,
    input: lines.join(""),
  });
  if (code !== 0) throw new Error(err);
  return out.trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ id }) => id > 0)
    .toSorted((a, b) => a.id - b.id)
    .map(({ result, error }) => result ?? error);
}

/** Calls one tool of `prog mcp`. */
export async function overMcp(
  root: AnyCommand,
  name: string,
  args: unknown,
  options: Parameters<typeof shell>[2] = {},
): Promise<ToolResult> {
  const [result] = await requests(root, [
    { method: "tools/call", params: { name, arguments: args } },
  ], options);
  return result;
}

/** Calls a command as a function: its text, or what it refuses. */
export async function asFunction(
  command: AnyCommand,
  args: unknown,
): Promise<string> {
  try {
    return textOf(await call(command, args));
  } catch (error) {
    return `refused: ${(error as Error).message}`;
  }
}

/** The text of a result's blocks. */
export function textOf({ content }: ToolResult): string {
  return content.map((block) => block.type === "text" ? block.text : "?")
    .join("");
}
