/**
 * Cutting text to a budget without breaking it: never inside a character, at line ends where there are any.
 *
 * @module
 */

/** Text that was cut, and how much of it is gone (UTF-16 units). */
export interface Clipped {
  /** What was kept. */
  text: string;
  /** UTF-16 units left out. */
  dropped: number;
}

/** The first `max` UTF-16 units of `text`, one fewer where that would split a surrogate pair. */
export function clipChars(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(
    0,
    isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max,
  );
}

/** How many UTF-16 units from the start of `text` have at most `maxBytes` bytes in UTF-8, never half a character. */
export function unitsWithin(text: string, maxBytes: number): number {
  // A unit is three bytes at most.
  return text.length * 3 <= maxBytes
    ? text.length
    : new TextEncoder().encodeInto(text, new Uint8Array(maxBytes)).read;
}

/** The first whole lines of `text` within `max` UTF-16 units; a single longer line is cut inside. */
export function clipHead(text: string, max: number): Clipped {
  if (text.length <= max) return { text, dropped: 0 };
  const end = text.lastIndexOf("\n", max - 1) + 1;
  const head = end > 0 ? text.slice(0, end) : clipChars(text, max);
  return { text: head, dropped: text.length - head.length };
}

/** The last whole lines of `text` within `max` UTF-16 units; a single longer line is cut inside. */
export function clipTail(text: string, max: number): Clipped {
  if (text.length <= max) return { text, dropped: 0 };
  let start = text.length - max;
  const lineStart = text.indexOf("\n", start - 1) + 1;
  if (lineStart > 0 && lineStart < text.length) start = lineStart;
  else if (isLowSurrogate(text.charCodeAt(start))) start++;
  return { text: text.slice(start), dropped: start };
}

/** Text without lone surrogates: each becomes U+FFFD. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}

/** Text without terminal escape sequences (ECMA-48: CSI, OSC and two-character ones). */
export function stripAnsi(text: string): string {
  return text.includes("\x1b") || text.includes("\x9b")
    ? text.replace(ANSI, "")
    : text;
}

/**
 * Text whose control characters (all but tab and line feed, and carriage return before a line feed) are written as
 * `\x00`. `escaped` counts them.
 */
export function escapeControls(
  text: string,
): { text: string; escaped: number } {
  let escaped = 0;
  const out = text.replace(CONTROLS, (c) => {
    escaped++;
    return `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return { text: out, escaped };
}

const ANSI =
  // deno-lint-ignore no-control-regex
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]/g;

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g;

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
