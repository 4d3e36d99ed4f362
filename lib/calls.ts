/**
 * `tools/call`: one call of one tool, from its parameters to its result.
 *
 * @module
 */
import { CommandError, noteBlock } from "./command.ts";
import { createContext } from "./context.ts";
import { isObject, own } from "./era.ts";
import { badParams, Cancelled, type Exchange } from "./exchange.ts";
import type { CallStart } from "./hooks.ts";
import { InputRequired } from "./inquiry.ts";
import type { Logger } from "./log.ts";
import type { ContentBlock, JsonObject, ToolResult } from "./mcp.ts";
import { checkedResult } from "./results.ts";
import { ErrorCode, RpcError } from "./rpc.ts";
import { RESULT_META } from "./tool.ts";

/**
 * Calls the tool that `params` names. What goes wrong in the tool is a result with `isError`.
 *
 * @throws {RpcError} for parameters of the wrong shape, an unknown tool, and a fault of the tool's code.
 */
export async function callTool(exchange: Exchange): Promise<ToolResult> {
  const { core, params, caller } = exchange;
  const name = own(params, "name");
  if (typeof name !== "string") throw badParams("name must be a string");
  const given = own(params, "arguments") ?? {};
  if (!isObject(given)) throw badParams("arguments must be an object");
  const command = core.registry.tool(name);
  if (!command) {
    throw caller.stateless
      ? new RpcError(ErrorCode.invalidParams, `Unknown tool: ${name}`)
      : new RpcError(ErrorCode.toolNotFound, `unknown tool: ${name}`);
  }
  const { context, finish, printed } = createContext(exchange);
  const end = observe(exchange, {
    callId: `${exchange.peer.connectionId}:${crypto.randomUUID()}`,
    connectionId: exchange.peer.connectionId,
    tool: name,
    arguments: given,
    context,
    startedAt: Date.now(),
  });
  let result: ToolResult | undefined;
  let isValid = true;
  try {
    const prepared = await core.prepare(command, given);
    isValid = prepared.error === undefined;
    // A call that was cancelled by now has no effects.
    exchange.signal.throwIfAborted();
    result = prepared.error !== undefined
      ? errorResult(`${name}: ${prepared.error}`)
      : printed.around(
        await checkedResult(
          await command.run!(prepared.value, context),
          command,
          (schema, value) => core.misfit(schema, value),
        ),
      );
    finish();
  } catch (error) {
    result = printed.beforeFailure(failure(error, name, core.logger));
  } finally {
    end(result, isValid);
  }
  return result;
}

/** A result that tells of a failure. */
export function errorResult(
  text: string,
  notes: readonly string[] = [],
  meta?: JsonObject,
): ToolResult {
  const note = noteBlock(notes);
  const content: ContentBlock[] = [{ type: "text", text }];
  if (note) content.push(note);
  return {
    content,
    isError: true,
    ...(meta ? { _meta: { [RESULT_META]: meta } } : {}),
  };
}

/**
 * What a handler threw, as a result.
 *
 * @throws {RpcError} what is meant for the protocol, and -32603 for a fault of the code, which is logged.
 * @throws {InputRequired} as it is.
 */
export function failure(
  error: unknown,
  name: string,
  logger: Logger,
): ToolResult {
  if (error instanceof RpcError || error instanceof InputRequired) throw error;
  if (error instanceof CommandError) {
    return errorResult(error.message, error.notes, error.meta);
  }
  if (error instanceof Error && !isFault(error)) {
    return errorResult(error.message || error.name);
  }
  logger.error("tool.failed", {
    tool: name,
    error: error instanceof Error ? error.stack ?? error.message : `${error}`,
  });
  throw new RpcError(ErrorCode.internal, "internal error");
}

/** Whether an error shows a mistake in the code rather than a condition of the world. */
function isFault(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError ||
    error instanceof RangeError;
}

/** Tells the observer of a call; the function returned tells of its end, once. */
function observe(
  exchange: Exchange,
  start: CallStart,
): (result: ToolResult | undefined, isValid?: boolean) => void {
  const { core, signal } = exchange;
  const { observer } = core.options;
  if (!observer) return () => {};
  let ended = false;
  const end = (result: ToolResult | undefined, isValid = true) => {
    if (ended) return;
    ended = true;
    signal.removeEventListener("abort", onAbort);
    guard(() =>
      observer.ended({ ...start, isValid, result, endedAt: Date.now() })
    );
  };
  // A cancelled call has ended, even when its handler has not noticed.
  const onAbort = () => {
    if (signal.reason instanceof Cancelled) end(undefined);
  };
  const guard = (tell: () => void) => {
    try {
      tell();
    } catch (error) {
      core.logger.error("observer.failed", { error: `${error}` });
    }
  };
  signal.addEventListener("abort", onAbort);
  guard(() => observer.started(start));
  return end;
}
