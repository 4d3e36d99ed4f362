/**
 * Conversations of Claude Code: `~/.claude/projects/<project>/<session>.jsonl`, as written by its versions 1 and 2.
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
export const claudeCode: ImportFormat = {
  name: "claude-code",
  title: "Claude Code",
  folders(platform) {
    const base = platform.env("CLAUDE_CONFIG_DIR") ??
      (platform.home && pathsOf(platform.os).join(platform.home, ".claude"));
    return base ? [pathsOf(platform.os).join(base, "projects")] : [];
  },
  parse(record, conversation) {
    if (record.type === "summary") {
      conversation.title = string(record.summary) ?? conversation.title;
      return [];
    }
    if (record.type !== "user" && record.type !== "assistant") return [];
    conversation.id ??= string(record.sessionId);
    conversation.cwd ??= string(record.cwd);
    conversation.clientVersion ??= string(record.version);
    noteTime(record.timestamp, conversation);
    // What the program tells the model by itself, such as the output of its own commands.
    if (record.isMeta === true) return [];
    const message = object(record.message);
    const role = record.type;
    if (typeof message?.content === "string") {
      return said(role, message.content, conversation);
    }
    return list(message?.content).flatMap((part) =>
      partDrafts(object(part) ?? {}, role, conversation)
    );
  },
};

function partDrafts(
  part: Record<string, unknown>,
  role: "user" | "assistant",
  conversation: Conversation,
): MessageDraft[] {
  switch (part.type) {
    case "text":
      return said(role, string(part.text), conversation);
    case "tool_use":
      return called({
        id: string(part.id),
        tool: string(part.name) ?? "unknown",
        input: part.input,
      }, conversation);
    case "tool_result":
      return returned({
        id: string(part.tool_use_id),
        output: contentText(part.content),
        isError: part.is_error === true,
      }, conversation);
    default: // thinking, images, and what later versions add
      return [];
  }
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content).flatMap((part) => string(object(part)?.text) ?? [])
    .join("\n");
}
