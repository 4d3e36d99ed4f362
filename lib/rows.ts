/**
 * The rows of a search's answer: `path:line: text`, with context around them, within a budget.
 *
 * @module
 */
import { clipChars, escapeControls } from "./clip.ts";
import { type Hit, lineEnd, lineStart, type Matcher } from "./matcher.ts";

/** Characters of a line that are shown; of a longer one, those around the match. */
export const ROW_CHARS = 500;

/** Characters shown before a match in a line that is cut. */
export const ROW_LEAD = 100;

/** A row of an answer. */
export interface Row {
  /** As shown. */
  text: string;
  /** Matching lines that it stands for; 0 for context. */
  matches: number;
  /** It is the first of its file that counts. */
  first: boolean;
}

/** Rows, collected until there are enough. */
export class Rows {
  readonly #maxRows: number;
  readonly #maxChars: number;
  readonly #maxBytes: number;
  readonly #rows: Row[] = [];
  #chars = 0;
  #bytes = 0;
  /** Rows that count: matching lines, or files. */
  count = 0;
  /** Matching lines. */
  matches = 0;
  /** Files with a match. */
  files = 0;
  /** Why no more rows are taken. */
  full: "rows" | "chars" | undefined;
  /** Lines that were cut around the match. */
  clipped = 0;

  /** At most `maxRows` rows that count, `maxChars` UTF-16 units, and `maxBytes` bytes of UTF-8. */
  constructor(maxRows: number, maxChars: number, maxBytes = 3 * maxChars) {
    this.#maxRows = maxRows;
    this.#maxChars = maxChars;
    this.#maxBytes = maxBytes;
  }

  /** Makes sure that there is room for a row that counts. */
  hasRoom(): boolean {
    if (!this.full && this.count >= this.#maxRows) this.full = "rows";
    return !this.full;
  }

  /** Whether there is room for all of these. */
  fits(rows: readonly Row[]): boolean {
    let { count } = this;
    let chars = this.#chars;
    let bytes = this.#bytes;
    for (const row of rows) {
      if (row.matches > 0) count++;
      chars += row.text.length + 1;
      bytes += utf8Length(row.text) + 1;
    }
    return !this.full && count <= this.#maxRows && chars <= this.#maxChars &&
      bytes <= this.#maxBytes;
  }

  /** Adds a row; false when there is no room. */
  add(row: Row): boolean {
    if (row.matches > 0 && !this.hasRoom()) return false;
    if (this.full) return false;
    const chars = this.#chars + row.text.length + 1;
    const bytes = this.#bytes + utf8Length(row.text) + 1;
    if (chars > this.#maxChars || bytes > this.#maxBytes) {
      this.full = "chars";
      return false;
    }
    this.#rows.push(row);
    this.#chars = chars;
    this.#bytes = bytes;
    this.matches += row.matches;
    if (row.matches > 0) this.count++;
    if (row.first) this.files++;
    return true;
  }

  /** The rows so far. */
  get all(): readonly Row[] {
    return this.#rows;
  }

  /** Nothing was added yet. */
  get empty(): boolean {
    return this.#rows.length === 0;
  }

  /** All rows, and where there were more, a last line that says so. `noun`: what a row that counts is. */
  text(noun: string): string {
    const lines = this.#rows.map((row) => row.text);
    if (this.full) lines.push(`(truncated at ${this.count} ${noun})`);
    return lines.join("\n");
  }
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What stands between groups of rows that do not adjoin. */
export const APART: Row = { text: "--", matches: 0, first: false };

/** A path in a row: on one line, whatever its name holds. */
export function pathRow(path: string): string {
  return escapeControls(path).text.replaceAll("\n", "\\n");
}

/** Turns the hits in one file into rows. */
export class FileRows {
  readonly #rows: Rows;
  readonly #path: string;
  readonly #bytes: Uint8Array;
  readonly #context: number;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Lines from here on are not out yet. */
  #next = 0;
  /** The number of the line that starts at `#counted`. */
  #line = 1;
  #counted = 0;
  /** Lines after the last match that are still to be shown. */
  #owed = 0;
  #begun = false;

  /** Rows go to `rows`; `context` is the number of lines around a match. */
  constructor(rows: Rows, path: string, bytes: Uint8Array, context: number) {
    this.#rows = rows;
    this.#path = pathRow(path);
    this.#bytes = bytes;
    this.#context = context;
  }

  /** Adds the lines of `hit` and its context; false when there is no more room. Pauses while counting lines. */
  *add(hit: Hit, matcher: Matcher): Generator<undefined, boolean, void> {
    this.finish(hit.start);
    if (!this.#rows.hasRoom()) return false;
    let from = hit.start;
    for (let i = 0; i < this.#context && from > this.#next; i++) {
      from = lineStart(this.#bytes, from - 1);
    }
    const apart = !this.#begun || from > this.#next;
    if (this.#context > 0 && apart && !this.#rows.empty) {
      this.#rows.add(APART);
    }
    let first = !this.#begun;
    this.#begun = true;
    yield* this.#countTo(from);
    this.#next = from;
    while (this.#next < hit.start) {
      if (!this.#addContext(lineEnd(this.#bytes, this.#next))) return false;
    }
    while (this.#next <= hit.end) {
      const end = lineEnd(this.#bytes, this.#next);
      const line = this.#around(this.#next, end, hit, matcher);
      const text = `${this.#path}:${this.#line}: ${line}`;
      if (!this.#rows.add({ text, matches: 1, first })) return false;
      first = false;
      this.#advance(end);
    }
    this.#owed = this.#context;
    return true;
  }

  /** Adds the context that is still owed, up to the line that starts at `limit`. */
  finish(limit: number = this.#bytes.length): void {
    while (this.#owed > 0 && this.#next < limit) {
      this.#owed--;
      if (!this.#addContext(lineEnd(this.#bytes, this.#next))) return;
    }
  }

  #addContext(end: number): boolean {
    const line = this.#head(this.#next, end);
    const text = `${this.#path}-${this.#line}- ${line}`;
    const added = this.#rows.add({ text, matches: 0, first: false });
    this.#advance(end);
    return added;
  }

  #advance(end: number): void {
    this.#next = end + 1;
    this.#counted = end + 1;
    this.#line++;
  }

  *#countTo(offset: number): Generator<undefined, void, void> {
    const bytes = this.#bytes;
    while (this.#counted < offset) {
      const stop = Math.min(offset, this.#counted + COUNT_SLICE);
      let line = this.#line;
      for (let at = this.#counted; at < stop; at++) {
        if (bytes[at] === LINE_FEED) line++;
      }
      this.#line = line;
      this.#counted = stop;
      if (stop < offset) yield undefined;
    }
  }

  #head(start: number, end: number): string {
    const stop = Math.min(end, start + 4 * ROW_CHARS);
    const text = this.#decode(start, stop);
    if (stop === end && text.length <= ROW_CHARS) return shown(text);
    this.#rows.clipped++;
    return shown(clipChars(text, ROW_CHARS)) + "…";
  }

  /** The text of a line; of a long one what is around the match. */
  #around(start: number, end: number, hit: Hit, matcher: Matcher): string {
    const bytes = this.#bytes;
    if (end - start <= ROW_CHARS) return shown(this.#decode(start, end));
    // In a match of several lines only its end was looked for; the lines before it are shown from their beginning.
    if (hit.matchEnd < start || hit.matchEnd > end + 1) {
      return this.#head(start, end);
    }
    const matchEnd = Math.min(hit.matchEnd, end);
    const floor = Math.max(start, matchEnd - 4 * ROW_CHARS);
    const focus = Math.max(floor, matcher.matchStart(bytes, matchEnd, floor));
    const from = Math.max(start, focus - 4 * ROW_CHARS);
    const to = Math.min(end, focus + 4 * ROW_CHARS);
    const before = this.#decode(from, focus);
    const after = this.#decode(focus, to);
    if (
      from === start && to === end &&
      before.length + after.length <= ROW_CHARS
    ) return shown(before + after);
    this.#rows.clipped++;
    const lead = Math.min(
      before.length,
      Math.max(ROW_LEAD, ROW_CHARS - after.length),
    );
    const head = before.slice(before.length - lead).replace(
      /^[\udc00-\udfff]/,
      "",
    );
    const tail = clipChars(after, ROW_CHARS - lead);
    return (from > start || lead < before.length ? "…" : "") +
      shown(head + tail) +
      (to < end || tail.length < after.length ? "…" : "");
  }

  /** Decodes a span, without the parts of characters at its ends that it cuts. */
  #decode(start: number, end: number): string {
    const bytes = this.#bytes;
    const inLine = start > 0 && bytes[start - 1] !== LINE_FEED;
    for (let n = 0; inLine && n < 3 && isInside(bytes[start]); n++) start++;
    let stop = end;
    for (let n = 0; n < 3 && stop > start && isInside(bytes[stop]); n++) stop--;
    return this.#decoder.decode(bytes.subarray(start, stop));
  }
}

/** A line as it is shown: without its carriage return, control characters escaped. */
function shown(text: string): string {
  return escapeControls(text.endsWith("\r") ? text.slice(0, -1) : text).text;
}

/** A byte that continues a UTF-8 character. */
function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

const COUNT_SLICE = 1 << 21;
const LINE_FEED = 0x0a;
