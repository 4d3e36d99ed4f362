/**
 * The commands in a text for a shell, as words, so that a rule can speak of `git push` however it is written.
 *
 * What a text does is known only when it runs: a name may come out of a variable, a script out of a file. A rule on
 * words is a help against accidents and never a wall.
 *
 * @module
 */
import { forEachChild, parse, type SyntaxNode, type Word } from "unbash";

/** Scripts within scripts (`sh -c`, `eval`) that are looked into. */
export const MAX_NESTED = 8;

/** UTF-16 units that are looked at in all, those within others counted again: each substitution is parsed anew. */
export const MAX_LOOKED_AT = 1_000_000;

/** One command: its words; undefined where one is known only when it runs. */
export type Words = readonly (string | undefined)[];

/** What a text holds. */
export interface CommandWords {
  /** The words, when the text is one plain command and nothing else: no variable, substitution, redirection, `&`. */
  only: readonly string[] | undefined;
  /** Every simple command in it, those within substitutions, functions and `sh -c TEXT` included. */
  all: readonly Words[];
}

/** Takes a text apart as bash does. What cannot be parsed is no plain command; its parts are found all the same. */
export function commandWords(text: string): CommandWords {
  const found = new Gathering();
  try {
    const script = found.script(text, 0)!;
    return {
      only: plainWords(script),
      all: script.errors || found.isCut
        ? [...found.all, ...roughly(text)]
        : found.all,
    };
  } catch (error) {
    // Nested too deep to walk.
    if (!(error instanceof RangeError)) throw error;
    return { only: undefined, all: [...found.all, ...roughly(text)] };
  }
}

/** Whether a plain command begins with the words of a pattern; `*` in a word stands for any text in a word. */
export function isPlainly(pattern: Words, { only }: CommandWords): boolean {
  return only !== undefined && begins(pattern, only, false);
}

/** Whether any command in a text begins with the words of a pattern: options between them and wrappers do not hide it. */
export function holds(pattern: Words, { all }: CommandWords): boolean {
  return all.some((words) => begins(pattern, words, true));
}

/** The words of a rule's pattern. */
export function patternWords(text: string): Words {
  const { all } = commandWords(text);
  return all.length === 1 && all[0]!.every((word) => word !== undefined)
    ? all[0]!
    : text.trim().split(/\s+/);
}

/**
 * Whether `words` begin with those of `pattern`. `loosely`: the program by its base name, options and their values
 * skipped between words.
 */
function begins(pattern: Words, words: Words, loosely: boolean): boolean {
  const [program, ...rest] = pattern;
  const name = words[0];
  if (
    !fits(program, name) && !(loosely && fits(program, baseName(name)))
  ) return false;
  let at = 1;
  const isHere = (wanted: string | undefined, at: number) =>
    at < words.length && fits(wanted, words[at]);
  const isOption = (at: number) => words[at]?.startsWith("-") === true;
  for (const wanted of rest) {
    while (loosely && !isHere(wanted, at) && isOption(at)) {
      at++;
      // The option's value.
      if (!isOption(at) && (isHere(wanted, at + 1) || isOption(at + 1))) {
        if (!isHere(wanted, at)) at++;
      }
    }
    if (!isHere(wanted, at)) return false;
    at++;
  }
  return true;
}

function fits(pattern = "", word: string | undefined): boolean {
  if (word === undefined) return pattern === "*";
  const [first, ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return pattern === word;
  if (!word.startsWith(first!)) return false;
  let at = first!.length;
  for (const part of parts) {
    const found = word.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return word.length - last.length >= at && word.endsWith(last);
}

/** The words of a script that is one command of literal words. */
function plainWords(script: ReturnType<typeof parse>): string[] | undefined {
  const [statement] = script.commands;
  if (script.errors?.length || script.commands.length !== 1 || !statement) {
    return undefined;
  }
  const { command, background } = statement;
  if (background || command.type !== "Command" || !command.name) {
    return undefined;
  }
  if (command.prefix.length > 0) return undefined;
  const words: string[] = [];
  for (const item of [command.name, ...command.suffix]) {
    const word = item.type === "Word" ? literal(item) : undefined;
    if (word === undefined) return undefined;
    words.push(word);
  }
  return words;
}

/** Gathers the simple commands of scripts, and of what these run as scripts. Each text is parsed once. */
class Gathering {
  readonly all: Words[] = [];
  readonly #parsed = new Set<string>();
  #left = MAX_LOOKED_AT;

  /** Whether something was not looked at, since there was too much in too much. */
  get isCut(): boolean {
    return this.#left < 0;
  }

  script(text: string, depth: number): ReturnType<typeof parse> | undefined {
    if (depth > MAX_NESTED || this.#parsed.has(text)) return undefined;
    if (depth > 0) this.#left -= text.length;
    if (this.isCut) return undefined;
    this.#parsed.add(text);
    const script = parse(text);
    this.#visit(script, depth);
    return script;
  }

  #visit(node: SyntaxNode, depth: number): void {
    this.#left -= node.end - node.pos;
    if (this.isCut) return;
    if (node.type === "Command" && node.name) {
      const words = [node.name, ...node.args].map((item) =>
        item.type === "Word" ? literal(item) : item.text
      );
      this.#add(words, depth);
      if (WRAPPERS.has(baseName(words[0]))) {
        // Where the wrapped command begins depends on the wrapper's options: at any of its words.
        const last = Math.min(words.length, MAX_WRAPPER_WORDS);
        for (let at = 1; at < last; at++) this.#add(words.slice(at), depth);
      }
    }
    forEachChild(node, (child) => this.#visit(child, depth));
  }

  #add(words: Words, depth: number): void {
    this.all.push(words.slice(0, MAX_WORDS));
    const name = baseName(words[0]);
    const rest = words.slice(1);
    if (name === "eval" && rest.every(isKnown)) {
      this.script(rest.join(" "), depth + 1);
    } else if (SHELLS.has(name)) {
      for (const word of rest) {
        if (isKnown(word) && /\s/.test(word)) this.script(word, depth + 1);
      }
    }
  }
}

function baseName(word: string | undefined): string {
  return word?.slice(word.lastIndexOf("/") + 1) ?? "";
}

/** A word's text where nothing in it is known only when it runs. File-name patterns count as they are written. */
function literal({ value, parts = [] }: Word): string | undefined {
  const isKnown = parts.every((part) =>
    LITERAL.has(part.type) ||
    (part.type === "DoubleQuoted" &&
      part.parts.every(({ type }) => type === "Literal"))
  );
  return isKnown ? value : undefined;
}

const LITERAL: ReadonlySet<string> = new Set([
  "Literal",
  "SingleQuoted",
  "AnsiCQuoted",
  "Glob",
]);

/** Programs that run the command in their arguments. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "builtin busybox chroot command doas env exec find flock ionice nice nohup parallel setpriv setsid stdbuf strace sudo time timeout unshare watch xargs"
    .split(" "),
);

const SHELLS: ReadonlySet<string> = new Set(
  "ash bash dash ksh sh su zsh".split(" "),
);

/** Words of a wrapper's among which the command that it runs begins. */
const MAX_WRAPPER_WORDS = 64;

/** Words that a rule can be about. */
const MAX_WORDS = 512;

function isKnown(word: string | undefined): word is string {
  return word !== undefined;
}

/** Words between what may separate commands. */
function roughly(text: string): Words[] {
  return text.split(/[;&|()`\n{}]+/).map((part) => part.trim().split(/\s+/))
    .filter(([first]) => first !== "");
}
