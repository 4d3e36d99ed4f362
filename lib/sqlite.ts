/**
 * SQLite, by way of `node:sqlite`: the only module that names it. It is imported at the first open, so that a process
 * that never touches a database pays nothing.
 *
 * Every call here is synchronous and blocks the event loop, waiting for another process's lock included. So nothing
 * waits: a lock is an error of the kind `busy`, and whoever called tries again by timer.
 *
 * @module
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** `PRAGMA application_id` of our files: "Rous" in ASCII, at byte 68 of the file. */
export const APPLICATION_ID = 0x526f7573;

/** What went wrong in SQLite. */
export type SqliteFault =
  /** Another connection holds the lock: try again. */
  | "busy"
  /** No space left. */
  | "full"
  /** The file is a database whose insides contradict themselves. */
  | "corrupt"
  /** The file is something else. */
  | "not-a-database"
  | "read-only"
  | "cannot-open"
  /** The operating system failed to read or write. */
  | "io"
  | "constraint"
  /** Deno's permissions do not allow it. */
  | "not-permitted"
  /** The SQL, or a full-text query, is wrong. */
  | "sql";

/** A value that SQLite takes and gives. */
export type SqlValue = string | number | null | Uint8Array;

/** A row as SQLite gives it. */
export type Row = Record<string, SqlValue>;

/** How a database is opened. */
export interface OpenOptions {
  /** Open an existing file for reading only. */
  readOnly?: boolean;
}

/** One connection. Statements are prepared once and kept. */
export class Sqlite {
  /** The file, or `:memory:`. */
  readonly path: string;
  /** Whether it may not write. */
  readonly readOnly: boolean;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string, readOnly: boolean, db: DatabaseSync) {
    this.path = path;
    this.readOnly = readOnly;
    this.#db = db;
  }

  /**
   * Opens `path`, which is made when it does not exist.
   *
   * @throws an error that {@linkcode faultOf} names.
   */
  static async open(path: string, options: OpenOptions = {}): Promise<Sqlite> {
    const { DatabaseSync } = await import("node:sqlite");
    const readOnly = options.readOnly ?? false;
    return new Sqlite(
      path,
      readOnly,
      new DatabaseSync(path, {
        readOnly,
        timeout: 0,
        enableForeignKeyConstraints: true,
      }),
    );
  }

  /** Runs statements that give no rows and take no values. */
  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Runs one statement; how many rows it changed. */
  run(sql: string, ...values: SqlValue[]): number {
    return Number(this.#prepare(sql).run(...values as SQLInputValue[]).changes);
  }

  /** All rows. Read at once, so that no read transaction stays open. */
  all<T = Row>(sql: string, ...values: SqlValue[]): T[] {
    return this.#prepare(sql).all(...values as SQLInputValue[]) as T[];
  }

  /** The first row, or undefined. */
  get<T = Row>(sql: string, ...values: SqlValue[]): T | undefined {
    return this.#prepare(sql).get(...values as SQLInputValue[]) as
      | T
      | undefined;
  }

  /** The value of a pragma. */
  pragma(name: string): SqlValue | undefined {
    const row = this.#db.prepare(`PRAGMA ${name}`).get() as Row | undefined;
    return row === undefined ? undefined : Object.values(row)[0];
  }

  /** Runs `body` in a transaction that takes the write lock at once; an error undoes all of it. */
  transaction<T>(body: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = body();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  /** Copies the whole database into `path`, other connections' committed work included. */
  async backup(path: string): Promise<void> {
    const { backup } = await import("node:sqlite");
    await backup(this.#db, path);
  }

  /** Closes the connection. Does nothing when it is closed. */
  close(): void {
    this.#statements.clear();
    try {
      this.#db.close();
    } catch {
      // Closed already.
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #rollback(): void {
    try {
      this.#db.exec("ROLLBACK");
    } catch {
      // SQLite has undone the transaction itself, as it does when the disk is full.
    }
  }
}

/**
 * What an error of this module means, or undefined when it is not SQLite's. Deno's `node:sqlite` leaves the result
 * code out of most errors, so the message decides: its texts are those of `sqlite3_errstr`, which do not change.
 */
export function faultOf(error: unknown): SqliteFault | undefined {
  if (error instanceof Deno.errors.NotCapable) return "not-permitted";
  if (error instanceof Deno.errors.PermissionDenied) return "cannot-open";
  if (!(error instanceof Error)) return undefined;
  if ((error as { code?: unknown }).code !== "ERR_SQLITE_ERROR") {
    return undefined;
  }
  const message = error.message;
  return FAULTS.find(([text]) => message.includes(text))?.[1] ?? "sql";
}

/** What the first bytes of a file say about it. */
export type FileKind = "absent" | "empty" | "ours" | "foreign" | "damaged";

/**
 * Tells by its header whether a file is our database, another program's, or none. The header is written before the
 * journal mode is changed, so it is in the file itself from the first transaction on.
 */
export async function inspectFile(path: string): Promise<FileKind> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "absent";
    throw error;
  }
  using _ = file;
  const header = new Uint8Array(HEADER_BYTES);
  let filled = 0;
  while (filled < header.length) {
    const count = await file.read(header.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  if (filled === 0) return "empty";
  if (filled < HEADER_BYTES) return "damaged";
  if (!MAGIC.every((byte, i) => header[i] === byte)) return "damaged";
  const id = new DataView(header.buffer).getUint32(68);
  return id === APPLICATION_ID ? "ours" : "foreign";
}

/**
 * Whether a folder lies on a network file system, where a write-ahead log is unsafe (sqlite.org/wal.html): `mounts` is
 * the text of `/proc/self/mounts`.
 */
export function isNetworkFolder(mounts: string, folder: string): boolean {
  let longest = "";
  let type = "";
  for (const line of mounts.split("\n")) {
    const [, escaped, kind] = line.split(" ");
    if (escaped === undefined || kind === undefined) continue;
    const point = escaped.replace(
      /\\([0-7]{3})/g,
      (_, digits) => String.fromCharCode(parseInt(digits, 8)),
    );
    const covers = point === "/" || folder === point ||
      folder.startsWith(`${point}/`);
    // A later mount on the same point hides the earlier one.
    if (covers && point.length >= longest.length) {
      longest = point;
      type = kind;
    }
  }
  return NETWORK_TYPES.test(type);
}

const HEADER_BYTES = 100;

const MAGIC = new TextEncoder().encode("SQLite format 3\0");

const NETWORK_TYPES =
  /^(?:nfs\d?|cifs|smb\w*|ncpfs|afs|coda|ceph|9p|glusterfs|lustre|beegfs|fuse\.(?:sshfs|glusterfs|ceph|s3fs|rclone|davfs\w*|smb\w*|nfs\w*))$/;

const FAULTS: readonly (readonly [string, SqliteFault])[] = [
  ["database is locked", "busy"],
  ["database table is locked", "busy"],
  ["locking protocol", "busy"],
  ["database or disk is full", "full"],
  ["disk image is malformed", "corrupt"],
  ["malformed database schema", "corrupt"],
  // A table of the schema that the file says it has: no query of a person can name another.
  ["no such table", "corrupt"],
  ["file is not a database", "not-a-database"],
  ["readonly database", "read-only"],
  ["unable to open database file", "cannot-open"],
  ["disk I/O error", "io"],
  ["constraint failed", "constraint"],
  ["access permission denied", "not-permitted"],
];
