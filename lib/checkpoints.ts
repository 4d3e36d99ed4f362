/**
 * The bytes that `write` and `edit` replaced, kept in the session database for `undo`: compressed, each content once.
 *
 * @module
 */
import type { SessionRef } from "./append.ts";
import {
  CHECKPOINT_BYTES,
  type Keeper,
  type Kept,
  type Replacement,
} from "./checkpoint.ts";
import { CommandError } from "./command.ts";
import type { SessionFile } from "./session_file.ts";
import type { Sqlite } from "./sqlite.ts";

/** Milliseconds that keeping waits for another process's lock; then the tool writes all the same. */
export const KEEP_WAIT = 500;

/** Compressed bytes of all that is kept; the oldest steps go first. */
export const KEPT_BYTES = 256 * 1024 * 1024;

/** One replacement that can be undone. */
export interface Step {
  /** Its number within its session, from 1. */
  step: number;
  /** Real path. */
  path: string;
  /** `write`, `edit` or `undo`. */
  tool: string;
  /** SHA-256 of what was there; null: nothing was. */
  before: string | null;
  /** The mode of what was there. */
  mode: number | null;
  /** SHA-256 of what was put there; null: nothing. */
  after: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/** What a {@linkcode Checkpoints} needs. */
export interface CheckpointsOptions {
  /** The database. */
  file: SessionFile;
  /** The session of the call with this signal. */
  sessionOf: (signal: AbortSignal) => SessionRef | undefined;
  /** Commits what is queued, so that the session is in the file. */
  flush: () => Promise<void>;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** Keeps what calls replace, in the call's session. */
export class Checkpoints implements Keeper {
  readonly #options: CheckpointsOptions;

  /** Nothing is touched yet. */
  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /** The session of the call with this signal. */
  sessionOf(signal: AbortSignal): SessionRef | undefined {
    return this.#options.sessionOf(signal);
  }

  async keep(
    signal: AbortSignal,
    replacement: Replacement,
  ): Promise<Kept | undefined> {
    const { sessionOf, flush } = this.#options;
    const session = sessionOf(signal);
    if (!session) return undefined;
    try {
      await flush();
      if (session.n === undefined) {
        return { problem: "the session store cannot be written" };
      }
      return await this.keepIn(session.n, replacement);
    } catch (error) {
      return { problem: error instanceof Error ? error.message : `${error}` };
    }
  }

  /**
   * Keeps a replacement in the session with this number.
   *
   * @throws {CommandError} when the store cannot be written.
   */
  async keepIn(n: number, replacement: Replacement): Promise<Kept> {
    const { file, now } = this.#options;
    const { path, tool, before, after, mode } = replacement;
    if ((before?.length ?? 0) > CHECKPOINT_BYTES) {
      return {
        problem: `the file had more than ${CHECKPOINT_BYTES} bytes`,
      };
    }
    const [beforeHash, afterHash, data] = await Promise.all([
      before && sha256(before),
      after && sha256(after),
      before && transformed(before, new CompressionStream("gzip")),
    ]);
    const step = await file.write((db) => {
      if (before && data) {
        db.run(
          "INSERT OR IGNORE INTO contents (hash, data, bytes) VALUES (?, ?, ?)",
          beforeHash,
          data,
          before.length,
        );
      }
      return db.get<{ step: number }>(
        INSERT_STEP,
        path,
        tool,
        beforeHash,
        mode,
        afterHash,
        now(),
        n,
      )?.step;
    }, KEEP_WAIT);
    if (step === undefined) return { problem: "the session was deleted" };
    const forget = async () => {
      await file.write((db) =>
        db.run("DELETE FROM steps WHERE session = ? AND step = ?", n, step)
      ).catch(() => {});
    };
    return { step, forget };
  }
}

/** The steps of a session, in order. */
export function stepsOf(db: Sqlite, n: number): Step[] {
  return db.all<Step>(
    `SELECT step, path, tool, before, mode, after, created_at AS createdAt
     FROM steps WHERE session = ? ORDER BY step`,
    n,
  );
}

/**
 * A content that was kept.
 *
 * @throws {CommandError} when it is gone, or not what it was.
 */
export async function contentOf(
  read: <T>(query: (db: Sqlite) => T) => Promise<T>,
  hash: string,
): Promise<Uint8Array> {
  const row = await read((db) =>
    db.get<{ data: Uint8Array<ArrayBuffer> }>(
      "SELECT data FROM contents WHERE hash = ?",
      hash,
    )
  );
  if (!row) {
    throw new CommandError(
      "undo: what was there is not kept any more: the oldest contents go when there are too many",
    );
  }
  const bytes = await transformed(
    row.data,
    new DecompressionStream("gzip"),
  );
  if (await sha256(bytes) !== hash) {
    throw new CommandError("undo: what was kept is damaged");
  }
  return bytes;
}

/** Drops the oldest steps while all contents together are beyond `limit` bytes, and contents that no step names. */
export function trimContents(db: Sqlite, limit = KEPT_BYTES): number {
  let dropped = 0;
  while (true) {
    const { used } = db.get<{ used: number }>(
      "SELECT total(length(data)) AS used FROM contents",
    ) ?? { used: 0 };
    if (used <= limit) break;
    const gone = db.run(
      `DELETE FROM steps WHERE (session, step) IN
       (SELECT session, step FROM steps WHERE before IS NOT NULL ORDER BY created_at, session, step LIMIT 50)`,
    );
    if (gone === 0) break;
    dropped += gone;
    dropUnnamed(db);
  }
  if (dropped === 0) dropUnnamed(db);
  return dropped;
}

/** SHA-256 in hex. */
export async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes.slice());
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

function dropUnnamed(db: Sqlite): void {
  db.run(
    "DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM steps WHERE before = contents.hash)",
  );
}

async function transformed(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const blob = new Blob([bytes.slice()]);
  return await new Response(blob.stream().pipeThrough(stream)).bytes();
}

const INSERT_STEP = `
INSERT INTO steps (session, step, path, tool, before, mode, after, created_at)
SELECT n, (SELECT coalesce(max(step), 0) + 1 FROM steps WHERE session = n), ?, ?, ?, ?, ?, ?
FROM sessions WHERE n = ? RETURNING step`;
