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

/** UTF-16 units of a session's title. */
export const TITLE_CHARS = 80;

/** How many files and commands a session's title is made from. */
export const TITLE_FACTS = 4;

/** Tools whose answers are kept as an excerpt and a hash. */
export const EXCERPT_TOOLS: ReadonlySet<string> = new Set(["read", "grep"]);

/** A message ready to be stored. */
export interface MessageDraft {
  kind: "text" | "image" | "tool_use" | "tool_result";
  role: "user" | "assistant" | "system";
  tool: string | undefined;
  callId: string | undefined;
  /** What is searched: at most {@linkcode SEARCHED_CHARS}. */
  text: string;
  /** The whole text, when `text` is only a part of it. */
  body: string | undefined;
  json: string | undefined;
  isError: boolean;
  /** UTF-8 bytes of the whole as it was. */
  bytes: number;
  /** The whole as it was, when only a part is kept: its SHA-256 is stored. */
  hashed: string | undefined;
  createdAt: number;
  /** What it says about the session. */
  fact: Fact | undefined;
}

/** Something that was done, for the session's title. */
export interface Fact {
  kind: "edit" | "bash" | "grep" | "read" | "tool";
  what: string;
}

/** Facts by kind: the first {@linkcode TITLE_FACTS} of each, and whether there were more. */
export type Facts = {
  [K in Fact["kind"]]?: { first: string[]; more: boolean };
};

/** The message for a call that begins. Files below one of `roots` are named from there in the session's title. */
export function useDraft(
  call: CallStart,
  level: RecordLevel,
  roots: readonly string[],
): MessageDraft {
  const limit = level === "calls" ? CALL_ARGUMENT_CHARS : ARGUMENT_CHARS;
  const kept = clipStrings(redactJson(call.arguments), limit) as JsonObject;
  const json = JSON.stringify(kept);
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
    bytes: byteLength(json),
    hashed: undefined,
    createdAt: call.startedAt,
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
    json: undefined,
    isError: call.result === undefined || call.result.isError === true,
    bytes: byteLength(whole),
    hashed: isPart && kept.length < redacted.length ? whole : undefined,
    createdAt: call.endedAt,
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
    fact: undefined,
  }));
  return [result, ...pictures];
}

/** Adds `fact` to what is known of a session. */
export function addFact(facts: Facts, fact: Fact): void {
  const known = facts[fact.kind] ??= { first: [], more: false };
  if (known.first.includes(fact.what)) return;
  if (known.first.length < TITLE_FACTS) known.first.push(fact.what);
  else known.more = true;
}

/** A title made from what was done: `edit lib/a.ts, lib/b.ts; bash: deno test`. */
export function titleOf(facts: Facts): string {
  const parts: string[] = [];
  if (facts.edit) parts.push(`edit ${listed(facts.edit, ", ")}`);
  if (facts.bash) parts.push(`bash: ${listed(facts.bash, " · ")}`);
  if (facts.grep && parts.length < 2) {
    parts.push(`grep ${listed(facts.grep, ", ")}`);
  }
  if (facts.read && parts.length < 2) {
    parts.push(`read ${listed(facts.read, ", ")}`);
  }
  if (facts.tool && parts.length === 0) parts.push(listed(facts.tool, ", "));
  const title = parts.join("; ");
  return title.length <= TITLE_CHARS
    ? title
    : `${clipChars(title, TITLE_CHARS - 1)}…`;
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
  if (!isTailWanted) return clipHead(text, max).text;
  const gap = "\n[…]\n";
  const head = clipHead(text, Math.floor(max * 3 / 4)).text;
  const tail = clipTail(text, max - head.length - gap.length).text;
  return head + gap + tail;
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

function factOf(
  tool: string,
  args: JsonObject,
  roots: readonly string[],
): Fact | undefined {
  const text = (name: string) => {
    const value = args[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  switch (tool) {
    case "write":
    case "edit":
      return fact("edit", fromRoot(text("path"), roots), 60);
    case "read":
      return fact("read", fromRoot(text("path"), roots), 60);
    case "grep":
      return fact("grep", text("pattern"), 30);
    case "bash":
      return fact("bash", text("command"), 40);
    default:
      return isSessionTool(tool) || tool.startsWith("bash_")
        ? undefined
        : { kind: "tool", what: clipChars(tool, 40) };
  }
}

/** A path without the root that it lies in. */
function fromRoot(
  path: string | undefined,
  roots: readonly string[],
): string | undefined {
  const root = roots.find((root) =>
    path?.startsWith(root) && /[/\\]/.test(path[root.length] ?? "")
  );
  return root === undefined ? path : path?.slice(root.length + 1);
}

/** A fact on one line; of a long path the end is what tells, of anything else the beginning. */
function fact(
  kind: Fact["kind"],
  what: string | undefined,
  max: number,
): Fact | undefined {
  const line = what?.trim().split("\n", 1)[0]?.trim();
  if (!line) return undefined;
  if (line.length <= max) return { kind, what: line };
  return {
    kind,
    what: kind === "edit" || kind === "read"
      ? `…${clipTail(line, max - 1).text}`
      : `${clipChars(line, max - 1)}…`,
  };
}

function listed(
  facts: { first: string[]; more: boolean },
  separator: string,
): string {
  return facts.first.join(separator) + (facts.more ? `${separator}…` : "");
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
