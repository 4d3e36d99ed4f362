/**
 * A pattern as a nondeterministic automaton over bytes of UTF-8: what {@linkcode Dfa} runs.
 *
 * Its alphabet is the 256 bytes, the carriage return of a line end as a symbol of its own, and the edge of the text.
 *
 * @module
 */
import { type CharSet, has, without } from "./char_set.ts";
import { type Assertion, type Node, PatternError } from "./pattern.ts";

/** The symbol for a carriage return that is part of a line end. */
export const CR_OF_CRLF = 256;

/** The symbol before the first and after the last byte. */
export const EDGE = 257;

/** How many symbols there are. */
export const SYMBOLS = 258;

/** The most instructions a pattern may come to; each number fits into 16 bits. */
export const MAX_INSTRUCTIONS = 65_000;

/** One step of the automaton; numbers are indices of instructions. */
export type Instruction =
  | { op: "range"; low: number; high: number; next: number }
  | { op: "table"; table: Uint8Array; next: number }
  | { op: "split"; first: number; second: number }
  | { op: "assert"; what: Assertion; next: number }
  | { op: "match" };

/** A compiled pattern. */
export interface Nfa {
  /** Its steps. */
  instructions: Instruction[];
  /** The step to begin with. */
  start: number;
  /** Reads from right to left. */
  reverse: boolean;
}

/** How a pattern is compiled. */
export interface NfaOptions {
  /** Reads from right to left. */
  reverse: boolean;
  /** Finds a match that starts anywhere, not only where the reading starts. */
  unanchored: boolean;
  /** Bytes that match may include line ends. */
  multiline: boolean;
}

/**
 * Compiles a parsed pattern.
 *
 * @throws {PatternError} when it comes to more than {@linkcode MAX_INSTRUCTIONS}.
 */
export function compileNfa(node: Node, options: NfaOptions): Nfa {
  const compiler = new Compiler(options);
  let start = compiler.emit(node, compiler.add({ op: "match" }));
  if (options.unanchored) start = compiler.prefix(start);
  return {
    instructions: compiler.instructions,
    start,
    reverse: options.reverse,
  };
}

class Compiler {
  readonly instructions: Instruction[] = [];
  readonly #reverse: boolean;
  readonly #multiline: boolean;

  constructor(options: NfaOptions) {
    this.#reverse = options.reverse;
    this.#multiline = options.multiline;
  }

  add(instruction: Instruction): number {
    if (this.instructions.length >= MAX_INSTRUCTIONS) {
      throw new PatternError(
        "the pattern is too large once its counts are written out; use smaller counts in {n,m} and fewer \\p{…}",
        0,
      );
    }
    return this.instructions.push(instruction) - 1;
  }

  /** Any bytes, as few as possible, then `start`. */
  prefix(start: number): number {
    const loop = this.add({ op: "split", first: start, second: 0 });
    const skip = this.add({
      op: "range",
      low: 0,
      high: CR_OF_CRLF,
      next: loop,
    });
    this.instructions[loop] = { op: "split", first: start, second: skip };
    return loop;
  }

  /** Adds what matches `node` and goes on at `next`; returns where it starts. */
  emit(node: Node, next: number): number {
    switch (node.kind) {
      case "empty":
        return next;
      case "char":
        return this.#char(node.set, node.crlf, next);
      case "newline":
        return this.#newline(next);
      case "concat": {
        const items = this.#reverse ? node.items : node.items.toReversed();
        return items.reduce((to, item) => this.emit(item, to), next);
      }
      case "choice":
        return this.#choice(node.items.map((item) => this.emit(item, next)));
      case "repeat":
        return this.#repeat(node, next);
      case "assert":
        return this.add({ op: "assert", what: node.what, next });
    }
  }

  #choice(starts: number[]): number {
    return starts.reduceRight((second, first) =>
      this.add({ op: "split", first, second })
    );
  }

  #newline(next: number): number {
    const feed = (to: number) =>
      this.add({ op: "range", low: 0x0a, high: 0x0a, next: to });
    const optionalReturn = (to: number) =>
      this.add({
        op: "split",
        first: this.add({
          op: "range",
          low: CR_OF_CRLF,
          high: CR_OF_CRLF,
          next: to,
        }),
        second: to,
      });
    return this.#reverse
      ? feed(optionalReturn(next))
      : optionalReturn(feed(next));
  }

  #repeat(node: Node & { kind: "repeat" }, next: number): number {
    const { item, min, max, greedy } = node;
    const either = (again: number, done: number) =>
      greedy
        ? { op: "split" as const, first: again, second: done }
        : { op: "split" as const, first: done, second: again };
    let at = next;
    let copies = min;
    if (max === Infinity) {
      const loop = this.add(either(next, next));
      const body = this.emit(item, loop);
      this.instructions[loop] = either(body, next);
      at = min > 0 ? body : loop;
      copies = Math.max(0, min - 1);
    } else {
      for (let i = min; i < max; i++) {
        const body = this.emit(item, at);
        if (body === at) break; // an empty item, however often
        at = this.add(either(body, next));
      }
    }
    for (let i = 0; i < copies; i++) {
      const body = this.emit(item, at);
      if (body === at) break;
      at = body;
    }
    return at;
  }

  #char(set: CharSet, crlf: boolean, next: number): number {
    const chars = this.#multiline ? set : without(set, 0x0a);
    const starts: number[] = [];
    const ascii: number[] = [];
    const sequences: number[][] = [];
    for (let i = 0; i < chars.length; i += 2) {
      const low = chars[i]!;
      const high = chars[i + 1]!;
      if (low <= 0x7f) ascii.push(low, Math.min(high, 0x7f));
      if (high > 0x7f) utf8Sequences(Math.max(low, 0x80), high, sequences);
    }
    if (crlf && has(chars, 0x0d)) ascii.push(CR_OF_CRLF, CR_OF_CRLF);
    if (ascii.length === 2) {
      starts.push(
        this.add({ op: "range", low: ascii[0]!, high: ascii[1]!, next }),
      );
    } else if (ascii.length > 2) {
      const table = new Uint8Array(SYMBOLS);
      for (let i = 0; i < ascii.length; i += 2) {
        table.fill(1, ascii[i]!, ascii[i + 1]! + 1);
      }
      starts.push(this.add({ op: "table", table, next }));
    }
    const shared = new Map<string, number>();
    for (const sequence of sequences) {
      starts.push(this.#sequence(sequence, next, shared));
    }
    if (starts.length === 0) { // nothing matches: a range that holds no symbol
      return this.add({ op: "range", low: 1, high: 0, next });
    }
    return this.#choice(starts);
  }

  /** The byte ranges of one UTF-8 form, sharing what comes after with forms before. */
  #sequence(
    ranges: number[],
    next: number,
    shared: Map<string, number>,
  ): number {
    let at = next;
    for (let n = 0; n < ranges.length; n += 2) {
      const i = this.#reverse ? n : ranges.length - 2 - n;
      const low = ranges[i]!;
      const high = ranges[i + 1]!;
      const key = `${low} ${high} ${at}`;
      let step = shared.get(key);
      if (step === undefined) {
        step = this.add({ op: "range", low, high, next: at });
        shared.set(key, step);
      }
      at = step;
    }
    return at;
  }
}

/**
 * Appends the UTF-8 forms of the code points from `low` to `high` (above ASCII) to `out`: each a flat list of byte
 * ranges, one for each byte, that together match these code points and nothing else. Surrogates have no form.
 */
export function utf8Sequences(
  low: number,
  high: number,
  out: number[][],
): void {
  for (
    const [from, to] of [[0x80, 0x7ff], [0x800, 0xd7ff], [0xe000, 0xffff], [
      0x10000,
      0x10ffff,
    ]] as const
  ) {
    const first = Math.max(low, from);
    const last = Math.min(high, to);
    if (first <= last) splitSequence(first, last, out);
  }
}

/** For code points whose forms are equally long: splits until every byte is a range independent of the others. */
function splitSequence(low: number, high: number, out: number[][]): void {
  for (let bits = 6; bits <= 18; bits += 6) {
    const mask = (1 << bits) - 1;
    if ((low & ~mask) === (high & ~mask)) continue;
    const cut = (low & mask) !== 0
      ? low | mask
      : (high & mask) !== mask
      ? (high & ~mask) - 1
      : undefined;
    if (cut !== undefined) {
      splitSequence(low, cut, out);
      splitSequence(cut + 1, high, out);
      return;
    }
  }
  const from = ENCODER.encode(String.fromCodePoint(low));
  const to = ENCODER.encode(String.fromCodePoint(high));
  const ranges: number[] = [];
  for (let i = 0; i < from.length; i++) ranges.push(from[i]!, to[i]!);
  out.push(ranges);
}

const ENCODER = new TextEncoder();
