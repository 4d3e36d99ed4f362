/**
 * What a recorded session and its messages are.
 *
 * @module
 */

/** A session without its messages. Times are milliseconds since 1970. */
export interface SessionInfo {
  /** A UUID. */
  id: string;
  /** Made from what was done. */
  title: string;
  /** Name and version of the host's program, when it told. */
  client: { name: string | undefined; version: string | undefined };
  /** The protocol revision of its first call. */
  protocol: string | undefined;
  /** The working directory of the process that recorded its first call. */
  cwd: string | undefined;
  /** Real paths of the roots of every process that recorded into it. */
  roots: string[];
  /** When its first call began. */
  createdAt: number;
  /** When its last call ended. */
  updatedAt: number;
  /** How many messages it has. */
  messageCount: number;
  /** UTF-8 bytes of its messages in the Markdown transcript. */
  bytes: number;
}

/** What one message is, in the words of the stored payload. */
export type MessageKind = "text" | "image" | "tool_use" | "tool_result";

/** Who speaks. A tool's result is the user's, as in the model's own conversation. */
export type Role = "user" | "assistant" | "system";

/** One recorded message. */
export interface Message {
  /** Position within its session, from 0. */
  seq: number;
  /** What it is. */
  kind: MessageKind;
  /** Who speaks. */
  role: Role;
  /** The tool, for `tool_use` and `tool_result`. */
  tool: string | undefined;
  /** Ties a result to its call. */
  callId: string | undefined;
  /** What was said or answered; for `tool_use` the argument values, one a line. */
  text: string;
  /** The arguments of a `tool_use`, what was decided on it in its `tool_result`, or `{"media_type"}` of an `image`, as JSON. */
  json: string | undefined;
  /** Whether the call failed. */
  isError: boolean;
  /** UTF-8 bytes of the whole, of which `text` may hold only a part. */
  bytes: number;
  /** SHA-256 of the whole, in hex, when only a part was kept. */
  hash: string | undefined;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** One session that a search found. */
export interface SearchHit {
  /** The session. */
  session: SessionInfo;
  /** The lower, the better. */
  rank: number;
  /** The words around the match, on one line. */
  snippet: string;
  /** Where in the snippet the words are that matched: start and end of each, in UTF-16 units. */
  matches: readonly (readonly [number, number])[];
  /** The message that matched best; undefined when the title did. */
  seq: number | undefined;
}
