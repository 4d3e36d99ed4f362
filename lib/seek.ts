/**
 * Where a line begins in a file: counted from the start in bounded time, or found from the end by seeking.
 *
 * @module
 */
import type { Encoding } from "./encoding.ts";
import { countFeeds, lastLineStart, lineEnd } from "./paging.ts";

/** Bytes of a file by position. */
export interface Source {
  /** In bytes, when it was opened. */
  readonly size: number;
  /**
   * Bytes from `at` on: as many as asked for, fewer only at the end. They may lie in `into`, which the next read with
   * it overwrites.
   */
  read(at: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
}

/** Milliseconds that a search for a line may take. */
export const SCAN_MS = 10_000;

/** Bytes read at once while counting lines: a fraction of a millisecond's work between two other calls. */
export const SCAN_CHUNK = 262_144;

/** Bytes that are read of a file whose size the system does not tell. */
export const UNSIZED_BYTES = 4_194_304;

/** What a search is bounded by. */
export interface ScanLimits {
  /** Ends the search. */
  signal: AbortSignal;
  /** Milliseconds on a clock that does not go back. */
  now(): number;
  /** Milliseconds; default {@linkcode SCAN_MS}. */
  limit?: number;
}

/** A place in a file: the line with this number begins at this byte. */
export interface Mark {
  /** Number of the line, from 1. */
  line: number;
  /** Where it begins, from 0. */
  byte: number;
}

/** Where a search ended. `end`: the file has no such line, and `line` is its last. `timeout`: go on from here. */
export interface Found extends Mark {
  /** How the search ended. */
  outcome: "found" | "end" | "timeout";
}

/** Finds where line `target` begins, counting from `from`. Lets other work run after every chunk. */
export async function seekLine(
  source: Source,
  target: number,
  from: Mark,
  encoding: Encoding,
  limits: ScanLimits,
): Promise<Found> {
  const deadline = limits.now() + (limits.limit ?? SCAN_MS);
  let { line, byte } = from;
  let at = byte;
  const buffer = line < target ? new Uint8Array(SCAN_CHUNK) : undefined;
  while (line < target) {
    limits.signal.throwIfAborted();
    if (limits.now() > deadline) return { line, byte, outcome: "timeout" };
    const chunk = await source.read(at, SCAN_CHUNK, buffer);
    if (chunk.length === 0) {
      // What follows the last line feed is a line only when something does.
      return byte < at
        ? { line, byte, outcome: "end" }
        : { line: line - 1, byte, outcome: "end" };
    }
    const feeds = countFeeds(chunk, encoding);
    if (line + feeds >= target) {
      let end = 0;
      for (; line < target; line++) end = lineEnd(chunk, end, encoding);
      byte = at + end;
    } else if (feeds > 0) {
      line += feeds;
      byte = at + lastLineStart(chunk, chunk.length, encoding);
    }
    at += chunk.length;
  }
  if (byte >= source.size && byte > from.byte) {
    return { line: line - 1, byte, outcome: "end" };
  }
  return { line, byte, outcome: "found" };
}

/** Where the last lines of a file begin. */
export interface Tail {
  /** Where the first of them begins, from 0. */
  byte: number;
  /** How many lines were found: fewer than asked for when the file has no more, or time ran out. */
  lines: number;
  /** `start`: the file begins there. `timeout`: there may be more before. */
  outcome: "found" | "start" | "timeout";
}

/** Finds where the last `count` lines begin, reading backwards from the end to `start`, where the text begins. */
export async function seekTail(
  source: Source,
  count: number,
  start: number,
  encoding: Encoding,
  limits: ScanLimits,
): Promise<Tail> {
  const deadline = limits.now() + (limits.limit ?? SCAN_MS);
  const size = encoding === "utf-8"
    ? source.size
    : source.size - (source.size - start) % 2;
  let high = size;
  let lines = 0;
  let byte = size;
  const buffer = new Uint8Array(Math.min(SCAN_CHUNK, size));
  while (high > start) {
    limits.signal.throwIfAborted();
    if (limits.now() > deadline) return { byte, lines, outcome: "timeout" };
    const low = Math.max(start, high - SCAN_CHUNK);
    const chunk = await source.read(low, high - low, buffer);
    let before = chunk.length;
    // The line feed at the very end closes the last line and begins none.
    if (
      high === size &&
      lastLineStart(chunk, before, encoding) === before
    ) {
      before -= encoding === "utf-8" ? 1 : 2;
    }
    for (;;) {
      const lineStart = lastLineStart(chunk, before, encoding);
      if (lineStart === 0) break;
      lines++;
      byte = low + lineStart;
      if (lines === count) return { byte, lines, outcome: "found" };
      before = lineStart - (encoding === "utf-8" ? 1 : 2);
    }
    high = low;
  }
  return size > start
    ? { byte: start, lines: lines + 1, outcome: "start" }
    : { byte: start, lines: 0, outcome: "start" };
}

/** A file's bytes by position. Reads in sequence do not seek. */
export function fileSource(file: Deno.FsFile, size: number): Source {
  let position = 0;
  return {
    size,
    async read(at, length, into) {
      const wanted = Math.max(0, Math.min(length, size - at));
      const bytes = into?.subarray(0, wanted) ?? new Uint8Array(wanted);
      if (wanted > 0 && at !== position) {
        await file.seek(at, Deno.SeekMode.Start);
        position = at;
      }
      let have = 0;
      while (have < wanted) {
        const n = await file.read(bytes.subarray(have));
        if (n === null) break;
        have += n;
      }
      position += have;
      return bytes.subarray(0, have);
    },
  };
}

/** Bytes in memory as a source. */
export function memorySource(bytes: Uint8Array): Source {
  return {
    size: bytes.length,
    read: (at, length) => Promise.resolve(bytes.subarray(at, at + length)),
  };
}

/**
 * The bytes of a file whose size the system gives as 0, as for those in `/proc`: read at once, at most
 * {@linkcode UNSIZED_BYTES}.
 */
export async function unsizedSource(
  file: Pick<Deno.FsFile, "read">,
): Promise<Source> {
  let bytes = new Uint8Array(8_192);
  let size = 0;
  for (;;) {
    if (size === bytes.length) {
      if (size === UNSIZED_BYTES) break;
      const larger = new Uint8Array(Math.min(UNSIZED_BYTES, size * 8));
      larger.set(bytes);
      bytes = larger;
    }
    const n = await file.read(bytes.subarray(size));
    if (n === null) break;
    size += n;
  }
  return memorySource(bytes.subarray(0, size));
}
