/**
 * What the scripted model does in every host, and what it must be shown for each of its calls.
 *
 * @module
 */
import type { JsonObject } from "../../lib/mcp.ts";
import type { Script } from "./api.ts";

/** What is to hold in every host. */
export const FACTS = [
  "a command's output reaches the model",
  "a failing command's output reaches the model",
  "a page of 20,000 characters arrives whole",
  "a command of 70 s is not lost",
  "an edit's diff is seen",
  "closing leaves no process",
  "a page of text beyond ASCII arrives whole",
] as const;

/** One of {@linkcode FACTS}. */
export type Fact = typeof FACTS[number];

/** What was found of each fact: undefined where it holds, else what is wrong. A fact that was not reached is missing. */
export type Findings = Map<Fact, string | undefined>;

/** The text file of which the model reads the first page: a thousand lines of 100 characters. */
export const PAGE_FILE = {
  name: "page.txt",
  text: Array.from(
    { length: 1_000 },
    (_, n) =>
      `${`line ${n + 1} "quoted" \\ back, a tab\tand é `.padEnd(99, "x")}\n`,
  ).join(""),
};

/** The same of characters that take three bytes each. */
export const WIDE_FILE = {
  name: "wide.txt",
  text: Array.from(
    { length: 1_000 },
    (_, n) => `${`${n + 1} 行目、`.padEnd(99, "日本語の文字")}\n`,
  ).join(""),
};

/** The file that the model edits. */
export const EDIT_FILE = { name: "edit.txt", text: "one\ntwo\nthree\n" };

/** The last thing that the model says. */
export const LAST_WORD = "scripted model is done";

/** Seconds that a background command would go on after the host has closed. */
const ORPHAN_SECONDS = 987;

/** Polls of a long command at most. */
const MAX_POLLS = 4;

/**
 * The conversation.
 *
 * @param pages The blocks of text that `read` answers for the first page of {@linkcode PAGE_FILE}, and of
 *   {@linkcode WIDE_FILE}.
 * @param findings What was found, filled in as the conversation goes on.
 */
export function* script(
  pages: readonly (readonly string[])[],
  findings: Findings,
): Script {
  let text = yield {
    tool: "bash",
    // The words are put together by the shell, so that the command itself does not hold them.
    args: { command: "echo out-$((4000+711)); echo err-$((4000+712)) >&2" },
  };
  found(findings, FACTS[0], text, ["out-4711", "err-4712"]);

  text = yield {
    tool: "bash",
    args: { command: "echo before-$((4000+713)); exit 3" },
  };
  found(findings, FACTS[1], text, ["before-4713", "exit status 3"]);

  text = yield { tool: "read", args: { path: PAGE_FILE.name } };
  found(findings, FACTS[2], text, pages[0]!);

  text = yield { tool: "read", args: { path: WIDE_FILE.name } };
  found(findings, FACTS[6], text, pages[1]!);

  text = yield {
    tool: "edit",
    args: { path: EDIT_FILE.name, old_string: "two", new_string: "zwei" },
  };
  found(findings, FACTS[4], text, ["-two\n+zwei"]);

  text = yield {
    tool: "bash",
    args: { command: "echo begun; sleep 70; echo woke-$((4000+714))" },
  };
  const named = nextCall(text);
  let told = text;
  for (
    let next = named, polls = 0;
    next && polls < MAX_POLLS && !/exit status 0/.test(text);
    next = nextCall(text), polls++
  ) {
    text = yield { tool: "bash_output", args: next };
    told += text;
  }
  found(findings, FACTS[3], told, ["woke-4714", "exit status 0"]);
  if (!named) findings.set(FACTS[3], `no job is named: ${excerpt(text)}`);

  text = yield {
    tool: "bash",
    args: { command: `sleep ${ORPHAN_SECONDS}`, background: true },
  };
  found(findings, FACTS[5], text, ["still running, job: j"]);
  return LAST_WORD;
}

/** The arguments of the call of `bash_output` that a note names. */
function nextCall(text: string): JsonObject | undefined {
  const found = /bash_output (\{.*?\})/.exec(text)?.[1];
  // Where the host shows the model JSON, the quotes are escaped.
  return found && JSON.parse(found.replaceAll('\\"', '"'));
}

/** Sets a fact by whether the model was shown every piece, as it is or as the inside of a JSON string. */
function found(
  findings: Findings,
  fact: Fact,
  text: string,
  pieces: readonly string[],
): void {
  const missing = pieces.find((piece) =>
    !text.includes(piece) &&
    !text.includes(JSON.stringify(piece).slice(1, -1))
  );
  findings.set(
    fact,
    missing === undefined
      ? undefined
      : `missing ${
        JSON.stringify(excerpt(missing))
      } in ${text.length} characters: ${excerpt(text)}`,
  );
}

/** The two ends of a text. */
function excerpt(text: string): string {
  return text.length <= 400
    ? text
    : `${text.slice(0, 200)} [...] ${text.slice(-200)}`;
}
