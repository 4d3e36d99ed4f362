/**
 * `rousseau sessions …`: recorded sessions from a shell.
 *
 * @module
 */
import { type AnyCommand, command, CommandError } from "./command.ts";
import type { SessionInfo } from "./recorded.ts";
import { DEFAULT_LIMIT, sessionNamed, storeOf } from "./session_tools.ts";
import { sessionsImport } from "./sessions_import.ts";
import {
  confirmDeletion,
  sessionsExport,
  sessionsPrune,
  sessionsRecover,
  sessionsStats,
} from "./sessions_upkeep.ts";
import type { SessionStore } from "./store.ts";
import { styleOf } from "./style.ts";
import type { ToolContext } from "./tool.ts";
import {
  isoTime,
  oneLine,
  payload,
  plainHead,
  plainMessage,
  titleText,
} from "./transcript.ts";

/** Characters of an id that a list shows; more are accepted everywhere. */
export const SHORT_ID_CHARS = 8;

/** Columns of the title in a list of hits. */
export const TITLE_COLUMNS = 40;

/** Sessions read at a time when all are listed. */
export const LIST_PAGE = 500;

const json = {
  type: "boolean",
  default: false,
  description: "Print JSON.",
} as const;

const limit = {
  type: "integer",
  minimum: 0,
  default: DEFAULT_LIMIT,
  description: "How many at most; 0 for all.",
} as const;

const id = {
  type: "string",
  description: "A session's id, or the beginning of one.",
} as const;

const sessionsList = command({
  name: "list",
  summary: "List recorded sessions, the last changed first",
  input: {
    type: "object",
    properties: { limit, json },
    additionalProperties: false,
  },
  async run({ limit, json }, ctx: ToolContext) {
    const sessions = await listed(storeOf(ctx), limit);
    if (json) return toJson(sessions.map(sessionJson));
    if (sessions.length === 0) return "(no sessions)";
    const { bold, dim } = styleOf(ctx);
    return sessions.map((session) =>
      `${bold(shortId(session))}  ${
        String(session.messageCount).padStart(5)
      }  ${dim(isoTime(session.updatedAt))}  ${oneLine(titleText(session))}`
    ).join("\n");
  },
});

const sessionsShow = command({
  name: "show",
  summary: "Show a recorded session",
  input: {
    type: "object",
    properties: { id, json },
    required: ["id"],
    additionalProperties: false,
  },
  positionals: ["id"],
  async run({ id, json }, ctx: ToolContext) {
    const store = storeOf(ctx);
    const session = await sessionNamed(store, id);
    const text = await store.read(
      session.id,
      0,
      (session, messages) =>
        json
          ? toJson(payload(session, messages, Infinity))
          : shown(session, messages),
    );
    if (text === undefined) throw new CommandError("state: session not found");
    return text;
  },
});

const sessionsSearch = command({
  name: "search",
  summary: "Search recorded sessions",
  description:
    "Full-text search over what was asked, run and answered. Words must all occur; phrases in double quotes, AND, OR, NOT and prefix* as in SQLite's FTS5.",
  input: {
    type: "object",
    properties: {
      query: {
        type: "array",
        items: { type: "string" },
        minItems: 1,
        description: "What to look for.",
      },
      limit,
      json,
    },
    required: ["query"],
    additionalProperties: false,
  },
  positionals: ["query"],
  examples: ["rousseau sessions search 'connection refused'"],
  async run({ query, limit, json }, ctx: ToolContext) {
    const hits = await storeOf(ctx).search(
      query.join(" "),
      limit === 0 ? LIST_PAGE : limit,
    );
    if (json) {
      return toJson(hits.map(({ session, rank, snippet, matches, seq }) => ({
        ...sessionJson(session),
        rank,
        snippet,
        matches,
        ...(seq === undefined ? {} : { message: seq }),
      })));
    }
    if (hits.length === 0) return "(no matches)";
    const { bold, dim, hit } = styleOf(ctx);
    return hits.map(({ session, rank, snippet, matches, seq }) =>
      `${bold(shortId(session))}  ${
        oneLine(titleText(session)).slice(0, TITLE_COLUMNS).trimEnd()
      }\n          ${dim(`rank=${rank.toFixed(2)}`)}  ${
        seq === undefined ? dim("title: ") : ""
      }${highlighted(snippet, matches, hit)}`
    ).join("\n");
  },
});

const sessionsDelete = command({
  name: "delete",
  summary: "Delete a recorded session, or all that are visible",
  input: {
    type: "object",
    properties: {
      id,
      all: {
        type: "boolean",
        default: false,
        description: "Delete every visible session.",
      },
      yes: { type: "boolean", default: false, description: "Do not ask." },
      json,
    },
    additionalProperties: false,
  },
  positionals: ["id"],
  options: { yes: { short: "y" } },
  async run({ id, all, yes, json }, ctx: ToolContext) {
    if (all === (id !== undefined)) {
      throw new CommandError("give a session's id, or --all");
    }
    const store = storeOf(ctx);
    const found = id === undefined ? undefined : await sessionNamed(store, id);
    if (!yes) {
      await confirmDeletion(
        ctx,
        found === undefined
          ? "Delete all sessions of this project, or all that --sessions shows?"
          : `Delete session ${shortId(found)}, ${oneLine(titleText(found))}?`,
      );
    }
    const count = await store.delete(found?.id);
    if (json) return toJson({ deleted: count });
    return all ? `deleted ${count} sessions` : "";
  },
});

/** `sessions`, with its subcommands. Handlers take a {@linkcode ToolContext}. */
export const sessionsCommand: AnyCommand = command({
  name: "sessions",
  summary: "List, show, search, export and delete recorded sessions",
  aliases: ["session"],
  commands: [
    sessionsList,
    sessionsShow,
    sessionsSearch,
    sessionsExport,
    sessionsImport,
    sessionsStats,
    sessionsDelete,
    sessionsPrune,
    sessionsRecover,
  ],
});

async function listed(
  store: SessionStore,
  limit: number,
): Promise<SessionInfo[]> {
  const all: SessionInfo[] = [];
  let cursor: string | undefined;
  do {
    const left = limit === 0 ? LIST_PAGE : limit - all.length;
    const page = await store.list({ limit: Math.min(left, LIST_PAGE), cursor });
    all.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined && (limit === 0 || all.length < limit));
  return all;
}

function shown(
  session: SessionInfo,
  messages: Iterable<Parameters<typeof plainMessage>[0]>,
): string {
  let out = `${plainHead(session)}\n`;
  for (const message of messages) out += plainMessage(message, Infinity);
  return out.trimEnd();
}

function sessionJson(session: SessionInfo): Record<string, unknown> {
  const { id, title, client, roots, messageCount, bytes } = session;
  return {
    id,
    title,
    client,
    roots,
    messages: messageCount,
    bytes,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
  };
}

function highlighted(
  text: string,
  matches: readonly (readonly [number, number])[],
  hit: (text: string) => string,
): string {
  let out = "";
  let done = 0;
  for (const [start, end] of matches) {
    out += text.slice(done, start) + hit(text.slice(start, end));
    done = end;
  }
  return out + text.slice(done);
}

function shortId(session: SessionInfo): string {
  return session.id.slice(0, SHORT_ID_CHARS);
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
