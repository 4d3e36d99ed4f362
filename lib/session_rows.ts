/**
 * Reading sessions and their messages out of the file's rows.
 *
 * @module
 */
import { MAX_SEQ } from "./migrations.ts";
import type { Message, SessionInfo } from "./recorded.ts";
import type { Sqlite, SqlValue } from "./sqlite.ts";

/** Messages read from the file at a time. */
export const READ_CHUNK = 200;

/** Sessions deleted in one transaction at most. */
export const STEP_SESSIONS = 20;

/** Messages deleted in one transaction at most. */
export const STEP_MESSAGES = 200;

/** UTF-16 units of searched text, about, beyond which a transaction deletes no more messages. */
export const STEP_CHARS = 65_536;

/** A place in the order of sessions: the last changed first, then the last made. */
export interface Place {
  /** When its last call ended, in milliseconds since 1970. */
  updatedAt: number;
  /** The session's number in the file. */
  n: number;
}

/** A session and its number in the file. */
export interface Found {
  /** The session's number in the file. */
  n: number;
  /** The session. */
  info: SessionInfo;
}

/**
 * The next places after one in the order. Each of `roots` is walked in its own index, so that a page costs the same
 * wherever it is and however many sessions other projects have; undefined: all sessions.
 */
export function placesBefore(
  db: Sqlite,
  roots: readonly string[] | undefined,
  { updatedAt, n }: Place,
  limit: number,
): Place[] {
  if (roots === undefined) {
    return db.all<Place>(
      `SELECT n, updated_at AS updatedAt FROM sessions WHERE (updated_at, n) < (?, ?)
       ORDER BY updated_at DESC, n DESC LIMIT ?`,
      updatedAt,
      n,
      limit,
    );
  }
  const found = new Map<number, Place>();
  for (const root of roots) {
    const places = db.all<Place>(
      `SELECT session AS n, updated_at AS updatedAt FROM session_roots
       WHERE root = (SELECT n FROM roots WHERE path = ?) AND (updated_at, session) < (?, ?)
       ORDER BY updated_at DESC, session DESC LIMIT ?`,
      root,
      updatedAt,
      n,
      limit,
    );
    for (const place of places) found.set(place.n, place);
  }
  return [...found.values()]
    .sort((a, b) => b.updatedAt - a.updatedAt || b.n - a.n)
    .slice(0, limit);
}

/** Sessions, named `s`, that fulfil an SQL condition; an order and a limit may follow it. */
export function sessionsWhere(
  db: Sqlite,
  condition: string,
  ...values: SqlValue[]
): Found[] {
  return db.all<SessionRow>(`${SELECT_SESSION} WHERE ${condition}`, ...values)
    .map(toFound);
}

/** The session with a number. */
export function sessionByNumber(db: Sqlite, n: number): Found | undefined {
  return sessionsWhere(db, "s.n = ?", n)[0];
}

/** Messages of a session from `from` on, read in chunks, so that a long session is never in memory as a whole. */
export function* messagesOf(
  db: Sqlite,
  n: number,
  from: number,
): Generator<Message> {
  let next = n * MAX_SEQ + Math.max(0, Math.min(from, MAX_SEQ));
  const end = (n + 1) * MAX_SEQ;
  while (true) {
    const rows = db.all<MessageRow>(SELECT_MESSAGES, next, end, READ_CHUNK);
    for (const row of rows) yield toMessage(row, n);
    const last = rows.at(-1);
    if (!last || rows.length < READ_CHUNK) return;
    next = last.id + 1;
  }
}

/** What one step of a deletion did. */
export interface Deleted {
  /** Sessions that are gone. */
  sessions: number;
  /** True when there is nothing left to do. */
  isDone: boolean;
}

/**
 * Deletes of the sessions that fulfil an SQL condition, an order behind it if need be, what one short transaction may:
 * messages first, with the long texts that only they had. To be called, in a transaction each, until it is done.
 */
export function deleteStep(
  db: Sqlite,
  condition: string,
  ...values: SqlValue[]
): Deleted {
  const found = db.all<{ n: number }>(
    `SELECT n FROM sessions WHERE ${condition} LIMIT ${STEP_SESSIONS}`,
    ...values,
  );
  let room = STEP_MESSAGES;
  let sessions = 0;
  for (const { n } of found) {
    room -= deleteMessages(db, n, room);
    if (room <= 0) return { sessions, isDone: false };
    sessions += db.run("DELETE FROM sessions WHERE n = ?", n);
  }
  return { sessions, isDone: found.length < STEP_SESSIONS };
}

/** Deletes up to `limit` messages of a session; `limit` when some may be left, else how many they were. */
function deleteMessages(db: Sqlite, n: number, limit: number): number {
  const rows = db.all<{ id: number; body: string | null; chars: number }>(
    `SELECT id, body, length(text) AS chars FROM messages WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
    n * MAX_SEQ,
    (n + 1) * MAX_SEQ,
    limit,
  );
  let chars = 0;
  for (const row of rows) {
    if (chars > STEP_CHARS) return limit;
    chars += row.chars;
    db.run("DELETE FROM messages WHERE id = ?", row.id);
    if (row.body === null) continue;
    db.run(
      "DELETE FROM bodies WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM messages WHERE body = ?1)",
      row.body,
    );
  }
  return rows.length;
}

const SELECT_SESSION = `
SELECT s.n, s.id, s.title, s.client_name AS clientName, s.client_version AS clientVersion, s.protocol, s.cwd,
  s.message_count AS messageCount, s.bytes, s.created_at AS createdAt, s.updated_at AS updatedAt,
  (SELECT json_group_array(path) FROM session_roots sr JOIN roots r ON r.n = sr.root
   WHERE sr.session = s.n AND path <> '') AS roots
FROM sessions s`;

const SELECT_MESSAGES = `
SELECT m.id, m.kind, m.role, m.tool, m.call_id AS callId, coalesce(b.text, m.text) AS text, m.json,
  m.is_error AS isError, m.bytes, m.hash, m.created_at AS createdAt
FROM messages m LEFT JOIN bodies b ON b.id = m.body
WHERE m.id >= ? AND m.id < ? ORDER BY m.id LIMIT ?`;

interface SessionRow {
  n: number;
  id: string;
  title: string;
  clientName: string | null;
  clientVersion: string | null;
  protocol: string | null;
  cwd: string | null;
  messageCount: number;
  bytes: number;
  createdAt: number;
  updatedAt: number;
  roots: string;
}

interface MessageRow {
  id: number;
  kind: Message["kind"];
  role: Message["role"];
  tool: string | null;
  callId: string | null;
  text: string;
  json: string | null;
  isError: number;
  bytes: number;
  hash: string | null;
  createdAt: number;
}

function toFound(row: SessionRow): Found {
  const { n, clientName, clientVersion, protocol, cwd, roots, ...same } = row;
  return {
    n,
    info: {
      ...same,
      client: {
        name: clientName ?? undefined,
        version: clientVersion ?? undefined,
      },
      protocol: protocol ?? undefined,
      cwd: cwd ?? undefined,
      roots: JSON.parse(roots) as string[],
    },
  };
}

function toMessage(row: MessageRow, n: number): Message {
  const { id, tool, callId, json, hash, isError, ...same } = row;
  return {
    ...same,
    seq: id - n * MAX_SEQ,
    tool: tool ?? undefined,
    callId: callId ?? undefined,
    json: json ?? undefined,
    hash: hash ?? undefined,
    isError: isError !== 0,
  };
}
