/**
 * Bytes and text: which encoding a file is in, an exact decoding that can be written back, and a readable one that
 * marks what does not decode.
 *
 * @module
 */
import { clipChars, escapeControls } from "./clip.ts";

/** Encodings that are shown. UTF-16 is recognised by its byte-order mark only. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** A byte-order mark at the start of a file. */
export interface ByteOrderMark {
  /** What the mark stands for. */
  encoding: Encoding;
  /** In bytes. */
  length: number;
}

/** The byte-order mark that `head` begins with; undefined where there is none, and for UTF-32. */
export function byteOrderMark(head: Uint8Array): ByteOrderMark | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) {
    return { encoding: "utf-8", length: 3 };
  }
  if (head[0] === 0xfe && head[1] === 0xff) {
    return { encoding: "utf-16be", length: 2 };
  }
  if (head[0] === 0xff && head[1] === 0xfe) {
    const utf32 = head.length >= 4 && head[2] === 0 && head[3] === 0;
    return utf32 ? undefined : { encoding: "utf-16le", length: 2 };
  }
  return undefined;
}

/** Text for reading, made from bytes that need not be valid in their encoding. */
export interface Rendered {
  /** The decoded text. */
  text: string;
  /** Bytes that `text` stands for; fewer than were given when `max` was reached. */
  used: number;
  /** Bytes that do not decode, shown as `\xHH`; in UTF-16 lone surrogates too, shown as `\uHHHH`. */
  bad: number;
  /** Control characters, shown as `\xHH`. */
  escaped: number;
}

/**
 * Decodes for reading: what does not decode and what would disturb a terminal is written out and counted, nothing is
 * cut inside a character, and `text` has at most `max` UTF-16 units.
 */
export function renderBytes(
  bytes: Uint8Array,
  encoding: Encoding,
  max: number = Infinity,
): Rendered {
  const exact = decodeStrict(bytes, encoding);
  if (exact !== undefined) {
    const { text, escaped } = escapeControls(exact);
    if (escaped === 0) {
      if (text.length <= max) {
        return { text, used: bytes.length, bad: 0, escaped };
      }
      const clipped = clipChars(text, max);
      return {
        text: clipped,
        used: encodedLength(clipped, encoding),
        bad: 0,
        escaped,
      };
    }
  }
  return encoding === "utf-8"
    ? renderUtf8(bytes, max)
    : renderUtf16(bytes, encoding, max);
}

/** A whole file's text from which its bytes can be made again, each at its place. */
export interface ExactText {
  /** A byte-order mark is its first character. */
  text: string;
  /** `bytes`: the file is in none of the encodings; each byte is one character, those below 0x80 as in ASCII. */
  encoding: Encoding | "bytes";
}

/** Decodes a whole file so that {@linkcode encodeExact} gives back the same bytes. */
export function decodeExact(bytes: Uint8Array): ExactText {
  const encoding = byteOrderMark(bytes)?.encoding ?? "utf-8";
  const text = decodeStrict(bytes, encoding) ??
    (encoding === "utf-8" ? undefined : decodeUnits(bytes, encoding));
  return text === undefined
    ? { text: decodeSingleBytes(bytes), encoding: "bytes" }
    : { text, encoding };
}

/** The inverse of {@linkcode decodeExact}. UTF-8 text must be well-formed. */
export function encodeExact(
  text: string,
  encoding: ExactText["encoding"],
): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "utf-8":
      return new TextEncoder().encode(text);
    case "bytes":
      return encodeSingleBytes(text);
    default:
      return encodeUnits(text, encoding);
  }
}

/** A string as it looks inside an {@linkcode ExactText}: in `bytes`, the bytes of its UTF-8 form. */
export function asExact(
  text: string,
  encoding: ExactText["encoding"],
): string {
  return encoding === "bytes"
    ? decodeSingleBytes(new TextEncoder().encode(text))
    : text;
}

/** Part of an {@linkcode ExactText} for reading. */
export function showExact(
  text: string,
  encoding: ExactText["encoding"],
): string {
  return encoding === "bytes"
    ? renderBytes(encodeSingleBytes(text), "utf-8").text
    : escapeControls(text.toWellFormed()).text;
}

/** Whether most of what is beyond ASCII in `bytes` is UTF-8, as in a UTF-8 file with a few damaged places. */
export function mostlyUtf8(bytes: Uint8Array): boolean {
  let good = 0;
  let bad = 0;
  for (let i = 0; i < bytes.length;) {
    if (bytes[i]! < 0x80) i++;
    else {
      const length = sequenceLength(bytes, i);
      if (length === 0) bad++;
      else good++;
      i += Math.max(length, 1);
    }
  }
  return good > bad;
}

/** Bytes of a UTF-8 character that is complete and valid at `at`; 0 when there is none. */
export function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  const second = bytes[at + 1] ?? 0;
  if (lead >= 0xc2 && lead <= 0xdf) return isContinuation(second) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const low = lead === 0xe0 ? 0xa0 : 0x80;
    const high = lead === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isContinuation(bytes[at + 2] ?? 0)
      ? 3
      : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const low = lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high &&
        isContinuation(bytes[at + 2] ?? 0) && isContinuation(bytes[at + 3] ?? 0)
      ? 4
      : 0;
  }
  return 0;
}

/** Whether `byte` is a UTF-8 continuation byte. */
export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function decodeStrict(
  bytes: Uint8Array,
  encoding: Encoding,
): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(
      bytes,
    );
  } catch {
    return undefined;
  }
}

function encodedLength(text: string, encoding: Encoding): number {
  return encoding === "utf-8"
    ? new TextEncoder().encode(text).length
    : text.length * 2;
}

function renderUtf8(bytes: Uint8Array, max: number): Rendered {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts: string[] = [];
  let length = 0;
  let bad = 0;
  let escaped = 0;
  let at = 0;
  while (at < bytes.length) {
    const crlf = bytes[at] === 0x0d && bytes[at + 1] === 0x0a;
    const size = crlf ? 2 : sequenceLength(bytes, at);
    const shown = size === 0
      ? { text: hex(bytes[at]!), escaped: 0 }
      : escapeControls(decoder.decode(bytes.subarray(at, at + size)));
    if (length + shown.text.length > max) break;
    parts.push(shown.text);
    length += shown.text.length;
    escaped += shown.escaped;
    if (size === 0) bad++;
    at += Math.max(size, 1);
  }
  return { text: parts.join(""), used: at, bad, escaped };
}

function renderUtf16(
  bytes: Uint8Array,
  encoding: Encoding,
  max: number,
): Rendered {
  const units = decodeUnits(bytes.subarray(0, bytes.length & ~1), encoding)!;
  const parts: string[] = [];
  let length = 0;
  let bad = 0;
  let escaped = 0;
  let at = 0;
  while (at < units.length) {
    const code = units.codePointAt(at)!;
    const crlf = code === 0x0d && units.charCodeAt(at + 1) === 0x0a;
    const size = code > 0xffff || crlf ? 2 : 1;
    const lone = code >= 0xd800 && code <= 0xdfff;
    const shown = lone
      ? { text: `\\u${code.toString(16)}`, escaped: 0 }
      : escapeControls(units.slice(at, at + size));
    if (length + shown.text.length > max) break;
    parts.push(shown.text);
    length += shown.text.length;
    escaped += shown.escaped;
    if (lone) bad += 2;
    at += size;
  }
  let used = at * 2;
  if (used === bytes.length - 1 && length + 4 <= max) {
    parts.push(hex(bytes[used]!));
    bad++;
    used++;
  }
  return { text: parts.join(""), used, bad, escaped };
}

function hex(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** UTF-16 unit for unit, lone surrogates included; undefined for an odd number of bytes. */
function decodeUnits(
  bytes: Uint8Array,
  encoding: Encoding,
): string | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: string[] = [];
  const units = new Uint16Array(Math.min(UNITS_AT_ONCE, bytes.length / 2));
  for (let at = 0; at < bytes.length;) {
    let n = 0;
    for (; n < units.length && at < bytes.length; n++, at += 2) {
      units[n] = view.getUint16(at, encoding === "utf-16le");
    }
    parts.push(String.fromCharCode(...units.subarray(0, n)));
  }
  return parts.join("");
}

/** Arguments of one `String.fromCharCode`, well within what the stack holds. */
const UNITS_AT_ONCE = 4096;

function encodeUnits(
  text: string,
  encoding: Encoding,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) {
    view.setUint16(i * 2, text.charCodeAt(i), encoding === "utf-16le");
  }
  return bytes;
}

/** Windows-1252 as the Encoding Standard has it gives each of the 256 bytes a character of its own. */
function decodeSingleBytes(bytes: Uint8Array): string {
  return new TextDecoder("windows-1252").decode(bytes);
}

function encodeSingleBytes(text: string): Uint8Array<ArrayBuffer> {
  const special = new Map<number, number>();
  for (let byte = 0x80; byte < 0xa0; byte++) {
    special.set(
      decodeSingleBytes(Uint8Array.of(byte)).charCodeAt(0),
      byte,
    );
  }
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bytes[i] = code < 0x80 || (code >= 0xa0 && code <= 0xff)
      ? code
      : special.get(code)!;
  }
  return bytes;
}
