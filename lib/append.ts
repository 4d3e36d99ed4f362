/**
 * Writing recorded messages: one transaction for a batch, sessions made and found on the way.
 *
 * @module
 */
import { MAX_SEQ } from "./migrations.ts";
import { byteLength, type MessageDraft } from "./drafts.ts";
import type { Message } from "./recorded.ts";
import type { Sqlite, SqlValue } from "./sqlite.ts";
import { addFact, type Facts, titleOf } from "./title.ts";
import { markdownMessage } from "./transcript.ts";

/** The session that a message belongs to, as its recorder knows it. */
export interface SessionRef {
  /** Of the session to be made; another, when the host's conversation turns out to have one. */
  id: string;
  /** The host's name for the conversation. */
  hostKey: string | undefined;
  /** The host's program. */
  clientName: string | undefined;
  /** Its version. */
  clientVersion: string | undefined;
  /** The protocol revision of its first call. */
  protocol: string | undefined;
  /** The working directory of the process. */
  cwd: string | undefined;
  /** Real paths of the roots. */
  roots: readonly string[];
  /** Where the messages came from, when not from calls to this program. */
  source: string | undefined;
  /** The session's number in the file, once it is known. */
  n: number | undefined;
}

/** A message and where it goes. */
export interface Entry {
  /** Where it goes. */
  session: SessionRef;
  /** The message. */
  draft: MessageDraft;
  /** SHA-256 of the whole in hex, when only a part is kept. */
  hash: string | undefined;
  /** The key of the whole text, when it is kept beside the message. */
  bodyId: string | undefined;
}

/** The root of sessions that have none. */
export const NO_ROOT = "";

/** The word for a root, by its number, in the full-text index. */
export function scopeWord(root: number): string {
  return `r${root}`;
}

/**
 * Appends a batch in one transaction: all of it is committed, or nothing. Afterwards every entry's session carries the
 * id and number that it has in the file.
 */
export function append(db: Sqlite, entries: readonly Entry[]): void {
  const found = db.transaction(() => appendEntries(db, entries));
  for (const [ref, { n, id }] of found) {
    ref.n = n;
    ref.id = id;
  }
}

/** {@linkcode append} inside a transaction: the sessions by what was known of them, to be noted once it is committed. */
export function appendEntries(
  db: Sqlite,
  entries: readonly Entry[],
): Map<SessionRef, { n: number; id: string }> {
  const found = new Map<SessionRef, { n: number; id: string }>();
  for (const entry of entries) {
    const ref = entry.session;
    if (!found.has(ref)) found.set(ref, sessionFor(db, ref, entry));
  }
  const grown = new Map<number, Growth>();
  const rows: SqlValue[][] = [];
  const numbers = [...new Set([...found.values()].map(({ n }) => n))];
  // By session: full-text search writes a new segment whenever ids go backwards.
  for (const n of numbers.sort((a, b) => a - b)) {
    const own = entries.filter((e) => found.get(e.session)?.n === n);
    grown.set(n, rowsOf(db, n, own, rows));
  }
  insertMessages(db, rows);
  for (const [n, growth] of grown) grow(db, n, growth);
  return found;
}

/** What a batch adds to a session. */
interface Growth {
  facts: Facts;
  messages: number;
  bytes: number;
  latest: number;
}

/** Adds the rows of a session's messages to `rows`, and keeps their long texts. */
function rowsOf(
  db: Sqlite,
  n: number,
  entries: readonly Entry[],
  rows: SqlValue[][],
): Growth {
  const session = db.get<{ facts: string }>(
    "SELECT facts FROM sessions WHERE n = ?",
    n,
  );
  const facts = parseFacts(session?.facts);
  const scope = scopeOf(db, n);
  let seq = nextSeq(db, n);
  let bytes = 0;
  let latest = 0;
  for (const { draft, hash, bodyId } of entries) {
    const body = bodyId === undefined ? undefined : draft.body;
    if (body !== undefined) {
      db.run(
        "INSERT OR IGNORE INTO bodies (id, text) VALUES (?, ?)",
        bodyId as string,
        body,
      );
    }
    rows.push([
      n * MAX_SEQ + seq,
      draft.kind,
      draft.role,
      draft.tool ?? null,
      draft.callId ?? null,
      draft.text,
      scope,
      draft.json ?? null,
      draft.isError ? 1 : 0,
      draft.bytes,
      hash ?? null,
      body === undefined ? null : bodyId as string,
      draft.duration ?? null,
      draft.createdAt,
    ]);
    bytes += byteLength(markdownMessage(asMessage(draft, seq, hash)));
    latest = Math.max(latest, draft.createdAt);
    if (draft.fact) addFact(facts, draft.fact);
    seq++;
  }
  return { facts, messages: entries.length, bytes, latest };
}

/**
 * Inserts rows, many in a statement: before each one that fires a trigger SQLite sets a savepoint, at which full-text
 * search writes what it has gathered as a segment of its own, to be merged later.
 */
function insertMessages(db: Sqlite, rows: readonly SqlValue[][]): void {
  let done = 0;
  for (const size of INSERT_ROWS) {
    for (; rows.length - done >= size; done += size) {
      db.run(
        INSERT_MESSAGES + Array(size).fill(MESSAGE_VALUES).join(", "),
        ...rows.slice(done, done + size).flat(),
      );
    }
  }
}

function grow(db: Sqlite, n: number, growth: Growth): void {
  const title = titleOf(growth.facts);
  // A clock that went back does not move a session back.
  db.run(
    `UPDATE sessions SET facts = ?, title = CASE WHEN ? = '' THEN title ELSE ? END,
       message_count = message_count + ?, bytes = bytes + ?, updated_at = max(updated_at, ?)
     WHERE n = ?`,
    JSON.stringify(growth.facts),
    title,
    title,
    growth.messages,
    growth.bytes,
    growth.latest,
    n,
  );
}

/** The session's number and id: the one it had, the one that the host's conversation has, or a new one. */
function sessionFor(
  db: Sqlite,
  ref: SessionRef,
  first: Entry,
): { n: number; id: string } {
  let session = ref.n === undefined
    ? undefined
    : db.get<{ n: number; id: string }>(
      "SELECT n, id FROM sessions WHERE n = ? AND id = ?",
      ref.n,
      ref.id,
    );
  if (!session && ref.hostKey !== undefined) {
    session = db.get<{ n: number; id: string }>(
      "SELECT n, id FROM sessions WHERE host_key = ?",
      ref.hostKey,
    );
  }
  if (session && nextSeq(db, session.n) > MAX_SEQ - ROOM) {
    db.run("UPDATE sessions SET host_key = NULL WHERE n = ?", session.n);
    session = undefined;
  }
  if (!session) {
    // Under another id when the session was deleted or is full, or the id is taken, so that none ever names two.
    const isTaken = ref.n !== undefined ||
      db.get("SELECT 1 AS taken FROM sessions WHERE id = ?", ref.id);
    const id = isTaken ? crypto.randomUUID() : ref.id;
    session = db.get<{ n: number; id: string }>(
      INSERT_SESSION,
      id,
      ref.hostKey ?? null,
      ref.clientName ?? null,
      ref.clientVersion ?? null,
      ref.protocol ?? null,
      ref.cwd ?? null,
      ref.source ?? null,
      first.draft.createdAt,
      first.draft.createdAt,
    ) as { n: number; id: string };
  }
  addRoots(db, session.n, ref.roots.length === 0 ? [NO_ROOT] : ref.roots);
  return session;
}

/** Notes the roots of a session; messages that it has already are found under the new ones from now on. */
export function addRoots(
  db: Sqlite,
  n: number,
  roots: readonly string[],
): void {
  let added = 0;
  for (const root of roots) {
    db.run("INSERT OR IGNORE INTO roots (path) VALUES (?)", root);
    added += db.run(
      `INSERT OR IGNORE INTO session_roots (root, session, updated_at)
       SELECT r.n, s.n, s.updated_at FROM roots r, sessions s WHERE r.path = ? AND s.n = ?`,
      root,
      n,
    );
  }
  if (added === 0 || nextSeq(db, n) === 0) return;
  db.run(
    "UPDATE messages SET scope = ? WHERE id >= ? AND id < ?",
    scopeOf(db, n),
    n * MAX_SEQ,
    (n + 1) * MAX_SEQ,
  );
}

/** The words for a session's roots in the full-text index. */
export function scopeOf(db: Sqlite, n: number): string {
  return db.all<{ root: number }>(
    "SELECT root FROM session_roots WHERE session = ? ORDER BY root",
    n,
  ).map(({ root }) => scopeWord(root)).join(" ");
}

/** Messages that one batch may add to a session at most. */
const ROOM = 1_024;

function nextSeq(db: Sqlite, n: number): number {
  const last = db.get<{ last: number | null }>(
    "SELECT max(id) AS last FROM messages WHERE id >= ? AND id < ?",
    n * MAX_SEQ,
    (n + 1) * MAX_SEQ,
  )?.last;
  return last === null || last === undefined ? 0 : last - n * MAX_SEQ + 1;
}

function asMessage(
  draft: MessageDraft,
  seq: number,
  hash: string | undefined,
): Message {
  return { ...draft, text: draft.body ?? draft.text, seq, hash };
}

function parseFacts(json: string | undefined): Facts {
  try {
    return JSON.parse(json ?? "{}") as Facts;
  } catch {
    return {};
  }
}

const INSERT_SESSION = `
INSERT INTO sessions (id, host_key, client_name, client_version, protocol, cwd, source, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n, id`;

/** Rows in one statement: few sizes, since each is a statement that is kept. */
const INSERT_ROWS = [64, 16, 4, 1];

const INSERT_MESSAGES = `
INSERT INTO messages (id, kind, role, tool, call_id, text, scope, json, is_error, bytes, hash, body, duration, created_at)
VALUES `;

const MESSAGE_VALUES = `(${Array(14).fill("?").join(", ")})`;
