/**
 * What the built-in tools share: their context, and the shape and budget of their answers.
 *
 * @module
 */
import { CommandError, noteBlock } from "./command.ts";
import type { CommandContext, CommandOutput } from "./command.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./log.ts";
import type { ContentBlock, JsonObject } from "./mcp.ts";
import type { Platform } from "./platform.ts";
import type { Scope } from "./scope.ts";

/** Characters of an answer unless the operator or `limit` says otherwise. */
export const ANSWER_CHARS = 20_000;

/** Characters of an answer at the very most: what `limit` and `limits.answer_chars` may ask for. */
export const MAX_ANSWER_CHARS = 262_144;

/** Characters of an answer with `isError`; some hosts cut errors at 10,000. */
export const ERROR_CHARS = 9_000;

/** Key of a tool result's `_meta` that holds figures for programs. */
export const RESULT_META = "rousseau/result";

/** What a built-in tool's handler is given. */
export interface ToolContext extends CommandContext {
  scope: Scope;
  config: Config;
  platform: Platform;
  logger: Logger;
  /** Things that live as long as the process: shells, per-file queues, the store. Each is made at first use. */
  process: ProcessState;
}

/** Lazily made, process-wide state. Keys are module names; `ProcessState.get` makes a value once. */
export class ProcessState {
  readonly #values = new Map<string, unknown>();

  /** The value under `key`, made by `make` at the first call. */
  get<T>(key: string, make: () => T): T {
    if (!this.#values.has(key)) this.#values.set(key, make());
    return this.#values.get(key) as T;
  }

  /** The value under `key` if it was made. */
  peek<T>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined;
  }
}

/** An answer: block 1 is `text` verbatim; notes, when there are any, are a second block; `meta` is for programs. */
export function answer(
  text: string | ContentBlock,
  extra: {
    notes?: readonly string[];
    meta?: JsonObject;
    isError?: boolean;
    exitCode?: number;
  } = {},
): CommandOutput {
  const note = noteBlock(extra.notes ?? []);
  const first: ContentBlock = typeof text === "string"
    ? { type: "text", text }
    : text;
  return {
    content: note ? [first, note] : [first],
    ...(extra.isError ? { isError: true } : {}),
    ...(extra.meta ? { meta: { [RESULT_META]: extra.meta } } : {}),
    ...(extra.exitCode === undefined ? {} : { exitCode: extra.exitCode }),
  };
}

/** An operating-system error in the words of Go's standard library, as the first seed shows them. */
export function osErrorText(
  error: unknown,
  operation: string,
  path: string,
): string {
  const reason = error instanceof Deno.errors.NotFound
    ? "no such file or directory"
    : error instanceof Deno.errors.PermissionDenied
    ? "permission denied"
    : error instanceof Deno.errors.NotCapable
    ? "not permitted by the permissions this process runs with"
    : error instanceof Deno.errors.IsADirectory
    ? "is a directory"
    : error instanceof Deno.errors.NotADirectory
    ? "not a directory"
    : error instanceof Deno.errors.AlreadyExists
    ? "file exists"
    : error instanceof Error
    ? error.message.replace(/ \(os error \d+\).*$/s, "").toLowerCase()
    : String(error);
  return `${operation} ${path}: ${reason}`;
}

/** A {@linkcode CommandError} in a tool's name, from whatever was thrown by the operating system. */
export function osError(
  tool: string,
  error: unknown,
  operation: string,
  path: string,
): CommandError {
  return error instanceof CommandError
    ? error
    : new CommandError(`${tool}: ${osErrorText(error, operation, path)}`, {
      cause: error,
    });
}
