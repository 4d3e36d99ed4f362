/**
 * The store of recorded sessions: what tools, resources and the command line ask of it, and how a process opens it.
 *
 * @module
 */
import type { Config } from "./config.ts";
import type { CallObserver, Page } from "./hooks.ts";
import type { Logger } from "./log.ts";
import type { Platform } from "./platform.ts";

/** A session without its messages. Times are milliseconds since 1970. */
export interface SessionInfo {
  id: string;
  title: string;
  /** Name and version of the host's program, when it told. */
  client: { name: string | undefined; version: string | undefined };
  /** The protocol revision of its first call. */
  protocol: string | undefined;
  /** The working directory of the process that recorded its first call. */
  cwd: string | undefined;
  roots: string[];
  createdAt: number;
  updatedAt: number;
  messageCount: number;
  /** Bytes of text that the session holds, about the size of its transcript. */
  bytes: number;
}

/** What one message is, in the words of the stored payload. */
export type MessageKind = "text" | "image" | "tool_use" | "tool_result";

/** One recorded message. */
export interface Message {
  /** Position within its session, from 0. */
  seq: number;
  kind: MessageKind;
  role: "user" | "assistant" | "system";
  /** The tool, for `tool_use` and `tool_result`. */
  tool: string | undefined;
  /** Ties a result to its call. */
  callId: string | undefined;
  /** What was said, given or answered: for `tool_use` the argument values, for `tool_result` the output. */
  text: string;
  /** The arguments of a `tool_use` as JSON; the media type of an `image`. */
  json: string | undefined;
  isError: boolean;
  /** Bytes of the whole, of which `text` may hold only a part. */
  bytes: number;
  /** SHA-256 of the whole, in hex, when only a part was kept. */
  hash: string | undefined;
  createdAt: number;
}

/** One session that a search found. A better hit has a lower rank. */
export interface SearchHit {
  session: SessionInfo;
  rank: number;
  snippet: string;
  /** The message that matched best; undefined when the title did. */
  seq: number | undefined;
}

/** How the store is, for `doctor`. */
export interface StoreStatus {
  /** `unopened` until something is recorded or asked for. */
  state: "unopened" | "open" | "read-only" | "unavailable" | "off";
  /** The database file, or `:memory:`. */
  path: string;
  /** What is wrong and what to do, when something is. */
  reason: string | undefined;
}

/** Everything a process does with recorded sessions. Made once by {@linkcode openSessions}; opens its file at first use. */
export interface SessionStore {
  /** Records calls. Attach it to the server; it never throws and never waits. */
  readonly observer: CallObserver;
  /** Ids of the sessions that this process has recorded into. */
  readonly own: ReadonlySet<string>;
  /**
   * Visible sessions, the last changed first, after `cursor`.
   *
   * @throws {RpcError} -32602 for a cursor that was not made here.
   * @throws {CommandError} when the store cannot be read; the text says why.
   */
  list(
    options: { limit: number; cursor?: string; except?: ReadonlySet<string> },
  ): Promise<Page<SessionInfo>>;
  /** A visible session by its full id, or undefined. */
  find(id: string): Promise<SessionInfo | undefined>;
  /** Visible sessions whose id begins with `prefix`, at most `limit`. */
  withPrefix(prefix: string, limit: number): Promise<SessionInfo[]>;
  /** The messages of a session from `from` on, at most `limit`. */
  messages(
    id: string,
    options?: { from?: number; limit?: number },
  ): Promise<Message[]>;
  /**
   * The visible sessions that match best.
   *
   * @throws {CommandError} when `query` is not FTS5 and cannot be read as plain words either.
   */
  search(query: string, limit: number): Promise<SearchHit[]>;
  /** Commits what is queued. Waits at most `wait` milliseconds (default 100) for another process's lock. */
  flush(options?: { wait?: number }): Promise<void>;
  /** How the store is. Opens it when `open` is set. */
  status(options?: { open?: boolean }): Promise<StoreStatus>;
  /** Commits and closes. The store cannot be used afterwards. */
  close(): Promise<void>;
}

/** What a store needs of the world. */
export interface SessionsOptions {
  platform: Platform;
  config: Config;
  logger: Logger;
  /** Real paths of this process's roots, asked at each use. */
  roots: () => readonly string[];
  /** The clock, in milliseconds since 1970; default `Date.now`. */
  now?: () => number;
}

/** The store of this process. Never throws and touches nothing yet: the file is opened at first use. */
export function openSessions(_options: SessionsOptions): SessionStore {
  throw new Error("not yet");
}
