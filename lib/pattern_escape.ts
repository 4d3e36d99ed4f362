/**
 * What follows a backslash in a regular expression, and what stands between square brackets.
 *
 * @module
 */
import {
  type CharSet,
  charSet,
  complement,
  foldCase,
  foldingCost,
  PERL,
  POSIX,
  PROPERTY_COST,
  unicodeProperty,
} from "./char_set.ts";
import { type Cursor, PatternError } from "./pattern.ts";

/** Every character but `\n`. */
export const NOT_NEWLINE: CharSet = complement([0x0a, 0x0a]);

/** What a class in square brackets holds. */
export interface BracketClass {
  /** Its characters. */
  set: CharSet;
  /** It names the carriage return. */
  carriageReturn: boolean;
  /** It names the line feed. */
  lineFeed: boolean;
}

/** `\d`, `\pL`, `\p{Greek}` and so on, after the backslash at `start`; undefined when it is not a class. */
export function escapedClass(
  cursor: Cursor,
  start: number,
): CharSet | undefined {
  const char = cursor.next!;
  const lower = char.toLowerCase();
  if (Object.hasOwn(PERL, lower)) {
    cursor.at++;
    const set = PERL[lower]!;
    return char === lower ? set : complement(set);
  }
  if (char === "N") {
    cursor.at++;
    return NOT_NEWLINE;
  }
  if (lower !== "p") return undefined;
  const found = cursor.match(/[pP](?:\{(\^?)([\w=:. -]+)\}|([A-Z]))/);
  const name = found?.[2] ?? found?.[3] ?? "";
  const set = name && property(cursor, name.replace(":", "="));
  if (!found || !set) {
    throw new PatternError(
      `unknown Unicode property "\\${
        found?.[0] ?? char
      }"; write it as \\p{L} or \\p{Greek}`,
      start,
    );
  }
  return (char === "P") !== (found[1] === "^") ? complement(set) : set;
}

/** The character that an escape stands for, after the backslash at `start`. */
export function escapedChar(cursor: Cursor, start: number): number {
  const code = cursor.source.codePointAt(cursor.at)!;
  const char = String.fromCodePoint(code);
  cursor.at += char.length;
  if (Object.hasOwn(CONTROLS, char)) return CONTROLS[char]!;
  if (Object.hasOwn(HEX_DIGITS, char)) {
    const digits = HEX_DIGITS[char]!;
    const found = cursor.match(
      new RegExp(`\\{([0-9a-fA-F]{1,6})\\}|([0-9a-fA-F]{${digits}})`),
    );
    const value = Number.parseInt(found?.[1] ?? found?.[2] ?? "", 16);
    if (!(value <= 0x10ffff)) {
      throw new PatternError(
        `"\\${char}" needs the number of a character; write it as \\x{1F600} or \\x41`,
        start,
      );
    }
    return value;
  }
  if (char === "0") {
    return Number.parseInt(`0${cursor.match(/[0-7]{0,2}/)![0]}`, 8);
  }
  if (/[A-Za-z0-9]/.test(char)) {
    throw new PatternError(
      `unknown escape "\\${char}"; write "${char}" for the character itself, "\\\\${char}" for a backslash before it`,
      start,
    );
  }
  return code;
}

/** A class, after its opening bracket at `start`. */
export function bracketClass(
  cursor: Cursor,
  start: number,
  ignoreCase: boolean,
): BracketClass {
  const negated = cursor.take("^");
  const ranges: number[] = [];
  let carriageReturn = false;
  let lineFeed = false;
  for (let first = true;; first = false) {
    const at = cursor.at;
    if (cursor.next === undefined) {
      throw new PatternError(
        'missing ] for this class; write "\\[" for the character itself',
        start,
      );
    }
    if (!first && cursor.take("]")) break;
    const set = classItem(cursor);
    if (set) {
      ranges.push(...set);
      continue;
    }
    const low = classChar(cursor);
    const high = rangeEnd(cursor) ?? low;
    if (high < low) {
      throw new PatternError(
        `the range "${
          cursor.source.slice(at, cursor.at)
        }" is out of order; put "-" last in the class for the character itself`,
        at,
      );
    }
    ranges.push(low, high);
    carriageReturn ||= low === 0x0d && high === 0x0d;
    lineFeed ||= low === 0x0a && high === 0x0a;
  }
  let set = charSet(ranges);
  if (ignoreCase) {
    cursor.spend(foldingCost(set));
    set = foldCase(set);
  }
  return negated
    ? { set: complement(set), carriageReturn: false, lineFeed: false }
    : { set, carriageReturn, lineFeed };
}

/** The complaint about a backslash with nothing after it. */
export function loneBackslash(at: number): PatternError {
  return new PatternError(
    'the pattern ends in a lone "\\"; write "\\\\" for the character itself',
    at,
  );
}

function property(cursor: Cursor, name: string): CharSet | undefined {
  const { properties } = cursor;
  if (!properties.has(name)) {
    cursor.spend(PROPERTY_COST);
    properties.set(name, unicodeProperty(name));
  }
  return properties.get(name);
}

/** `[:alpha:]` or an escaped class; undefined when a single character follows. */
function classItem(cursor: Cursor): CharSet | undefined {
  const start = cursor.at;
  const posix = cursor.match(/\[:(\^?)(\w+):\]/);
  if (posix) {
    const name = posix[2]!;
    if (!Object.hasOwn(POSIX, name)) {
      throw new PatternError(
        `unknown class "${posix[0]}"; known are ${
          Object.keys(POSIX).join(", ")
        }`,
        start,
      );
    }
    return posix[1] ? complement(POSIX[name]!) : POSIX[name]!;
  }
  if (!cursor.take("\\")) return undefined;
  if (cursor.next === undefined) throw loneBackslash(start);
  const set = escapedClass(cursor, start);
  if (!set) cursor.at = start;
  return set;
}

/** The upper end of a range, when the dash before it is one of a range. */
function rangeEnd(cursor: Cursor): number | undefined {
  const dash = cursor.at;
  if (!cursor.take("-")) return undefined;
  if (cursor.next === undefined || cursor.next === "]" || classItem(cursor)) {
    cursor.at = dash; // [a-] and [a-\d]: the dash is itself
    return undefined;
  }
  return classChar(cursor);
}

function classChar(cursor: Cursor): number {
  const start = cursor.at;
  if (!cursor.take("\\")) {
    const code = cursor.source.codePointAt(start)!;
    cursor.at += code > 0xffff ? 2 : 1;
    return code;
  }
  return cursor.take("b") ? 0x08 : escapedChar(cursor, start);
}

const CONTROLS: Readonly<Record<string, number>> = {
  a: 0x07,
  e: 0x1b,
  f: 0x0c,
  n: 0x0a,
  r: 0x0d,
  t: 0x09,
  v: 0x0b,
};

const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
