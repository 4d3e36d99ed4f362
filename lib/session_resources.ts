/**
 * Recorded sessions as MCP resources: one for each, `rousseau://sessions/<id>`.
 *
 * @module
 */
import { type CommandContext, CommandError } from "./command.ts";
import type { Page, ResourceProvider } from "./hooks.ts";
import {
  type ResourceContents,
  type ResourceDefinition,
  type ResourceTemplate,
  STATELESS_REVISIONS,
} from "./mcp.ts";
import type { SessionInfo } from "./recorded.ts";
import { ErrorCode, RpcError } from "./rpc.ts";
import type { SessionStore } from "./store.ts";
import {
  isoTime,
  markdown,
  markdownHead,
  payload,
  sessionUri,
  titleText,
  TRANSCRIPT_BYTES,
} from "./transcript.ts";

/** Sessions on a page of `resources/list`. */
export const PAGE_SESSIONS = 100;

/** Sessions that are named where a URI holds the beginning of their ids. */
export const MAX_NAMED = 10;

/** Ids that a completion gives at most (MCP: completion, 100 values). */
export const MAX_COMPLETIONS = 100;

/**
 * Every visible session as a resource, the last changed first. A store that cannot be read is an empty list: the
 * operator's log says why.
 */
export function sessionResources(store: () => SessionStore): ResourceProvider {
  return {
    list: (cursor, ctx) => listPage(store(), cursor, ctx),
    templates,
    read: (uri, ctx) => readUri(store(), uri, ctx),
    complete: (_, { name, value }) =>
      name === "id" ? completeSessionIds(store(), value) : Promise.resolve([]),
  };
}

/** Ids of visible sessions that begin with `prefix`, for `completion/complete`. */
export async function completeSessionIds(
  store: SessionStore,
  prefix: string,
): Promise<string[]> {
  const found = await store.withPrefix(prefix, MAX_COMPLETIONS);
  return found.map(({ id }) => id);
}

async function listPage(
  store: SessionStore,
  cursor: string | undefined,
  ctx: CommandContext,
): Promise<Page<ResourceDefinition>> {
  try {
    const page = await store.list({
      limit: PAGE_SESSIONS,
      cursor,
      // A list that the caller's own calls change is not allowed in a stateless revision (2026-07-28, caching).
      ...(isStateless(ctx) ? { except: store.own } : {}),
    });
    return { ...page, items: page.items.map(definition) };
  } catch (error) {
    if (error instanceof CommandError) return { items: [] };
    throw error;
  }
}

function templates(): ResourceTemplate[] {
  return [
    {
      uriTemplate: sessionUri("{id}"),
      name: "session",
      title: "Recorded session",
      description: "A recorded session as a Markdown transcript",
      mimeType: MARKDOWN,
    },
    {
      uriTemplate: `${sessionUri("{id}")}.json`,
      name: "session-json",
      title: "Recorded session, as data",
      description: "A recorded session as JSON",
      mimeType: JSON_TYPE,
    },
  ];
}

function isStateless({ client }: CommandContext): boolean {
  return STATELESS_REVISIONS.some((revision) => revision === client.revision);
}

async function readUri(
  store: SessionStore,
  uri: string,
  ctx: CommandContext,
): Promise<ResourceContents[] | undefined> {
  const found = SESSION_URI.exec(uri);
  if (!found) return await refuseBeginning(store, uri, ctx);
  const [, id = "", json, from = "0"] = found;
  try {
    const text = await store.read(
      id,
      Number(from),
      (session, messages) =>
        json
          ? JSON.stringify(payload(session, messages))
          : markdown(session, messages),
    );
    return text === undefined
      ? undefined
      : [{ uri, mimeType: json ? JSON_TYPE : MARKDOWN, text }];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new RpcError(ErrorCode.internal, error.message, { uri });
  }
}

/**
 * A resource has one URI, so the beginning of an id, which the tools take, is none; the error names the ids that it
 * begins.
 *
 * @throws {RpcError} where it begins any.
 */
async function refuseBeginning(
  store: SessionStore,
  uri: string,
  ctx: CommandContext,
): Promise<undefined> {
  const beginning = BEGINNING_URI.exec(uri)?.[1];
  if (beginning === undefined) return;
  const found = await store.withPrefix(beginning, MAX_NAMED).catch(() => []);
  if (found.length === 0) return;
  throw new RpcError(
    isStateless(ctx) ? ErrorCode.invalidParams : ErrorCode.resourceNotFound,
    `resource not found: ${uri}; an id must be whole here: ${
      found.map(({ id }) => sessionUri(id)).join(", ")
    }`,
    { uri },
  );
}

function definition(session: SessionInfo): ResourceDefinition {
  const { client, messageCount } = session;
  const size = encoder.encode(markdownHead(session)).length + session.bytes;
  return {
    uri: sessionUri(session.id),
    name: `session-${session.id.slice(0, 8)}`,
    title: titleText(session),
    description: `${messageCount} messages${
      client.name ? ` from ${client.name}` : ""
    }, begun ${isoTime(session.createdAt)}`,
    mimeType: MARKDOWN,
    size: Math.min(size, TRANSCRIPT_BYTES),
    annotations: {
      audience: ["user", "assistant"],
      lastModified: isoTime(session.updatedAt),
    },
  };
}

const MARKDOWN = "text/markdown";
const JSON_TYPE = "application/json";
const encoder = new TextEncoder();

const SESSION_URI =
  /^rousseau:\/\/sessions\/([0-9a-fA-F-]{36})(\.json)?(?:\?from=(\d{1,7}))?$/;

const BEGINNING_URI =
  /^rousseau:\/\/sessions\/([0-9a-fA-F-]{1,36})(?:\.json)?(?:\?.*)?$/;
