/**
 * One change of a file at a time: calls of this process queue in the order they came, other processes wait at a lock
 * that the system holds on a file in the state folder. That lock dies with its process, so none is ever stale.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { errorCode, reasonOf } from "./reason.ts";

/** Lock files in the state folder; paths share them by hash, so that their number stays bounded. */
export const LOCK_FILES = 256;

/** Milliseconds that a call waits for other processes before it gives up. */
export const LOCK_WAIT = 30_000;

/** A lock file, opened. */
export type LockFile = Pick<Deno.FsFile, "lock" | "close">;

/** The locks of one process. Made once; holds nothing while no call is under way. */
export class FileLocks {
  readonly #folder: string | undefined;
  readonly #wait: number;
  readonly #openFile: (
    path: string,
    options: Deno.OpenOptions,
  ) => Promise<LockFile>;
  readonly #queues = new Map<string, Promise<void>>();

  /**
   * `stateFolder` is where the lock files live, in `locks/`; without one (or where it cannot be written, or its file
   * system has no locks) only the calls of this process take turns. `wait` is in milliseconds, `open` is `Deno.open`.
   */
  constructor(
    stateFolder: string | undefined,
    options: {
      wait?: number;
      open?(path: string, options: Deno.OpenOptions): Promise<LockFile>;
    } = {},
  ) {
    this.#folder = stateFolder === undefined
      ? undefined
      : `${stateFolder}/locks`;
    this.#wait = options.wait ?? LOCK_WAIT;
    this.#openFile = options.open ?? Deno.open;
  }

  /** Files that calls hold or wait for. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * Runs `work` while no other call holds the file. `key` is its real path.
   *
   * @throws {CommandError} when another process holds it for longer than the wait, or the lock fails for a reason that
   * is not known to mean that there is none; the signal's reason when aborted before `work` began.
   */
  async hold<T>(
    key: string,
    signal: AbortSignal,
    work: () => T | Promise<T>,
  ): Promise<T> {
    const before = this.#queues.get(key) ?? Promise.resolve();
    const turn = Promise.withResolvers<void>();
    const last = before.then(() => turn.promise);
    this.#queues.set(key, last);
    try {
      await abortable(before, signal);
      const release = await this.#lock(key, signal);
      try {
        return await work();
      } finally {
        release();
      }
    } finally {
      turn.resolve();
      if (this.#queues.get(key) === last) this.#queues.delete(key);
    }
  }

  async #lock(key: string, signal: AbortSignal): Promise<() => void> {
    const file = await this.#open(key);
    if (file === undefined) return () => {};
    const locked = file.lock(true);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#wait);
    try {
      await abortable(locked, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      // The wait itself cannot be called off: it ends some time, and then lets go.
      locked.catch(() => {}).finally(() => file.close());
      if (signal.aborted) throw error;
      if (late.signal.aborted) {
        throw new CommandError(
          `${key} is being changed by another process for more than ${
            this.#wait / 1000
          } s; nothing was done. Try again`,
        );
      }
      return unlocked(key, error);
    } finally {
      clearTimeout(timer);
    }
    return () => file.close();
  }

  async #open(key: string): Promise<LockFile | undefined> {
    if (this.#folder === undefined) return undefined;
    const path = `${this.#folder}/${lockName(key)}`;
    const options = { read: true, write: true, create: true, mode: 0o600 };
    try {
      return await this.#openFile(path, options);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        unlocked(key, error);
        return undefined;
      }
    }
    try {
      await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
      return await this.#openFile(path, options);
    } catch (error) {
      unlocked(key, error);
      return undefined;
    }
  }
}

/**
 * Goes on without a lock, where an error says that there can be none.
 *
 * @throws {CommandError} for any other: who holds the file is then not known.
 */
function unlocked(key: string, error: unknown): () => void {
  if (
    NO_LOCKS.some((kind) => error instanceof kind) ||
    NO_LOCK_CODES.has(errorCode(error) ?? "")
  ) return () => {};
  throw new CommandError(
    `${key} cannot be locked against other processes (${
      reasonOf(error)
    }); nothing was done. Try again`,
    { cause: error },
  );
}

/** The state folder is closed to this process, or is none. */
const NO_LOCKS = [
  Deno.errors.NotCapable,
  Deno.errors.PermissionDenied,
  Deno.errors.NotFound,
  Deno.errors.NotADirectory,
  Deno.errors.NotSupported,
];

/** It cannot be written, or its file system has no locks. */
const NO_LOCK_CODES: ReadonlySet<string> = new Set([
  "EROFS",
  "ENOSPC",
  "EDQUOT",
  "ENOLCK",
  "ENOSYS",
  "ENOTSUP",
  "EOPNOTSUPP",
]);

/** The lock file of a path: an FNV-1a hash, so that the same path gives the same name in every process. */
function lockName(key: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  }
  return ((hash >>> 0) % LOCK_FILES).toString(16).padStart(2, "0");
}

/** The promise's outcome, or the signal's reason if that comes first. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() =>
      signal.removeEventListener("abort", abort)
    );
  });
}
