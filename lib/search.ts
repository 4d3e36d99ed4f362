/**
 * A search: files in, rows and figures out.
 *
 * @module
 */
import type { Haystack } from "./haystack.ts";
import type { Matcher } from "./matcher.ts";
import { FileRows, type Rows } from "./rows.ts";
import type { Resolved } from "./scope.ts";
import type { Skips } from "./skips.ts";
import type { Found } from "./walk.ts";

/** A search under way, and what it has found so far. */
export interface Search {
  /** Undefined: files are listed, not searched. */
  matcher: Matcher | undefined;
  /** Rows are lines, paths, or paths with the number of matching lines. */
  output: "content" | "files" | "count";
  /** Lines shown around a match. */
  context: number;
  /** The searched file or folder. */
  target: Resolved;
  /** Reads the files. */
  haystack: Haystack;
  /** What was left out. */
  skips: Skips;
  /** The answer. */
  rows: Rows;
  /** Matching lines. */
  matches: number;
  /** Files with a match. */
  matched: number;
  /** Files that were searched to their end or until there was enough. */
  searched: number;
  /** The file that was searched last. */
  last: string;
}

/** Searches files until there are none or there is enough. Pauses now and then. */
export function* searchAll(
  search: Search,
  found: Iterable<Found | undefined>,
): Generator<undefined, void, void> {
  const { target, rows } = search;
  for (const file of found) {
    if (file) {
      const path = target.shown + file.path.slice(target.real.length);
      yield* searchFile(search, file, path);
      search.last = path;
      if (rows.full) return;
    }
    yield undefined;
  }
}

function* searchFile(
  search: Search,
  file: Found,
  path: string,
): Generator<undefined, void, void> {
  const { matcher, output, rows, skips } = search;
  if (!matcher) {
    if (rows.add(path)) search.matched++;
    return;
  }
  const bytes = yield* search.haystack.text(file.path);
  if (typeof bytes === "string") {
    skips.add(bytes, file.name);
    return;
  }
  search.searched++;
  let inFile = 0;
  const view = output === "content"
    ? new FileRows(rows, path, bytes, search.context)
    : undefined;
  for (const hit of matcher.hits(bytes)) {
    if (!hit) {
      yield undefined;
      continue;
    }
    if (view) {
      const before = rows.count;
      const taken = yield* view.add(hit, matcher);
      search.matches += rows.count - before;
      if (rows.count > before) inFile++;
      if (!taken) break;
    } else {
      inFile += lineCount(bytes, hit.start, hit.end);
      if (output === "files") break;
    }
    yield undefined;
  }
  view?.finish();
  if (search.haystack.cut) skips.add("binary", file.name);
  if (inFile === 0) return;
  if (view) {
    search.matched++;
  } else if (rows.add(output === "files" ? path : `${path}:${inFile}`)) {
    search.matched++;
    search.matches += inFile;
  }
}

function lineCount(bytes: Uint8Array, start: number, end: number): number {
  let lines = 1;
  for (let at = start; at < end; at++) if (bytes[at] === 0x0a) lines++;
  return lines;
}
