/**
 * File effects that keep the scope's word: opening what was checked, and replacing a file whole or not at all.
 *
 * Deno has no `openat`, so a *folder* swapped between the last check and the rename cannot be excluded; it is verified
 * before any content is written. A swapped *file* is found by comparing device and inode.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { denoFiles, kindOf, sameFile } from "./file_operations.ts";
import type { FileOperations } from "./file_operations.ts";
import { pathsOf } from "./paths.ts";
import { errorCode, reasonOf } from "./reason.ts";
import type { Resolved } from "./scope.ts";

/** Mode of a new file, before the umask. */
export const NEW_FILE_MODE = 0o644;

/** Mode of a new folder, before the umask. */
export const NEW_FOLDER_MODE = 0o755;

/** Milliseconds between attempts to rename over a file that another program holds open. */
export const RENAME_WAITS = [10, 20, 50, 100, 200] as const;

/** The identity and state of a file when it was read, to notice a change before it is replaced. */
export interface Version {
  /** The device. */
  dev: number;
  /** The inode, where the system has them. */
  ino: number | null;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970, where known. */
  mtime: number | null;
}

/** How a replacement is made. */
export interface ReplaceOptions {
  /** Refuse when the file is no longer this version; null: refuse when anything exists now. */
  expect?: Version | null;
  /** Refuse when the file no longer holds these bytes. */
  expectBytes?: Uint8Array;
  /** The mode that it is to have, before anybody can see it; default that of the file, or {@linkcode NEW_FILE_MODE}. */
  mode?: number;
  /** The file operations; tests put failing ones in. Default {@linkcode denoFiles}. */
  files?: FileOperations;
}

/** The version of a file, from its `stat`. */
export function versionOf(info: Deno.FileInfo): Version {
  return {
    dev: info.dev,
    ino: info.ino,
    size: info.size,
    mtime: info.mtime?.getTime() ?? null,
  };
}

/**
 * Opens a checked file for reading. What is not a regular file is refused before it is opened, so that a FIFO cannot
 * hang the call. Once open, the path is looked at again: it must still be this very file, by device and inode (which
 * nothing else can have while the file is open), no link, and in the same folder. The caller closes the file.
 *
 * @throws {CommandError} when the file was swapped or is not regular; the errors of `Deno.open` otherwise.
 */
export async function openChecked(
  target: Resolved,
  files: FileOperations = denoFiles,
): Promise<{ file: Deno.FsFile; info: Deno.FileInfo }> {
  if (target.info === undefined) {
    throw new Deno.errors.NotFound("No such file or directory (os error 2)");
  }
  refuseIrregular(target, target.info);
  // A second attempt: an editor that saves by rename swaps the file, too, and is no attack.
  for (let attempt = 0; attempt < 2; attempt++) {
    const file = await files.open(target.real, { read: true });
    try {
      const [info, there, real] = await Promise.all([
        file.stat(),
        files.lstat(target.real),
        files.realPath(target.real),
      ]);
      refuseIrregular(target, there);
      if (real !== target.real) throw swapped(target);
      if (info.isFile && sameFile(info, there)) return { file, info };
    } catch (error) {
      file.close();
      throw error;
    }
    file.close();
  }
  throw new CommandError(
    `open ${target.shown}: it was replaced while it was being opened; try again`,
  );
}

/**
 * Puts `bytes` in place of the file: an exclusive temporary file in the same folder, fsync, length and versions
 * checked, rename. At every moment the path holds the whole old or the whole new content. Keeps mode and, where it may,
 * owner; makes missing parents; a hard link is parted from its other names. Where the file is a mount point or another
 * program holds it open so that it cannot be renamed over, it is written in place while the temporary file keeps the
 * content safe. Returns what the caller should be told, such as `owner changed`.
 *
 * @throws {CommandError} when the file changed, its folder was swapped, or it is read-only or not regular. The errors
 * of the operating system otherwise; then the file is as it was and no temporary file is left.
 */
export async function replaceFile(
  target: Resolved,
  bytes: Uint8Array,
  options: ReplaceOptions = {},
): Promise<readonly string[]> {
  const files = options.files ?? denoFiles;
  const paths = pathsOf(files.os);
  const folder = paths.dirname(target.real);
  const notes: string[] = [];
  if (target.info) await refuseUnwritable(target, target.info, files);
  else await makeFolders(folder, files);

  const name = `.${paths.basename(target.real)}`.slice(0, MAX_PREFIX_CHARS);
  const temporary = paths.join(folder, `${name}.rousseau-${randomHex()}`);
  const file = await files.open(temporary, {
    write: true,
    createNew: true,
    // An existing file's mode is given below; until then nobody else may read what is written.
    mode: target.info || options.mode !== undefined ? 0o600 : NEW_FILE_MODE,
  });
  let keep = false;
  try {
    try {
      await refuseSwappedFolder(target, temporary, files);
      await writeAll(file, bytes);
      await file.sync();
      const { size } = await file.stat();
      if (size !== bytes.byteLength) {
        throw new CommandError(
          `write ${target.shown}: ${size} of ${bytes.byteLength} bytes arrived; the file is unchanged`,
        );
      }
    } finally {
      file.close();
    }
    if (target.info) {
      notes.push(...await keepAttributes(temporary, target.info, files));
    }
    if (options.mode !== undefined && files.os !== "windows") {
      // Some file systems have no modes to give.
      await files.chmod(temporary, options.mode).catch(() => {});
    }
    await refuseChanged(target, options, files);
    const failure = await rename(temporary, target.real, files);
    if (failure !== undefined) {
      keep = true;
      notes.push(
        await writeInPlace({ target, bytes, temporary, failure, files }),
      );
      keep = false;
      await files.remove(temporary).catch(() => {});
    }
  } catch (error) {
    if (!keep) await files.remove(temporary).catch(() => {});
    throw error;
  }
  return notes;
}

/** The name of a temporary file must stay below 255 bytes: 22 of its own, the rest in characters of up to 4 bytes. */
const MAX_PREFIX_CHARS = 56;

/** Renames with this code fail because of what the target is, not because of the disk. */
const IN_PLACE_CODES = ["EBUSY", "EXDEV"];

function refuseIrregular(target: Resolved, info: Deno.FileInfo): void {
  if (info.isFile) return;
  throw new CommandError(
    `open ${target.shown}: not a regular file: it is ${kindOf(info)}`,
  );
}

async function refuseUnwritable(
  target: Resolved,
  info: Deno.FileInfo,
  files: FileOperations,
): Promise<void> {
  refuseIrregular(target, info);
  // A rename needs no permission on the file itself, and root passes every check: the mode is asked, then the system.
  if (info.mode !== null && (info.mode & 0o222) === 0) {
    throw new CommandError(
      `open ${target.shown}: permission denied: the file is read-only (mode ${
        (info.mode & 0o7777).toString(8).padStart(4, "0")
      }); make it writable first if that is meant`,
    );
  }
  let file: Deno.FsFile;
  try {
    file = await files.open(target.real, { write: true });
  } catch (error) {
    // A running program can be renamed over, only not opened.
    if (errorCode(error) === "ETXTBSY") return;
    throw error;
  }
  try {
    if (!sameFile(info, await file.stat())) {
      throw changed(target);
    }
  } finally {
    file.close();
  }
}

async function makeFolders(
  folder: string,
  files: FileOperations,
): Promise<void> {
  const paths = pathsOf(files.os);
  const missing: string[] = [];
  for (let at = folder;;) {
    try {
      const info = await files.lstat(at);
      if (!info.isDirectory) {
        throw new CommandError(`mkdir: mkdir ${at}: not a directory`);
      }
      break;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) {
        throw error instanceof CommandError ? error : mkdirError(at, error);
      }
    }
    missing.push(at);
    const parent = paths.dirname(at);
    if (parent === at) break;
    at = parent;
  }
  for (const path of missing.reverse()) {
    try {
      await files.mkdir(path, { mode: NEW_FOLDER_MODE });
    } catch (error) {
      // Another call may have made it; only a real folder will do, not a link to one.
      const made = error instanceof Deno.errors.AlreadyExists &&
        (await files.lstat(path)).isDirectory;
      if (!made) throw mkdirError(path, error);
    }
  }
}

function mkdirError(path: string, error: unknown): CommandError {
  return new CommandError(`mkdir: mkdir ${path}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** The temporary file shows where the folder really is: nothing is written before that is as it was checked. */
async function refuseSwappedFolder(
  target: Resolved,
  temporary: string,
  files: FileOperations,
): Promise<void> {
  const paths = pathsOf(files.os);
  const checked = paths.dirname(target.real);
  const actual = paths.dirname(await files.realPath(temporary));
  if (actual !== checked) throw swapped(target);
}

function swapped(target: Resolved): CommandError {
  return new CommandError(
    `open ${target.shown}: a folder on the way was replaced by a link while the call ran; nothing was read or written`,
  );
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength;) {
    const written = await file.write(bytes.subarray(at));
    if (written === 0) throw new Deno.errors.WriteZero("nothing was written");
    at += written;
  }
}

async function keepAttributes(
  path: string,
  info: Deno.FileInfo,
  files: FileOperations,
): Promise<string[]> {
  if (files.os === "windows" || info.mode === null) return [];
  const notes: string[] = [];
  const made = await files.lstat(path);
  if (made.uid !== info.uid || made.gid !== info.gid) {
    await files.chown(path, info.uid, info.gid).catch(async () => {
      notes.push(
        `the file's owner changed from ${info.uid}:${info.gid}, because this process may not give files away`,
      );
      await files.chown(path, null, info.gid).catch(() => {});
    });
  }
  const mode = info.mode & 0o7777;
  try {
    await files.chmod(path, mode);
  } catch {
    // A file system without modes (FAT, some network and cloud folders) has none to keep.
    const now = (await files.lstat(path)).mode;
    if (now !== null && (now & 0o7777) !== mode) {
      notes.push(`the file's mode ${mode.toString(8)} could not be kept`);
    }
  }
  if ((info.nlink ?? 1) > 1) {
    notes.push(
      `the file had ${info.nlink} hard links; the others keep the old content`,
    );
  }
  return notes;
}

async function refuseChanged(
  target: Resolved,
  { expect, expectBytes }: ReplaceOptions,
  files: FileOperations,
): Promise<void> {
  let now: Deno.FileInfo | undefined;
  try {
    now = await files.lstat(target.real);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (now !== undefined && !now.isFile) throw changed(target);
  if (expect === null && now !== undefined) throw changed(target);
  if (expect && (now === undefined || !sameVersion(expect, versionOf(now)))) {
    throw changed(target);
  }
  if (
    expectBytes && !sameBytes(expectBytes, await files.readFile(target.real))
  ) {
    throw changed(target);
  }
}

function changed(target: Resolved): CommandError {
  return new CommandError(
    `${target.shown} was changed by someone else while the call ran; nothing was written. Read it again, then repeat the change`,
  );
}

function sameVersion(a: Version, b: Version): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size &&
    a.mtime === b.mtime;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false;
  for (let i = 0; i < a.byteLength; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Renames; undefined when done, the error when only writing in place can help. */
async function rename(
  from: string,
  to: string,
  files: FileOperations,
): Promise<unknown> {
  for (let attempt = 0;; attempt++) {
    try {
      await files.rename(from, to);
      return undefined;
    } catch (error) {
      if (files.os !== "windows") {
        // A single file that is mounted into a container cannot be replaced, only written.
        if (IN_PLACE_CODES.includes(errorCode(error) ?? "")) return error;
        throw error;
      }
      const held = error instanceof Deno.errors.PermissionDenied ||
        error instanceof Deno.errors.Busy ||
        ["EPERM", "EACCES", "EBUSY"].includes(errorCode(error) ?? "");
      if (!held) throw error;
      const wait = RENAME_WAITS[attempt];
      if (wait === undefined) return error;
      await files.wait(wait);
    }
  }
}

async function writeInPlace(step: {
  target: Resolved;
  bytes: Uint8Array;
  temporary: string;
  failure: unknown;
  files: FileOperations;
}): Promise<string> {
  const { target, bytes, temporary, failure, files } = step;
  let file: Deno.FsFile;
  try {
    file = await files.open(target.real, { write: true });
  } catch {
    // Untouched: the temporary file is of no use to anyone.
    await files.remove(temporary).catch(() => {});
    throw failure;
  }
  try {
    const [info, there] = await Promise.all([
      file.stat(),
      files.lstat(target.real),
    ]);
    if (!info.isFile || !there.isFile || !sameFile(info, there)) {
      await files.remove(temporary).catch(() => {});
      throw changed(target);
    }
    await writeAll(file, bytes);
    await file.truncate(bytes.byteLength);
    await file.sync();
    const { size } = await file.stat();
    if (size !== bytes.byteLength) {
      throw new Error(`${size} of ${bytes.byteLength} bytes arrived`);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `write ${target.shown}: ${
        reasonOf(error)
      }; it may be incomplete. The new content is safe in ${temporary}`,
      { cause: error },
    );
  } finally {
    file.close();
  }
  return `written in place, because the file could not be replaced (${
    reasonOf(failure)
  })`;
}

function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
