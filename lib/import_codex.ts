/**
 * Conversations of Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`; since autumn 2025 each record is wrapped
 * in `{timestamp, type, payload}`, before that it was bare and the first line was the head.
 *
 * @module
 */
import type { MessageDraft } from "./drafts.ts";
import {
  called,
  type Conversation,
  type ImportFormat,
  list,
  noteTime,
  object,
  returned,
  said,
  string,
} from "./import_format.ts";
import { pathsOf } from "./paths.ts";

/** The format. */
export const codex: ImportFormat = {
  name: "codex",
  title: "Codex CLI",
  folders(platform) {
    const base = platform.env("CODEX_HOME") ??
      (platform.home && pathsOf(platform.os).join(platform.home, ".codex"));
    return base ? [pathsOf(platform.os).join(base, "sessions")] : [];
  },
  parse(record, conversation) {
    noteTime(record.timestamp, conversation);
    const payload = object(record.payload);
    if (record.type === "session_meta") {
      return noteHead(payload ?? {}, conversation);
    }
    if (record.type === "response_item") {
      return itemDrafts(payload ?? {}, conversation);
    }
    // Events repeat what the items hold.
    if (payload) return [];
    if (record.type === undefined) return noteHead(record, conversation);
    return itemDrafts(record, conversation);
  },
};

function noteHead(
  head: Record<string, unknown>,
  conversation: Conversation,
): MessageDraft[] {
  conversation.id ??= string(head.id);
  conversation.cwd ??= string(head.cwd);
  conversation.clientVersion ??= string(head.cli_version);
  noteTime(head.timestamp, conversation);
  return [];
}

function itemDrafts(
  item: Record<string, unknown>,
  conversation: Conversation,
): MessageDraft[] {
  const id = string(item.call_id) ?? string(item.id);
  switch (item.type) {
    case "message": {
      const { role } = item;
      if (role !== "user" && role !== "assistant") return [];
      const text = list(item.content)
        .flatMap((part) => string(object(part)?.text) ?? []).join("\n");
      return said(role, text, conversation);
    }
    case "function_call":
      return called({
        id,
        tool: string(item.name) ?? "unknown",
        input: parsed(item.arguments),
      }, conversation);
    case "custom_tool_call":
      return called({
        id,
        tool: string(item.name) ?? "unknown",
        input: item.input,
      }, conversation);
    case "local_shell_call":
      return called({ id, tool: "shell", input: item.action }, conversation);
    case "function_call_output":
    case "custom_tool_call_output":
      return returned({ id, ...outcome(item.output) }, conversation);
    default: // reasoning, and what later versions add
      return [];
  }
}

/** The output is a text, parts with text, or JSON text with the output and an exit code in it. */
function outcome(output: unknown): { output: string; isError: boolean } {
  const value = typeof output === "string" ? parsed(output) : output;
  const inside = object(value);
  const text = string(inside?.output) ?? string(inside?.content);
  if (text !== undefined) {
    const code = object(inside?.metadata)?.exit_code;
    return {
      output: text,
      isError: inside?.success === false ||
        (typeof code === "number" && code !== 0),
    };
  }
  if (typeof output === "string") return { output, isError: false };
  return {
    output: list(output).flatMap((part) => string(object(part)?.text) ?? [])
      .join("\n"),
    isError: false,
  };
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
