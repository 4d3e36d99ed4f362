/**
 * Keeping the store within its bounds: the oldest sessions go first, in short steps, and the space they had is given
 * back.
 *
 * @module
 */
import { trimContents } from "./checkpoints.ts";
import { deleteSessions } from "./session_rows.ts";
import type { Sqlite } from "./sqlite.ts";

/** Days that a session is kept after its last call. */
export const KEEP_DAYS = 180;

/** Bytes that the database may have. */
export const MAX_BYTES = 1024 ** 3;

/** Sessions deleted in one transaction. */
export const STEP_SESSIONS = 20;

/** Pages given back to the file system in one transaction. */
export const STEP_PAGES = 1_000;

/** Milliseconds without a call after which a session may go for its size; a conversation that goes on stays. */
export const SETTLED = 60 * 60 * 1000;

/** The bounds, and the time. */
export interface Retention {
  /** Milliseconds since 1970. */
  now: number;
  /** Days that a session is kept after its last call. */
  keepDays: number;
  /** Bytes that the database may have. */
  maxBytes: number;
}

/** What one step did. */
export interface Pruned {
  /** Sessions deleted. */
  sessions: number;
  /** Pages given back. */
  pages: number;
  /** True when there is nothing left to do. */
  isDone: boolean;
}

/** What a whole run did. */
export interface PrunedAll {
  /** Sessions deleted. */
  sessions: number;
  /** Bytes given back to the file system. */
  bytes: number;
}

/**
 * Runs {@linkcode pruneStep} until it is done. `change` runs its argument in a transaction; between two of them
 * everything else has its turn.
 */
export async function prune(
  change: <T>(body: (db: Sqlite) => T) => Promise<T>,
  bounds: Retention,
): Promise<PrunedAll> {
  const total: PrunedAll = { sessions: 0, bytes: 0 };
  while (true) {
    const { sessions, bytes, isDone } = await change((db) => {
      const step = pruneStep(db, bounds);
      return { ...step, bytes: step.pages * Number(db.pragma("page_size")) };
    });
    total.sessions += sessions;
    total.bytes += bytes;
    if (isDone) return total;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** How large the database is, free pages within it left out. */
export function usedBytes(db: Sqlite): number {
  return (Number(db.pragma("page_count")) -
    Number(db.pragma("freelist_count"))) * Number(db.pragma("page_size"));
}

/**
 * One step: deletes a few sessions that are too old, or the oldest while the database is too large; or gives back
 * space. To be called, in a transaction each, until it is done.
 */
export function pruneStep(db: Sqlite, bounds: Retention): Pruned {
  const tooOld = bounds.now - bounds.keepDays * 24 * 60 * 60 * 1000;
  const limit = usedBytes(db) > bounds.maxBytes
    ? Math.max(tooOld, bounds.now - SETTLED)
    : tooOld;
  const sessions = deleteSessions(
    db,
    "n IN (SELECT n FROM sessions WHERE updated_at < ? ORDER BY updated_at, n LIMIT ?)",
    limit,
    STEP_SESSIONS,
  );
  if (sessions > 0) return { sessions, pages: 0, isDone: false };
  trimContents(db);
  // Deleting left marks in the full-text index; a bounded piece of the tidying up at a time.
  db.run(
    "INSERT INTO messages_fts (messages_fts, rank) VALUES ('merge', ?)",
    STEP_PAGES,
  );
  const before = Number(db.pragma("freelist_count"));
  if (before < STEP_PAGES) return { sessions: 0, pages: 0, isDone: true };
  // The pragma gives back a page for each row that is read.
  db.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
  const pages = before - Number(db.pragma("freelist_count"));
  return { sessions: 0, pages, isDone: pages <= 0 };
}

/**
 * Notes that the bounds are looked after now, unless some process has done so within `every` milliseconds; true when
 * this process is to do it.
 */
export function takeTurn(db: Sqlite, now: number, every: number): boolean {
  const last = db.get<{ value: string }>(
    "SELECT value FROM meta WHERE key = 'pruned_at'",
  );
  // A time that lies ahead comes from a clock that was wrong.
  if (last && Number(last.value) <= now && now - Number(last.value) < every) {
    return false;
  }
  db.run(
    "INSERT OR REPLACE INTO meta (key, value) VALUES ('pruned_at', ?)",
    String(now),
  );
  return true;
}
