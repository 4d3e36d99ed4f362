/**
 * Runs an automaton over bytes in time proportional to their number, whatever the pattern: states are made when
 * they are first needed, and forgotten when there are too many.
 *
 * @module
 */
import type { Nfa } from "./nfa.ts";
import {
  classify,
  holds,
  OTHER_KIND,
  RETURN,
  symbolAt,
  type SymbolClasses,
} from "./symbols.ts";

/**
 * Which match is wanted. `earliest`: whether there is one, and where the first ends. `first`: the leftmost, and of
 * those the one that a backtracking engine would take. `longest`: the longest from where the reading starts.
 */
export type Wanted = "earliest" | "first" | "longest";

/** Cells of the transition table and of the states' lists, at most, before all states are forgotten (4 bytes each). */
export const MAX_CELLS = 400_000;

/** Instructions followed in one {@linkcode Dfa.run} before it pauses; about 2 ms. */
export const WORK_SLICE = 20_000;

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
  readonly #maxCells: number;
  readonly #classes: SymbolClasses["classes"];
  readonly #kinds: SymbolClasses["kinds"];
  readonly #width: number;
  #table = new Int32Array(0);
  #cells = 0;
  #lists: Int32Array[] = [];
  #behind: number[] = [];
  #matched: boolean[] = [];
  #known = new Map<string, number>();
  readonly #starts = new Int32Array(8);
  /** The state in which nothing of a match was seen yet, and the bytes that change nothing about that. */
  #idle = UNKNOWN;
  readonly #idleBytes = new Uint8Array(256);
  #epoch = 0;
  #state = 0;
  #work = 0;
  readonly #marks: Uint32Array;
  readonly #nextMarks: Uint32Array;
  #generation = 0;
  readonly #stack: number[] = [];

  /** Runs `nfa`; nothing is built yet. */
  constructor(nfa: Nfa, wanted: Wanted, maxCells: number = MAX_CELLS) {
    this.#maxCells = maxCells;
    this.#nfa = nfa;
    this.#wanted = wanted;
    this.#marks = new Uint32Array(nfa.instructions.length);
    this.#nextMarks = new Uint32Array(nfa.instructions.length);
    const { classes, kinds, count } = classify(nfa.instructions);
    this.#classes = classes;
    this.#kinds = kinds;
    this.#width = count + 1; // the last is for a carriage return within a line
    this.#forget();
  }

  /** Begins a reading at `at`: the symbol that was passed before it decides what the anchors see. */
  begin(bytes: Uint8Array, at: number): void {
    const before = this.#nfa.reverse
      ? symbolAt(bytes, at)
      : symbolAt(bytes, at - 1);
    if (this.#idle === UNKNOWN) this.#findIdle();
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
    let idle = this.#idle;
    const idleBytes = this.#idleBytes;
    let table = this.#table;
    let state = this.#state;
    while (at < limit) {
      if (state === idle) {
        while (at < limit && idleBytes[bytes[at]!] === 1) at++;
        if (at === limit) break;
      }
      let to = table[state + classes[bytes[at]!]!]!;
      if (to < 0) {
        to = this.#step(state, symbolAt(bytes, at));
        // The states may have been forgotten on the way.
        table = this.#table;
        idle = this.#idle;
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
    for (let at = 0; at < list.length; at += KEY_CHUNK) {
      key += String.fromCharCode(...list.subarray(at, at + KEY_CHUNK));
    }
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const cost = this.#width + 2 * list.length + STATE_CELLS;
    if (this.#cells + cost > this.#maxCells) this.#forget();
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

  #findIdle(): void {
    const state = this.#intern(
      Int32Array.of(this.#nfa.start),
      OTHER_KIND,
      false,
    );
    const epoch = this.#epoch;
    for (let byte = 0; byte < 256 && epoch === this.#epoch; byte++) {
      // A carriage return needs a look at what follows.
      const stays = byte !== RETURN && this.#step(state, byte) === state;
      this.#idleBytes[byte] = stays ? 1 : 0;
    }
    this.#idle = epoch === this.#epoch ? state : NONE;
  }

  #forget(): void {
    this.#epoch++;
    this.#idle = UNKNOWN;
    this.#table.fill(UNKNOWN);
    this.#lists = [];
    this.#behind = [];
    this.#matched = [];
    this.#known = new Map();
    this.#cells = 0;
    this.#starts.fill(UNKNOWN);
  }
}

/** The idle state when it did not last long enough to be looked at. */
const NONE = -5;

// Transitions that are not plain states. From SPECIAL downwards: a state that is dead or ended a match.
const UNKNOWN = -1;
const MATCH = -2;
const LOOK_CLOSER = -3;
const SPECIAL = -4;

/** Arguments of one call, which are few enough for any stack. */
const KEY_CHUNK = 4096;

/** What a state costs beside its list and its row. */
const STATE_CELLS = 40;
