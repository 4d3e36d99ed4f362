/**
 * One file as the search sees it: read in slices without ever waiting on a pipe or following a link, decoded to
 * UTF-8, refused when it is binary or too large.
 *
 * @module
 */

/** The largest file that is searched, in bytes. */
export const MAX_FILE = 64 * 1024 * 1024;

/** A NUL among so many first bytes makes a file binary. A later one ends the search in it. */
export const BINARY_SNIFF = 8192;

/** Bytes read before the reading pauses; about 1 ms. */
export const READ_SLICE = 1 << 20;

/** Why a file is not searched. */
export type Unsearchable = "binary" | "too large" | "unreadable";

/** The part of `node:fs` that is used: its flags open without waiting and without following a link. */
export type SyncFiles = Pick<
  typeof import("node:fs"),
  "openSync" | "readSync" | "closeSync" | "fstatSync" | "constants"
>;

/** The flags that open a file for reading without waiting on a pipe and without following a link. */
function readFlags(files: SyncFiles): number {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = files.constants;
  return O_RDONLY | (O_NONBLOCK ?? 0) | (O_NOFOLLOW ?? 0);
}

/** Text of a regular file of at most `max` bytes; undefined when it is not that or may not be read. */
export function readSmall(
  files: SyncFiles,
  path: string,
  max: number,
): string | undefined {
  let file: number;
  try {
    file = files.openSync(path, readFlags(files));
  } catch {
    return undefined;
  }
  try {
    const info = files.fstatSync(file);
    if (!info.isFile() || info.size > max) return undefined;
    const bytes = new Uint8Array(info.size);
    let length = 0;
    while (length < bytes.length) {
      const room = bytes.length - length;
      const got = files.readSync(file, bytes, length, room, null);
      if (got === 0) break;
      length += got;
    }
    return new TextDecoder().decode(bytes.subarray(0, length));
  } catch {
    return undefined;
  } finally {
    files.closeSync(file);
  }
}

/** Reads files, one at a time, into memory that it uses again: a text is valid until the next is read. */
export class Haystack {
  readonly #files: SyncFiles;
  readonly #flags: number;
  #buffer = new Uint8Array(FIRST_BUFFER);
  /** Set when the last text ends early, at a NUL. */
  cut = false;

  /** Reads with `files`. */
  constructor(files: SyncFiles) {
    this.#files = files;
    this.#flags = readFlags(files);
  }

  /** The file's text as UTF-8 without byte-order mark, or why not; pauses (undefined) on the way. */
  *text(
    path: string,
  ): Generator<undefined, Uint8Array | Unsearchable, void> {
    this.cut = false;
    let bytes = yield* this.#read(path);
    if (typeof bytes === "string") return bytes;
    const utf16 = utf16Label(bytes);
    if (utf16) bytes = yield* transcode(bytes, utf16);
    else if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      bytes = bytes.subarray(3);
    }
    const nul = bytes.indexOf(0);
    if (nul < 0) return bytes;
    if (nul < BINARY_SNIFF) return "binary";
    this.cut = true;
    return bytes.subarray(0, bytes.lastIndexOf(LINE_FEED, nul) + 1);
  }

  *#read(path: string): Generator<undefined, Uint8Array | Unsearchable, void> {
    const { openSync, readSync, closeSync, fstatSync } = this.#files;
    let file: number;
    try {
      file = openSync(path, this.#flags);
    } catch {
      return "unreadable";
    }
    try {
      let length = 0;
      for (;;) {
        if (length === this.#buffer.length) {
          const { size } = fstatSync(file);
          if (size > MAX_FILE || length >= MAX_FILE) return "too large";
          this.#grow(Math.max(size + 1, 2 * length));
        }
        const room = Math.min(this.#buffer.length - length, READ_SLICE);
        const got = readSync(file, this.#buffer, length, room, null);
        length += got;
        // Less than asked for is the end of a regular file, except in the kernel's own file systems.
        if (got === 0 || (got < room && !SYNTHETIC.test(path))) {
          return this.#buffer.subarray(0, length);
        }
        if (got >= READ_SLICE) yield undefined;
        // A binary file is known by its beginning; the rest need not be read.
        if (length === got && got >= BINARY_SNIFF && isBinary(this.#buffer)) {
          return "binary";
        }
      }
    } catch {
      return "unreadable";
    } finally {
      closeSync(file);
    }
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.min(size, MAX_FILE + 1));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}

function isBinary(bytes: Uint8Array): boolean {
  if (utf16Label(bytes)) return false;
  const nul = bytes.subarray(0, BINARY_SNIFF).indexOf(0);
  return nul >= 0;
}

function utf16Label(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    // The same two bytes and two NULs begin UTF-32, which is taken as binary.
    return bytes.length >= 4 && bytes[2] === 0 && bytes[3] === 0
      ? undefined
      : "utf-16le";
  }
  return bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : undefined;
}

function* transcode(
  bytes: Uint8Array,
  label: string,
): Generator<undefined, Uint8Array, void> {
  const decoder = new TextDecoder(label);
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let at = 0; at < bytes.length; at += READ_SLICE) {
    const slice = bytes.subarray(at, at + READ_SLICE);
    const stream = at + READ_SLICE < bytes.length;
    const part = encoder.encode(decoder.decode(slice, { stream }));
    parts.push(part);
    length += part.length;
    if (stream) yield undefined;
  }
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const SYNTHETIC = /^\/(?:proc|sys|dev)\//;
const FIRST_BUFFER = 64 * 1024;
const LINE_FEED = 0x0a;
