/**
 * Database files on the disk, and what is done with them as a whole: looked at, moved aside, copied.
 *
 * @module
 */
import type { Sqlite } from "./sqlite.ts";

/** Files that SQLite keeps beside a database. */
export const COMPANIONS = ["-wal", "-shm", "-journal"] as const;

/**
 * Renames a database, and what belongs to it, to a free name that says when; that name. Undefined where the file is
 * not `inode` (any, where that is not known), since another process has put a new one in its place.
 */
export async function moveAside(
  path: string,
  inode: number | null | undefined,
  now: number,
): Promise<string | undefined> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
  using damaged = file;
  // Whoever else moves this very file waits here, and then finds it gone. Not every file system has such locks.
  await damaged.lock(true).catch(() => {});
  const { ino } = await damaged.stat();
  if (ino !== (inode ?? ino) || ino !== await inodeOf(path)) return undefined;
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  let target = `${path}.damaged-${stamp}`;
  for (let i = 2; await exists(target); i++) {
    target = `${path}.damaged-${stamp}-${i}`;
  }
  // The file itself last, and at once: as soon as it is gone others make a new one, whose companions are not ours.
  for (const part of COMPANIONS) {
    try {
      Deno.renameSync(path + part, target + part);
    } catch {
      // It has none.
    }
  }
  Deno.renameSync(path, target);
  return target;
}

/**
 * Takes from a database and its companions (0600), and from `folder` where one is given (0700), what anybody but the
 * owner may do; those that could not be changed. Systems without modes have nothing to take.
 */
export async function narrowModes(
  path: string,
  folder: string | undefined,
): Promise<string[]> {
  const wide: string[] = [];
  const narrow = async (path: string, isFolder: boolean) => {
    const info = await Deno.stat(path).catch(() => undefined);
    if (!info || info.isDirectory !== isFolder || info.mode === null) return;
    if ((info.mode & 0o077) === 0) return;
    await Deno.chmod(path, info.mode & 0o700).catch(() => wide.push(path));
  };
  if (folder !== undefined) await narrow(folder, true);
  for (const part of ["", ...COMPANIONS]) await narrow(path + part, false);
  return wide;
}

/** Copies a database to `target`, which is there whole or not at all. */
export async function backUp(db: Sqlite, target: string): Promise<void> {
  const unfinished = `${target}.tmp`;
  await Deno.remove(unfinished).catch(() => {});
  const file = await Deno.open(unfinished, {
    write: true,
    createNew: true,
    mode: 0o600,
  });
  file.close();
  // SQLite's own copying keeps the event loop, for seconds where the file is large.
  if (await holdStill(db)) {
    try {
      await Deno.copyFile(db.path, unfinished);
      await Deno.chmod(unfinished, 0o600).catch(() => {}); // Windows has no modes
    } finally {
      db.exec("ROLLBACK");
    }
  } else await db.backup(unfinished);
  await Deno.rename(unfinished, target);
}

/**
 * Takes the write lock with nothing in the log, so that the file alone is the whole database and does not change until
 * a rollback; false when other connections are in the way.
 */
async function holdStill(db: Sqlite): Promise<boolean> {
  if (db.pragma("wal_checkpoint(TRUNCATE)") !== 0) return false;
  db.exec("BEGIN IMMEDIATE");
  const { size } = await Deno.stat(`${db.path}-wal`).catch(() => ({ size: 0 }));
  if (size > 0) db.exec("ROLLBACK");
  return size === 0;
}

/** The URI of a database that nobody changes, which SQLite then reads without any file beside it. */
export function immutableUri(path: string): string {
  const escaped = path.replaceAll("\\", "/").replaceAll("%", "%25")
    .replaceAll("?", "%3f").replaceAll("#", "%23");
  return `file://${escaped.startsWith("/") ? "" : "/"}${escaped}?immutable=1`;
}

/** `sessions.db` → `sessions-2.db`. */
export function beside(path: string): string {
  return path.replace(/(\.[^./\\]*)?$/, (extension) => `-2${extension}`);
}

/** Waits by timer; false when `signal` ended the wait. */
export function delay(
  milliseconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(true);
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Whether anything is at a path that can be looked at. */
export async function exists(path: string): Promise<boolean> {
  return await inodeOf(path) !== undefined;
}

/** The inode of a file, null where the system has none, undefined when nothing is there. */
export async function inodeOf(
  path: string,
): Promise<number | null | undefined> {
  try {
    return (await Deno.stat(path)).ino;
  } catch {
    return undefined;
  }
}

/** The mount table; empty where there is none or it may not be read. Asking first, so that nothing prompts. */
export async function mounts(): Promise<string> {
  const path = "/proc/self/mounts";
  try {
    const { state } = await Deno.permissions.query({ name: "read", path });
    return state === "granted" ? await Deno.readTextFile(path) : "";
  } catch {
    return "";
  }
}
