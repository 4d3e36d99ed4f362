/**
 * The file operations that careful reading and writing are made of, as a value, so that tests can make them fail.
 *
 * @module
 */

/** The operations that replacing a file is made of. */
export interface FileOperations {
  /** Whose rules of renaming and of paths hold. */
  readonly os: "linux" | "darwin" | "windows";
  /** `Deno.open`. */
  open(path: string, options: Deno.OpenOptions): Promise<Deno.FsFile>;
  /** `Deno.lstat`. */
  lstat(path: string): Promise<Deno.FileInfo>;
  /** `Deno.realPath`. */
  realPath(path: string): Promise<string>;
  /** `Deno.mkdir`. */
  mkdir(path: string, options: { mode: number }): Promise<void>;
  /** `Deno.chmod`. */
  chmod(path: string, mode: number): Promise<void>;
  /** `Deno.chown`. */
  chown(path: string, uid: number | null, gid: number | null): Promise<void>;
  /** `Deno.rename`. */
  rename(from: string, to: string): Promise<void>;
  /** `Deno.remove`. */
  remove(path: string): Promise<void>;
  /** `Deno.readFile`. */
  readFile(path: string): Promise<Uint8Array>;
  /** Resolves after so many milliseconds. */
  wait(milliseconds: number): Promise<void>;
}

/** The real file system. */
export const denoFiles: FileOperations = {
  os: Deno.build.os === "darwin" || Deno.build.os === "windows"
    ? Deno.build.os
    : "linux",
  open: (path, options) => Deno.open(path, options),
  lstat: (path) => Deno.lstat(path),
  realPath: (path) => Deno.realPath(path),
  mkdir: (path, options) => Deno.mkdir(path, options),
  chmod: (path, mode) => Deno.chmod(path, mode),
  chown: (path, uid, gid) => Deno.chown(path, uid, gid),
  rename: (from, to) => Deno.rename(from, to),
  remove: (path) => Deno.remove(path),
  readFile: (path) => Deno.readFile(path),
  wait: (milliseconds) =>
    new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** What a directory entry is, in words: `a regular file`, `a directory`, `a FIFO (named pipe)`, … */
export function kindOf(info: Deno.FileInfo): string {
  return info.isFile
    ? "a regular file"
    : info.isDirectory
    ? "a directory"
    : info.isSymlink
    ? "a symbolic link"
    : info.isFifo
    ? "a FIFO (named pipe)"
    : info.isSocket
    ? "a socket"
    : info.isCharDevice
    ? "a character device"
    : info.isBlockDevice
    ? "a block device"
    : "a special file";
}

/** True when two `stat`s are of one file: device and inode, or size and times where a system has no inodes. */
export function sameFile(a: Deno.FileInfo, b: Deno.FileInfo): boolean {
  return a.ino !== null && b.ino !== null
    ? a.dev === b.dev && a.ino === b.ino
    : a.size === b.size && a.mtime?.getTime() === b.mtime?.getTime() &&
      a.birthtime?.getTime() === b.birthtime?.getTime();
}
