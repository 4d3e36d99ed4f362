/**
 * The context that a handler gets when it runs for an MCP request.
 *
 * @module
 */
import type { CommandContext } from "./command.ts";
import { isLogged } from "./era.ts";
import type { Exchange } from "./exchange.ts";
import { inquiring } from "./inquiry.ts";
import type { LogLevel } from "./log.ts";
import type { JsonObject, McpLogLevel } from "./mcp.ts";
import { Printed } from "./results.ts";
import { isRequestId, type RequestId } from "./rpc.ts";

/** Progress notifications of one request that may be sent at once. */
export const PROGRESS_BURST = 10;

/** Progress notifications of one request in a second, beyond the burst. */
export const PROGRESS_PER_SECOND = 10;

/** The context, and what is to be done when the handler is through. */
export interface RunningContext {
  /** What the handler is given. */
  context: CommandContext;
  /** Sends the progress that was held back; to be called right before the answer. */
  finish(): void;
  /** What it prints. */
  printed: Printed;
}

/** The context of a handler that serves `exchange`. */
export function createContext(exchange: Exchange): RunningContext {
  const { core, caller, meta, signal } = exchange;
  const token = meta.progressToken;
  const progress = isRequestId(token)
    ? new Progress(exchange, token)
    : undefined;
  const printed = new Printed();
  const { print, warn, stdin } = printed;
  const base: CommandContext = {
    signal,
    print,
    warn,
    stdin,
    progress: (value, total, message) =>
      progress?.report(value, total, message),
    log(level, message, data) {
      core.logger[LOGGER_LEVEL[level]]("tool.log", { message, ...data });
      if (isLogged(level, caller.logLevel)) {
        exchange.notify("notifications/message", {
          level,
          logger: core.info.name,
          data: data ? { message, ...data } : message,
        });
      }
    },
    client: caller.client,
    ...inquiring(exchange),
    meta,
  };
  return {
    context: core.extend(base),
    finish: () => progress?.finish(),
    printed,
  };
}

const LOGGER_LEVEL: Record<McpLogLevel, LogLevel> = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warn",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
};

/** Sends what a handler reports, rising, and no faster than a client can use. */
class Progress {
  readonly #exchange: Exchange;
  readonly #token: RequestId;
  #last = -Infinity;
  #allowance = PROGRESS_BURST;
  #countedAt = performance.now();
  #held: JsonObject | undefined;

  constructor(exchange: Exchange, token: RequestId) {
    this.#exchange = exchange;
    this.#token = token;
  }

  report(value: number, total?: number, message?: string): void {
    if (!Number.isFinite(value) || value <= this.#last) return;
    this.#last = value;
    this.#held = {
      progressToken: this.#token,
      progress: value,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    const now = performance.now();
    this.#allowance = Math.min(
      PROGRESS_BURST,
      this.#allowance + (now - this.#countedAt) / 1000 * PROGRESS_PER_SECOND,
    );
    this.#countedAt = now;
    if (this.#allowance < 1) return;
    this.#allowance--;
    this.finish();
  }

  finish(): void {
    if (!this.#held) return;
    this.#exchange.notify("notifications/progress", this.#held);
    this.#held = undefined;
  }
}
