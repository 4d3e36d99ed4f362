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

/** The longest text that every match of `node` holds, or undefined when there is none. */
export function requiredLiteral(node: Node): Literal | undefined {
  const text = longest(runs(node));
  return text === "" ? undefined : new Literal(text);
}

/** False candidates in one {@linkcode Literal.find}, after which an automaton is faster. */
const MAX_TRIES = 2000;

/** Texts that every match holds. */
function runs(node: Node): string[] {
  switch (node.kind) {
    case "char":
      return node.set.length === 2 && node.set[0] === node.set[1] &&
          node.set[0] !== 0x0d
        ? [String.fromCodePoint(node.set[0]!)]
        : [];
    case "repeat":
      return node.min > 0 ? runs(node.item) : [];
    case "concat": {
      const out: string[] = [];
      let run = "";
      for (const item of node.items) {
        const text = exact(item);
        if (text !== undefined) {
          run += text;
          continue;
        }
        out.push(run, ...runs(item));
        run = "";
      }
      out.push(run);
      return out.filter((text) => text !== "");
    }
    default:
      return [];
  }
}

/** The one text that `node` matches, or undefined when there are several. */
function exact(node: Node): string | undefined {
  switch (node.kind) {
    case "char":
      return runs(node)[0];
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

function longest(texts: readonly string[]): string {
  return texts.reduce((a, b) => b.length > a.length ? b : a, "");
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
