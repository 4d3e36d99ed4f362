/**
 * The file that holds the sessions: how it is opened, and what is done when it is damaged, foreign, newer, locked,
 * not writable or gone. Nothing is ever overwritten, the operator gets one warning for each kind of trouble, and the
 * program goes on without its store.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import {
  backUp,
  beside,
  delay,
  exists,
  immutableUri,
  inodeOf,
  mounts,
  moveAside,
  narrowModes,
} from "./database_files.ts";
import { grantFor, inWords, unknownFolder } from "./grants.ts";
import type { Logger } from "./log.ts";
import {
  migrate,
  type Migration,
  MIGRATIONS,
  schemaState,
} from "./migrations.ts";
import { pathsOf } from "./paths.ts";
import { dataFolder, type Platform } from "./platform.ts";
import {
  APPLICATION_ID,
  faultOf,
  inspectFile,
  isNetworkFolder,
  Sqlite,
} from "./sqlite.ts";

/** Milliseconds that opening waits for another process's lock. */
export const OPEN_WAIT = 15_000;

/** Milliseconds that a read waits for another process's lock. */
export const READ_WAIT = 2_000;

/** Milliseconds after which a file that could not be opened is tried again. */
export const REOPEN_AFTER = 30_000;

/** Milliseconds between two looks at whether the open file is still the one at its path. */
export const CHECK_EVERY = 5_000;

/** Bytes of the write-ahead log beyond which it is written back into the file. */
export const LOG_BYTES = 4 * 1024 * 1024;

/** Bytes of the log beyond which reads wait for a moment without readers, since only then it can begin anew. */
export const MAX_WAL_BYTES = 8 * 1024 * 1024;

/** Times, 5 ms apart, that a read waits for such a moment. */
export const EMPTYING_TRIES = 20;

/** KiB of the file that are kept in memory; it is taken up as it is used. */
export const CACHE_KIB = 16_384;

/** How often opening is tried again when the system fails to read or write. */
export const IO_TRIES = 4;

/** How the file is. */
export type FileState = "unopened" | "open" | "read-only" | "unavailable";

/** What a {@linkcode SessionFile} needs of the world. */
export interface SessionFileOptions {
  /** Absolute, or `:memory:`; empty when none is known. */
  path: string;
  /** The operating system. */
  platform: Platform;
  /** Where the operator is told of trouble. */
  logger: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Steps of the schema; tests pass others. */
  migrations?: readonly Migration[];
  /** The mount table; tests pass others. */
  mounts?: () => Promise<string>;
}

/** The session database of one process, opened at first use. */
export class SessionFile {
  readonly #options: SessionFileOptions;
  readonly #migrations: readonly Migration[];
  readonly #closing = new AbortController();
  readonly #warned = new Set<string>();
  #path: string;
  #state: FileState = "unopened";
  #reason: string | undefined;
  #db: Sqlite | undefined;
  #opening: Promise<Sqlite | undefined> | undefined;
  #moving: Promise<void> | undefined;
  #inode: number | null | undefined;
  #generation = 0;
  #failedAt = -Infinity;
  #checkedAt = -Infinity;

  /** Nothing is opened yet. */
  constructor(options: SessionFileOptions) {
    this.#options = options;
    this.#migrations = options.migrations ?? MIGRATIONS;
    this.#path = options.path;
  }

  /** The file in use; another than asked for when that one belongs to another program. */
  get path(): string {
    return this.#path;
  }

  /** Another number whenever another file may be at the path. */
  get generation(): number {
    return this.#generation;
  }

  /** How the file is now. */
  get state(): FileState {
    return this.#state;
  }

  /** What is wrong and what to do, when something is. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** The connection, when it is open and may be written to. */
  get writable(): Sqlite | undefined {
    return this.#state === "open" ? this.#db : undefined;
  }

  /** Opens the file unless it is open. Undefined when that fails; {@linkcode reason} then says why. Never throws. */
  open(): Promise<Sqlite | undefined> {
    if (this.#db) return Promise.resolve(this.#db);
    if (this.#moving) return this.#moving.then(() => this.open());
    if (
      this.#closing.signal.aborted ||
      this.#options.now() - this.#failedAt < REOPEN_AFTER
    ) return Promise.resolve(undefined);
    return this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
  }

  /**
   * Reads, waiting by timer while another process holds the lock.
   *
   * @throws {CommandError} when the store cannot be read. Errors in the SQL or the query pass through.
   */
  async read<T>(query: (db: Sqlite) => T): Promise<T> {
    for (let i = 0; i < EMPTYING_TRIES && await this.tidy(MAX_WAL_BYTES); i++) {
      if (!await delay(5, this.#closing.signal)) break;
    }
    return await this.#use(query);
  }

  /**
   * Writes in one transaction, waiting by timer, at most `wait` milliseconds, while another process holds the lock.
   *
   * @throws {CommandError} when the store cannot be written.
   */
  async write<T>(
    change: (db: Sqlite) => T,
    wait = READ_WAIT,
  ): Promise<T> {
    const result = await this.#use((db) => {
      if (db.readOnly) {
        throw new CommandError(
          `state: the session store may not be written: ${this.#reason}`,
        );
      }
      return db.transaction(() => change(db));
    }, wait);
    await this.tidy();
    return result;
  }

  /**
   * Writes the write-ahead log back once it has more than `limit` bytes: not within a commit, as SQLite does, but in a
   * turn of the event loop of its own. True when other connections kept it from beginning anew. Never throws.
   */
  async tidy(limit = LOG_BYTES): Promise<boolean> {
    if (!this.writable || this.#path === MEMORY) return false;
    const size = await Deno.stat(`${this.#path}-wal`)
      .then((info) => info.size, () => 0);
    if (size <= limit || !this.writable) return false;
    const kind = size > MAX_WAL_BYTES ? "TRUNCATE" : "PASSIVE";
    try {
      // The first column is 0 when no other connection was in the way.
      return this.writable.pragma(`wal_checkpoint(${kind})`) !== 0;
    } catch {
      return false; // whatever it is, the next use meets it
    }
  }

  /**
   * Does what an error met while using the connection calls for: a damaged file is moved aside, and the next use
   * starts with an empty one; one that another process has moved is let go.
   */
  async damage(error: unknown): Promise<void> {
    const fault = faultOf(error);
    if (fault === "io") {
      this.#checkedAt = -Infinity;
      return await this.check();
    }
    if (fault !== "corrupt" && fault !== "not-a-database") return;
    this.#release();
    await (this.#moving ??= this.#moveAside(fault).catch((problem) => {
      this.#fail(`the damaged file could not be moved aside: ${text(problem)}`);
    }).finally(() => {
      this.#moving = undefined;
    }));
  }

  /** Looks, at most every {@linkcode CHECK_EVERY}, whether the open file is still at its path; else it is let go. */
  async check(): Promise<void> {
    const now = this.#options.now();
    if (
      !this.#db || this.#path === MEMORY || now - this.#checkedAt < CHECK_EVERY
    ) return;
    this.#checkedAt = now;
    const inode = await inodeOf(this.#path);
    if (inode === this.#inode) return;
    this.warn("store.replaced", {
      path: this.#path,
      problem: "the file was deleted or replaced while it was open",
      effect: "recording goes on in a new one",
    });
    this.#release();
  }

  /** One warning for each kind of trouble, however often it comes. */
  warn(event: string, fields: Record<string, unknown>): void {
    if (this.#warned.has(event)) return;
    this.#warned.add(event);
    this.#options.logger.warn(event, fields);
  }

  /** Closes the connection for good. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening;
    this.#release();
  }

  async #use<T>(
    action: (db: Sqlite) => T,
    wait = READ_WAIT,
  ): Promise<T> {
    const start = Date.now();
    while (true) {
      const db = await this.open();
      if (!db) throw new CommandError(this.#explanation());
      try {
        return action(db);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === undefined || fault === "sql") throw error;
        if (fault !== "busy") {
          await this.damage(error);
          throw new CommandError(
            `state: cannot use the session store: ${text(error)}`,
            { cause: error },
          );
        }
        if (
          Date.now() - start >= wait ||
          !await delay(25, this.#closing.signal)
        ) {
          throw new CommandError(
            "state: the session store is locked by another process; try again",
          );
        }
      }
    }
  }

  async #open(): Promise<Sqlite | undefined> {
    if (this.#path === "") {
      return this.#fail(inWords(unknownFolder()));
    }
    const start = this.#options.now();
    let wait = 10;
    // Moving a file aside happens once, so that a file system that damages every file ends in a warning, not a loop.
    let isMoved = false;
    let tries = 0;
    while (true) {
      try {
        return await this.#attempt();
      } catch (error) {
        this.#release();
        const fault = faultOf(error);
        if (fault === "busy") {
          if (this.#options.now() - start >= OPEN_WAIT) {
            return this.#fail("another process keeps it locked");
          }
          if (!await delay(wait, this.#closing.signal)) return undefined;
          wait = Math.min(wait * 2, 250);
        } else if (fault === "io" && tries++ < IO_TRIES) {
          // As while another process moves a damaged file's companions away.
          if (!await delay(25, this.#closing.signal)) return undefined;
        } else if (
          (fault === "corrupt" || fault === "not-a-database") && !isMoved
        ) {
          isMoved = true;
          try {
            await this.#moveAside(fault);
          } catch (problem) {
            return this.#fail(
              `it is damaged and could not be moved aside: ${text(problem)}`,
            );
          }
        } else if (fault === "read-only" || fault === "cannot-open") {
          return await this.#openReadOnly(text(error));
        } else if (fault === "not-permitted") {
          return this.#fail(
            `this process may not use it: ${
              grantFor(this.#folder(), ["read", "write"])
            }`,
          );
        } else return this.#fail(text(error));
      }
    }
  }

  async #attempt(): Promise<Sqlite> {
    await this.#prepareFile();
    this.#inode = await inodeOf(this.#path);
    const db = await Sqlite.open(this.#path);
    try {
      return await this.#begin(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Makes a connection ready. It is nobody's before that, however long it takes: it may have no tables yet. */
  async #begin(db: Sqlite): Promise<Sqlite> {
    // Asked of the connection, since another process may have moved away what was at the path: then SQLite made it.
    if (Number(db.pragma("page_count")) === 0) {
      await this.#narrow();
      // In one transaction, and before the write-ahead log: whoever looks at the file sees no header, or all of it.
      // Deferred, because the mode can only be set before the first page exists.
      db.exec(
        `BEGIN; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`,
      );
    } else if (Number(db.pragma("application_id")) !== APPLICATION_ID) {
      throw new Error("another program's database has just taken its place");
    }
    const isNetwork = isNetworkFolder(
      await (this.#options.mounts ?? mounts)(),
      this.#folder(),
    );
    db.exec(`PRAGMA journal_mode = ${isNetwork ? "DELETE" : "WAL"}`);
    db.exec(`PRAGMA synchronous = ${isNetwork ? "FULL" : "NORMAL"}`);
    // Within a commit only where nobody has done so long since.
    db.exec(`PRAGMA wal_autocheckpoint = ${MAX_WAL_BYTES / 4_096 * 2}`);
    // The log's size is then what it holds.
    db.exec("PRAGMA journal_size_limit = 0");
    db.exec("PRAGMA trusted_schema = OFF");
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    const schema = schemaState(db, this.#migrations);
    if (schema === "newer-read-only") {
      db.close();
      return await this.#readOnly(
        "a newer rousseau made it, and this one may not write to it: update, or set ROUSSEAU_STATE_PATH",
        "store.newer_schema",
      );
    }
    if (schema === "older") await this.#backUp(db);
    if (schema === "older" || schema === "new") migrate(db, this.#migrations);
    this.#checkedAt = this.#options.now();
    this.#state = "open";
    this.#reason = undefined;
    return this.#db = db;
  }

  /** Makes the folder and an empty file with narrow modes, or finds what is there. */
  async #prepareFile(): Promise<void> {
    if (this.#path === MEMORY) return;
    await Deno.mkdir(this.#folder(), { recursive: true, mode: 0o700 })
      .catch((error) => {
        // What cannot be made may still be there, in a folder that may only be read.
        if (error instanceof Deno.errors.NotCapable) throw error;
      });
    let inode = await inodeOf(this.#path);
    let kind = await inspectFile(this.#path);
    if (kind === "foreign") {
      const asked = this.#path;
      this.#path = beside(asked);
      this.warn("store.foreign", {
        path: asked,
        problem: "it is another program's database",
        effect: `left alone; sessions are kept in ${this.#path}`,
        fix:
          "`rousseau sessions import` takes over what an earlier rousseau recorded in it",
      });
      inode = await inodeOf(this.#path);
      kind = await inspectFile(this.#path);
      if (kind === "foreign") {
        throw new Error("this file, too, is another program's database");
      }
    }
    if (kind === "damaged") {
      this.#inode = inode;
      await this.#moveAside("not-a-database");
      // Another process may have been first, and its new file is not ours to judge yet.
      kind = await inspectFile(this.#path);
    }
    if (kind !== "absent") return await this.#narrow();
    try {
      const file = await Deno.open(this.#path, {
        write: true,
        createNew: true,
        mode: 0o600,
      });
      file.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    }
  }

  /** Takes what others may do from an existing file, and from the folder where that is rousseau's own. */
  async #narrow(): Promise<void> {
    if (this.#path === MEMORY) return;
    const { platform } = this.#options;
    const folder = this.#folder();
    const wide = await narrowModes(
      this.#path,
      folder === dataFolder(platform) ? folder : undefined,
    );
    if (wide.length === 0) return;
    this.warn("store.modes", {
      path: wide.join(", "),
      problem: "other users may read it, and it is not this user's to change",
      fix: `chmod 600 for the files, 700 for ${folder}`,
    });
  }

  async #openReadOnly(problem: string): Promise<Sqlite | undefined> {
    try {
      return await this.#readOnly(problem, "store.read_only");
    } catch {
      this.#release();
      return this.#fail(problem);
    }
  }

  async #readOnly(problem: string, event: string): Promise<Sqlite> {
    let db: Sqlite | undefined;
    try {
      db = await Sqlite.open(this.#path, { readOnly: true });
      schemaState(db);
    } catch (error) {
      db?.close();
      // In a folder that cannot be written, a write-ahead log needs an index file that cannot be made. Without a log
      // the file itself is complete, and SQLite is told that nobody changes it.
      if (await exists(`${this.#path}-wal`)) throw error;
      db = await Sqlite.open(immutableUri(this.#path), { readOnly: true });
      schemaState(db);
    }
    this.#inode = await inodeOf(this.#path);
    this.#checkedAt = this.#options.now();
    this.#state = "read-only";
    this.#reason = problem;
    this.warn(event, {
      path: this.#path,
      problem,
      effect: "earlier sessions can be read, new ones are not recorded",
    });
    return this.#db = db;
  }

  async #backUp(db: Sqlite): Promise<void> {
    const version = Number(db.pragma("user_version"));
    const path = `${this.#path}.backup-v${version}`;
    if (this.#path === MEMORY || await exists(path)) return;
    await backUp(db, path);
    this.#options.logger.info("store.backup", { path });
  }

  /** Renames the file, and what belongs to it, unless another process has done so already. */
  async #moveAside(fault: string): Promise<void> {
    if (this.#path === MEMORY) return;
    const target = await moveAside(
      this.#path,
      this.#inode,
      this.#options.now(),
    );
    if (target === undefined) return;
    this.warn("store.damaged", {
      path: this.#path,
      problem: fault === "corrupt"
        ? "the database is damaged"
        : "the file is not a database",
      effect: `moved to ${target}; sessions start empty`,
      fix: "`rousseau sessions recover` reads what can be saved from it",
    });
  }

  #fail(problem: string): undefined {
    this.#release();
    this.#state = "unavailable";
    this.#reason = problem;
    this.#failedAt = this.#options.now();
    this.warn("store.unavailable", {
      path: this.#path,
      problem,
      effect: "tools go on working; calls are not recorded",
    });
    return undefined;
  }

  #release(): void {
    this.#generation++;
    this.#db?.close();
    this.#db = undefined;
    if (this.#state !== "unavailable") this.#state = "unopened";
  }

  #folder(): string {
    return pathsOf(this.#options.platform.os).dirname(this.#path);
  }

  #explanation(): string {
    return this.#closing.signal.aborted
      ? "state: the session store is closed"
      : `state: cannot open the session store${
        this.#path && ` ${this.#path}`
      }: ${this.#reason ?? "unknown"}`;
  }
}

const MEMORY = ":memory:";

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
