/**
 * Finds the lines of a text that match a pattern, in linear time and in slices, so that the caller can let others
 * work and can stop.
 *
 * @module
 */
import { Dfa } from "./dfa.ts";
import { type Literals, requiredLiterals } from "./literal.ts";
import { compileNfa, type Nfa } from "./nfa.ts";
import type { Node } from "./pattern.ts";
import { parsePattern } from "./pattern_parser.ts";

/** How a pattern is matched. */
export interface MatcherOptions {
  /** Letters match in either case. */
  ignoreCase?: boolean;
  /** Matches may span lines; also on when the pattern names a line end or has `(?s)` with a dot. */
  multiline?: boolean;
}

/** Whole lines that a match touches, as offsets into the text. */
export interface Hit {
  /** Where the first line starts. */
  start: number;
  /** Where the last line ends, its `\n` left out. */
  end: number;
  /** Where the match ends that made this hit. */
  matchEnd: number;
}

/** Bytes read at most before a search pauses; about 2 ms. */
export const SLICE = 1 << 20;

/** A compiled pattern. It searches one text at a time. */
export class Matcher {
  /** Matches may span lines. */
  readonly multiline: boolean;
  readonly #literals: Literals | undefined;
  readonly #node: Node;
  readonly #forward: Dfa;
  #backward: Dfa | undefined;

  /**
   * Compiles a pattern.
   *
   * @throws {PatternError} when it is none.
   */
  constructor(source: string, options: MatcherOptions = {}) {
    let multiline = options.multiline ?? false;
    let pattern = parsePattern(source, options);
    if (pattern.crossesLines && !multiline) {
      multiline = true;
      pattern = parsePattern(source, { ...options, multiline });
    }
    this.multiline = multiline;
    this.#node = pattern.node;
    this.#literals = requiredLiterals(pattern.node);
    this.#forward = new Dfa(
      this.#compile({ reverse: false, unanchored: true }),
      multiline ? "first" : "earliest",
    );
    if (multiline) this.#reader();
  }

  /** The lines that match, in order, each once; undefined where the search pauses. */
  hits(bytes: Uint8Array): Generator<Hit | undefined, void, void> {
    return this.multiline ? this.#spans(bytes) : this.#lines(bytes);
  }

  /**
   * Where the match that ends at `end` begins, or `floor` when it begins before that. Takes time for the bytes
   * between the two.
   */
  matchStart(bytes: Uint8Array, end: number, floor: number): number {
    let backward: Dfa;
    try {
      backward = this.#reader();
    } catch {
      return floor; // too large from right to left
    }
    backward.begin(bytes, end);
    let at = end;
    do at = backward.run(bytes, at, floor); while (
      backward.stopped === "pause"
    );
    if (backward.stopped !== "dead") backward.finish(bytes, at);
    return backward.best < 0 ? floor : backward.best;
  }

  *#lines(bytes: Uint8Array): Generator<Hit | undefined, void, void> {
    const forward = this.#forward;
    let literals = this.#literals;
    let start = 0;
    let sliced = 0;
    while (start < bytes.length) {
      let limit = bytes.length;
      if (literals) {
        const found = literals.find(bytes, start);
        if (found === -1) return;
        if (found === -2) {
          literals = undefined;
        } else {
          start = lineStart(bytes, found);
          limit = lineEnd(bytes, found);
        }
      }
      forward.begin(bytes, start);
      let at = start;
      for (;;) {
        at = forward.run(bytes, at, Math.min(limit, at + SLICE));
        if (forward.stopped === "match" || at === limit) break;
        yield undefined;
      }
      const matched = forward.stopped === "match" ||
        forward.finish(bytes, at);
      if (matched) {
        const hit = { start: lineStart(bytes, at), end: 0, matchEnd: at };
        // After the last line's end there is no further, empty line.
        if (hit.start >= bytes.length) return;
        hit.end = lineEnd(bytes, at);
        yield hit;
        start = hit.end + 1;
      } else {
        start = limit + 1;
      }
      if (start - sliced > SLICE) {
        sliced = start;
        yield undefined;
      }
    }
  }

  *#spans(bytes: Uint8Array): Generator<Hit | undefined, void, void> {
    if (this.#literals?.find(bytes, 0) === -1) return;
    const forward = this.#forward;
    let from = 0;
    let covered = 0; // every line before this one is out already
    while (from <= bytes.length) {
      forward.begin(bytes, from);
      let at = from;
      for (;;) {
        at = forward.run(bytes, at, Math.min(bytes.length, at + SLICE));
        if (forward.stopped === "dead" || at === bytes.length) break;
        yield undefined;
      }
      if (forward.stopped !== "dead") forward.finish(bytes, at);
      const end = forward.best;
      if (end < 0) return;
      const begin = yield* this.#startOf(bytes, end, from);
      const start = Math.max(covered, lineStart(bytes, begin));
      if (start >= bytes.length) return;
      const last = lineEnd(bytes, end > begin ? end - 1 : end);
      if (start <= last) {
        yield { start, end: last, matchEnd: end };
        covered = last + 1;
      }
      from = end > begin ? end : end + 1;
    }
  }

  *#startOf(
    bytes: Uint8Array,
    end: number,
    floor: number,
  ): Generator<undefined, number, void> {
    const backward = this.#reader();
    backward.begin(bytes, end);
    let at = end;
    for (;;) {
      at = backward.run(bytes, at, Math.max(floor, at - SLICE));
      if (backward.stopped === "dead" || at === floor) break;
      yield undefined;
    }
    if (backward.stopped !== "dead") backward.finish(bytes, at);
    return backward.best < 0 ? floor : backward.best;
  }

  #reader(): Dfa {
    return this.#backward ??= new Dfa(
      this.#compile({ reverse: true, unanchored: false }),
      "longest",
    );
  }

  #compile(options: { reverse: boolean; unanchored: boolean }): Nfa {
    return compileNfa(this.#node, { ...options, multiline: this.multiline });
  }
}

/** Where the line starts that holds offset `at`. */
export function lineStart(bytes: Uint8Array, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, at - 1) + 1;
}

/** Where the line that holds offset `at` ends, its `\n` left out. */
export function lineEnd(bytes: Uint8Array, at: number): number {
  const found = bytes.indexOf(LINE_FEED, at);
  return found < 0 ? bytes.length : found;
}

const LINE_FEED = 0x0a;
