/**
 * Keeping the store within its bounds: the oldest sessions go first, in short steps, and the space they had is given
 * back.
 *
 * @module
 */
import { trimContents } from "./checkpoints.ts";
import { type Deleted, deleteStep } from "./session_rows.ts";
import type { Sqlite, SqlValue } from "./sqlite.ts";

/** Days that a session is kept after its last call. */
export const KEEP_DAYS = 180;

/** Bytes that the database may have. */
export const MAX_BYTES = 1024 ** 3;

/** Pages given back to the file system, or of the full-text index tidied up, in one transaction. */
export const STEP_PAGES = 100;

/** Steps of tidying up the full-text index at most; the rest waits for the next time. */
export const MERGE_STEPS = 1_000;

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

/** What a whole run did. */
export interface PrunedAll {
  /** Sessions deleted. */
  sessions: number;
  /** Bytes given back to the file system. */
  bytes: number;
}

/** Runs its argument in a transaction. */
export type Change = <T>(body: (db: Sqlite) => T) => Promise<T>;

/**
 * Deletes, step by step, sessions that are too old, and the oldest while the database is too large; then gives back
 * the space. Between two steps, each a transaction, everything else has its turn.
 */
export async function prune(
  change: Change,
  bounds: Retention,
): Promise<PrunedAll> {
  const total: PrunedAll = { sessions: 0, bytes: 0 };
  await inSteps(() => change((db) => pruneStep(db, bounds)), (step) => {
    total.sessions += step.sessions;
  });
  await change((db) => trimContents(db));
  if (total.sessions > 0) await tidyIndex(change);
  await inSteps(() => change(giveBack), ({ bytes }) => total.bytes += bytes);
  return total;
}

/** Deletes the sessions that fulfil an SQL condition, step by step; how many they were. */
export async function deleteAll(
  change: Change,
  condition: string,
  ...values: SqlValue[]
): Promise<number> {
  let count = 0;
  await inSteps(
    () => change((db) => deleteStep(db, condition, ...values)),
    ({ sessions }) => count += sessions,
  );
  return count;
}

/** Calls `step` until it is done; other work has its turn in between. */
async function inSteps<T extends { isDone: boolean }>(
  step: () => Promise<T>,
  done: (step: T) => void,
): Promise<void> {
  while (true) {
    const result = await step();
    done(result);
    if (result.isDone) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

/** How large the database is, free pages within it left out. */
export function usedBytes(db: Sqlite): number {
  return (Number(db.pragma("page_count")) -
    Number(db.pragma("freelist_count"))) * Number(db.pragma("page_size"));
}

/** One step of deleting sessions that are too old, or the oldest while the database is too large. */
export function pruneStep(db: Sqlite, bounds: Retention): Deleted {
  const tooOld = bounds.now - bounds.keepDays * 24 * 60 * 60 * 1000;
  const limit = usedBytes(db) > bounds.maxBytes
    ? Math.max(tooOld, bounds.now - SETTLED)
    : tooOld;
  const step = deleteStep(db, "updated_at < ? ORDER BY updated_at, n", limit);
  return { ...step, isDone: step.isDone && step.sessions === 0 };
}

/** Deleting left marks in the full-text index: merges it, a bounded piece at a time, while that changes anything. */
async function tidyIndex(change: Change): Promise<void> {
  let steps = 0;
  await inSteps(async () => {
    const changes = await change((db) => {
      const before = totalChanges(db);
      db.run(
        "INSERT INTO messages_fts (messages_fts, rank) VALUES ('merge', ?)",
        STEP_PAGES,
      );
      return totalChanges(db) - before;
    });
    // One change is the statement's own (sqlite.org/fts5.html, "The 'merge' Command").
    return { isDone: changes < 2 || ++steps >= MERGE_STEPS };
  }, () => {});
}

function totalChanges(db: Sqlite): number {
  return Number(
    db.get<{ changes: number }>("SELECT total_changes() AS changes")?.changes,
  );
}

/** One step of giving free pages back to the file system. */
function giveBack(db: Sqlite): { bytes: number; isDone: boolean } {
  const before = Number(db.pragma("freelist_count"));
  // The pragma gives back a page for each row that is read.
  db.all(`PRAGMA incremental_vacuum(${STEP_PAGES})`);
  const pages = before - Number(db.pragma("freelist_count"));
  return {
    bytes: pages * Number(db.pragma("page_size")),
    isDone: pages < STEP_PAGES,
  };
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
