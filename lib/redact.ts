/**
 * Secrets out of text, before it reaches the log or the store: keys and tokens that issuers mark by a prefix, JWTs,
 * private-key blocks, passwords in URLs, and values given to names such as `password`.
 *
 * One pass over the characters finds the few places where a secret can begin; patterns run only there and are
 * anchored, so the cost stays linear whatever the text is. Git hashes, UUIDs, checksums and base64 data have none of
 * these marks and stay.
 *
 * @module
 */
import {
  BY_FIRST,
  isChosen,
  isCode,
  isReference,
  mayEndName,
  secretName,
} from "./secret_shapes.ts";

/** Levels of nesting that {@linkcode redactJson} follows; what lies deeper is replaced. */
export const REDACT_DEPTH = 64;

/** Shortest value of a name such as `password` that is taken for a secret. */
export const MIN_SECRET_CHARS = 6;

/** `text` with every secret that its shape gives away replaced by `[redacted: kind]`. */
export function redact(text: string): string {
  let out = "";
  let kept = 0;
  let wordStart = -1;
  const length = text.length;
  for (let i = 0; i <= length; i++) {
    const code = i < length ? text.charCodeAt(i) : 0;
    const kind = code < 128 ? CLASS[code] as number : 0;
    if (kind === WORD) {
      if (wordStart < 0) wordStart = i;
      continue;
    }
    let found: Secret | undefined;
    if (wordStart >= 0) {
      // Nearly every word of a text is short and begins with none of these.
      const size = i - wordStart;
      if (
        size >= MIN_ISSUED ||
        (size >= 2 && size <= 6 && (code === SPACE || code === DOT)) ||
        text.charCodeAt(wordStart) === DASH
      ) found = secretAtWord(text, wordStart, i);
      wordStart = -1;
    }
    if (!found && kind === MARK && i < length) found = secretAtMark(text, i);
    if (!found || found.end <= kept) continue;
    const start = Math.max(found.start, kept);
    out += text.slice(kept, start) + `[redacted: ${found.kind}]`;
    kept = found.end;
    i = Math.max(i, found.end) - 1;
  }
  return kept === 0 ? text : out + text.slice(kept);
}

/**
 * A JSON value with every string in it redacted, and strings under names such as `password` or `apiKey` replaced
 * whole. The value itself is not changed.
 */
export function redactJson(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= REDACT_DEPTH) return "[redacted: nested too deep]";
  if (Array.isArray(value)) {
    return value.map((item) => redactJson(item, depth + 1));
  }
  // A class instance such as an id that keeps its digits writes itself; it holds no text of the peer's.
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return value;
  }
  const out: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const kind = typeof item === "string" && item !== ""
      ? secretName(name)
      : undefined;
    Object.defineProperty(out, name, {
      value: kind ? `[redacted: ${kind}]` : redactJson(item, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return out;
}

/** A stretch of text to replace, and by what name. */
interface Secret {
  start: number;
  end: number;
  kind: string;
}

const WORD = 1;
const MARK = 2;
const SPACE = 32;
const DASH = 45;
const DOT = 46;

/** For every ASCII character: part of a word, a mark after which a value may stand, or neither. */
const CLASS = (() => {
  const table = new Uint8Array(128);
  const word =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  for (const c of word) table[c.charCodeAt(0)] = WORD;
  table[":".charCodeAt(0)] = MARK;
  table["=".charCodeAt(0)] = MARK;
  return table;
})();

/** Shorter words than this hold no issued secret; `AKIA` and 16 more is the shortest known. */
const MIN_ISSUED = 16;

/** Prefixes whose word ends early, at a dot that belongs to the secret. */
const DOTTED = /^(?:hvs|ya29|SG)$/;

function secretAtWord(
  text: string,
  start: number,
  end: number,
): Secret | undefined {
  // In text that is JSON, `\n` before a secret leaves its `n` in the word.
  if (start > 0 && text.charCodeAt(start - 1) === 92 && end - start > 1) {
    start++;
  }
  const first = text.charCodeAt(start);
  if (first === DASH) {
    return end - start >= 2 ? secretAtDash(text, start, end) : undefined;
  }
  if (end - start < MIN_ISSUED) {
    if (text.charCodeAt(end) === SPACE) return schemeSecret(text, start, end);
    if (!DOTTED.test(text.slice(start, end))) return undefined;
  }
  const candidates = BY_FIRST[first];
  if (!candidates) return undefined;
  for (const [prefix, kind, pattern] of candidates) {
    if (!text.startsWith(prefix, start)) continue;
    const stop = match(pattern, text, start);
    if (stop > 0) return { start, end: stop, kind };
  }
  return undefined;
}

/** `-----BEGIN … PRIVATE KEY-----` and options such as `--password VALUE` or `-u NAME:PASSWORD`. */
function secretAtDash(
  text: string,
  start: number,
  end: number,
): Secret | undefined {
  if (text.startsWith("-----BEGIN", start)) {
    const body = match(KEY_HEADER, text, start);
    return body > 0
      ? { start, end: keyBlockEnd(text, body), kind: "private key" }
      : undefined;
  }
  if (text.charCodeAt(end) !== SPACE) return undefined;
  const option = text.slice(start, end);
  if (option === "-u" || option === "--user") {
    const stop = match(USER_PASSWORD, text, end);
    return stop > 0
      ? { start: text.indexOf(":", end) + 1, end: stop, kind: "password" }
      : undefined;
  }
  if (end - start > 40 || !option.startsWith("--")) return undefined;
  const kind = secretName(option);
  if (!kind) return undefined;
  const value = valueAt(text, end + 1);
  return value && isSecretValue(text, value, true)
    ? { start: value.start, end: value.end, kind }
    : undefined;
}

/** `Bearer TOKEN`, `Basic BASE64`. */
function schemeSecret(
  text: string,
  start: number,
  end: number,
): Secret | undefined {
  const first = text.charCodeAt(start);
  if (end - start < 5 || (first !== 66 && first !== 98)) return undefined;
  const scheme = text.slice(start, end).toLowerCase();
  if (scheme !== "bearer" && scheme !== "basic") return undefined;
  const stop = match(SCHEME_VALUE, text, end + 1);
  return stop > 0
    ? {
      start: end + 1,
      end: stop,
      kind: scheme === "bearer" ? "bearer token" : "password",
    }
    : undefined;
}

function secretAtMark(text: string, at: number): Secret | undefined {
  const isColon = text.charCodeAt(at) === 58;
  if (isColon && text.startsWith("//", at + 1)) return secretInUrl(text, at);
  if (isColon && text.startsWith("AA", at + 1)) {
    const stop = match(TELEGRAM, text, at + 1);
    if (
      stop > 0 && /(?:^|\D)\d{8,10}$/.test(text.slice(Math.max(0, at - 11), at))
    ) {
      return { start: at + 1, end: stop, kind: "Telegram token" };
    }
  }
  return assignedSecret(text, at, isColon);
}

function secretInUrl(text: string, at: number): Secret | undefined {
  const host = at + 3;
  if (text.startsWith("hooks.slack.com/services/", host)) {
    const start = host + "hooks.slack.com/services/".length;
    const stop = match(SLACK_HOOK, text, start);
    return stop > 0 ? { start, end: stop, kind: "webhook" } : undefined;
  }
  URL_LOGIN.lastIndex = host;
  const login = URL_LOGIN.exec(text);
  if (!login) return undefined;
  const [, user = "", password] = login;
  if (password !== undefined) {
    const start = host + user.length + 1;
    const bare = password.replace(/^["']|["']$/g, "");
    if (isReference(bare) || bare === "") return undefined;
    return { start, end: start + password.length, kind: "password" };
  }
  return user.length >= 20
    ? { start: host, end: host + user.length, kind: "token" }
    : undefined;
}

/** `NAME = VALUE`, `"NAME": "VALUE"`, `NAME: VALUE`, where the name says that the value is secret. */
function assignedSecret(
  text: string,
  at: number,
  isColon: boolean,
): Secret | undefined {
  let end = at;
  // `:=`, `==`, `=>` and spaces or a closing quote between the name and the mark.
  while (end > 0 && at - end < 4 && isGap(text.charCodeAt(end - 1))) end--;
  if (end < 3 || !mayEndName(text, end)) return undefined;
  let start = end;
  while (
    start > 0 && end - start < 64 && isNamePart(text.charCodeAt(start - 1))
  ) {
    start--;
  }
  const name = text.slice(start, end);
  const kind = secretName(name);
  if (!kind) return undefined;
  if (isColon && /^(?:set-)?cookie$/i.test(name)) {
    const stop = text.indexOf("\n", at);
    return { start: at + 1, end: stop < 0 ? text.length : stop, kind };
  }
  const next = text.charCodeAt(at + 1);
  if (next === 61 || next === 62) return undefined; // a comparison or an arrow
  const value = valueAt(text, at + 1);
  if (!value) return undefined;
  const isEnvironment = !isColon && /^[A-Z0-9_]+$/.test(name);
  return isSecretValue(text, value, isEnvironment) ||
      (isBare(text, value, start, at) &&
        isChosen(text.slice(value.start, value.end)))
    ? { start: value.start, end: value.end, kind }
    : undefined;
}

const KEY_HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const KEY_LINES = /(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{16,})*/y;
const USER_PASSWORD = / ["']?[\w.@+-]{1,64}:[^\s"']{1,256}/y;
const SCHEME_VALUE = /[\w.~+/-]{16,}=*/y;
const TELEGRAM = /AA[\w-]{33}(?![\w-])/y;
const SLACK_HOOK = /[\w-]{6,}\/[\w-]{6,}\/[\w-]{16,}/y;
const URL_LOGIN =
  /([^\s/?#@:"'<>`]{0,256})(?::([^\s/?#@<>`]{1,256}))?@(?=[\w[-])/y;

interface Value {
  start: number;
  end: number;
  isQuoted: boolean;
}

/** The value that follows a mark: quoted, or up to a space or delimiter; at most 512 characters. */
function valueAt(text: string, from: number): Value | undefined {
  let start = from;
  while (start < text.length && start - from < 8) {
    const code = text.charCodeAt(start);
    if (code !== 32 && code !== 9) break;
    start++;
  }
  // A quote inside JSON text carries its backslash.
  if (text.charCodeAt(start) === 92) start++;
  const quote = text.charCodeAt(start);
  const isQuoted = quote === 34 || quote === 39 || quote === 96;
  if (isQuoted) start++;
  const limit = Math.min(text.length, start + 512);
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (isQuoted ? code === quote || code === 10 : isValueEnd(code)) break;
    end++;
  }
  if (isQuoted && text.charCodeAt(end - 1) === 92) end--;
  return end > start ? { start, end, isQuoted } : undefined;
}

/** Whether a value is a secret rather than a reference to one, a type, or code. */
function isSecretValue(
  text: string,
  { start, end, isQuoted }: Value,
  isCertain: boolean,
): boolean {
  if (end - start < MIN_SECRET_CHARS) return false;
  const value = text.slice(start, end);
  if (isReference(value)) return false;
  if (isQuoted) return !/\s.*\s/.test(value);
  if (isCertain) return true;
  // Unquoted, after a name in any case: code unless it mixes letters with digits and calls nothing.
  return value.length >= 8 && /[0-9]/.test(value) && /[A-Za-z]/.test(value) &&
    !isCode(value);
}

/** Whether nothing but the value stands behind the name: `name=value` without a space, or a line `name: value`. */
function isBare(text: string, value: Value, start: number, at: number) {
  if (value.isQuoted || value.end - value.start < MIN_SECRET_CHARS) {
    return false;
  }
  const after = text.charCodeAt(value.end);
  if (text.charCodeAt(at) === 61) {
    // With a comma behind it, `name=value` is an argument in code.
    return value.start === at + 1 && isNamePart(text.charCodeAt(at - 1)) &&
      after !== 44;
  }
  if (value.end < text.length && after !== 10 && after !== 13) return false;
  const from = Math.max(0, start - 32);
  return /(?:^|\n)[ \t-]*$/.test(text.slice(from, start)) &&
    (from === 0 || text.slice(from, start).includes("\n"));
}

/** The end of a private-key block whose header ends at `from`; without an end mark, of the lines that look like it. */
function keyBlockEnd(text: string, from: number): number {
  const close = text.indexOf("-----", from);
  if (close >= 0 && text.startsWith("END", close + 5)) {
    const stop = text.indexOf("-----", close + 8);
    return stop < 0 ? close + 8 : stop + 5;
  }
  return match(KEY_LINES, text, from);
}

/** The end of a match anchored at `at`, or -1. */
function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

function isGap(code: number): boolean {
  return code === 32 || code === 9 || code === 34 || code === 39 ||
    code === 58 || code === 92 || code === 96;
}

function isNamePart(code: number): boolean {
  return code === 46 || (code < 128 && CLASS[code] === WORD);
}

/** Characters that end an unquoted value: space, quotes, comma, semicolon, ampersand, brackets that close, pipe. */
function isValueEnd(code: number): boolean {
  return code <= 32 || code === 34 || code === 39 || code === 96 ||
    code === 44 || code === 59 || code === 38 || code === 124 ||
    code === 60 || code === 62;
}
