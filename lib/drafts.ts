/**
 * What the store keeps of a tool call: messages with secrets taken out and sizes bounded, and what they say about the
 * session as a whole. Pure.
 *
 * @module
 */
import { clipChars, clipHead, clipTail } from "./clip.ts";
import type { RecordLevel } from "./config.ts";
import type { CallEnd, CallStart } from "./hooks.ts";
import type { ContentBlock, JsonObject } from "./mcp.ts";
import { redact, redactJson } from "./redact.ts";
import { type Fact, factOf, saidFact } from "./title.ts";

/** UTF-16 units kept of what `read` and `grep` gave: it is still in the files. */
export const EXCERPT_CHARS = 4_096;

/** UTF-16 units kept of any other output. */
export const OUTPUT_CHARS = 262_144;

/** UTF-16 units kept of one string among the arguments. */
export const ARGUMENT_CHARS = 65_536;

/** UTF-16 units kept of one string among the arguments when only calls are recorded. */
export const CALL_ARGUMENT_CHARS = 200;

/** UTF-16 units of a message that are searched; what is longer is kept whole beside it. */
export const SEARCHED_CHARS = 16_384;

/** Tools whose answers are kept as an excerpt and a hash. */
export const EXCERPT_TOOLS: ReadonlySet<string> = new Set(["read", "grep"]);

/** A message ready to be stored. */
export interface MessageDraft {
  /** What it is. */
  kind: "text" | "image" | "tool_use" | "tool_result";
  /** Who speaks. */
  role: "user" | "assistant" | "system";
  /** The tool, for a call, its result, and a picture in it. */
  tool: string | undefined;
  /** Ties a result to its call. */
  callId: string | undefined;
  /** What is searched: at most {@linkcode SEARCHED_CHARS}. */
  text: string;
  /** The whole text, when `text` is only a part of it. */
  body: string | undefined;
  /** The arguments of a call, what was decided on it with its result, or the media type of a picture, as JSON. */
  json: string | undefined;
  /** Whether the call failed. */
  isError: boolean;
  /** UTF-8 bytes of the whole as it was. */
  bytes: number;
  /** The whole as it was, when only a part is kept: its SHA-256 is stored. */
  hashed: string | undefined;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Milliseconds that the call took, for a `tool_result`. */
  duration: number | undefined;
  /** What it says about the session. */
  fact: Fact | undefined;
}

/** The message for a call that begins. Files below one of `roots` are named from there in the session's title. */
export function useDraft(
  call: CallStart,
  level: RecordLevel,
  roots: readonly string[],
): MessageDraft {
  const redacted = redactJson(call.arguments) as JsonObject;
  const { kept, json } = boundedArguments(redacted, level);
  // What is asked of the sessions themselves would otherwise be the best match of every later search for it.
  const text = isSessionTool(call.tool) ? "" : strings(kept).join("\n");
  return {
    kind: "tool_use",
    role: "assistant",
    tool: call.tool,
    callId: call.callId,
    ...searched(text),
    body: undefined,
    json,
    isError: false,
    bytes: byteLength(JSON.stringify(redacted)),
    hashed: undefined,
    createdAt: call.startedAt,
    duration: undefined,
    fact: factOf(call.tool, kept, roots),
  };
}

/** The messages for a call that ended: its result, and a line for each picture in it. */
export function resultDrafts(
  call: CallEnd,
  level: RecordLevel,
): MessageDraft[] {
  const blocks = call.result?.content ?? [];
  const whole = call.result
    ? blocks.map(blockText).filter(isSome).join("\n")
    : "(cancelled)";
  const redacted = redact(whole);
  const isPart = call.result !== undefined &&
    (level === "calls" || EXCERPT_TOOLS.has(call.tool) ||
      isSessionTool(call.tool) || redacted.length > OUTPUT_CHARS);
  const limit = level === "calls" || isSessionTool(call.tool)
    ? 0
    : EXCERPT_TOOLS.has(call.tool)
    ? EXCERPT_CHARS
    : OUTPUT_CHARS;
  const kept = call.result
    ? headAndTail(redacted, limit, limit > EXCERPT_CHARS)
    : redacted;
  const result: MessageDraft = {
    kind: "tool_result",
    role: "user",
    tool: call.tool,
    callId: call.callId,
    ...searched(kept),
    json: call.decided && JSON.stringify(redactJson(call.decided)),
    isError: call.result === undefined || call.result.isError === true,
    bytes: byteLength(whole),
    hashed: isPart && kept.length < redacted.length ? whole : undefined,
    createdAt: call.endedAt,
    duration: Math.max(0, call.endedAt - call.startedAt),
    fact: undefined,
  };
  const pictures = blocks.flatMap((block) =>
    block.type === "image" || block.type === "audio" ? [block] : []
  ).map((block): MessageDraft => ({
    kind: "image",
    role: "user",
    tool: call.tool,
    callId: call.callId,
    text: "",
    body: undefined,
    json: JSON.stringify({ media_type: block.mimeType }),
    isError: false,
    bytes: Math.floor(block.data.length * 3 / 4),
    hashed: block.data,
    createdAt: call.endedAt,
    duration: undefined,
    fact: undefined,
  }));
  return [result, ...pictures];
}

/** A message that comes from elsewhere, and how it is made one of ours. */
export interface ForeignMessage {
  /** What it is. */
  kind: "text" | "tool_use" | "tool_result";
  /** Who speaks. */
  role: "user" | "assistant" | "system";
  /** The tool. */
  tool?: string | undefined;
  /** Ties a result to its call. */
  callId?: string | undefined;
  /** The arguments of a call. */
  input?: JsonObject;
  /** What was said or answered; not used for a call. */
  text: string;
  /** Whether the call failed. */
  isError?: boolean;
  /** Milliseconds since 1970. */
  at: number;
  /** Whether its first words may become the session's title. */
  title?: boolean;
}

/** The draft for a message of an imported conversation, redacted and bounded as a recorded one. */
export function textDraft(message: ForeignMessage): MessageDraft {
  const { kind, role, tool, callId, at } = message;
  const args = message.input &&
    boundedArguments(redactJson(message.input) as JsonObject, "full");
  const whole = message.text.toWellFormed();
  const kept = args
    ? strings(args.kept).join("\n")
    : headAndTail(redact(whole), OUTPUT_CHARS, true);
  return {
    kind,
    role,
    tool,
    callId,
    ...searched(kept),
    ...(args ? { body: undefined } : {}),
    json: args?.json,
    isError: message.isError ?? false,
    bytes: byteLength(args ? args.json : whole),
    hashed: undefined,
    createdAt: at,
    duration: undefined,
    fact: message.title ? saidFact(redact(whole)) : undefined,
  };
}

/** The size of `text` in UTF-8. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // A surrogate pair is four bytes: two for each half. A lone half is written as U+FFFD, three.
    bytes += code < 0x800 || isPaired(text, i, code) ? 1 : 2;
  }
  return bytes;
}

/** Arguments whose strings, and which as a whole, are within their limits. */
function boundedArguments(
  args: JsonObject,
  level: RecordLevel,
): { kept: JsonObject; json: string } {
  const limits = level === "calls"
    ? [CALL_ARGUMENT_CHARS]
    : [ARGUMENT_CHARS, 4_096, CALL_ARGUMENT_CHARS];
  for (const limit of limits) {
    const kept = clipStrings(args, limit) as JsonObject;
    const json = JSON.stringify(kept);
    if (json.length <= OUTPUT_CHARS) return { kept, json };
  }
  const kept = { "…": `${Object.keys(args).length} arguments, not kept` };
  return { kept, json: JSON.stringify(kept) };
}

/** True for the tools that read the store itself. */
function isSessionTool(tool: string): boolean {
  return tool.startsWith("rousseau_");
}

/** `text` as it is searched, and the whole when that is more. */
function searched(text: string): { text: string; body: string | undefined } {
  return text.length <= SEARCHED_CHARS
    ? { text, body: undefined }
    : { text: headAndTail(text, SEARCHED_CHARS, true), body: text };
}

/** `text` within `max` units: its beginning, and with `isTailWanted` also its end, which holds most errors. */
function headAndTail(
  text: string,
  max: number,
  isTailWanted: boolean,
): string {
  if (text.length <= max) return text;
  if (max === 0) return "";
  if (!isTailWanted) return headOf(text, max);
  const gap = "\n[…]\n";
  const head = headOf(text, Math.floor(max * 3 / 4));
  const room = max - head.length - gap.length;
  const tail = clipTail(text, room).text;
  return head + gap + (tail.length < room / 2 ? text.slice(-room) : tail)
    .toWellFormed();
}

/** The first whole lines, unless a long line would make that too little. */
function headOf(text: string, max: number): string {
  const head = clipHead(text, max).text;
  return head.length < max / 2 ? clipChars(text, max) : head;
}

function blockText(block: ContentBlock): string | undefined {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource":
      return block.resource.text ?? `(${block.resource.uri})`;
    case "resource_link":
      return `(${block.uri})`;
    case "image":
    case "audio":
      return undefined;
  }
}

function isSome(text: string | undefined): text is string {
  return text !== undefined;
}

/** A JSON value with long strings cut, saying how much is gone. */
function clipStrings(value: unknown, max: number): unknown {
  if (typeof value === "string") {
    return value.length <= max
      ? value
      : `${clipChars(value, max)}… [${value.length - max} more characters]`;
  }
  if (Array.isArray(value)) return value.map((item) => clipStrings(item, max));
  if (typeof value !== "object" || value === null) return value;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, clipStrings(item, max)]),
  );
}

/** Every string and number inside a JSON value, in order. */
function strings(value: unknown): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(strings);
}

function isPaired(text: string, at: number, code: number): boolean {
  if (code >= 0xd800 && code <= 0xdbff) {
    const next = text.charCodeAt(at + 1);
    return next >= 0xdc00 && next <= 0xdfff;
  }
  if (code >= 0xdc00 && code <= 0xdfff) {
    const before = text.charCodeAt(at - 1);
    return before >= 0xd800 && before <= 0xdbff;
  }
  return false;
}
