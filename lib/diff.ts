/**
 * What an edit changed, as a unified diff that stays small: only the changed places are compared, and what does not
 * fit is counted.
 *
 * @module
 */
import { clipChars } from "./clip.ts";
import type { Change } from "./replacement.ts";

/** Characters of a diff. */
export const DIFF_CHARS = 4_000;

/** Lines shown around a change. */
export const CONTEXT_LINES = 3;

/** Characters of a line in a diff. */
export const DIFF_LINE_CHARS = 300;

/** Places of which a diff is made; those beyond are counted. */
export const DIFF_PLACES = 50;

/** Characters of a changed place, old and new, within which the lines in common are looked for. */
export const COMPARED_PLACE_CHARS = 200_000;

/** Milliseconds for finding the lines in common within one place. */
export const COMPARE_MS = 50;

/** A diff, without a header. */
export interface Diff {
  /** The hunks, each line with a line feed. */
  text: string;
  /** Lines removed and added that `text` shows. */
  removed: number;
  /** Lines added. */
  added: number;
  /** What did not fit: `12 more lines`, or undefined. */
  left: string | undefined;
}

/** Makes the diff of two texts from the places that changed. `show` makes a line readable. */
export async function unifiedDiff(
  oldText: string,
  newText: string,
  changes: readonly Change[],
  show: (line: string) => string = (line) => line,
): Promise<Diff> {
  const { structuredPatch } = await import("diff");
  const diff: Diff = { text: "", removed: 0, added: 0, left: undefined };
  const places = placesOf(oldText, changes.slice(0, DIFF_PLACES));
  let skipped = 0;
  let line = 1;
  let shift = 0;
  let at = 0;
  for (const place of places) {
    line += countFeeds(oldText, at, place.oldFrom);
    at = place.oldFrom;
    const before = oldText.slice(place.oldFrom, place.oldTo);
    const after = newText.slice(place.newFrom, place.newTo);
    const hunks = before.length + after.length > COMPARED_PLACE_CHARS
      ? undefined
      : structuredPatch("", "", before, after, "", "", {
        context: CONTEXT_LINES,
        timeout: COMPARE_MS,
        maxEditLength: 2_000,
      })?.hunks;
    for (const hunk of hunks ?? [wholeHunk(before, after)]) {
      const head = `@@ -${hunk.oldStart + line - 1},${hunk.oldLines} +${
        hunk.newStart + line - 1 + shift
      },${hunk.newLines} @@\n`;
      if (diff.text.length + head.length > DIFF_CHARS) {
        skipped += hunk.lines.length;
        continue;
      }
      diff.text += head;
      for (const text of clipPairs(withoutReturns(hunk.lines))) {
        const shown = `${text[0]}${show(text.slice(1))}\n`;
        if (diff.text.length + shown.length > DIFF_CHARS) {
          skipped++;
          continue;
        }
        diff.text += shown;
        if (text[0] === "-") diff.removed++;
        if (text[0] === "+") diff.added++;
      }
    }
    shift += countFeeds(after, 0, after.length) -
      countFeeds(before, 0, before.length);
  }
  const left = [
    ...(skipped > 0 ? [`${skipped} more lines`] : []),
    ...(changes.length > DIFF_PLACES
      ? [`${changes.length - DIFF_PLACES} more places`]
      : []),
  ];
  if (left.length > 0) diff.left = left.join(", ");
  return diff;
}

/** A stretch of whole lines around one or more changes, in both texts. */
interface Place {
  oldFrom: number;
  oldTo: number;
  newFrom: number;
  newTo: number;
}

function placesOf(oldText: string, changes: readonly Change[]): Place[] {
  const places: Place[] = [];
  for (const change of changes) {
    const oldFrom = linesBack(oldText, change.oldStart);
    const oldTo = linesAhead(oldText, change.oldEnd);
    const newTo = change.newEnd + oldTo - change.oldEnd;
    const last = places.at(-1);
    if (last && oldFrom <= last.oldTo) {
      last.oldTo = Math.max(last.oldTo, oldTo);
      last.newTo = newTo;
    } else {
      places.push({
        oldFrom,
        oldTo,
        newFrom: change.newStart - (change.oldStart - oldFrom),
        newTo,
      });
    }
  }
  return places;
}

function linesBack(text: string, from: number): number {
  let at = from;
  for (let i = 0; i <= CONTEXT_LINES; i++) {
    if (at === 0) return 0;
    const feed = text.lastIndexOf("\n", at - 1);
    if (feed === -1) return 0;
    at = feed;
  }
  return at + 1;
}

function linesAhead(text: string, from: number): number {
  let at = from;
  for (let i = 0; i <= CONTEXT_LINES; i++) {
    const feed = text.indexOf("\n", at);
    if (feed === -1) return text.length;
    at = feed + 1;
  }
  return at;
}

interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** All between the first and the last lines in common removed and put back: where there is too much to compare. */
function wholeHunk(before: string, after: string): Hunk {
  const removed = linesOf(before);
  const added = linesOf(after);
  const most = Math.min(removed.length, added.length);
  let head = 0;
  while (head < most && removed[head] === added[head]) head++;
  let tail = 0;
  const room = before.endsWith("\n") === after.endsWith("\n") ? most - head : 0;
  while (tail < room && removed.at(-1 - tail) === added.at(-1 - tail)) {
    tail++;
  }
  const context = (line: string) => ` ${line}`;
  return {
    oldStart: 1,
    oldLines: removed.length,
    newStart: 1,
    newLines: added.length,
    lines: [
      ...removed.slice(0, head).map(context),
      ...removed.slice(head, removed.length - tail).map((line) => `-${line}`),
      ...added.slice(head, added.length - tail).map((line) => `+${line}`),
      ...removed.slice(removed.length - tail).map(context),
    ],
  };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Lines of a CRLF file without their carriage return; where only some have one, those show it. */
function withoutReturns(lines: readonly string[]): string[] {
  const has = (line: string) => line.endsWith("\r");
  const all = lines.every((line) => has(line) || line[0] === "\\");
  return lines.map((line) =>
    has(line) ? line.slice(0, -1) + (all ? "" : "\\r") : line
  );
}

/** Long lines clipped; of a removed line and the one that takes its place, what both begin with goes first. */
function clipPairs(lines: readonly string[]): string[] {
  return lines.map((line, i) => {
    if (line.length <= DIFF_LINE_CHARS) return line;
    const other = counterpart(lines, i);
    let same = 1;
    while (other && same < line.length && line[same] === other[same]) same++;
    const from = Math.max(1, same - KEPT_BEFORE_CHANGE);
    const part = line.slice(from).toWellFormed();
    return `${line[0]}${from > 1 ? "…" : ""}${
      clipChars(part, DIFF_LINE_CHARS)
    }${part.length > DIFF_LINE_CHARS ? "…" : ""}`;
  });
}

/** Of lines removed and those added right behind them, the one in the same place; undefined where there is none. */
function counterpart(lines: readonly string[], i: number): string | undefined {
  const begin = (sign: string, end: number) => {
    let at = end;
    while (at > 0 && lines[at - 1]![0] === sign) at--;
    return at;
  };
  if (lines[i]![0] === "+") {
    const added = begin("+", i);
    const at = begin("-", added) + i - added;
    return at < added ? lines[at] : undefined;
  }
  if (lines[i]![0] !== "-") return undefined;
  let added = i;
  while (lines[added]?.[0] === "-") added++;
  const at = added + i - begin("-", i);
  return lines.slice(added, at + 1).every((line) => line[0] === "+")
    ? lines[at]
    : undefined;
}

/** Characters of a long line that stay before the place where it changes. */
const KEPT_BEFORE_CHANGE = 60;

function countFeeds(text: string, from: number, to: number): number {
  let feeds = 0;
  for (
    let at = text.indexOf("\n", from);
    at !== -1 && at < to;
    at = text.indexOf("\n", at + 1)
  ) {
    feeds++;
  }
  return feeds;
}
