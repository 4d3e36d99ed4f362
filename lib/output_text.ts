/**
 * Output bytes as text: decoded without ever cutting a character, made harmless to show, and fitted into a budget.
 *
 * @module
 */
import { escapeControls, stripAnsi } from "./clip.ts";

/** Text made from output bytes. */
export interface CleanText {
  /** Without terminal sequences. */
  text: string;
  /** Control characters written as `\x00`. */
  escaped: number;
  /** Whether bytes that are not UTF-8 became U+FFFD. */
  invalid: boolean;
}

/** Output bytes as text: lossily decoded, without terminal sequences, control characters written out. */
export function clean(bytes: Uint8Array): CleanText {
  const decoded = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const { text, escaped } = escapeControls(stripAnsi(decoded));
  return { text, escaped, invalid: decoded.includes("\ufffd") };
}

/** How many of the first bytes make at most `chars` UTF-16 units of clean text, cut at a line end where there is one. */
export function fitHead(bytes: Uint8Array, chars: number): number {
  const length = largest(
    bytes.length,
    chars,
    (n) => clean(bytes.subarray(0, n)).text.length,
  );
  if (length === bytes.length) return length;
  const line = bytes.lastIndexOf(NEWLINE, length - 1) + 1;
  return length > 0 && line > 0
    ? line
    : completeLength(bytes.subarray(0, length));
}

/** How many of the last bytes make at most `chars` UTF-16 units of clean text, cut at a line end where there is one. */
export function fitTail(bytes: Uint8Array, chars: number): number {
  const length = largest(
    bytes.length,
    chars,
    (n) => clean(bytes.subarray(bytes.length - n)).text.length,
  );
  if (length === bytes.length) return length;
  const start = bytes.length - length;
  const line = bytes.indexOf(NEWLINE, Math.max(0, start - 1)) + 1;
  return line > 0 && line < bytes.length
    ? bytes.length - line
    : length - continuationBytes(bytes.subarray(start));
}

const NEWLINE = 10;

/** The largest `n` up to `max` for which `size(n)`, which grows with `n`, is at most `limit`. */
function largest(
  max: number,
  limit: number,
  size: (n: number) => number,
): number {
  if (limit <= 0) return 0;
  // Plain ASCII, by far the commonest, is found at the first try.
  if (max > limit && size(limit) === limit && size(limit + 1) > limit) {
    return limit;
  }
  if (size(max) <= limit) return max;
  let low = 0;
  let high = max;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (size(middle) <= limit) low = middle;
    else high = middle;
  }
  return low;
}

/** Length of `bytes` without an unfinished UTF-8 sequence at the end. */
export function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** How many of the first bytes, at most three, continue a sequence that began before them. */
export function continuationBytes(bytes: Uint8Array): number {
  let n = 0;
  while (n < 3 && n < bytes.length && (bytes[n]! & 0xc0) === 0x80) n++;
  return n;
}
