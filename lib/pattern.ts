/**
 * A regular expression as a tree.
 *
 * @module
 */
import type { CharSet } from "./char_set.ts";

/** A regular expression, parsed. */
export type Node =
  | { kind: "empty" }
  /** One character. `crlf`: the carriage return of a line end counts as one of them. */
  | { kind: "char"; set: CharSet; crlf: boolean }
  /** A line end: `\n`, or `\r\n` as one. */
  | { kind: "newline" }
  | { kind: "concat"; items: Node[] }
  | { kind: "choice"; items: Node[] }
  | { kind: "repeat"; item: Node; min: number; max: number; greedy: boolean }
  | { kind: "assert"; what: Assertion };

/** A condition on a position. */
export type Assertion =
  | "line-start"
  | "line-end"
  | "text-start"
  | "text-end"
  | "word-boundary"
  | "no-word-boundary";

/** A parsed pattern, and what it says of itself. */
export interface Pattern {
  /** The tree. */
  node: Node;
  /** It can match across a line end: it names one, or asks for it with `(?s)`. */
  crossesLines: boolean;
}

/** How a pattern is to be read. */
export interface PatternOptions {
  /** Letters match in either case. */
  ignoreCase?: boolean;
  /** `.`, classes and `\s` may match line ends; otherwise no part of a pattern does. */
  multiline?: boolean;
}

/** What is wrong with a pattern, and where. */
export class PatternError extends Error {
  /** Offset into the pattern, in UTF-16 units. */
  readonly position: number;
  /** A complaint about the place `position`. */
  constructor(message: string, position: number) {
    super(message);
    this.name = "PatternError";
    this.position = position;
  }
}

/** The longest pattern, in UTF-16 units. */
export const MAX_PATTERN = 20_000;

/** The largest count in `{n,m}`, as in RE2. */
export const MAX_REPEAT = 1000;

/** How deep groups may nest. */
export const MAX_NESTING = 200;

/** Code points that may be looked at one by one to make the classes of a pattern; about 100 ms. */
export const MAX_CLASS_WORK = 2_000_000;

/** A place in a pattern's text. */
export class Cursor {
  /** The pattern. */
  readonly source: string;
  /** The offset of what is read next, in UTF-16 units. */
  at = 0;
  /** Unicode properties that were looked up, by name. */
  readonly properties: Map<string, CharSet | undefined> = new Map();
  #classWork = 0;

  /** At the beginning of `source`. */
  constructor(source: string) {
    this.source = source;
  }

  /** The next UTF-16 unit; undefined at the end. */
  get next(): string | undefined {
    return this.source[this.at];
  }

  /** Whether `text` is next. */
  sees(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  /** Passes `text` if it is next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Passes what `expression` matches here. */
  match(expression: RegExp): RegExpExecArray | undefined {
    const sticky = new RegExp(expression, expression.flags + "y");
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.source);
    if (found) this.at += found[0].length;
    return found ?? undefined;
  }

  /** Accounts for the making of a class. */
  spend(codePoints: number): void {
    this.#classWork += codePoints;
    if (this.#classWork > MAX_CLASS_WORK) {
      throw new PatternError(
        "the pattern has too many large classes; use fewer \\p{…} and wide ranges",
        this.at,
      );
    }
  }
}
