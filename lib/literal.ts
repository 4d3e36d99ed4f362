/**
 * The text that every match of a pattern must hold, so that most files need no automaton.
 *
 * @module
 */
import type { Node } from "./pattern.ts";

/** A text to look for in bytes. */
export class Literal {
  /** The text in UTF-8. */
  readonly bytes: Uint8Array;
  /** Where in `bytes` its rarest byte is. */
  readonly #offset: number;

  /** `text` must not be empty. */
  constructor(text: string) {
    this.bytes = new TextEncoder().encode(text);
    this.#offset = rarest(this.bytes);
  }

  /**
   * Where the text is next, from `at`.
   *
   * @returns -1 when it is nowhere, -2 when so much looks like it that the search gave up: it may be anywhere.
   */
  find(bytes: Uint8Array, at: number): number {
    const wanted = this.bytes;
    const rare = wanted[this.#offset]!;
    let from = at + this.#offset;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = bytes.indexOf(rare, from);
      if (found < 0) return -1;
      const start = found - this.#offset;
      let i = 0;
      while (i < wanted.length && bytes[start + i] === wanted[i]) i++;
      if (i === wanted.length) return start;
      from = found + 1;
    }
    return -2;
  }
}

/** Texts of which every match holds one. Looks for them in one text after the other, forwards. */
export class Literals {
  /** The texts. */
  readonly all: readonly Literal[];
  /** Where each is next in the text that is searched; what lies behind is looked for again. */
  readonly #next: number[];
  #bytes: Uint8Array | undefined;

  /** There must be at least one. */
  constructor(texts: readonly string[]) {
    this.all = texts.map((text) => new Literal(text));
    this.#next = texts.map(() => 0);
  }

  /** Where the first of them is next, from `at`, as {@linkcode Literal.find} tells it. */
  find(bytes: Uint8Array, at: number): number {
    const { all } = this;
    if (all.length === 1) return all[0]!.find(bytes, at);
    const next = this.#next;
    if (this.#bytes !== bytes) {
      this.#bytes = bytes;
      next.fill(BEHIND);
    }
    let first = -1;
    for (let i = 0; i < all.length; i++) {
      if (next[i] !== -1 && next[i]! < at) {
        next[i] = all[i]!.find(bytes, at);
        if (next[i] === -2) {
          this.#bytes = undefined;
          return -2;
        }
      }
      if (next[i] !== -1 && (first === -1 || next[i]! < first)) {
        first = next[i]!;
      }
    }
    return first;
  }
}

/** The longest texts of which every match of `node` holds one, or undefined when there are none. */
export function requiredLiterals(node: Node): Literals | undefined {
  const texts = best(required(node));
  return texts && new Literals(texts);
}

/** The most texts that are looked for one by one. */
export const MAX_LITERALS = 8;

/** False candidates in one {@linkcode Literal.find}, after which an automaton is faster. */
const MAX_TRIES = 2000;

/** A place before all others. */
const BEHIND = -3;

/** Sets of texts; of each set every match holds one. */
function required(node: Node): string[][] {
  switch (node.kind) {
    case "char":
      return node.set.length === 2 && node.set[0] === node.set[1] &&
          node.set[0] !== 0x0d
        ? [[String.fromCodePoint(node.set[0]!)]]
        : [];
    case "repeat":
      return node.min > 0 ? required(node.item) : [];
    case "choice": {
      const sets = node.items.map((item) => best(required(item)));
      if (!sets.every((set) => set !== undefined)) return [];
      const texts = sets.flat();
      return texts.length <= MAX_LITERALS && shortest(texts) > 1 ? [texts] : [];
    }
    case "concat": {
      const out: string[][] = [];
      let run = "";
      for (const item of node.items) {
        const text = exact(item);
        if (text !== undefined) {
          run += text;
          continue;
        }
        out.push([run], ...required(item));
        run = "";
      }
      out.push([run]);
      return out.filter(([text]) => text !== "");
    }
    default:
      return [];
  }
}

/** The one text that `node` matches, or undefined when there are several. */
function exact(node: Node): string | undefined {
  switch (node.kind) {
    case "char":
      return required(node)[0]?.[0];
    case "empty":
    case "assert":
      return "";
    case "concat": {
      let text = "";
      for (const item of node.items) {
        const part = exact(item);
        if (part === undefined) return undefined;
        text += part;
      }
      return text;
    }
    default:
      return undefined;
  }
}

/** The set whose shortest text is longest. */
function best(sets: readonly string[][]): string[] | undefined {
  let found: string[] | undefined;
  for (const set of sets) {
    if (!found || shortest(set) > shortest(found)) found = set;
  }
  return found;
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map(({ length }) => length));
}

function rarest(bytes: Uint8Array): number {
  let best = 0;
  for (let i = 1; i < bytes.length; i++) {
    if (rank(bytes[i]!) > rank(bytes[best]!)) best = i;
  }
  return best;
}

/** The rarer in text and code, the higher. */
function rank(byte: number): number {
  const place = COMMON.indexOf(String.fromCharCode(byte));
  return place < 0 ? COMMON.length : place;
}

const COMMON = " etaoinsrlcdupmhf\ngy.,()_-\"'=;:/0v1b2w{}[]<>*k3x4";
