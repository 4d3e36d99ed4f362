/**
 * How a refused edit is told: why, where, and what text comes closest.
 *
 * @module
 */
import { closest } from "./candidate.ts";
import { clipChars } from "./clip.ts";
import { asExact, type ExactText, showExact } from "./encoding.ts";
import type { Edit, EditRefusal } from "./replacement.ts";
import type { Resolved } from "./scope.ts";
import { failure } from "./tool.ts";

/** Bytes of a file that is edited, before and after. */
export const EDIT_BYTES = 33_554_432;

/** Characters of the closest text that a refusal shows. */
export const SHOWN_CANDIDATE_CHARS = 3_000;

/** What is to be done to a file. */
export interface EditTask {
  /** The file. */
  target: Resolved;
  /** What is to be replaced, in order. */
  edits: readonly Edit[];
  /** The edits came as a list, so a refusal names the index. */
  listed: boolean;
  /** Nothing is to be written. */
  dryRun: boolean;
}

/** The failure for an edit that was not made, in the first seed's words, with what helps to make it. */
export async function refusal(
  error: EditRefusal,
  exact: ExactText,
  task: EditTask,
): Promise<Error> {
  const { target: { shown }, listed } = task;
  const where = listed ? `edits[${error.index}]: ` : "";
  const meta = { count: error.count, index: error.index };
  const nothing = listed ? ["nothing was written"] : [];
  switch (error.reason) {
    case "missing":
      return failure(`edit: ${where}old_string not found in ${shown}`, {
        notes: [...await missingNotes(error, exact, task), ...nothing],
        meta,
      });
    case "ambiguous":
      return failure(
        `edit: ${where}old_string is not unique in ${shown} (found ${error.count} occurrences); provide more surrounding context`,
        {
          notes: [
            `it is at lines ${[...new Set(error.lines)].join(", ")}${
              error.count > error.lines.length ? ", …" : ""
            }; replace_all replaces every one`,
            ...nothing,
          ],
          meta: { ...meta, lines: error.lines },
        },
      );
    case "same":
      return failure(`edit: ${where}the edit leaves ${shown} as it is`, {
        notes: [
          "old_string and new_string differ only in line ends, and the file keeps its own",
          ...nothing,
        ],
        meta,
      });
    case "split":
      return failure(
        `edit: ${where}old_string may begin inside a character of ${shown} (line ${
          error.lines[0]
        })`,
        {
          notes: [
            "the file is not UTF-8; let old_string begin elsewhere, behind a plain ASCII character",
            ...nothing,
          ],
          meta,
        },
      );
    case "large":
      return tooLarge(task);
  }
}

/** The failure for a result beyond the limit. */
export function tooLarge({ target }: EditTask): Error {
  return failure(
    `edit: ${target.shown} would be over the ${EDIT_BYTES} byte limit; nothing was written`,
  );
}

async function missingNotes(
  error: EditRefusal,
  { encoding }: ExactText,
  { edits }: EditTask,
): Promise<string[]> {
  const wanted = edits[error.index]!.oldText;
  const notes = hasLineNumbers(wanted)
    ? ["old_string holds line numbers as read prints them; leave them out"]
    : [];
  const candidate = await closest(
    error.text,
    asExact(hasLineNumbers(wanted) ? withoutNumbers(wanted) : wanted, encoding),
    () => performance.now(),
  );
  if (!candidate) {
    return [...notes, "nothing like it is there; read the file again"];
  }
  const { firstLine, lastLine, alike, difference } = candidate;
  const lines = firstLine === lastLine
    ? `line ${firstLine}`
    : `lines ${firstLine}-${lastLine}`;
  const text = showExact(candidate.text, encoding);
  const shown = clipChars(text, SHOWN_CANDIDATE_CHARS);
  return [
    ...notes,
    `closest is ${lines}, ${
      alike === 1
        ? difference === undefined
          ? "the same but for blank lines before or after it"
          : `equal but for white space or look-alikes (${difference})`
        : `${Math.floor(alike * 100)} % alike`
    }:\n${shown}${shown.length < text.length ? "…" : ""}`,
  ];
}

function hasLineNumbers(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 0 && lines.every((line) => LINE_NUMBER.test(line));
}

function withoutNumbers(text: string): string {
  return text.split("\n").map((line) => line.replace(LINE_NUMBER, ""))
    .join("\n");
}

const LINE_NUMBER = /^ *\d+\t/;
