/**
 * Recorded sessions as MCP tools: list, search, read. Names, schemas and texts are those of the earlier rousseau.
 *
 * @module
 */
import { KEEPER_KEY } from "./checkpoint.ts";
import { type AnyCommand, command, CommandError } from "./command.ts";
import type { ResourceLink, ToolAnnotations } from "./mcp.ts";
import type { SearchHit, SessionInfo } from "./recorded.ts";
import { openSessions, type SessionStore } from "./store.ts";
import { answer, answerBudget, type ToolContext } from "./tool.ts";
import {
  isoTime,
  oneLine,
  plain,
  sessionUri,
  titleText,
} from "./transcript.ts";

/** Key of the {@linkcode SessionStore} in `ctx.process`. */
export const STORE_KEY = "store";

/** Rows that a list or a search gives unless asked for more. */
export const DEFAULT_LIMIT = 20;

/** Rows that a list or a search gives at most. */
export const MAX_LIMIT = 200;

/** Links to sessions in an answer at most; its text names all. */
export const MAX_LINKS = 20;

/** Sessions named when a prefix fits several. */
export const MAX_CANDIDATES = 10;

/** The store of the process that a handler runs in, made at first use: for a server, or for one command. */
export function storeOf(
  ctx: ToolContext,
  isServer: boolean = ctx.terminal === undefined,
): SessionStore {
  const { platform, config, logger, scope } = ctx;
  return ctx.process.get(
    STORE_KEY,
    () => {
      const store = openSessions({
        platform,
        config,
        logger,
        roots: () => scope.roots,
        isServer,
      });
      ctx.process.get(KEEPER_KEY, () => store.checkpoints);
      return store;
    },
  );
}

/**
 * The session that an id or an unambiguous beginning of one names.
 *
 * @throws {CommandError} when there is none, or more than one.
 */
export async function sessionNamed(
  store: SessionStore,
  id: string,
): Promise<SessionInfo> {
  const wanted = id.trim();
  if (wanted === "") throw new CommandError("id is required");
  const found = await store.withPrefix(wanted, MAX_CANDIDATES + 1);
  const [first] = found;
  if (!first) throw new CommandError("state: session not found");
  if (found.length === 1 || first.id === wanted) return first;
  const shown = found.slice(0, MAX_CANDIDATES)
    .map((session) => `${session.id}  ${oneLine(titleText(session))}`);
  if (found.length > MAX_CANDIDATES) shown.push("…");
  throw new CommandError(
    `state: several sessions begin with ${wanted}; give more of the id:\n${
      shown.join("\n")
    }`,
  );
}

/** `rousseau_list_sessions`. */
export const listSessions: AnyCommand = command({
  name: "rousseau_list_sessions",
  summary: "List rousseau sessions newest-first.",
  input: {
    type: "object",
    properties: { limit: limitSchema("Cap rows returned.") },
    additionalProperties: false,
  },
  tool: hints("rousseau_list_sessions", "List sessions"),
  async run({ limit = DEFAULT_LIMIT }, ctx: ToolContext) {
    const { items, next } = await storeOf(ctx).list({ limit });
    return answer(
      items.length === 0 ? "(no sessions)" : items.map(listRow).join("\n"),
      {
        links: linksTo(ctx, items),
        notes: [
          ...(next === undefined ? [] : ["there are more: raise limit"]),
          ...(items.length === 0 ? visibilityNote(ctx) : []),
        ],
        meta: { sessions: items.length },
      },
    );
  },
});

/** `rousseau_search_sessions`. */
export const searchSessions: AnyCommand = command({
  name: "rousseau_search_sessions",
  summary:
    "Full-text search across every recorded rousseau session. Uses SQLite FTS5 syntax (phrases in double quotes, AND/OR/NOT, prefix wildcards).",
  input: {
    type: "object",
    properties: {
      query: { type: "string", description: "FTS5 query", minLength: 0 },
      limit: limitSchema("Cap hits returned."),
    },
    required: ["query"],
    additionalProperties: false,
  },
  tool: hints("rousseau_search_sessions", "Search sessions"),
  async run({ query, limit = DEFAULT_LIMIT }, ctx: ToolContext) {
    const hits = await storeOf(ctx).search(query, limit);
    return answer(
      hits.length === 0 ? "(no matches)" : hits.map(searchRow).join("\n\n"),
      {
        links: linksTo(ctx, hits.map(({ session }) => session)),
        notes: hits.length === 0 ? visibilityNote(ctx) : [],
        meta: { sessions: hits.length },
      },
    );
  },
});

/** `rousseau_read_session`. */
export const readSession: AnyCommand = command({
  name: "rousseau_read_session",
  summary: "Return the full transcript of a rousseau session by id.",
  input: {
    type: "object",
    properties: {
      id: { type: "string", description: "Session id", minLength: 0 },
      from: {
        type: "integer",
        minimum: 0,
        description: "Message to start at, when the last answer had to stop.",
      },
    },
    required: ["id"],
    additionalProperties: false,
  },
  tool: {
    ...hints("rousseau_read_session", "Read a session"),
    _meta: { "anthropic/maxResultSizeChars": 262_144 },
  },
  async run({ id, from = 0 }, ctx: ToolContext) {
    const store = storeOf(ctx);
    const { id: full } = await sessionNamed(store, id);
    const limit = answerBudget(ctx.config, undefined);
    const found = await store.read(full, from, (session, messages) => ({
      session,
      text: plain(session, messages, limit),
      messages: session.messageCount,
    }));
    if (!found) throw new CommandError("state: session not found");
    return answer(found.text, {
      links: linksTo(ctx, [found.session]),
      meta: { session: full, messages: found.messages },
    });
  },
});

/** The three tools, in the order in which they are listed. */
export const sessionTools: readonly AnyCommand[] = [
  listSessions,
  searchSessions,
  readSession,
];

/** The first sessions as links, for revisions that have them (2025-06-18, server/tools, resource links). */
function linksTo(
  ctx: ToolContext,
  sessions: readonly SessionInfo[],
): ResourceLink[] {
  const { revision } = ctx.client;
  if (revision === undefined || revision < "2025-06-18") return [];
  return sessions.slice(0, MAX_LINKS).map((session) => ({
    type: "resource_link",
    uri: sessionUri(session.id),
    name: `session-${session.id.slice(0, 8)}`,
    title: oneLine(titleText(session)),
    mimeType: "text/markdown",
  }));
}

function listRow(session: SessionInfo): string {
  return `${session.id}  ${
    oneLine(titleText(session))
  }  msgs=${session.messageCount}  updated=${isoTime(session.updatedAt)}`;
}

function searchRow({ session, rank, snippet }: SearchHit): string {
  return `session ${session.id} (rank ${rank.toFixed(2)})
    title:   ${oneLine(titleText(session))}
    snippet: ${snippet}`;
}

/** Why an answer may be empty although there are sessions. */
function visibilityNote(ctx: ToolContext): string[] {
  switch (ctx.config.sessions.visible) {
    case "all":
      return [];
    case "project":
      return [
        "only sessions that share a root with this process are shown; the operator can widen that with --sessions all",
      ];
    case "none":
      return ["the operator hides sessions (--sessions none)"];
  }
}

function limitSchema<const D extends string>(what: D) {
  return {
    type: "integer",
    description: `${what} Default ${DEFAULT_LIMIT}, at most ${MAX_LIMIT}.`,
    minimum: 1,
    maximum: MAX_LIMIT,
  } as const;
}

function hints(
  name: string,
  title: string,
): { name: string; title: string; annotations: ToolAnnotations } {
  return {
    name,
    title,
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  };
}
