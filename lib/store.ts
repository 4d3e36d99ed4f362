/**
 * The store of recorded sessions: what tools, resources and the command line ask of it, and how a process opens it.
 *
 * @module
 */
import { NO_ROOT } from "./append.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { Config } from "./config.ts";
import { conversationKey } from "./hosts.ts";
import type { CallObserver, CallStart, Page } from "./hooks.ts";
import type { Logger } from "./log.ts";
import { pathsOf } from "./paths.ts";
import { dataFolder, fromUser, type Platform } from "./platform.ts";
import { Recorder } from "./recorder.ts";
import { deleteAll, KEEP_DAYS, MAX_BYTES, usedBytes } from "./retention.ts";
import { type Match, searchMatches, type Visible } from "./session_search.ts";
import type { SessionSearcher } from "./session_searcher.ts";
import { makeCursor, parseCursor, START } from "./session_cursor.ts";
import type { Message, SearchHit, SessionInfo } from "./recorded.ts";
import { type FileState, SessionFile } from "./session_file.ts";
import {
  type Found,
  messagesOf,
  placesBefore,
  sessionByNumber,
  sessionsWhere,
} from "./session_rows.ts";
import type { Sqlite } from "./sqlite.ts";
import { Upkeep } from "./upkeep.ts";

/** The database's name in its folder. */
export const DATABASE_NAME = "sessions.db";

/** Milliseconds that {@linkcode SessionStore.flush} waits for a lock unless told otherwise. */
export const FLUSH_WAIT = 500;

/** Bytes of a database up to which a search takes a few milliseconds at most. */
export const SEARCH_APART_FROM = 4 * 1024 * 1024;

/** How the store is, for `doctor`. */
export interface StoreStatus {
  /** `unopened` until something is recorded or asked for. */
  state: FileState;
  /** The database file, or `:memory:`; empty when no folder for it is known. */
  path: string;
  /** What is wrong and what to do, when something is. */
  reason: string | undefined;
  /** Sessions in the file, of all projects; undefined unless it is open. */
  sessions: number | undefined;
}

/** What a list of sessions is asked for. */
export interface ListOptions {
  /** Sessions on the page at most. */
  limit: number;
  /** From the page before. */
  cursor?: string | undefined;
  /** Ids to leave out. */
  except?: ReadonlySet<string>;
}

/** Everything a process does with recorded sessions. */
export interface SessionStore {
  /** Records calls. Attach it to the server; it neither throws nor waits. */
  readonly observer: CallObserver;
  /** Keeps what recorded calls replace. */
  readonly checkpoints: Checkpoints;
  /** Adds what became known of a recorded call after its end. Neither throws nor waits. */
  note(call: CallStart, text: string): void;
  /** Ids of the sessions that this process has recorded into. */
  readonly own: ReadonlySet<string>;
  /**
   * Visible sessions, the last changed first. Sessions that are added meanwhile do not move the pages that follow; one
   * that grows meanwhile moves to the front, where the next walk from the start meets it.
   *
   * @throws {RpcError} -32602 for a cursor that was not made here.
   * @throws {CommandError} when the store cannot be read; the text says why.
   */
  list(options: ListOptions): Promise<Page<SessionInfo>>;
  /** A visible session by its full id, or undefined. */
  find(id: string): Promise<SessionInfo | undefined>;
  /** Visible sessions whose id begins with `prefix`, at most `limit`, the last changed first. */
  withPrefix(prefix: string, limit: number): Promise<SessionInfo[]>;
  /**
   * Hands a visible session and its messages from `from` on to `render`, which must be done with them when it
   * returns. Undefined when there is no such session.
   */
  read<T>(
    id: string,
    from: number,
    render: (session: SessionInfo, messages: Iterable<Message>) => T,
  ): Promise<T | undefined>;
  /**
   * The visible sessions that match best.
   *
   * @throws {CommandError} when `query` is empty, or uses FTS5's operators wrongly.
   */
  search(query: string, limit: number): Promise<SearchHit[]>;
  /**
   * Reads what the other methods do not give; `visible` says which sessions may be looked at. For the command line.
   *
   * @throws {CommandError} when the store cannot be read.
   */
  query<T>(query: (db: Sqlite, visible: Visible) => T): Promise<T>;
  /**
   * Changes the file in one short transaction. For the command line.
   *
   * @throws {CommandError} when the store cannot be written.
   */
  change<T>(change: (db: Sqlite, visible: Visible) => T): Promise<T>;
  /**
   * Deletes a visible session, or without an id all that are visible; how many they were.
   *
   * @throws {CommandError} when the store cannot be written.
   */
  delete(id: string | undefined): Promise<number>;
  /**
   * Calls `listener` after each commit with the ids of the sessions that grew, and whether there is one more than
   * before; until the function returned is called.
   */
  watch(listener: SessionListener): () => void;
  /** Commits what is queued; waits at most `wait` milliseconds for the file and another process's lock. */
  flush(options?: { wait?: number }): Promise<void>;
  /** How the store is. Opens it when `open` is set. */
  status(options?: { open?: boolean }): Promise<StoreStatus>;
  /** Commits and closes. The store cannot be used afterwards. */
  close(): Promise<void>;
}

/** Told of sessions that this process has recorded into. */
export type SessionListener = (
  ids: ReadonlySet<string>,
  isNew: boolean,
) => void;

/** What a store needs of the world. */
export interface SessionsOptions {
  /** The operating system. */
  platform: Platform;
  /** Where the file is, what is recorded, and what can be seen. */
  config: Pick<Config, "state" | "record" | "sessions">;
  /** Where the operator is told of trouble. */
  logger: Logger;
  /** Real paths of this process's roots, asked at each use. */
  roots: () => readonly string[];
  /** The clock, in milliseconds since 1970; default `Date.now`. */
  now?: () => number;
  /** Whether other work goes on beside what is asked of the store: then large files are searched in a worker. */
  isServer?: boolean;
  /** From how many bytes on a file is large; default {@linkcode SEARCH_APART_FROM}. */
  searchApartFrom?: number;
}

/** The store of this process. Never throws and touches nothing yet: the file is opened at first use. */
export function openSessions(options: SessionsOptions): SessionStore {
  return new Store(options);
}

/** Where the database is; empty when no folder is known for it. */
export function databasePath(
  platform: Platform,
  statePath: string | undefined,
): string {
  if (statePath === ":memory:") return statePath;
  if (statePath !== undefined) return fromUser(platform, statePath) ?? "";
  const folder = dataFolder(platform);
  return folder === undefined
    ? ""
    : pathsOf(platform.os).join(folder, DATABASE_NAME);
}

class Store implements SessionStore {
  readonly observer: Recorder;
  readonly checkpoints: Checkpoints;
  readonly #options: SessionsOptions;
  readonly #file: SessionFile;
  readonly #listeners = new Set<SessionListener>();
  readonly #upkeep: Upkeep;
  #searcher: SessionSearcher | undefined;

  constructor(options: SessionsOptions) {
    const { platform, config, logger, roots } = options;
    const now = options.now ?? Date.now;
    this.#options = options;
    this.#file = new SessionFile({
      path: databasePath(platform, config.state.path),
      platform,
      logger,
      now,
    });
    this.observer = new Recorder({
      file: this.#file,
      level: config.record,
      roots,
      cwd: platform.cwd,
      conversation: (call) =>
        conversationKey(call.context.meta, (name) => platform.env(name)),
      now,
      committed: (ids, isNew) => {
        this.#upkeep.begin();
        for (const listener of [...this.#listeners]) listener(ids, isNew);
      },
    });
    this.#upkeep = new Upkeep({
      change: (body) => this.#file.write(body),
      keepDays: config.sessions.keepDays ?? KEEP_DAYS,
      maxBytes: config.sessions.maxBytes ?? MAX_BYTES,
      logger,
      now,
    });
    this.checkpoints = new Checkpoints({
      file: this.#file,
      sessionOf: (signal) => this.observer.sessionOf(signal),
      flush: () => this.flush(),
      now,
    });
  }

  note(call: CallStart, text: string): void {
    this.observer.note(call, text);
  }

  get own(): ReadonlySet<string> {
    return this.observer.own;
  }

  async list(
    { limit, cursor, except = NOTHING }: ListOptions,
  ): Promise<Page<SessionInfo>> {
    const after = cursor === undefined ? START : parseCursor(cursor);
    if (this.#isHidden()) return { items: [] };
    const found = await this.#read((db) =>
      placesBefore(db, this.#scope(), after, limit + 1 + except.size)
        .flatMap(({ n }) => sessionByNumber(db, n) ?? [])
        .filter(({ info }) => !except.has(info.id))
    );
    const last = found[limit - 1];
    return {
      items: found.slice(0, limit).map(({ info }) => info),
      ...(found.length > limit && last
        ? { next: makeCursor({ updatedAt: last.info.updatedAt, n: last.n }) }
        : {}),
    };
  }

  async find(id: string): Promise<SessionInfo | undefined> {
    if (this.#isHidden()) return undefined;
    return (await this.#read((db) => this.#visibleById(db, id)))?.info;
  }

  async withPrefix(prefix: string, limit: number): Promise<SessionInfo[]> {
    if (this.#isHidden() || !/^[0-9a-fA-F-]*$/.test(prefix)) return [];
    const first = prefix.toLowerCase();
    const { numbers, values } = this.#visible();
    return await this.#read((db) =>
      sessionsWhere(
        db,
        `s.id >= ? AND s.id < ? ${
          numbers === undefined ? "" : `AND s.n IN (${numbers})`
        } ORDER BY s.updated_at DESC, s.n DESC LIMIT ?`,
        first,
        `${first}g`,
        ...values,
        limit,
      ).map(({ info }) => info)
    );
  }

  async read<T>(
    id: string,
    from: number,
    render: (session: SessionInfo, messages: Iterable<Message>) => T,
  ): Promise<T | undefined> {
    if (this.#isHidden()) return undefined;
    return await this.#read((db) => {
      const found = this.#visibleById(db, id);
      return found && render(found.info, messagesOf(db, found.n, from));
    });
  }

  async search(query: string, limit: number): Promise<SearchHit[]> {
    if (this.#isHidden()) return [];
    const visible = this.#visible();
    const ranked = await this.#searchApart(query, limit, visible);
    return await this.#read((db) =>
      (ranked ?? searchMatches(db, query, { limit, visible })).flatMap(
        ({ n, ...match }) => {
          const session = sessionByNumber(db, n);
          return session ? [{ session: session.info, ...match }] : [];
        },
      )
    );
  }

  query<T>(query: (db: Sqlite, visible: Visible) => T): Promise<T> {
    return this.#read((db) => query(db, this.#visible()));
  }

  async change<T>(
    change: (db: Sqlite, visible: Visible) => T,
  ): Promise<T> {
    await this.flush();
    return await this.#file.write((db) => change(db, this.#visible()));
  }

  async delete(id: string | undefined): Promise<number> {
    if (this.#isHidden()) return 0;
    await this.flush();
    const { numbers, values } = this.#visible();
    const conditions = [
      ...(numbers === undefined ? [] : [`n IN (${numbers})`]),
      ...(id === undefined ? [] : ["id = ?"]),
    ].join(" AND ");
    return await deleteAll(
      (body) => this.#file.write(body),
      conditions === "" ? "true" : conditions,
      ...values,
      ...(id === undefined ? [] : [id]),
    );
  }

  watch(listener: SessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  flush({ wait = FLUSH_WAIT }: { wait?: number } = {}): Promise<void> {
    return this.observer.flush(wait);
  }

  async status({ open = false } = {}): Promise<StoreStatus> {
    const db = open || this.#file.state !== "unopened"
      ? await this.#file.open()
      : undefined;
    const sessions = db &&
      await this.#file.read((db) =>
        db.get<{ count: number }>("SELECT count(*) AS count FROM sessions")
          ?.count
      ).catch(() => undefined);
    const { state, path, reason } = this.#file;
    return { state, path, reason, sessions };
  }

  async close(): Promise<void> {
    await this.flush({ wait: 2_000 });
    this.observer.close();
    this.#searcher?.close();
    await Promise.all([this.#upkeep.close(), this.#file.close()]);
  }

  /** The matches in a large file, found in a worker; undefined where that is not needed or not possible. */
  async #searchApart(
    query: string,
    limit: number,
    visible: Visible,
  ): Promise<Match[] | undefined> {
    const file = this.#file;
    if (!this.#options.isServer || file.path === ":memory:") return undefined;
    const used = await this.#read(usedBytes);
    if (used < (this.#options.searchApartFrom ?? SEARCH_APART_FROM)) {
      return undefined;
    }
    const { SessionSearcher } = await import("./session_searcher.ts");
    this.#searcher ??= new SessionSearcher();
    const { path, generation } = file;
    return await this.#searcher.search({
      path,
      generation,
      query,
      limit,
      visible,
    });
  }

  /** Reads after what this process has queued is committed, so that a session knows its last call. */
  async #read<T>(query: (db: Sqlite) => T): Promise<T> {
    // Opening may take longer than what is queued may wait for.
    await this.#file.open();
    await this.flush();
    return await this.#file.read(query);
  }

  #isHidden(): boolean {
    return this.#options.config.sessions.visible === "none";
  }

  /** The roots whose sessions are visible; undefined: all sessions are. */
  #scope(): readonly string[] | undefined {
    if (this.#options.config.sessions.visible === "all") return undefined;
    const roots = this.#options.roots();
    return roots.length === 0 ? [NO_ROOT] : roots;
  }

  #visible(): Visible {
    const roots = this.#scope();
    if (this.#isHidden()) {
      return { roots: NONE, numbers: NONE, values: [] };
    }
    if (roots === undefined) {
      return { roots: undefined, numbers: undefined, values: [] };
    }
    const marks = roots.map(() => "?").join(", ");
    return {
      roots: `SELECT n FROM roots WHERE path IN (${marks})`,
      numbers:
        `SELECT session FROM session_roots WHERE root IN (SELECT n FROM roots WHERE path IN (${marks}))`,
      values: roots,
    };
  }

  #visibleById(db: Sqlite, id: string): Found | undefined {
    const { numbers, values } = this.#visible();
    return sessionsWhere(
      db,
      `s.id = ? ${numbers === undefined ? "" : `AND s.n IN (${numbers})`}`,
      id.toLowerCase(),
      ...values,
    )[0];
  }
}

/** SQL that gives no number. */
const NONE = "SELECT 0 WHERE false";

const NOTHING: ReadonlySet<string> = new Set();
