/**
 * From what a method gives, or throws, to the line that answers it.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { type CacheHints, statelessResult } from "./era.ts";
import type { Exchange } from "./exchange.ts";
import type { Logger } from "./log.ts";
import type { JsonObject } from "./mcp.ts";
import { ErrorCode, errorLine, resultLine, RpcError } from "./rpc.ts";

/** An answer may have this many bytes; current clients drop the connection at 10 MiB. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The line that answers `exchange` with `result`. A result too large or impossible to write becomes an error. */
export function answerLine(
  exchange: Exchange,
  result: object,
  cache: CacheHints | undefined,
): string {
  try {
    const line = shapedLine(exchange, result, cache);
    // No character takes more than three bytes a code unit, so that most lines need no counting.
    if (line.length * 3 <= MAX_ANSWER_BYTES) return line;
    const bytes = byteLength(line);
    if (bytes <= MAX_ANSWER_BYTES) return line;
    const text =
      `the answer has ${bytes} bytes, more than the ${MAX_ANSWER_BYTES} that clients take; ask for less`;
    return exchange.method === "tools/call"
      ? shapedLine(
        exchange,
        { content: [{ type: "text", text }], isError: true },
        cache,
      )
      : errorLine(exchange.id, new RpcError(ErrorCode.internal, text));
  } catch (error) {
    // A result that JSON cannot hold: a cycle, a BigInt, a depth beyond the stack.
    const { core, method } = exchange;
    return errorLine(exchange.id, toRpcError(error, method, core.logger));
  }
}

/** Whatever a method threw, as the peer is told it; a fault of the code is logged, and told without its insides. */
export function toRpcError(
  error: unknown,
  method: string,
  logger: Logger,
): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof CommandError) {
    return new RpcError(ErrorCode.internal, error.message);
  }
  logger.error("method.failed", {
    method,
    error: error instanceof Error ? error.stack ?? `${error}` : `${error}`,
  });
  return new RpcError(ErrorCode.internal, "internal error");
}

/** The length in UTF-8. */
export function byteLength(line: string): number {
  return new TextEncoder().encode(line).length;
}

function shapedLine(
  { id, caller, core }: Exchange,
  result: object,
  cache: CacheHints | undefined,
): string {
  return resultLine(
    id,
    caller.stateless
      ? statelessResult(result as JsonObject, core.info, cache)
      : result,
  );
}
