/**
 * File-name patterns: which files of a tree are meant. Matched in linear time, like everything a caller supplies.
 *
 * @module
 */
import { ANY, type CharSet, charSet, complement } from "./char_set.ts";
import { Dfa } from "./dfa.ts";
import { compileNfa } from "./nfa.ts";
import type { Node } from "./pattern.ts";

/** The longest pattern, in UTF-16 units. */
export const MAX_GLOB = 1000;

/** What is wrong with a file-name pattern. */
export class GlobError extends Error {
  /** The pattern. */
  readonly glob: string;
  /** A complaint about `glob`. */
  constructor(glob: string, message: string) {
    super(message);
    this.name = "GlobError";
    this.glob = glob;
  }
}

/**
 * A list of file-name patterns. `*` and `?` stop at `/`, `**` does not; `[a-z]`, `[!a-z]`, `{a,b}` and `\` work. A
 * pattern without `/` is matched against the base name, one with `/` against the path from the searched folder.
 */
export class Globs {
  readonly #names: Dfa | undefined;
  readonly #paths: Dfa | undefined;
  readonly #encoder = new TextEncoder();

  /**
   * Compiles patterns; a string with commas outside braces and brackets is several.
   *
   * @param root The searched folder, to which an absolute pattern is made relative.
   * @throws {GlobError}
   */
  constructor(globs: readonly string[], root = "") {
    const names: Node[] = [];
    const paths: Node[] = [];
    for (const glob of globs.flatMap(splitList)) {
      const { text, path } = relative(glob, root);
      (path ? paths : names).push(new GlobParser(glob, text).parse());
    }
    this.#names = matcher(names);
    this.#paths = matcher(paths);
  }

  /** Whether one of the patterns matches. `path` is relative, with `/`; `name` is its last part. */
  matches(path: string, name: string): boolean {
    return this.#test(this.#names, name) || this.#test(this.#paths, path);
  }

  #test(dfa: Dfa | undefined, text: string): boolean {
    if (!dfa) return false;
    const bytes = this.#encoder.encode(text);
    dfa.begin(bytes, 0);
    let at = 0;
    do at = dfa.run(bytes, at, bytes.length); while (dfa.stopped === "pause");
    return dfa.stopped === "limit" && dfa.finish(bytes, at);
  }
}

/** `*.ts,*.tsx` is two patterns; a comma within braces or brackets, or escaped, separates nothing. */
function splitList(globs: string): string[] {
  return /[{\\[]/.test(globs)
    ? [globs]
    : globs.split(",").map((glob) => glob.trim()).filter((glob) => glob !== "");
}

function relative(
  glob: string,
  root: string,
): { text: string; path: boolean } {
  let text = glob;
  const prefix = root.replaceAll("\\", "/").replace(/\/$/, "") + "/";
  if (prefix !== "/" && text.startsWith(prefix)) {
    text = "/" + text.slice(prefix.length);
  }
  if (text.startsWith("./")) text = text.slice(1);
  if (text.endsWith("/")) text += "**";
  const path = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  // A folder named without a place is meant wherever it is: `dist/` as in ignore files.
  else if (glob.endsWith("/") && glob.indexOf("/") === glob.length - 1) {
    text = "**/" + text;
  }
  return { text, path };
}

function matcher(items: Node[]): Dfa | undefined {
  if (items.length === 0) return undefined;
  const node: Node = {
    kind: "concat",
    items: [{ kind: "choice", items }, { kind: "assert", what: "text-end" }],
  };
  return new Dfa(
    compileNfa(node, { reverse: false, unanchored: false, multiline: true }),
    "earliest",
  );
}

class GlobParser {
  readonly #glob: string;
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(glob: string, text: string) {
    this.#glob = glob;
    this.#text = text;
    if (text.length > MAX_GLOB) {
      throw new GlobError(glob, `longer than ${MAX_GLOB} characters`);
    }
  }

  parse(): Node {
    return { kind: "concat", items: this.#sequence() };
  }

  /** Up to the end, or within braces to the next comma or closing brace. */
  #sequence(): Node[] {
    const items: Node[] = [];
    while (this.#at < this.#text.length) {
      const rest = this.#text.slice(this.#at);
      const char = String.fromCodePoint(rest.codePointAt(0)!);
      if (this.#depth > 0 && (char === "," || char === "}")) break;
      if (/^\*\*+(?=\/|$)/.test(rest) && this.#atSegmentStart()) {
        items.push(this.#anyFolders());
        continue;
      }
      this.#at += char.length;
      switch (char) {
        case "*":
          while (this.#text[this.#at] === "*") this.#at++;
          items.push(many(oneOf(NOT_SLASH), 0));
          break;
        case "?":
          items.push(oneOf(NOT_SLASH));
          break;
        case "[":
          items.push(this.#charClass());
          break;
        case "{":
          items.push(this.#braces());
          break;
        case "\\": {
          const escaped = this.#text.codePointAt(this.#at);
          if (escaped === undefined) {
            throw new GlobError(this.#glob, 'it ends in a lone "\\"');
          }
          this.#at += escaped > 0xffff ? 2 : 1;
          items.push(oneOf([escaped, escaped]));
          break;
        }
        default: {
          const code = char.codePointAt(0)!;
          items.push(oneOf([code, code]));
        }
      }
    }
    return items;
  }

  #atSegmentStart(): boolean {
    return this.#at === 0 || "/{,".includes(this.#text[this.#at - 1]!);
  }

  /** `**` as a whole part of a path: any number of folders, or at the end all that is below. */
  #anyFolders(): Node {
    while (this.#text[this.#at] === "*") this.#at++;
    if (this.#at >= this.#text.length) return many(oneOf(ANY), 1);
    this.#at++;
    return {
      kind: "repeat",
      item: {
        kind: "concat",
        items: [many(oneOf(NOT_SLASH), 0), oneOf([SLASH, SLASH])],
      },
      min: 0,
      max: Infinity,
      greedy: true,
    };
  }

  #braces(): Node {
    if (++this.#depth > 20) {
      throw new GlobError(this.#glob, "braces are nested too deep");
    }
    const items: Node[] = [];
    for (;;) {
      items.push({ kind: "concat", items: this.#sequence() });
      const end = this.#text[this.#at++];
      if (end === "}") break;
      if (end === undefined) {
        throw new GlobError(
          this.#glob,
          'missing } for a "{"; write "\\{" for the character itself',
        );
      }
    }
    this.#depth--;
    return { kind: "choice", items };
  }

  #charClass(): Node {
    const found = /^([!^]?)(\]?(?:\\.|[^\]\\])*)\]/su.exec(
      this.#text.slice(this.#at),
    );
    if (!found) {
      throw new GlobError(
        this.#glob,
        'missing ] for a "["; write "\\[" for the character itself',
      );
    }
    this.#at += found[0].length;
    const chars = [...found[2]!.matchAll(/\\?(.)/gsu)].map((m) => m[1]!);
    const ranges: number[] = [];
    for (let i = 0; i < chars.length; i++) {
      const low = chars[i]!.codePointAt(0)!;
      const ranged = chars[i + 1] === "-" && i + 2 < chars.length;
      const high = ranged ? chars[i + 2]!.codePointAt(0)! : low;
      if (ranged) i += 2;
      if (high < low) {
        throw new GlobError(this.#glob, "a range in [] is out of order");
      }
      ranges.push(low, high);
    }
    const set = charSet(ranges);
    return oneOf(
      found[1] ? complement(charSet([...set, SLASH, SLASH])) : set,
    );
  }
}

function oneOf(set: CharSet): Node {
  return { kind: "char", set, crlf: true };
}

function many(item: Node, min: number): Node {
  return { kind: "repeat", item, min, max: Infinity, greedy: true };
}

const SLASH = 0x2f;
const NOT_SLASH = complement([SLASH, SLASH]);
