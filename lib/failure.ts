/**
 * The two kinds of failure that a handler throws on purpose: one that the model is told, and one of usage.
 *
 * @module
 */
import type { JsonObject } from "./mcp.ts";

/**
 * A failure that the model (or the person at the shell) is told as a result with `isError`. `message` is the text
 * as shown; `notes` go into a second block, `meta` into `_meta["rousseau/result"]`.
 */
export class CommandError extends Error {
  /** Additions, for a second block. */
  readonly notes: readonly string[];
  /** Figures for programs. */
  readonly meta: JsonObject | undefined;
  /** A failure with the text that is shown. */
  constructor(
    message: string,
    extra: { notes?: readonly string[]; meta?: JsonObject; cause?: unknown } =
      {},
  ) {
    super(
      message,
      extra.cause === undefined ? undefined : { cause: extra.cause },
    );
    this.name = "CommandError";
    this.notes = extra.notes ?? [];
    this.meta = extra.meta;
  }
}

/** What was asked for cannot be done as it was said: wrong usage or configuration. Exit code 2 on the command line. */
export class UsageError extends Error {
  /** An error whose text says what was wrong, and what to do. */
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}
