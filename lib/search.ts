/**
 * A search: files in, rows and figures out.
 *
 * @module
 */
import { Haystack, type SyncFiles } from "./haystack.ts";
import { Matcher } from "./matcher.ts";
import { APART, FileRows, pathRow, type Row, Rows } from "./rows.ts";
import { type SkipEntry, Skips } from "./skips.ts";

/** What is searched for, and how much of it is wanted. Plain data, to be sent to a worker. */
export interface SearchJob {
  /** Empty: files are listed, not searched. */
  pattern: string;
  /** Letters match in either case. */
  ignoreCase: boolean;
  /** Matches may span lines. */
  multiline: boolean;
  /** Rows are lines, paths, or paths with the number of matching lines. */
  output: "content" | "files" | "count";
  /** Lines shown around a match. */
  context: number;
  /** Rows that count, at most. */
  maxRows: number;
  /** Characters of all rows, at most. */
  maxChars: number;
  /** The same in bytes of UTF-8; undefined: as many as it takes. */
  maxBytes?: number;
}

/** A file to search. */
export interface SearchFile {
  /** The path to open. */
  path: string;
  /** The path in answers. */
  shown: string;
  /** The base name. */
  name: string;
}

/** What a search of some files gave. Plain data, to be sent by a worker. */
export interface BatchResult {
  /** In order. */
  rows: readonly Row[];
  /** Why there are no more rows, when there could be. */
  full: Rows["full"];
  /** Lines that were cut around the match. */
  clipped: number;
  /** Files that were searched. */
  searched: number;
  /** What was left out. */
  skips: SkipEntry[];
}

/** What a search works with; costly to make, and good for one search after another of the same job. */
export interface SearchTools {
  /** Undefined: files are listed. */
  matcher: Matcher | undefined;
  /** Reads the files. */
  haystack: Haystack;
}

/**
 * Compiles the pattern.
 *
 * @throws {PatternError} when it is none.
 */
export function searchTools(job: SearchJob, files: SyncFiles): SearchTools {
  return {
    matcher: job.pattern === "" ? undefined : new Matcher(job.pattern, job),
    haystack: new Haystack(files),
  };
}

/** A search under way, and what it has found so far. */
export class Search {
  /** What is searched for. */
  readonly job: SearchJob;
  /** What was left out. */
  readonly skips: Skips = new Skips();
  /** The answer. */
  readonly rows: Rows;
  /** What it works with. */
  readonly tools: SearchTools;
  /** Files that were searched to their end or until there was enough. */
  searched = 0;
  /** The file that was searched last, as shown. */
  last = "";

  /** Nothing is searched yet. */
  constructor(job: SearchJob, tools: SearchTools) {
    this.job = job;
    this.rows = new Rows(job.maxRows, job.maxChars, job.maxBytes);
    this.tools = tools;
  }

  /** Searches files until there are none or there is enough. Pauses (undefined) now and then. */
  *run(
    found: Iterable<SearchFile | undefined>,
  ): Generator<undefined, void, void> {
    for (const file of found) {
      if (file) {
        yield* this.#file(file);
        this.last = file.shown;
        if (this.rows.full) return;
      }
      yield undefined;
    }
  }

  /** What was found, when all of it is to be handed on. */
  result(): BatchResult {
    const { rows, searched, skips } = this;
    return {
      rows: rows.all,
      full: rows.full,
      clipped: rows.clipped,
      searched,
      skips: skips.entries(),
    };
  }

  /**
   * Takes in what was found elsewhere, in files that come next in the order; false, and nothing is taken, when there
   * is no room for all of it.
   */
  merge(result: BatchResult, last: string): boolean {
    const { rows } = this;
    const apart = this.job.context > 0 && result.rows.length > 0 && !rows.empty;
    const all = apart ? [APART, ...result.rows] : result.rows;
    if (result.full || !rows.fits(all)) return false;
    for (const row of all) rows.add(row);
    rows.clipped += result.clipped;
    this.searched += result.searched;
    this.skips.merge(result.skips);
    this.last = last;
    return true;
  }

  *#file({ path, shown, name }: SearchFile): Generator<undefined, void, void> {
    const { rows, skips } = this;
    const { matcher, haystack } = this.tools;
    const { output, context } = this.job;
    if (!matcher) {
      rows.add({ text: pathRow(shown), matches: 1, first: true });
      return;
    }
    const bytes = yield* haystack.text(path);
    if (typeof bytes === "string") {
      skips.add(bytes, name);
      return;
    }
    this.searched++;
    if (haystack.cut) skips.add("binary", name);
    if (output === "content") {
      const view = new FileRows(rows, shown, bytes, context);
      for (const hit of matcher.hits(bytes)) {
        if (hit && !(yield* view.add(hit, matcher))) break;
        yield undefined;
      }
      view.finish();
      return;
    }
    let matches = 0;
    for (const hit of matcher.hits(bytes)) {
      if (hit) matches += lineCount(bytes, hit.start, hit.end);
      if (hit && output === "files") break;
      yield undefined;
    }
    if (matches === 0) return;
    const row = pathRow(shown);
    const text = output === "files" ? row : `${row}:${matches}`;
    rows.add({ text, matches, first: true });
  }
}

function lineCount(bytes: Uint8Array, start: number, end: number): number {
  let lines = 1;
  for (let at = start; at < end; at++) if (bytes[at] === 0x0a) lines++;
  return lines;
}
