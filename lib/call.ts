/**
 * A command as a function: its arguments checked and completed, its result as over MCP.
 *
 * @module
 */
import {
  type AnyCommand,
  type CommandContext,
  CommandError,
  NO_INPUT,
} from "./command.ts";
import type { ToolResult } from "./mcp.ts";
import { commandArguments } from "./positionals.ts";
import { checkedResult, Printed } from "./results.ts";
import { loadCommand } from "./tree.ts";

/**
 * Calls a command from a program. Arguments are those of `tools/call`: by name, or positional ones under `"_"`. `context`
 * holds what the handler is to be given instead of nothing.
 *
 * @example
 * ```ts
 * import { call } from "./call.ts";
 * import { command } from "./command.ts";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const add = command({
 *   name: "add",
 *   summary: "Add two numbers",
 *   input: {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
 *     required: ["a"],
 *   },
 *   output: { type: "object", properties: { sum: { type: "number" } } },
 *   run: ({ a, b }) => ({ structured: { sum: a + b } }),
 * });
 * const { structuredContent } = await call(add, { a: 2 });
 * assertEquals(structuredContent, { sum: 3 });
 * await assertRejects(() => call(add, {}), Error, "a is required");
 * ```
 *
 * @throws {CommandError} for arguments that the command refuses; and whatever the handler throws.
 * @throws {TypeError} when the command has no handler, and when that returned something else than a result.
 */
export async function call(
  command: AnyCommand,
  args: unknown = {},
  context: Partial<CommandContext> = {},
): Promise<ToolResult> {
  const whole = await loadCommand(command);
  if (!whole.run) {
    throw new TypeError(`Cannot call command "${whole.name}": no handler`);
  }
  const named = commandArguments(whole, args);
  if (named.error !== undefined) throw new CommandError(named.error);
  const { InputValidators } = await import("./schema.ts");
  const validators = new InputValidators();
  const prepared = validators.prepare(whole.input ?? NO_INPUT, named.value);
  if (prepared.error !== undefined) throw new CommandError(prepared.error);
  const printed = new Printed();
  const { print, warn, stdin } = printed;
  const ctx: CommandContext = {
    signal: new AbortController().signal,
    progress() {},
    print,
    warn,
    stdin,
    log() {},
    client: { capabilities: {} },
    ask: () => Promise.reject(new CommandError("there is nobody to ask")),
    meta: {},
    ...context,
  };
  return printed.around(
    await checkedResult(
      await whole.run(prepared.value, ctx),
      whole,
      (schema, data) => validators.misfit(schema, data),
    ),
  );
}
