/**
 * A page of a file's text: whole lines within a budget, and where the next page begins.
 *
 * @module
 */
import { unitsWithin } from "./clip.ts";
import { type Encoding, renderBytes } from "./encoding.ts";

/** Lines of a page unless `limit` asks for more. */
export const PAGE_LINES = 2_000;

/** What to make a page of. */
export interface PageRequest {
  /** From the page's first byte on, at least {@linkcode pageBytes} where the file has them. */
  bytes: Uint8Array;
  /** How they are decoded. */
  encoding: Encoding;
  /** Whether the file ends where `bytes` end. */
  atEnd: boolean;
  /** Lines at most. */
  maxLines: number;
  /** UTF-16 units, line numbers included. */
  maxChars: number;
  /** The same in bytes of UTF-8; undefined: as many as it takes. */
  maxBytes?: number | undefined;
  /** Number of the first line, to be put before each line; undefined for none. */
  firstNumber?: number | undefined;
}

/** A page. */
export interface Page {
  /** What is shown. */
  text: string;
  /** Bytes of the file that the page shows. */
  used: number;
  /** Lines begun on this page, an unfinished last one included. */
  lines: number;
  /** The page ends inside a line, which is longer than a page. */
  cut: boolean;
  /** Bytes that do not decode. */
  bad: number;
  /** Control characters written out. */
  escaped: number;
}

/** Bytes that hold `maxChars` characters in any encoding, and the end of the line that they are in. */
export function pageBytes(maxChars: number): number {
  return maxChars * 3 + 4;
}

/** Cuts a page. A single line longer than the budget is cut inside, between characters. */
export function cutPage(request: PageRequest): Page {
  const page = cutByChars(request);
  const fitting = unitsWithin(page.text, request.maxBytes ?? Infinity);
  return fitting === page.text.length
    ? page
    : cutByChars({ ...request, maxChars: fitting });
}

function cutByChars(request: PageRequest): Page {
  const { bytes, encoding, atEnd, maxLines, maxChars, firstNumber } = request;
  const page: Page = {
    text: "",
    used: 0,
    lines: 0,
    cut: false,
    bad: 0,
    escaped: 0,
  };
  if (atEnd && firstNumber === undefined) {
    const lines = countLines(bytes, encoding);
    if (lines <= maxLines) {
      const whole = renderBytes(bytes, encoding, maxChars);
      if (whole.used === bytes.length) {
        return { ...page, ...whole, lines };
      }
    }
  }
  const parts: string[] = [];
  let length = 0;
  while (page.used < bytes.length && page.lines < maxLines) {
    const end = lineEnd(bytes, page.used, encoding);
    if (end === -1 && !atEnd && page.lines > 0) break;
    const prefix = firstNumber === undefined
      ? ""
      : `${firstNumber + page.lines}\t`;
    const line = renderBytes(
      bytes.subarray(page.used, end === -1 ? bytes.length : end),
      encoding,
      Math.max(0, maxChars - length - prefix.length),
    );
    const whole = page.used + line.used ===
      (end === -1 && atEnd ? bytes.length : end);
    if (!whole && page.lines > 0) break;
    parts.push(prefix, line.text);
    length += prefix.length + line.text.length;
    page.used += line.used;
    page.bad += line.bad;
    page.escaped += line.escaped;
    page.lines++;
    if (!whole) {
      page.cut = true;
      break;
    }
  }
  page.text = parts.join("");
  return page;
}

/** Lines in `bytes`: line feeds, and one more when something follows the last. */
export function countLines(bytes: Uint8Array, encoding: Encoding): number {
  const feeds = countFeeds(bytes, encoding);
  return bytes.length > 0 && !endsWithFeed(bytes, encoding) ? feeds + 1 : feeds;
}

/** Line feeds in `bytes`, which in UTF-16 begin at a whole unit. */
export function countFeeds(bytes: Uint8Array, encoding: Encoding): number {
  let feeds = 0;
  if (encoding !== "utf-8") {
    for (let at = 0; (at = lineEnd(bytes, at, encoding)) !== -1;) feeds++;
    return feeds;
  }
  // Four bytes at a time: three times as fast as one by one, which is what reading far into a large file takes.
  const head = Math.min(bytes.length, -bytes.byteOffset & 3);
  const words = bytes.length - head < 4 ? new Uint32Array(0) : new Uint32Array(
    bytes.buffer,
    bytes.byteOffset + head,
    (bytes.length - head) >> 2,
  );
  for (let at = 0; at < words.length;) {
    // In each byte of it the feeds in that place, of as many words as a byte can count.
    let places = 0;
    const stop = Math.min(words.length, at + 255);
    for (; at < stop; at++) {
      const zero = words[at]! ^ 0x0a0a0a0a;
      const others = ((zero & 0x7f7f7f7f) + 0x7f7f7f7f) | zero;
      places += (~others >>> 7) & 0x01010101;
    }
    const pairs = (places & 0xff00ff) + ((places >>> 8) & 0xff00ff);
    feeds += (pairs & 0xffff) + (pairs >>> 16);
  }
  for (let at = 0; at < head; at++) if (bytes[at] === 0x0a) feeds++;
  for (let at = head + 4 * words.length; at < bytes.length; at++) {
    if (bytes[at] === 0x0a) feeds++;
  }
  return feeds;
}

/** The index behind the first line feed at or after `from`; -1 when there is none. */
export function lineEnd(
  bytes: Uint8Array,
  from: number,
  encoding: Encoding,
): number {
  if (encoding === "utf-8") {
    const at = bytes.indexOf(0x0a, from);
    return at === -1 ? -1 : at + 1;
  }
  const low = encoding === "utf-16le" ? 0 : 1;
  for (let at = from; (at = bytes.indexOf(0x0a, at)) !== -1; at++) {
    if ((at - from) % 2 !== low) continue;
    if (bytes[low === 0 ? at + 1 : at - 1] === 0) {
      return low === 0 ? at + 2 : at + 1;
    }
  }
  return -1;
}

/** The index behind the last line feed that ends at or before `before`; 0 when there is none. */
export function lastLineStart(
  bytes: Uint8Array,
  before: number,
  encoding: Encoding,
): number {
  const low = encoding === "utf-16be" ? 1 : 0;
  const size = encoding === "utf-8" ? 1 : 2;
  for (
    let at = before - size + low;
    at >= 0 && (at = bytes.lastIndexOf(0x0a, at)) !== -1;
    at--
  ) {
    if (size === 1) return at + 1;
    if (at % 2 === low && bytes[low === 0 ? at + 1 : at - 1] === 0) {
      return at - low + 2;
    }
  }
  return 0;
}

function endsWithFeed(bytes: Uint8Array, encoding: Encoding): boolean {
  return lastLineStart(bytes, bytes.length, encoding) === bytes.length;
}
