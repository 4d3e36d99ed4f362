/**
 * Runs an automaton over bytes in time proportional to their number, whatever the pattern: states are made when
 * they are first needed, and forgotten when there are too many.
 *
 * @module
 */
import type { Assertion } from "./pattern.ts";
import { CR_OF_CRLF, EDGE, type Nfa, SYMBOLS } from "./nfa.ts";

/**
 * Which match is wanted. `earliest`: whether there is one, and where the first ends. `first`: the leftmost, and of
 * those the one that a backtracking engine would take. `longest`: the longest from where the reading starts.
 */
export type Wanted = "earliest" | "first" | "longest";

/** Cells of the transition table and of the states' lists, at most, before all states are forgotten (4 bytes each). */
export const MAX_CELLS = 2_000_000;

/** Instructions followed in one {@linkcode Dfa.run} before it pauses; about 2 ms. */
export const WORK_SLICE = 40_000;

/** Where {@linkcode Dfa.run} stopped. */
export type Stop = "match" | "dead" | "limit" | "pause";

/** A lazily built deterministic automaton. One at a time reads one text. */
export class Dfa {
  /** Why the last {@linkcode run} stopped. */
  stopped: Stop = "limit";
  /** `first` and `longest`: where the best match so far ends (starts, from right to left), or -1. */
  best: number = -1;

  readonly #nfa: Nfa;
  readonly #wanted: Wanted;
  readonly #classes = new Uint16Array(SYMBOLS);
  readonly #kinds = new Uint8Array(SYMBOLS);
  #width = 0;
  #table = new Int32Array(0);
  #cells = 0;
  #lists: Int32Array[] = [];
  #behind: number[] = [];
  #matched: boolean[] = [];
  #known = new Map<string, number>();
  readonly #starts = new Int32Array(8);
  #epoch = 0;
  #state = 0;
  #work = 0;
  readonly #marks: Uint32Array;
  readonly #nextMarks: Uint32Array;
  #generation = 0;
  readonly #stack: number[] = [];

  /** Runs `nfa`; nothing is built yet. */
  constructor(nfa: Nfa, wanted: Wanted) {
    this.#nfa = nfa;
    this.#wanted = wanted;
    this.#marks = new Uint32Array(nfa.instructions.length);
    this.#nextMarks = new Uint32Array(nfa.instructions.length);
    this.#classify();
    this.#forget();
  }

  /** Begins a reading at `at`: the symbol that was passed before it decides what the anchors see. */
  begin(bytes: Uint8Array, at: number): void {
    const before = this.#nfa.reverse
      ? symbolAt(bytes, at)
      : symbolAt(bytes, at - 1);
    const kind = this.#kinds[before]!;
    let state = this.#starts[kind]!;
    if (state === UNKNOWN) {
      state = this.#intern(Int32Array.of(this.#nfa.start), kind, false);
      this.#starts[kind] = state;
    }
    this.best = -1;
    this.#state = state;
  }

  /**
   * Reads from `at` up to `limit` (down to, from right to left) and returns where it stopped. `stopped` says why:
   * at a match (`earliest`: it ends here), because no match can follow, at the limit, or to let others work; then
   * the next call goes on from there.
   */
  run(bytes: Uint8Array, at: number, limit: number): number {
    this.#work = 0;
    return this.#nfa.reverse
      ? this.#runLeft(bytes, at, limit)
      : this.#runRight(bytes, at, limit);
  }

  /** At the end of a reading: lets anchors see what comes after `at`. True when a match ends here. */
  finish(bytes: Uint8Array, at: number): boolean {
    const symbol = this.#nfa.reverse
      ? symbolAt(bytes, at - 1)
      : symbolAt(bytes, at);
    const to = this.#step(this.#state, symbol);
    const matched = to === MATCH ||
      (to <= SPECIAL && this.#matched[(SPECIAL - to) / this.#width]!);
    if (matched) this.best = at;
    return matched;
  }

  #runRight(bytes: Uint8Array, at: number, limit: number): number {
    const classes = this.#classes;
    let table = this.#table;
    let state = this.#state;
    while (at < limit) {
      let to = table[state + classes[bytes[at]!]!]!;
      if (to < 0) {
        to = this.#step(state, symbolAt(bytes, at));
        table = this.#table;
        if (to < 0) {
          to = this.#special(to, at);
          if (to < 0) return at;
        }
        if (this.#work > WORK_SLICE) {
          this.#state = to;
          this.stopped = "pause";
          return at + 1;
        }
      }
      state = to;
      at++;
    }
    this.#state = state;
    this.stopped = "limit";
    return at;
  }

  #runLeft(bytes: Uint8Array, at: number, limit: number): number {
    const classes = this.#classes;
    let table = this.#table;
    let state = this.#state;
    while (at > limit) {
      let to = table[state + classes[bytes[at - 1]!]!]!;
      if (to < 0) {
        to = this.#step(state, symbolAt(bytes, at - 1));
        table = this.#table;
        if (to < 0) {
          to = this.#special(to, at);
          if (to < 0) return at;
        }
        if (this.#work > WORK_SLICE) {
          this.#state = to;
          this.stopped = "pause";
          return at - 1;
        }
      }
      state = to;
      at--;
    }
    this.#state = state;
    this.stopped = "limit";
    return at;
  }

  /** What a transition that is not plain means: the state to go on with, or negative to stop. */
  #special(to: number, at: number): number {
    if (to === MATCH) {
      this.stopped = "match";
      return -1;
    }
    const state = SPECIAL - to;
    const index = state / this.#width;
    if (this.#matched[index]) this.best = at;
    if (this.#lists[index]!.length === 0) {
      this.stopped = "dead";
      return -1;
    }
    return state;
  }

  /** The transition from `state` on `symbol`, made if need be. */
  #step(state: number, symbol: number): number {
    const slot = symbol === RETURN ? this.#width - 1 : this.#classes[symbol]!;
    const known = this.#table[state + slot]!;
    if (known !== UNKNOWN) return known;
    const epoch = this.#epoch;
    const to = this.#follow(state / this.#width, symbol);
    if (epoch === this.#epoch) this.#table[state + slot] = to;
    return to;
  }

  #follow(index: number, symbol: number): number {
    const { instructions, reverse } = this.#nfa;
    const behind = this.#behind[index]!;
    const ahead = this.#kinds[symbol]!;
    const left = reverse ? ahead : behind;
    const right = reverse ? behind : ahead;
    const stack = this.#stack;
    const generation = ++this.#generation;
    const next: number[] = [];
    let matched = false;
    const pass = (to: number) => {
      if (this.#nextMarks[to] === generation) return;
      this.#nextMarks[to] = generation;
      next.push(to);
    };
    scan: for (const start of this.#lists[index]!) {
      stack.length = 0;
      stack.push(start);
      while (stack.length > 0) {
        const at = stack.pop()!;
        if (this.#marks[at] === generation) continue;
        this.#marks[at] = generation;
        this.#work++;
        const instruction = instructions[at]!;
        switch (instruction.op) {
          case "range":
            if (symbol >= instruction.low && symbol <= instruction.high) {
              pass(instruction.next);
            }
            break;
          case "table":
            if (instruction.table[symbol] === 1) pass(instruction.next);
            break;
          case "split":
            stack.push(instruction.second, instruction.first);
            break;
          case "assert":
            if (holds(instruction.what, left, right)) {
              stack.push(instruction.next);
            }
            break;
          case "match":
            if (this.#wanted === "earliest") return MATCH;
            matched = true;
            // What comes later in the order is worse than this match.
            if (this.#wanted === "first") break scan;
            break;
        }
      }
    }
    const state = this.#intern(Int32Array.from(next), ahead, matched);
    return matched || next.length === 0 ? SPECIAL - state : state;
  }

  /** The state with this list, what was passed before it, and whether a match ended before that. */
  #intern(list: Int32Array, behind: number, matched: boolean): number {
    let key = String.fromCharCode(behind * 2 + (matched ? 1 : 0));
    for (const at of list) key += String.fromCharCode(at);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const cost = this.#width + 2 * list.length + STATE_CELLS;
    if (this.#cells + cost > MAX_CELLS) this.#forget();
    this.#cells += cost;
    const state = this.#lists.length * this.#width;
    if (state + this.#width > this.#table.length) {
      const larger = new Int32Array(
        Math.max(16 * this.#width, 2 * this.#table.length),
      ).fill(UNKNOWN);
      larger.set(this.#table);
      this.#table = larger;
    }
    this.#table[state + this.#classes[RETURN]!] = LOOK_CLOSER;
    this.#lists.push(list);
    this.#behind.push(behind);
    this.#matched.push(matched);
    this.#known.set(key, state);
    this.#work += list.length;
    return state;
  }

  #forget(): void {
    this.#epoch++;
    this.#table.fill(UNKNOWN);
    this.#lists = [];
    this.#behind = [];
    this.#matched = [];
    this.#known = new Map();
    this.#cells = 0;
    this.#starts.fill(UNKNOWN);
  }

  /** Puts symbols that no instruction tells apart into one class, to keep the table narrow. */
  #classify(): void {
    const asserts = this.#nfa.instructions.filter((i) => i.op === "assert");
    const words = asserts.some((i) => i.what.endsWith("word-boundary"));
    const kinds = this.#kinds.fill(OTHER_KIND);
    if (asserts.length > 0) {
      kinds[LINE_FEED] = FEED_KIND;
      kinds[CR_OF_CRLF] = CRLF_KIND;
      kinds[EDGE] = EDGE_KIND;
    }
    const cuts = new Uint8Array(SYMBOLS + 1);
    for (const symbol of [LINE_FEED, RETURN, CR_OF_CRLF, EDGE]) {
      cuts[symbol] = cuts[symbol + 1] = 1;
    }
    for (let symbol = 0; words && symbol < 128; symbol++) {
      if (/\w/.test(String.fromCharCode(symbol))) kinds[symbol] = WORD_KIND;
      if (symbol > 0 && kinds[symbol] !== kinds[symbol - 1]) cuts[symbol] = 1;
    }
    if (words) {
      kinds.fill(INNER_KIND, 0x80, 0xc0);
      cuts[0x80] = cuts[0xc0] = 1;
    }
    for (const instruction of this.#nfa.instructions) {
      if (instruction.op === "range") {
        cuts[instruction.low] = cuts[instruction.high + 1] = 1;
      } else if (instruction.op === "table") {
        for (let symbol = 1; symbol < SYMBOLS; symbol++) {
          if (instruction.table[symbol] !== instruction.table[symbol - 1]) {
            cuts[symbol] = 1;
          }
        }
      }
    }
    let number = 0;
    for (let symbol = 0; symbol < SYMBOLS; symbol++) {
      if (symbol > 0 && cuts[symbol] === 1) number++;
      this.#classes[symbol] = number;
    }
    this.#width = number + 2; // the last is for a carriage return within a line
  }
}

function holds(what: Assertion, left: number, right: number): boolean {
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

function symbolAt(bytes: Uint8Array, at: number): number {
  if (at < 0 || at >= bytes.length) return EDGE;
  const byte = bytes[at]!;
  return byte === RETURN && bytes[at + 1] === LINE_FEED ? CR_OF_CRLF : byte;
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

// What an anchor tells apart.
const EDGE_KIND = 0;
const FEED_KIND = 1;
const CRLF_KIND = 2;
const WORD_KIND = 3;
const INNER_KIND = 4;
const OTHER_KIND = 5;

// Transitions that are not plain states. From SPECIAL downwards: a state that is dead or ended a match.
const UNKNOWN = -1;
const MATCH = -2;
const LOOK_CLOSER = -3;
const SPECIAL = -4;

/** What a state costs beside its list and its row. */
const STATE_CELLS = 40;
