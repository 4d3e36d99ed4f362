/**
 * What is in a folder: names, kinds, sizes and counts, a page of it at a time.
 *
 * @module
 */
import { escapeControls } from "./clip.ts";
import { kindOf } from "./file_operations.ts";
import { counted, grouped } from "./tool.ts";

/** Entries of one page unless `limit` asks for more. */
export const LISTING_ENTRIES = 500;

/** Entries of a folder that are looked at; what a larger folder holds beyond is not known. */
export const LISTING_SCAN = 100_000;

/** Entries of a subfolder that are counted; more are shown as `1,000+`. */
export const SUBFOLDER_COUNT = 1_000;

/** Milliseconds after which subfolders are no longer counted. */
export const LISTING_MS = 1_000;

/** A page of a folder. */
export interface Listing {
  /** One line an entry. */
  text: string;
  /** Entries in the folder, as far as it was looked at. */
  total: number;
  /** There are more than {@linkcode LISTING_SCAN}. */
  more: boolean;
  /** Index of the first entry shown, from 1, and how many are shown. */
  first: number;
  /** Entries shown. */
  shown: number;
}

/** What is needed to list a folder. */
export interface ListingRequest {
  /** Real path of the folder. */
  folder: string;
  /** The path's separator. */
  separator: string;
  /** First entry, from 1; negative counts from the end. */
  offset: number;
  /** Entries at most. */
  maxEntries: number;
  /** UTF-16 units at most. */
  maxChars: number;
  /** Entries looked at; default {@linkcode LISTING_SCAN}. */
  scan?: number;
  /** Why an entry may not be read, or undefined. */
  denial(path: string): string | undefined;
  /** Ends the work. */
  signal: AbortSignal;
  /** Milliseconds on a clock that does not go back. */
  now(): number;
}

/**
 * Lists a folder, sorted by name. Folders end in `/` and have their number of entries beside them, files their size.
 *
 * @throws {Deno.errors.NotFound} and its like when the folder cannot be read.
 */
export async function listFolder(request: ListingRequest): Promise<Listing> {
  const { folder, maxEntries, maxChars, signal, now } = request;
  const deadline = now() + LISTING_MS;
  const names: string[] = [];
  let more = false;
  for await (const entry of Deno.readDir(folder)) {
    if (names.length === (request.scan ?? LISTING_SCAN)) {
      more = true;
      break;
    }
    if (names.length % 1_000 === 0) signal.throwIfAborted();
    names.push(entry.name);
  }
  names.sort();
  const first = request.offset < 0
    ? Math.max(1, names.length + request.offset + 1)
    : Math.max(1, request.offset);
  const page = names.slice(first - 1, first - 1 + maxEntries);
  const lines: string[] = [];
  let room = maxChars;
  for (let i = 0; i < page.length; i += AT_ONCE) {
    signal.throwIfAborted();
    const some = await Promise.all(
      page.slice(i, i + AT_ONCE).map((name) =>
        describe(name, request, () => now() < deadline)
      ),
    );
    for (const line of some) {
      room -= line.length + 1;
      if (room < 0) break;
      lines.push(line);
    }
    if (room < 0) break;
  }
  return {
    text: lines.map((line) => `${line}\n`).join(""),
    total: names.length,
    more,
    first,
    shown: lines.length,
  };
}

/** Entries that are looked at side by side. */
const AT_ONCE = 16;

async function describe(
  name: string,
  request: ListingRequest,
  inTime: () => boolean,
): Promise<string> {
  const path = request.folder.endsWith(request.separator)
    ? request.folder + name
    : request.folder + request.separator + name;
  const shown = escapeControls(name).text.replaceAll("\n", "\\n");
  if (request.denial(path) !== undefined) return `${shown}  (refused)`;
  try {
    const info = await Deno.lstat(path);
    if (info.isDirectory) {
      return inTime() ? `${shown}/  ${await countEntries(path)}` : `${shown}/`;
    }
    if (info.isSymlink) {
      const target = escapeControls(await Deno.readLink(path)).text;
      return `${shown} -> ${target.replaceAll("\n", "\\n")}`;
    }
    return info.isFile
      ? `${shown}  ${counted(info.size, "byte")}`
      : `${shown}  ${kindOf(info)}`;
  } catch {
    return `${shown}  (not readable)`;
  }
}

async function countEntries(path: string): Promise<string> {
  let n = 0;
  try {
    for await (const _ of Deno.readDir(path)) {
      n++;
      if (n > SUBFOLDER_COUNT) return `${grouped(SUBFOLDER_COUNT)}+ entries`;
    }
  } catch {
    return "(not readable)";
  }
  return n === 1 ? "1 entry" : `${grouped(n)} entries`;
}
