/**
 * The schema of the session database, as the list of steps that made it.
 *
 * The list is append-only, and a step only ever adds: an older program that still runs beside a newer one must be able
 * to go on recording. `PRAGMA user_version` counts the steps that a file has had; `meta.min_writer` is the number of
 * steps that a program must know to write to it.
 *
 * @module
 */
import type { Sqlite } from "./sqlite.ts";

/** One step of the schema. */
export interface Migration {
  /** What it brings, for people. */
  name: string;
  /** The statements, run in one transaction. */
  sql: string;
}

/** What this program may do with a file. */
export type SchemaState =
  /** All steps are done. */
  | "current"
  /** Made by a newer program, which allows this one to write. */
  | "newer-writable"
  /** Made by a newer program: this one may only read. */
  | "newer-read-only"
  /** Steps are missing. */
  | "older"
  /** No step was done. */
  | "new";

/** Bits of a message's id below its session's number; also why a session holds at most 2^20 messages. */
export const SEQ_BITS = 20;

/** The most messages that a session holds. */
export const MAX_SEQ = 2 ** SEQ_BITS;

/** All steps, oldest first. Never change or remove one: append. */
export const MIGRATIONS: readonly Migration[] = [
  {
    name: "sessions and messages, searched as text",
    // The id of a message is its session's number and its place in it. So one session's messages lie together, and
    // a full-text hit tells its session without a look into the table. `scope` holds a word for each of the session's
    // roots (`r17`): the index then finds a project's matches without walking through all others'.
    sql: `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  host_key TEXT UNIQUE,
  title TEXT NOT NULL DEFAULT '',
  facts TEXT NOT NULL DEFAULT '{}',
  client_name TEXT,
  client_version TEXT,
  protocol TEXT,
  cwd TEXT,
  source TEXT,
  message_count INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_updated ON sessions (updated_at, n);

CREATE TABLE roots (
  n INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE session_roots (
  root INTEGER NOT NULL REFERENCES roots (n),
  session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (root, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_roots_updated ON session_roots (root, updated_at, session);
CREATE INDEX session_roots_session ON session_roots (session);

CREATE TABLE messages (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('text', 'image', 'tool_use', 'tool_result')),
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
  tool TEXT,
  call_id TEXT,
  text TEXT NOT NULL,
  scope TEXT NOT NULL,
  json TEXT,
  is_error INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL,
  hash TEXT,
  body TEXT,
  duration INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_body ON messages (body) WHERE body IS NOT NULL;

CREATE TABLE bodies (
  id TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE messages_fts USING fts5 (
  text, scope, content = 'messages', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO messages_fts (messages_fts, rank) VALUES ('rank', 'bm25(1.0, 0.0)');
CREATE TRIGGER messages_ai AFTER INSERT ON messages WHEN new.text <> '' BEGIN
  INSERT INTO messages_fts (rowid, text, scope) VALUES (new.id, new.text, new.scope);
END;
CREATE TRIGGER messages_ad AFTER DELETE ON messages WHEN old.text <> '' BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, text, scope) VALUES ('delete', old.id, old.text, old.scope);
END;
CREATE TRIGGER messages_scope AFTER UPDATE OF scope ON messages WHEN old.text <> '' BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, text, scope) VALUES ('delete', old.id, old.text, old.scope);
  INSERT INTO messages_fts (rowid, text, scope) VALUES (new.id, new.text, new.scope);
END;

CREATE VIRTUAL TABLE titles_fts USING fts5 (
  title, content = 'sessions', content_rowid = 'n',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER sessions_ai AFTER INSERT ON sessions WHEN new.title <> '' BEGIN
  INSERT INTO titles_fts (rowid, title) VALUES (new.n, new.title);
END;
CREATE TRIGGER sessions_ad AFTER DELETE ON sessions BEGIN
  INSERT INTO titles_fts (titles_fts, rowid, title) SELECT 'delete', old.n, old.title WHERE old.title <> '';
  DELETE FROM messages WHERE id >= old.n << ${SEQ_BITS} AND id < (old.n + 1) << ${SEQ_BITS};
END;
CREATE TRIGGER sessions_title AFTER UPDATE OF title ON sessions WHEN new.title <> old.title BEGIN
  INSERT INTO titles_fts (titles_fts, rowid, title) SELECT 'delete', old.n, old.title WHERE old.title <> '';
  INSERT INTO titles_fts (rowid, title) SELECT new.n, new.title WHERE new.title <> '';
END;
CREATE TRIGGER sessions_touched AFTER UPDATE OF updated_at ON sessions BEGIN
  UPDATE session_roots SET updated_at = new.updated_at WHERE session = new.n;
END;

INSERT INTO meta (key, value) VALUES ('min_writer', '1');
`,
  },
  {
    name: "what write and edit replaced",
    // `before` is null where nothing was. Steps are numbered within their session and never renumbered.
    sql: `
CREATE TABLE contents (
  hash TEXT PRIMARY KEY,
  data BLOB NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE steps (
  session INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  path TEXT NOT NULL,
  tool TEXT NOT NULL,
  before TEXT,
  mode INTEGER,
  after TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX steps_before ON steps (before) WHERE before IS NOT NULL;
CREATE INDEX steps_created ON steps (created_at);
`,
  },
  {
    name: "how far files were imported",
    sql: `
CREATE TABLE imports (
  path TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  inode INTEGER,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  read_to INTEGER NOT NULL,
  state TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
];

/** Compares a file with the steps that this program knows. */
export function schemaState(
  db: Sqlite,
  migrations: readonly Migration[] = MIGRATIONS,
): SchemaState {
  const version = Number(db.pragma("user_version"));
  if (version === 0) return "new";
  if (version < migrations.length) return "older";
  if (version === migrations.length) return "current";
  const needed = db.get<{ value: string }>(
    "SELECT value FROM meta WHERE key = 'min_writer'",
  );
  return needed !== undefined && Number(needed.value) <= migrations.length
    ? "newer-writable"
    : "newer-read-only";
}

/**
 * Runs the steps that `db` has not had, each in its own transaction. Several processes may do so at once: each step
 * looks again once it holds the lock.
 */
export function migrate(
  db: Sqlite,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  for (const [done, step] of migrations.entries()) {
    if (Number(db.pragma("user_version")) > done) continue;
    db.transaction(() => {
      if (Number(db.pragma("user_version")) > done) return;
      db.exec(step.sql);
      db.exec(`PRAGMA user_version = ${done + 1}`);
    });
  }
}
