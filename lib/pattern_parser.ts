/**
 * The syntax of regular expressions: text to a tree. The language is Go's RE2 syntax (which ripgrep's and
 * JavaScript's share for the most part), with the spellings that people bring from other engines where their
 * meaning is the same. What cannot be matched in linear time is refused by name.
 *
 * @module
 */
import { ANY, type CharSet, foldCase } from "./char_set.ts";
import {
  type Assertion,
  Cursor,
  MAX_NESTING,
  MAX_PATTERN,
  MAX_REPEAT,
  type Node,
  type Pattern,
  PatternError,
  type PatternOptions,
} from "./pattern.ts";
import {
  bracketClass,
  escapedChar,
  escapedClass,
  loneBackslash,
  NOT_NEWLINE,
} from "./pattern_escape.ts";

/**
 * Reads a pattern.
 *
 * @throws {PatternError} for what is malformed, unknown, or not possible in linear time.
 */
export function parsePattern(
  source: string,
  options: PatternOptions = {},
): Pattern {
  if (source.length > MAX_PATTERN) {
    throw new PatternError(
      `the pattern has ${source.length} characters, over the limit of ${MAX_PATTERN}`,
      MAX_PATTERN,
    );
  }
  return new Parser(source, options).parse();
}

interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
  U: boolean;
}

class Parser {
  readonly #cursor: Cursor;
  readonly #multiline: boolean;
  #depth = 0;
  #crossesLines = false;
  #flags: Flags;

  constructor(source: string, options: PatternOptions) {
    this.#cursor = new Cursor(source);
    this.#multiline = options.multiline ?? false;
    this.#flags = {
      i: options.ignoreCase ?? false,
      m: true,
      s: false,
      U: false,
    };
  }

  parse(): Pattern {
    const node = this.#choice();
    if (this.#cursor.next !== undefined) {
      throw new PatternError(
        'unmatched ); write "\\)" for the character itself',
        this.#cursor.at,
      );
    }
    return { node, crossesLines: this.#crossesLines };
  }

  #choice(): Node {
    const items = [this.#concat()];
    while (this.#cursor.take("|")) items.push(this.#concat());
    return items.length === 1 ? items[0]! : { kind: "choice", items };
  }

  #concat(): Node {
    const items: Node[] = [];
    for (;;) {
      const { next } = this.#cursor;
      if (next === undefined || next === "|" || next === ")") break;
      if (this.#cursor.take("\\E")) continue;
      if (this.#cursor.take("\\Q")) items.push(...this.#quoted());
      else items.push(this.#repeated(this.#atom()));
    }
    return items.length === 1
      ? items[0]!
      : items.length === 0
      ? { kind: "empty" }
      : { kind: "concat", items };
  }

  /** The text after `\Q`, up to `\E`; what follows repeats its last character. */
  #quoted(): Node[] {
    const text = this.#cursor.match(/((?:(?!\\E)[^])*)(?:\\E)?/)![1]!;
    const items = [...text].map((char) => this.#literal(char.codePointAt(0)!));
    const last = items.pop();
    return last ? [...items, this.#repeated(last)] : items;
  }

  #repeated(item: Node): Node {
    const cursor = this.#cursor;
    const start = cursor.at;
    const count = this.#quantifier();
    if (!count) return item;
    const lazy = cursor.take("?");
    if (cursor.sees("+")) {
      throw unsupported("possessive quantifiers are", cursor.at);
    }
    const second = cursor.at;
    if (this.#quantifier()) {
      throw new PatternError(
        `nothing to repeat: "${
          cursor.source.slice(start, cursor.at)
        }" is two quantifiers; write "\\${
          cursor.source[second]
        }" for the character itself, or put the first part in (?:…)`,
        second,
      );
    }
    return { kind: "repeat", item, ...count, greedy: lazy === this.#flags.U };
  }

  #quantifier(): { min: number; max: number } | undefined {
    const cursor = this.#cursor;
    if (cursor.take("*")) return { min: 0, max: Infinity };
    if (cursor.take("+")) return { min: 1, max: Infinity };
    if (cursor.take("?")) return { min: 0, max: 1 };
    const start = cursor.at;
    const found = cursor.match(/\{(\d+)(,(\d*))?\}/);
    if (!found) return undefined; // a brace that counts nothing is itself
    const min = Number(found[1]);
    const max = found[2] === undefined
      ? min
      : found[3] === ""
      ? Infinity
      : Number(found[3]);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw new PatternError(
        `the count in "${found[0]}" is over the limit of ${MAX_REPEAT}`,
        start,
      );
    }
    if (max < min) {
      throw new PatternError(
        `the count "${found[0]}" ends before it begins`,
        start,
      );
    }
    return { min, max };
  }

  #atom(): Node {
    const cursor = this.#cursor;
    const start = cursor.at;
    const code = cursor.source.codePointAt(start)!;
    const char = String.fromCodePoint(code);
    if ("*+?".includes(char)) {
      throw new PatternError(
        `nothing to repeat before "${char}"; write "\\${char}" for the character itself (file names are chosen with include)`,
        start,
      );
    }
    cursor.at += char.length;
    switch (char) {
      case "(":
        return this.#group(start);
      case "[":
        return this.#bracketClass(start);
      case ".":
        return this.#dot();
      case "^":
        return assertion(this.#flags.m ? "line-start" : "text-start");
      case "$":
        return assertion(this.#flags.m ? "line-end" : "text-end");
      case "\\":
        return this.#escape(start);
      default:
        return this.#literal(code);
    }
  }

  #dot(): Node {
    if (!this.#flags.s) return { kind: "char", set: NOT_NEWLINE, crlf: false };
    this.#crossesLines = true;
    return { kind: "char", set: ANY, crlf: true };
  }

  #literal(code: number): Node {
    if (code === 0x0a) {
      this.#crossesLines = true;
      return { kind: "newline" };
    }
    const set = [code, code];
    return {
      kind: "char",
      set: this.#flags.i ? foldCase(set) : set,
      crlf: code === 0x0d,
    };
  }

  #bracketClass(start: number): Node {
    const { set, carriageReturn, lineFeed } = bracketClass(
      this.#cursor,
      start,
      this.#flags.i,
    );
    if (lineFeed) this.#crossesLines = true;
    return this.#class(set, carriageReturn);
  }

  #class(set: CharSet, crlf: boolean): Node {
    // Across lines, a class takes the whole of a line end; within one, the line end is not part of the line.
    return { kind: "char", set, crlf: crlf || this.#multiline };
  }

  #group(start: number): Node {
    const cursor = this.#cursor;
    if (++this.#depth > MAX_NESTING) {
      throw new PatternError(
        `groups are nested deeper than ${MAX_NESTING}`,
        start,
      );
    }
    const outer = { ...this.#flags };
    if (cursor.sees("*")) {
      throw unsupported('verbs such as "(*…)" are', start);
    }
    if (cursor.take("?") && !this.#groupHead(start)) {
      this.#depth--;
      return { kind: "empty" };
    }
    const node = this.#choice();
    if (!cursor.take(")")) throw unclosed(start);
    this.#flags = outer;
    this.#depth--;
    return node;
  }

  /** What follows `(?`. False when it sets flags for what follows and holds nothing itself. */
  #groupHead(start: number): boolean {
    const cursor = this.#cursor;
    for (const [mark, name] of REFUSED_GROUPS) {
      if (cursor.sees(mark)) throw unsupported(name, start);
    }
    if (cursor.match(/P?<[\p{L}_][\p{L}\p{N}_.[\]]*>|P?'\w+'/u)) return true;
    let on = true;
    for (;;) {
      const char = cursor.next;
      if (char === undefined) throw unclosed(start);
      cursor.at++;
      if (char === ":") return true;
      if (char === ")") return false;
      if (char === "-" && on) on = false;
      else if ("imsU".includes(char)) this.#flags[char as keyof Flags] = on;
      else if (char !== "u" || !on) { // Unicode is always on
        throw new PatternError(
          `unknown group "${
            cursor.source.slice(start, cursor.at)
          }"; known are (?:…), (?P<name>…), and the flags i, m, s and U`,
          start,
        );
      }
    }
  }

  #escape(start: number): Node {
    const cursor = this.#cursor;
    const char = cursor.next;
    if (char === undefined) throw loneBackslash(start);
    if (/[1-9kg]/.test(char)) throw unsupported("back-references are", start);
    if (/[KGX]/.test(char)) throw unsupported(`"\\${char}" is`, start);
    if (Object.hasOwn(POSITIONS, char)) {
      cursor.at++;
      return assertion(POSITIONS[char]!);
    }
    if (cursor.take("R")) return this.#literal(0x0a);
    const set = escapedClass(cursor, start);
    return set
      ? this.#class(set, false)
      : this.#literal(escapedChar(cursor, start));
  }
}

function assertion(what: Assertion): Node {
  return { kind: "assert", what };
}

function unclosed(start: number): PatternError {
  return new PatternError(
    'missing ) for this group; write "\\(" for the character itself',
    start,
  );
}

function unsupported(what: string, at: number): PatternError {
  return new PatternError(
    `${what} not supported, so that no pattern can take more than linear time; use a simpler pattern and look through the rows, or run rg -P or grep -P with bash`,
    at,
  );
}

const POSITIONS: Readonly<Record<string, Assertion>> = {
  A: "text-start",
  z: "text-end",
  Z: "text-end",
  b: "word-boundary",
  B: "no-word-boundary",
};

const REFUSED_GROUPS: readonly (readonly [string, string])[] = [
  ["=", 'look-ahead "(?=…)" is'],
  ["!", 'negative look-ahead "(?!…)" is'],
  ["<=", 'look-behind "(?<=…)" is'],
  ["<!", 'negative look-behind "(?<!…)" is'],
  [">", 'atomic groups "(?>…)" are'],
  ["P=", 'back-references "(?P=…)" are'],
  ["P>", 'recursion "(?P>…)" is'],
  ["(", 'conditions "(?(…)…)" are'],
  ["R", 'recursion "(?R)" is'],
  ["&", 'recursion "(?&…)" is'],
  ["|", 'branch reset "(?|…)" is'],
];
