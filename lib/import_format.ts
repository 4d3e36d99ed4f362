/**
 * What an importer of conversations is: records of a foreign format in, messages out. One module a format.
 *
 * @module
 */
import { type MessageDraft, textDraft } from "./drafts.ts";
import type { Platform } from "./platform.ts";

/** What is known of a conversation by now; a parser fills it in as it reads. */
export interface Conversation {
  /** The format's own id of it. */
  id: string | undefined;
  /** The title that its program gave it. */
  title: string | undefined;
  /** The folder in which it took place. */
  cwd: string | undefined;
  /** The version of the program. */
  clientVersion: string | undefined;
  /** Names of the tools of calls that have begun, by call id: results do not repeat them. */
  tools: Map<string, string>;
  /** The time of the record, in milliseconds since 1970; the last one that was told. */
  time: number;
}

/** A format of one conversation a file, one JSON record a line. */
export interface ImportFormat {
  /** On the command line, and as the source of a session. */
  name: string;
  /** The program that writes it. */
  title: string;
  /** Folders in which its files lie, below which they end in `.jsonl`. */
  folders(platform: Platform): string[];
  /** Messages of one record; none for kinds that are not known. Fills in `conversation`. */
  parse(
    record: Record<string, unknown>,
    conversation: Conversation,
  ): MessageDraft[];
}

/** A JSON object, or undefined. */
export function object(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : undefined;
}

/** A string that is not empty, or undefined. */
export function string(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A list, or an empty one. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Takes over the record's own time. */
export function noteTime(value: unknown, conversation: Conversation): void {
  const time = typeof value === "string" ? Date.parse(value) : NaN;
  if (Number.isFinite(time) && time > 0) conversation.time = time;
}

/** What someone said; the first words of a person become the title. */
export function said(
  role: "user" | "assistant" | "system",
  text: string | undefined,
  conversation: Conversation,
): MessageDraft[] {
  if (text === undefined || text.trim() === "") return [];
  return [textDraft({
    kind: "text",
    role,
    text,
    at: conversation.time,
    // What a host puts in front of the person's words comes as tags.
    title: role === "user" && !text.trimStart().startsWith("<"),
  })];
}

/** A call. */
export function called(
  call: { id: string | undefined; tool: string; input: unknown },
  conversation: Conversation,
): MessageDraft[] {
  if (call.id !== undefined) conversation.tools.set(call.id, call.tool);
  return [textDraft({
    kind: "tool_use",
    role: "assistant",
    tool: call.tool,
    callId: call.id,
    input: object(call.input) ?? { input: call.input ?? null },
    text: "",
    at: conversation.time,
  })];
}

/** What a call gave. */
export function returned(
  result: { id: string | undefined; output: string; isError: boolean },
  conversation: Conversation,
): MessageDraft[] {
  const tool = result.id === undefined
    ? undefined
    : conversation.tools.get(result.id);
  if (result.id !== undefined) conversation.tools.delete(result.id);
  return [textDraft({
    kind: "tool_result",
    role: "user",
    tool,
    callId: result.id,
    text: result.output,
    isError: result.isError,
    at: conversation.time,
  })];
}
