/**
 * What the built-in tools share: their context, and the shape and budget of their answers.
 *
 * @module
 */
import { clipChars, clipTail } from "./clip.ts";
import { CommandError, noteBlock } from "./command.ts";
import type { CommandContext, CommandOutput } from "./command.ts";
import type { Config } from "./config.ts";
import { bytesPerChar } from "./hosts.ts";
import type { Logger } from "./log.ts";
import type { ContentBlock, JsonObject, ResourceLink } from "./mcp.ts";
import type { Platform } from "./platform.ts";
import { errorCode, reasonOf } from "./reason.ts";
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
  /** Decides on every path. */
  scope: Scope;
  /** Real paths of the process's roots, before a client narrowed them. */
  roots?: readonly string[];
  /** What the operator set. */
  config: Config;
  /** The operating system. */
  platform: Platform;
  /** The operator's log. */
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

/**
 * An answer: block 1 is `text` verbatim; notes, when there are any, are a second block; links follow; `meta` is for
 * programs.
 */
export function answer(
  text: string | ContentBlock,
  extra: {
    notes?: readonly string[];
    links?: readonly ResourceLink[];
    meta?: JsonObject;
    isError?: boolean;
    exitCode?: number;
  } = {},
): Exclude<CommandOutput, string | ContentBlock[]> {
  const note = noteBlock(extra.notes ?? []);
  const first: ContentBlock = typeof text === "string"
    ? { type: "text", text }
    : text;
  return {
    content: [first, ...(note ? [note] : []), ...(extra.links ?? [])],
    ...(extra.isError ? { isError: true } : {}),
    ...(extra.meta ? { meta: { [RESULT_META]: extra.meta } } : {}),
    ...(extra.exitCode === undefined ? {} : { exitCode: extra.exitCode }),
  };
}

/**
 * Characters that an answer may have. A caller who gives a `limit` has said how much is wanted, and gets it up to
 * {@linkcode MAX_ANSWER_CHARS}.
 */
export function answerBudget(
  config: Config,
  limit: number | undefined,
): number {
  return limit === undefined
    ? Math.min(config.limits.answerChars, MAX_ANSWER_CHARS)
    : MAX_ANSWER_CHARS;
}

/**
 * UTF-8 bytes that an answer of so many characters may have, so that the client hands it on whole; as many as it takes
 * where the caller gave a `limit`.
 */
export function byteBudget(
  chars: number,
  { client }: Pick<CommandContext, "client">,
  limit?: number,
): number {
  return limit === undefined
    ? Math.floor(bytesPerChar(client.name) * chars)
    : 3 * chars;
}

/**
 * A failure for the model, within {@linkcode ERROR_CHARS}: of a text that is too long the tail is kept, where the
 * reason stands; notes give way first.
 */
export function failure(
  text: string,
  extra: { notes?: readonly string[]; meta?: JsonObject; cause?: unknown } = {},
): CommandError {
  const message = clipTail(text, ERROR_CHARS).text;
  let room = ERROR_CHARS - message.length - NOTE_FRAME_CHARS;
  const notes: string[] = [];
  for (const note of extra.notes ?? []) {
    if (room <= 0) break;
    const kept = clipChars(note, room);
    notes.push(kept);
    room -= kept.length + 1;
  }
  return new CommandError(message, { ...extra, notes });
}

/**
 * What the scope or the file layer threw, in a tool's name: `read: ` before its text. A bug stays a bug.
 *
 * `prefix` is the tool's name, or more where the first seed's texts say more (`edit: read`).
 */
export function prefixed(prefix: string, error: unknown): unknown {
  return error instanceof CommandError
    ? failure(`${prefix}: ${error.message}`, {
      notes: error.notes,
      ...(error.meta ? { meta: error.meta } : {}),
      cause: error,
    })
    : error;
}

/** An operating-system error in the words of Go's standard library, as the first seed shows them. */
export function osErrorText(
  error: unknown,
  operation: string,
  path: string,
): string {
  return `${operation} ${path}: ${reasonOf(error)}`;
}

/**
 * A failure in a tool's name, from whatever the operating system or a lower layer threw. What neither threw (a
 * `TypeError`, an abort) comes back as it is.
 */
export function osError(
  tool: string,
  error: unknown,
  operation: string,
  path: string,
): unknown {
  if (error instanceof CommandError) return prefixed(tool, error);
  return isSystemError(error)
    ? failure(`${tool}: ${osErrorText(error, operation, path)}`, {
      cause: error,
    })
    : error;
}

/** A whole number with a comma between thousands, for people. */
export function grouped(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `1 line`, `2 lines`: for nouns that only take an `s`. */
export function counted(n: number, noun: string): string {
  return `${grouped(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** `[rousseau: ` and `]`, and room for a line end. */
const NOTE_FRAME_CHARS = 16;

/** Errors of the operating system are Deno's own classes, or plain errors with a code such as `ENOSPC`. */
function isSystemError(error: unknown): boolean {
  return errorCode(error) !== undefined ||
    Object.values(Deno.errors).some((kind) => error instanceof kind);
}
