/**
 * The part of a text that comes closest to one that was not found in it, looked for in bounded time. It is only ever
 * shown, never taken for the text itself.
 *
 * @module
 */
import { editDistance } from "./nearest.ts";

/** Milliseconds that the search may take. */
export const CANDIDATE_MS = 60;

/** Milliseconds of search between two turns of other work. */
export const SLICE_MS = 8;

/** Lines of the text looked for that are compared; the first ones of a longer one. */
export const CANDIDATE_LINES = 100;

/** Characters of a line that are compared. */
export const COMPARED_CHARS = 300;

/** Characters of a line up to which single slips count: of a shorter one they leave too few neighbours in common. */
export const SHORT_CHARS = 12;

/** Blank lines of the text that may lie between two lines looked for. */
export const BLANK_LINES = 8;

/** How alike two texts must be, from 0 to 1, for the one to be shown. */
export const ALIKE = 0.55;

/** The closest part of a text. */
export interface Candidate {
  /** Numbers of its lines, from 1. */
  firstLine: number;
  /** Number of the last line. */
  lastLine: number;
  /** Verbatim, without the last line's end. */
  text: string;
  /** From {@linkcode ALIKE} to 1: equal but for white space, quotation marks, dashes and composition. */
  alike: number;
  /** Where the two first differ, when they are equal otherwise. */
  difference: string | undefined;
}

/**
 * Finds the lines of `text` that are most like `wanted`. `now` tells milliseconds; when the time is up the best so
 * far counts. Other work gets its turn meanwhile.
 */
export async function closest(
  text: string,
  wanted: string,
  now: () => number,
): Promise<Candidate | undefined> {
  const raw = trimBlank(wanted.split(/\r?\n/)).slice(0, CANDIDATE_LINES);
  // Blank lines between the others are easily lost or added, in `compare` as well.
  const folded = raw.map(fold).filter((line) => line !== "");
  if (folded.length === 0) return undefined;
  const anchor = longest(folded);
  const search: Search = {
    text,
    folded,
    anchor,
    pairs: pairsOf(folded[anchor]!),
    seen: new Set(),
    best: undefined,
  };
  const began = now();
  let turn = began;
  for (const _ of steps(search)) {
    const time = now();
    if (time - began > CANDIDATE_MS) break;
    if (time - turn > SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve));
      turn = now();
    }
  }
  const { best } = search;
  if (!best || best.alike < ALIKE) return undefined;
  const lines = text.slice(best.start, best.end).split("\n");
  const firstLine = countFeeds(text, best.start) + 1;
  return {
    firstLine,
    lastLine: firstLine + lines.length - 1,
    text: lines.join("\n").replace(/\r$/, ""),
    alike: best.alike,
    difference: best.alike === 1
      ? firstDifference(raw, lines, firstLine)
      : undefined,
  };
}

/** Text in which what is easily confused is equal. */
export function fold(line: string): string {
  const clipped = line.slice(0, COMPARED_CHARS);
  // deno-lint-ignore no-control-regex
  const plain = /^[\x00-\x7f]*$/.test(clipped) ? clipped : clipped
    .normalize("NFKC")
    .replace(/[\u2018-\u201b\u2032]/g, "'")
    .replace(/[\u201c-\u201f\u2033]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u200b-\u200d\u2060\ufeff]/g, "");
  return plain.replace(/\s+/g, " ").trim();
}

interface Search {
  text: string;
  folded: readonly string[];
  /** Index of the line of `folded` that is looked for first. */
  anchor: number;
  pairs: ReadonlyMap<string, number>;
  /** Starts of the lines that were compared with the anchor. */
  seen: Set<number>;
  best: { start: number; end: number; alike: number } | undefined;
}

/** The whole search, in small steps. */
function* steps(search: Search): Generator<void> {
  yield* byWord(search);
  if ((search.best?.alike ?? 0) < 1) yield* byLine(search);
}

/** Lines that hold the anchor's longest words: a native search, quick even in a large file. */
function* byWord(search: Search): Generator<void> {
  const { text, folded, anchor } = search;
  const words = folded[anchor]!.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  words.sort((a, b) => b.length - a.length);
  for (const word of words.slice(0, 3)) {
    let at = text.indexOf(word);
    for (let hits = 0; at !== -1 && hits < 500; hits++) {
      yield;
      const start = text.lastIndexOf("\n", at) + 1;
      compare(search, start);
      if (search.best?.alike === 1) return;
      const next = text.indexOf("\n", at);
      if (next === -1) break;
      at = text.indexOf(word, next);
    }
  }
}

/** Every line. */
function* byLine(search: Search): Generator<void> {
  const { text } = search;
  let checked = 0;
  for (let start = 0; start < text.length;) {
    if (checked++ % 64 === 0) yield;
    const feed = text.indexOf("\n", start);
    const end = feed === -1 ? text.length : feed;
    const line = fold(text.slice(start, Math.min(end, start + COMPARED_CHARS)));
    if (
      likeness(search.folded[search.anchor]!, line, search.pairs) >= ALIKE - 0.1
    ) {
      compare(search, start);
      if (search.best?.alike === 1) return;
    }
    if (feed === -1) return;
    start = feed + 1;
  }
}

/** Takes the line that begins at `start` for the anchor, and weighs the lines around it. */
function compare(search: Search, start: number): void {
  const { text, folded, anchor, seen } = search;
  if (seen.has(start)) return;
  seen.add(start);
  let from = start;
  for (let i = 0; i < anchor && from > 0; i++) from = lineBefore(text, from);
  let score = 0;
  let weight = 0;
  let end = from;
  for (let i = 0, at = from; i < folded.length; i++) {
    const wanted = folded[i]!;
    const importance = wanted.length + 1;
    weight += importance;
    if (i > 0) at = overBlank(text, at);
    if (at > text.length || (at === text.length && i > 0)) continue;
    end = lineEnd(text, at);
    score += importance * likeness(
      wanted,
      fold(text.slice(at, Math.min(end, at + COMPARED_CHARS))),
      i === anchor ? search.pairs : undefined,
    );
    at = end + 1;
  }
  const alike = score / weight;
  if (!search.best || alike > search.best.alike) {
    search.best = { start: from, end, alike };
  }
}

function lineEnd(text: string, at: number): number {
  const feed = text.indexOf("\n", at);
  return feed === -1 ? text.length : feed;
}

/** The beginning of the line with text before the one that begins at `start`; 0 when there is none. */
function lineBefore(text: string, start: number): number {
  let from = start;
  for (let i = 0; i <= BLANK_LINES && from > 0; i++) {
    const end = from - 1;
    from = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    if (/\S/.test(text.slice(from, Math.min(end, from + COMPARED_CHARS)))) {
      break;
    }
  }
  return from;
}

/** The beginning of the first line with text from `at` on; `at` when there is none near. */
function overBlank(text: string, at: number): number {
  let from = at;
  for (let i = 0; i <= BLANK_LINES && from < text.length; i++) {
    const end = lineEnd(text, from);
    if (/\S/.test(text.slice(from, Math.min(end, from + COMPARED_CHARS)))) {
      return from;
    }
    from = end + 1;
  }
  return at;
}

/**
 * How alike two folded lines are: the share of neighbouring characters that they have in common (Dice), and of short
 * lines the share of characters without a slip.
 */
function likeness(
  wanted: string,
  line: string,
  pairs: ReadonlyMap<string, number> = pairsOf(wanted),
): number {
  if (wanted === line) return 1;
  if (wanted === "" || line === "") return 0;
  if (line.includes(wanted)) return 0.9 + 0.09 * wanted.length / line.length;
  const left = new Map(pairs);
  let common = 0;
  for (let i = 0; i < line.length - 1; i++) {
    const pair = line.slice(i, i + 2);
    const n = left.get(pair);
    if (!n) continue;
    common++;
    left.set(pair, n - 1);
  }
  const dice = 2 * common / Math.max(1, wanted.length + line.length - 2);
  const longer = Math.max(wanted.length, line.length);
  return 0.99 *
    (longer > SHORT_CHARS
      ? dice
      : Math.max(dice, 1 - editDistance(wanted, line) / longer));
}

function pairsOf(line: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let i = 0; i < line.length - 1; i++) {
    const pair = line.slice(i, i + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function firstDifference(
  wanted: readonly string[],
  lines: readonly string[],
  firstLine: number,
): string | undefined {
  for (const [i, line] of wanted.entries()) {
    const found = (lines[i] ?? "").replace(/\r$/, "");
    if (line === found) continue;
    let at = 0;
    while (line[at] === found[at]) at++;
    return `line ${firstLine + i}, column ${at + 1}: the file has ${
      codePoint(found, at)
    }, old_string has ${codePoint(line, at)}`;
  }
  return undefined;
}

function codePoint(line: string, at: number): string {
  const code = line.codePointAt(at);
  return code === undefined
    ? "the line's end"
    : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

function trimBlank(lines: string[]): string[] {
  const isText = (line: string) => line.trim() !== "";
  const first = lines.findIndex(isText);
  return first === -1
    ? []
    : lines.slice(first, lines.findLastIndex(isText) + 1);
}

function longest(lines: readonly string[]): number {
  let index = 0;
  for (const [i, line] of lines.entries()) {
    if (line.length > lines[index]!.length) index = i;
  }
  return index;
}

function countFeeds(text: string, end: number): number {
  let feeds = 0;
  for (
    let at = text.indexOf("\n");
    at !== -1 && at < end;
    at = text.indexOf("\n", at + 1)
  ) {
    feeds++;
  }
  return feeds;
}
