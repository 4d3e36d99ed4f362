/**
 * The operator's log: lines on standard error, never on standard output.
 *
 * @module
 */

/** Severity, least first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes events for the operator. `event` is a dotted name such as `store.unavailable`. */
export interface Logger {
  enabled(level: LogLevel): boolean;
  debug(event: string, fields?: Record<string, unknown>): void;
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
  /** Resolves when all that was logged is written. */
  flush(): Promise<void>;
}
