/**
 * Sessions of the earlier rousseau, out of its own database: one payload a session, or since its second schema one row
 * a message. A copy is read, the database itself is not touched.
 *
 * @module
 */
import { appendEntries, type Entry, type SessionRef } from "./append.ts";
import { CommandError } from "./command.ts";
import { type MessageDraft, textDraft } from "./drafts.ts";
import type { Imported } from "./import.ts";
import {
  called,
  type Conversation,
  list,
  object,
  returned,
  string,
} from "./import_format.ts";
import { reasonOf } from "./reason.ts";
import { toEntry } from "./recorder.ts";
import { deleteAll } from "./retention.ts";
import { Sqlite } from "./sqlite.ts";
import type { SessionStore } from "./store.ts";
import { saidFact } from "./title.ts";

/** The source of these sessions, and its name on the command line. */
export const EARLIER = "rousseau";

interface EarlierSession {
  id: string;
  title: string;
  payload: string;
  createdAt: string;
  updatedAt: string;
}

/**
 * Imports every session of the database at `path` that is new or has changed. `copy` is a path for the copy, which is
 * removed.
 *
 * @throws {CommandError} when it is not such a database.
 */
export async function importEarlier(
  store: SessionStore,
  { path, copy, signal }: { path: string; copy: string; signal: AbortSignal },
): Promise<Imported> {
  const done: Imported = { files: 1, changed: 0, messages: 0, skipped: 0 };
  let source: Sqlite | undefined;
  try {
    await Deno.copyFile(path, copy);
    await Deno.copyFile(`${path}-wal`, `${copy}-wal`).catch(() => {});
    source = await Sqlite.open(copy);
    const hasRows = source.get(
      "SELECT 1 AS found FROM sqlite_schema WHERE name = 'session_messages'",
    ) !== undefined;
    const hasPayload = source.get(
      "SELECT 1 AS found FROM pragma_table_info('sessions') WHERE name = 'payload'",
    ) !== undefined;
    const ids = source.all<{ id: string }>(
      "SELECT id FROM sessions ORDER BY created_at",
    );
    for (const { id } of ids) {
      signal.throwIfAborted();
      const session = source.get<EarlierSession>(
        `SELECT id, title, ${
          hasPayload ? "payload" : "'' AS payload"
        }, created_at AS createdAt, updated_at AS updatedAt
         FROM sessions WHERE id = ?`,
        id,
      );
      if (!session || !await isNews(store, path, session)) continue;
      const texts = hasRows
        ? source.all<{ message: string }>(
          "SELECT message FROM session_messages WHERE session_id = ? ORDER BY seq",
          id,
        ).map(({ message }) => parse(message))
        : [];
      const messages = texts.length > 0
        ? texts
        : list(object(parse(session.payload))?.messages);
      const drafts = draftsOf(messages, session);
      if (drafts.length === 0) done.skipped++;
      done.messages += drafts.length;
      done.changed++;
      await put(store, path, session, drafts);
    }
    return done;
  } catch (error) {
    if (error instanceof CommandError || signal.aborted) throw error;
    throw new CommandError(
      `sessions: cannot read ${path}: ${reasonOf(error)}`,
      { cause: error },
    );
  } finally {
    source?.close();
    for (const part of ["", "-wal", "-shm"]) {
      await Deno.remove(copy + part).catch(() => {});
    }
  }
}

/** Whether a session is not in the store as it is now. */
async function isNews(
  store: SessionStore,
  path: string,
  session: EarlierSession,
): Promise<boolean> {
  const row = await store.query((db) =>
    db.get<{ state: string }>(
      "SELECT state FROM imports WHERE path = ?",
      `${path}#${session.id}`,
    )
  );
  return row?.state !== session.updatedAt;
}

async function put(
  store: SessionStore,
  path: string,
  session: EarlierSession,
  drafts: readonly MessageDraft[],
): Promise<void> {
  const ref: SessionRef = {
    id: session.id,
    hostKey: `${EARLIER}:${session.id}`,
    clientName: "rousseau",
    clientVersion: undefined,
    protocol: undefined,
    cwd: undefined,
    roots: [],
    source: EARLIER,
    n: undefined,
  };
  const entries: Entry[] = await Promise.all(
    drafts.map((draft) => toEntry(ref, draft)),
  );
  await deleteAll(
    (body) => store.change((db) => body(db)),
    "host_key = ?",
    ref.hostKey ?? "",
  );
  await store.change((db) => {
    appendEntries(db, entries);
    db.run(
      `INSERT OR REPLACE INTO imports (path, source, inode, size, modified, read_to, state)
       VALUES (?, ?, NULL, 0, 0, 0, ?)`,
      `${path}#${session.id}`,
      EARLIER,
      session.updatedAt,
    );
  });
}

function draftsOf(
  messages: readonly unknown[],
  session: EarlierSession,
): MessageDraft[] {
  const conversation: Conversation = {
    id: session.id,
    title: session.title,
    cwd: undefined,
    clientVersion: undefined,
    tools: new Map(),
    time: Date.parse(session.createdAt) || 0,
  };
  const drafts = messages.flatMap((each) => {
    const message = object(each) ?? {};
    const time = Date.parse(String(message.created_at));
    if (time > 0) conversation.time = time;
    return list(message.content).flatMap((part) =>
      partDrafts(object(part) ?? {}, message.role, conversation)
    );
  });
  const [first] = drafts;
  const title = saidFact(session.title);
  if (first && title) first.fact = { ...title, kind: "title" };
  return drafts;
}

function partDrafts(
  part: Record<string, unknown>,
  role: unknown,
  conversation: Conversation,
): MessageDraft[] {
  const use = object(part.tool_use);
  const result = object(part.tool_result);
  if (use) {
    return called({
      id: string(use.id),
      tool: string(use.name) ?? "unknown",
      input: use.input,
    }, conversation);
  }
  if (result) {
    return returned({
      id: string(result.tool_use_id),
      output: String(result.output ?? ""),
      isError: result.is_error === true,
    }, conversation);
  }
  const text = string(part.text);
  return text === undefined ? [] : [textDraft({
    kind: "text",
    role: role === "assistant" || role === "system" ? role : "user",
    text,
    at: conversation.time,
  })];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
