/**
 * Replacing exact text: where it occurs, what is put there, and which parts of the text that changes. No files, and
 * nothing that is only similar is ever replaced.
 *
 * @module
 */

import { commonEnds, withLineEnds } from "./line_ends.ts";
import { findSpans, lineNumbers, overlapping } from "./spans.ts";

/** One replacement that was asked for. */
export interface Edit {
  /** What is to be found. */
  oldText: string;
  /** What is put there. */
  newText: string;
  /** Every occurrence rather than the only one. */
  replaceAll: boolean;
}

/** A part that changed: characters `oldStart` to `oldEnd` of the old text became `newStart` to `newEnd` of the new. */
export interface Change {
  /** Start in the old text. */
  oldStart: number;
  /** End in the old text, exclusive. */
  oldEnd: number;
  /** Start in the new text. */
  newStart: number;
  /** End in the new text, exclusive. */
  newEnd: number;
}

/** The new text, and how it came about. */
export interface Applied {
  /** The new text. */
  text: string;
  /** Occurrences replaced. */
  replacements: number;
  /** In order, apart from each other; all other text is as it was. */
  changes: readonly Change[];
}

/** Why an edit was not made. Nothing was. */
export class EditRefusal extends Error {
  /** `split`: the match would begin inside a character. `same`: nothing would change. `large`: the result would be. */
  readonly reason: "missing" | "ambiguous" | "same" | "split" | "large";
  /** Index of the edit in the list. */
  readonly index: number;
  /** Occurrences, at most {@linkcode COUNTED_MATCHES}. */
  readonly count: number;
  /** Line numbers of the first occurrences. */
  readonly lines: readonly number[];
  /** The text that was searched, with earlier edits made. */
  readonly text: string;

  /** A refusal of edit `index`. */
  constructor(
    reason: EditRefusal["reason"],
    details: {
      index: number;
      count?: number;
      lines?: readonly number[];
      text: string;
    },
  ) {
    super(`Cannot apply edit ${details.index}: ${reason}`);
    this.name = "EditRefusal";
    this.reason = reason;
    this.index = details.index;
    this.count = details.count ?? 0;
    this.lines = details.lines ?? [];
    this.text = details.text;
  }
}

/** Occurrences that are counted before a refusal. */
export const COUNTED_MATCHES = 10_000;

/** Occurrences that one edit replaces at most. */
export const MAX_REPLACEMENTS = 1_000_000;

/** Line numbers that a refusal names. */
export const NAMED_LINES = 10;

/** What an edit may not do. */
export interface EditLimits {
  /** Characters of the result. */
  maxLength: number;
  /** Whether a match that begins here begins inside a character; the text of a file in an unknown encoding may. */
  splits?(text: string, start: number): boolean;
}

/**
 * Makes all edits in order, each on what the one before left, or none.
 *
 * A line feed in `oldText` also matches a carriage return with a line feed, unless `oldText` has carriage returns of
 * its own. What is put there keeps the line ends that the file has at that place.
 *
 * @throws {EditRefusal} for the first edit that cannot be made.
 */
export function applyEdits(
  text: string,
  edits: readonly Edit[],
  limits: EditLimits,
): Applied {
  let applied: Applied = { text, replacements: 0, changes: [] };
  for (const [index, edit] of edits.entries()) {
    const next = applyEdit(applied.text, edit, index, limits);
    applied = {
      text: next.text,
      replacements: applied.replacements + next.replacements,
      changes: compose(applied.changes, next.changes),
    };
  }
  return applied;
}

/** One change list for two in sequence: the first from old to middle, the second from middle to new. */
export function compose(
  first: readonly Change[],
  second: readonly Change[],
): Change[] {
  const composed: Change[] = [];
  let i = 0;
  let j = 0;
  let toOld = 0;
  let toNew = 0;
  while (i < first.length || j < second.length) {
    const start = Math.min(
      first[i]?.newStart ?? Infinity,
      second[j]?.oldStart ?? Infinity,
    );
    let end = start;
    const oldStart = start + toOld;
    const newStart = start + toNew;
    for (;;) {
      const a = first[i];
      const b = second[j];
      if (a && a.newStart <= end) {
        end = Math.max(end, a.newEnd);
        toOld = a.oldEnd - a.newEnd;
        i++;
      } else if (b && b.oldStart <= end) {
        end = Math.max(end, b.oldEnd);
        toNew = b.newEnd - b.oldEnd;
        j++;
      } else break;
    }
    composed.push({
      oldStart,
      oldEnd: end + toOld,
      newStart,
      newEnd: end + toNew,
    });
  }
  return composed;
}

function applyEdit(
  text: string,
  edit: Edit,
  index: number,
  limits: EditLimits,
): Applied {
  const { oldText, newText, replaceAll } = edit;
  const spans = findSpans(
    text,
    oldText,
    replaceAll ? MAX_REPLACEMENTS + 1 : COUNTED_MATCHES,
  );
  if (spans.length === 0) throw new EditRefusal("missing", { index, text });
  if (!replaceAll) {
    const found = spans.length > 1
      ? spans
      : [...spans, ...overlapping(text, oldText, spans[0]!)];
    if (found.length > 1) {
      throw new EditRefusal("ambiguous", {
        index,
        count: found.length,
        lines: lineNumbers(text, found.slice(0, NAMED_LINES)),
        text,
      });
    }
  }
  if (spans.length > MAX_REPLACEMENTS) {
    throw new EditRefusal("large", { index, count: MAX_REPLACEMENTS, text });
  }
  for (const { start } of spans) {
    if (limits.splits?.(text, start)) {
      throw new EditRefusal("split", {
        index,
        count: spans.length,
        lines: lineNumbers(text, [{ start, end: start }]),
        text,
      });
    }
  }
  const hasPairs = text.includes("\r\n");
  const parts: string[] = [];
  const changes: Change[] = [];
  let at = 0;
  let length = 0;
  for (const span of spans) {
    const matched = text.slice(span.start, span.end);
    const replaced = hasPairs
      ? withLineEnds(text, span, oldText, newText)
      : newText;
    const before = text.slice(at, span.start);
    parts.push(before, replaced);
    length += before.length;
    if (matched !== replaced) {
      const same = commonEnds(matched, replaced);
      changes.push({
        oldStart: span.start + same.prefix,
        oldEnd: span.end - same.suffix,
        newStart: length + same.prefix,
        newEnd: length + replaced.length - same.suffix,
      });
    }
    length += replaced.length;
    if (length > limits.maxLength) {
      throw new EditRefusal("large", { index, count: spans.length, text });
    }
    at = span.end;
  }
  parts.push(text.slice(at));
  if (length + text.length - at > limits.maxLength) {
    throw new EditRefusal("large", { index, count: spans.length, text });
  }
  if (changes.length === 0) {
    throw new EditRefusal("same", {
      index,
      count: spans.length,
      lines: lineNumbers(text, spans.slice(0, NAMED_LINES)),
      text,
    });
  }
  return {
    text: parts.join(""),
    replacements: spans.length,
    changes: compose(changes, []),
  };
}
