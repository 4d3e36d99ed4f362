/**
 * Work around handlers: what several commands have in common, said once.
 *
 * @module
 */
import type { AnyCommand, CommandContext, CommandOutput } from "./command.ts";

/**
 * Runs around a handler. `next` goes on to the next layer, at last to the handler; a layer may call it with other
 * arguments or another context, look at what it returns, or not call it at all.
 */
export type Middleware = (
  args: Record<string, unknown>,
  ctx: CommandContext,
  next: (
    args: Record<string, unknown>,
    ctx: CommandContext,
  ) => Promise<CommandOutput>,
) => CommandOutput | Promise<CommandOutput>;

/**
 * The command and everything under it with `layers` around each handler, the first outermost. The same layers run
 * whether the command is called from a shell or over MCP.
 *
 * @example
 * ```ts
 * import { withMiddleware } from "./middleware.ts";
 * import { call } from "./call.ts";
 * import { command } from "./command.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const greet = command({ name: "greet", summary: "Greet", run: () => "hello" });
 * const loud = withMiddleware(
 *   greet,
 *   async (args, ctx, next) => `${await next(args, ctx)}`.toUpperCase(),
 * );
 * assertEquals((await call(loud)).content, [{ type: "text", text: "HELLO" }]);
 * ```
 */
export function withMiddleware(
  command: AnyCommand,
  ...layers: readonly Middleware[]
): AnyCommand {
  const { run, load, more, commands } = command;
  return {
    ...command,
    ...(run
      ? {
        run: layers.reduceRight<Layered>(
          (next, layer) => async (args, ctx) => await layer(args, ctx, next),
          async (args, ctx) => await run(args, ctx),
        ),
      }
      : {}),
    ...(load
      ? { load: async () => withMiddleware(await load(), ...layers) }
      : {}),
    ...(more
      ? {
        more: async (args) =>
          (await more(args)).map((child) => withMiddleware(child, ...layers)),
      }
      : {}),
    ...(commands
      ? { commands: commands.map((child) => withMiddleware(child, ...layers)) }
      : {}),
  };
}

type Layered = (
  args: Record<string, unknown>,
  ctx: CommandContext,
) => Promise<CommandOutput>;
