/**
 * Saving what can be read from a damaged database: row by row, since one bad page must not cost the others.
 *
 * @module
 */
import { addRoots, NO_ROOT, scopeOf } from "./append.ts";
import { CommandError } from "./command.ts";
import { MAX_SEQ } from "./migrations.ts";
import { reasonOf } from "./reason.ts";
import { type Row, Sqlite, type SqlValue } from "./sqlite.ts";

/** Rows read at a time while nothing is wrong. */
export const CHUNK_ROWS = 100;

/** Unreadable rows in a sequence after which the rest of a session is given up. */
export const MAX_GAP = 1_000;

/** What was saved. */
export interface Recovered {
  /** Sessions that are in the store now and were not before. */
  sessions: number;
  /** Messages of these sessions. */
  messages: number;
  /** Sessions that the store had already. */
  known: number;
  /** Rows that could not be read. */
  unreadable: number;
}

/**
 * Copies the sessions of the database at `path` that the store does not have. The file is not touched: a copy beside
 * it is read. `change` runs its argument in a transaction on the store, a session at a time.
 *
 * @throws {CommandError} when nothing can be read at all.
 */
export async function recover(
  path: string,
  change: <T>(body: (db: Sqlite) => T) => Promise<T>,
): Promise<Recovered> {
  const copy = `${path}.reading`;
  let source: Sqlite | undefined;
  try {
    await copyReadable(path, copy);
    source = await Sqlite.open(copy);
    return await copySessions(source, change);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `sessions: cannot read ${path}: ${reasonOf(error)}`,
      { cause: error },
    );
  } finally {
    source?.close();
    for (const part of ["", "-wal", "-shm", "-journal"]) {
      await Deno.remove(copy + part).catch(() => {});
    }
  }
}

/** Copies a database with its log, and puts right what the first 16 bytes of every database are. */
async function copyReadable(path: string, copy: string): Promise<void> {
  await Deno.copyFile(path, copy);
  await Deno.copyFile(`${path}-wal`, `${copy}-wal`).catch(() => {});
  using file = await Deno.open(copy, { write: true });
  await file.write(new TextEncoder().encode("SQLite format 3\0"));
}

async function copySessions(
  source: Sqlite,
  change: <T>(body: (db: Sqlite) => T) => Promise<T>,
): Promise<Recovered> {
  const total: Recovered = {
    sessions: 0,
    messages: 0,
    known: 0,
    unreadable: 0,
  };
  const last = Number(
    attempt(() => source.get("SELECT max(n) AS last FROM sessions"))?.last ??
      attempt(() =>
        source.get(
          "SELECT seq AS last FROM sqlite_sequence WHERE name = 'sessions'",
        )
      )?.last ?? 0,
  );
  if (last === 0) source.get("SELECT n FROM sessions LIMIT 1"); // for its error
  const sessions = readRows(source, "sessions", "n", 1, last + 1, total);
  for (const session of sessions) {
    const n = Number(session.n);
    const messages = [
      ...readRows(
        source,
        "messages",
        "id",
        n * MAX_SEQ,
        (n + 1) * MAX_SEQ,
        total,
      ),
    ];
    const roots = attempt(() =>
      source.all<{ path: string }>(
        "SELECT path FROM session_roots JOIN roots ON roots.n = root WHERE session = ?",
        n,
      )
    ) ?? [];
    const bodies: Row[] = [];
    for (const { body } of messages) {
      const row = body ? attempt(() => source.get(SELECT_BODY, body)) : null;
      if (row) bodies.push(row);
    }
    const isNew = await change((db) =>
      putSession(db, session, {
        messages,
        bodies,
        roots: roots.map(({ path }) => path),
      })
    );
    if (isNew) {
      total.sessions++;
      total.messages += messages.length;
    } else total.known++;
  }
  return total;
}

/** Rows of a table by its integer key: in chunks, and one by one where a chunk cannot be read. */
function* readRows(
  source: Sqlite,
  table: "sessions" | "messages",
  key: "n" | "id",
  first: number,
  end: number,
  total: Recovered,
): Generator<Row> {
  const sql =
    `SELECT * FROM ${table} WHERE ${key} >= ? AND ${key} < ? ORDER BY ${key} LIMIT ?`;
  let next = first;
  let gap = 0;
  while (next < end && gap < MAX_GAP) {
    const chunk = attempt(() => source.all(sql, next, end, CHUNK_ROWS));
    if (chunk) {
      yield* chunk;
      if (chunk.length < CHUNK_ROWS) return;
      next = Number(chunk.at(-1)?.[key]) + 1;
      continue;
    }
    // Exactly one row: not a walk to the next one, which may lead over the bad page.
    const row = attempt(() => source.all(sql, next, next + 1, 1));
    if (row?.[0]) {
      gap = 0;
      yield row[0];
    } else {
      gap++;
      if (!row) total.unreadable++;
    }
    next++;
  }
}

/** Puts a session and what belongs to it into the store under a new number; false when the store has it already. */
function putSession(
  db: Sqlite,
  session: Row,
  parts: { messages: Row[]; bodies: Row[]; roots: string[] },
): boolean {
  if (
    db.get("SELECT 1 AS found FROM sessions WHERE id = ?", session.id ?? "")
  ) {
    return false;
  }
  const { n: old, host_key: _, ...rest } = session;
  const { n } = insert(db, "sessions", rest, "RETURNING n") as { n: number };
  addRoots(db, n, parts.roots.length === 0 ? [NO_ROOT] : parts.roots);
  const scope = scopeOf(db, n);
  const kept = new Set<SqlValue>();
  for (const body of parts.bodies) {
    insert(db, "bodies", body, "ON CONFLICT DO NOTHING");
    kept.add(body.id ?? null);
  }
  for (const message of parts.messages) {
    const id = Number(message.id) - Number(old) * MAX_SEQ + n * MAX_SEQ;
    const body = kept.has(message.body ?? null) ? message.body ?? null : null;
    attempt(() => insert(db, "messages", { ...message, id, body, scope }, ""));
  }
  return true;
}

/** Inserts the values that the table has columns for: the names come out of a damaged file. */
function insert(
  db: Sqlite,
  table: string,
  row: Row,
  clause: string,
): Row | undefined {
  const columns = db.all<{ name: string }>(
    "SELECT name FROM pragma_table_info(?)",
    table,
  ).map(({ name }) => name).filter((name) => row[name] !== undefined);
  return db.get(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${
      columns.map(() => "?").join(", ")
    }) ${clause}`,
    ...columns.map((name) => row[name] ?? null),
  );
}

const SELECT_BODY = "SELECT id, text FROM bodies WHERE id = ?";

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
