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

/** Rows of text, collected until there are enough. */
export class Rows {
  readonly #maxRows: number;
  readonly #maxChars: number;
  readonly #lines: string[] = [];
  #chars = 0;
  /** Rows that count: matches, or files. */
  count = 0;
  /** Why no more rows are taken. */
  full: "rows" | "chars" | undefined;
  /** Lines that were cut around the match. */
  clipped = 0;

  /** At most `maxRows` rows that count, and `maxChars` UTF-16 units. */
  constructor(maxRows: number, maxChars: number) {
    this.#maxRows = maxRows;
    this.#maxChars = maxChars;
  }

  /** Adds a row that counts; false when there is no room. */
  add(row: string): boolean {
    if (!this.full && this.count >= this.#maxRows) this.full = "rows";
    if (!this.#push(row)) return false;
    this.count++;
    return true;
  }

  /** Adds a row of context; false when there is no room. */
  addContext(row: string): boolean {
    return this.#push(row);
  }

  /** Nothing was added yet. */
  get empty(): boolean {
    return this.#lines.length === 0;
  }

  /** All rows, and where there were more, a last line that says so. `noun`: what a row that counts is. */
  text(noun: string): string {
    const end = this.full ? [`(truncated at ${this.count} ${noun})`] : [];
    return [...this.#lines, ...end].join("\n");
  }

  #push(row: string): boolean {
    if (this.full) return false;
    if (this.#chars + row.length + 1 > this.#maxChars) {
      this.full = "chars";
      return false;
    }
    this.#lines.push(row);
    this.#chars += row.length + 1;
    return true;
  }
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
    this.#path = escapeControls(path).text.replaceAll("\n", "\\n");
    this.#bytes = bytes;
    this.#context = context;
  }

  /** Adds the lines of `hit` and its context; false when there is no more room. Pauses while counting lines. */
  *add(hit: Hit, matcher: Matcher): Generator<undefined, boolean, void> {
    this.finish(hit.start);
    let from = hit.start;
    for (let i = 0; i < this.#context && from > this.#next; i++) {
      from = lineStart(this.#bytes, from - 1);
    }
    const apart = !this.#begun || from > this.#next;
    if (this.#context > 0 && apart && !this.#rows.empty) {
      this.#rows.addContext("--");
    }
    this.#begun = true;
    yield* this.#countTo(from);
    this.#next = from;
    while (this.#next < hit.start) {
      if (!this.#addContext(lineEnd(this.#bytes, this.#next))) return false;
    }
    while (this.#next <= hit.end) {
      const end = lineEnd(this.#bytes, this.#next);
      const row = `${this.#path}:${this.#line}: ${
        this.#around(this.#next, end, hit, matcher)
      }`;
      if (!this.#rows.add(row)) return false;
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
    const text = this.#head(this.#next, end);
    const added = this.#rows.addContext(
      `${this.#path}-${this.#line}- ${text}`,
    );
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
