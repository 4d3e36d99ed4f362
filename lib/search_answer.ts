/**
 * What a search tells the model.
 *
 * @module
 */
import type { CommandOutput } from "./command.ts";
import type { Search } from "./search.ts";
import { skippedNote } from "./skips.ts";
import { answer, counted, failure } from "./tool.ts";

/** How a search ended, and what was asked. */
export interface SearchOutcome {
  /** It ran to its end; otherwise its time was up. */
  whole: boolean;
  /** The time it had, in milliseconds. */
  limitMs: number;
  /** What the scope has to say of the path. */
  notes: readonly string[];
  /** The time it took, in milliseconds. */
  durationMs: number;
}

/**
 * The answer: rows or `no matches`, what to know about them, and figures.
 *
 * @throws {CommandError} when nothing was found before the time was up, because that is no answer.
 */
export function searchAnswer(
  search: Search,
  outcome: SearchOutcome,
): CommandOutput {
  const { rows, skips } = search;
  const { matcher } = search.tools;
  const notes = [...outcome.notes];
  if (rows.full === "rows") {
    notes.push(
      "there are more: raise limit, or narrow path, include or pattern",
    );
  } else if (rows.full === "chars") {
    notes.push(
      "there are more, and no room: narrow path, include or pattern, use output files or count, or give a limit (up to 256 KiB of text)",
    );
  }
  if (rows.clipped > 0) {
    notes.push(
      `${counted(rows.clipped, "long line")} cut around the match`,
    );
  }
  if (matcher?.multiline && !search.job.multiline) {
    notes.push("the pattern names a line end: searched across lines");
  }
  if (rows.count === 0 && search.job.pattern.includes("\\|")) {
    notes.push('"\\|" is the character |; alternatives are written a|b');
  }
  const skipped = skippedNote(skips);
  if (skipped) notes.push(skipped);
  const meta = {
    matches: rows.matches,
    files: rows.files,
    searched: search.searched,
    skipped: skips.counts(),
    partial: !outcome.whole,
    truncated: rows.full !== undefined,
    "duration_ms": outcome.durationMs,
  };
  if (outcome.whole) {
    const noun = search.job.output === "content" ? "matches" : "files";
    const text = rows.empty && !rows.full ? "no matches" : rows.text(noun);
    return answer(text, { notes, meta });
  }
  const so = `stopped after ${outcome.limitMs / 1000} s, ${
    counted(search.searched, "file")
  } searched, the last ${search.last}`;
  const way = "narrow path or include to search the rest";
  if (rows.empty) {
    throw failure(`grep: ${so}: no matches so far; ${way}`, { notes, meta });
  }
  return answer(rows.text(""), {
    notes: [`partial: ${so}; ${way}`, ...notes],
    meta,
  });
}
