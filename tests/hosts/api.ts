/**
 * What the model APIs of the hosts have in common, as the scripted model sees them.
 *
 * @module
 */
import type { JsonObject } from "../../lib/mcp.ts";

/** A tool's call, under the tool's own name. */
export interface Call {
  tool: string;
  args: JsonObject;
}

/** Yields the model's calls, receives what the host shows the model of each, and ends with the last word. */
export type Script = Generator<Call, string, string>;

/** A tool as a host offers it: its full name, and the namespace where the host's API has those. */
export interface OfferedTool {
  name: string;
  namespace?: string | undefined;
  /** Takes plain text, the argument `input`, in place of JSON. */
  plain?: boolean;
}

/** What a request of the host says. */
export interface Conversation {
  tools: OfferedTool[];
  /** What the model is shown of each call made so far. */
  results: string[];
}

/** What the model says next. */
export type Turn =
  | { id: string; tool: OfferedTool; args: JsonObject }
  | { say: string };

/** A model API. */
export interface Api {
  /** Whether a request is one for words. */
  serves(path: string): boolean;
  /** What the request says. `id` of a call is `callId(n)`. */
  // deno-lint-ignore no-explicit-any
  read(body: any): Conversation;
  /** The answer, streamed where the request asks for that. */
  // deno-lint-ignore no-explicit-any
  write(turn: Turn, body: any, path: string): Response;
}

/** Id of the `n`th call, from 0, where the API has such. */
export function callId(n: number): string {
  return `${CALL_PREFIX}${n}`;
}

/** What the ids of the model's calls begin with. */
export const CALL_PREFIX = "toolu_scripted";

/** Events as a host's client reads them. `name` is the event's name where the API has those. */
export function eventStream(
  events: readonly { name?: string; data: unknown }[],
): Response {
  const text = events.map(({ name, data }) =>
    `${name === undefined ? "" : `event: ${name}\n`}data: ${
      typeof data === "string" ? data : JSON.stringify(data)
    }\n\n`
  ).join("");
  return new Response(text, {
    headers: { "content-type": "text/event-stream" },
  });
}

/** The text of a list of content parts, or of a plain string. */
export function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? "");
  return content.map((part) =>
    typeof part?.text === "string" ? part.text : JSON.stringify(part)
  ).join("\n");
}
