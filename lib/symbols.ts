/**
 * What an automaton reads: bytes, the carriage return of a line end, and the edge of the text; which of them a pattern
 * tells apart, and what its anchors see.
 *
 * @module
 */
import { CR_OF_CRLF, EDGE, type Instruction, SYMBOLS } from "./nfa.ts";
import type { Assertion } from "./pattern.ts";

/** A carriage return within a line. */
export const RETURN = 0x0d;

/** The kind of all symbols that anchors do not care about. */
export const OTHER_KIND = 5;

/** The symbols of a pattern, told apart as far as it does. */
export interface SymbolClasses {
  /** The class of each symbol. */
  classes: Uint16Array;
  /** What anchors see in each symbol. */
  kinds: Uint8Array;
  /** How many classes there are. */
  count: number;
}

/** Puts symbols that no instruction tells apart into one class. */
export function classify(instructions: readonly Instruction[]): SymbolClasses {
  const kinds = symbolKinds(instructions);
  const cuts = new Uint8Array(SYMBOLS + 1);
  for (const symbol of [LINE_FEED, RETURN, CR_OF_CRLF, EDGE]) {
    cuts[symbol] = cuts[symbol + 1] = 1;
  }
  const cutWhereDifferent = (table: Uint8Array) => {
    for (let symbol = 1; symbol < SYMBOLS; symbol++) {
      if (table[symbol] !== table[symbol - 1]) cuts[symbol] = 1;
    }
  };
  cutWhereDifferent(kinds);
  for (const instruction of instructions) {
    if (instruction.op === "range") {
      cuts[instruction.low] = cuts[instruction.high + 1] = 1;
    } else if (instruction.op === "table") {
      cutWhereDifferent(instruction.table);
    }
  }
  const classes = new Uint16Array(SYMBOLS);
  let number = 0;
  for (let symbol = 0; symbol < SYMBOLS; symbol++) {
    if (symbol > 0 && cuts[symbol] === 1) number++;
    classes[symbol] = number;
  }
  return { classes, kinds, count: number + 1 };
}

/** Only as many kinds as the anchors of the pattern need: each multiplies the states. */
function symbolKinds(instructions: readonly Instruction[]): Uint8Array {
  const kinds = new Uint8Array(SYMBOLS).fill(OTHER_KIND);
  const asserts = instructions.filter((i) => i.op === "assert");
  if (asserts.length === 0) return kinds;
  kinds[LINE_FEED] = FEED_KIND;
  kinds[CR_OF_CRLF] = CRLF_KIND;
  kinds[EDGE] = EDGE_KIND;
  if (!asserts.some((i) => i.what.endsWith("word-boundary"))) return kinds;
  for (let symbol = 0; symbol < 128; symbol++) {
    if (/\w/.test(String.fromCharCode(symbol))) kinds[symbol] = WORD_KIND;
  }
  return kinds.fill(INNER_KIND, 0x80, 0xc0);
}

/** Whether an anchor holds between two symbols, given by their kinds. */
export function holds(what: Assertion, left: number, right: number): boolean {
  switch (what) {
    case "line-start":
      return left === FEED_KIND || left === EDGE_KIND;
    case "line-end":
      return right === FEED_KIND || right === CRLF_KIND || right === EDGE_KIND;
    case "text-start":
      return left === EDGE_KIND;
    case "text-end":
      return right === EDGE_KIND;
    case "word-boundary":
      return (left === WORD_KIND) !== (right === WORD_KIND);
    case "no-word-boundary":
      // Within a character, and within a line end, there is no position.
      return (left === WORD_KIND) === (right === WORD_KIND) &&
        right !== INNER_KIND && left !== CRLF_KIND;
  }
}

/** The symbol at an offset; beyond the ends it is the edge. */
export function symbolAt(bytes: Uint8Array, at: number): number {
  if (at < 0 || at >= bytes.length) return EDGE;
  const byte = bytes[at]!;
  return byte === RETURN && bytes[at + 1] === LINE_FEED ? CR_OF_CRLF : byte;
}

const LINE_FEED = 0x0a;

// What an anchor tells apart.
const EDGE_KIND = 0;
const FEED_KIND = 1;
const CRLF_KIND = 2;
const WORD_KIND = 3;
const INNER_KIND = 4;
