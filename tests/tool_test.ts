import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import type { Config } from "../lib/config.ts";
import {
  answer,
  answerBudget,
  counted,
  ERROR_CHARS,
  failure,
  grouped,
  MAX_ANSWER_CHARS,
  osError,
  osErrorText,
  prefixed,
  ProcessState,
  RESULT_META,
} from "../lib/tool.ts";

const config = (answerChars: number) =>
  ({ limits: { answerChars } }) as unknown as Config;

Deno.test("answer has no second block without notes, and one that is marked with them", () => {
  assertEquals(answer("text"), { content: [{ type: "text", text: "text" }] });
  assertEquals(answer("text", { notes: ["a", "b"], meta: { n: 1 } }), {
    content: [
      { type: "text", text: "text" },
      { type: "text", text: "[rousseau: a\nb]" },
    ],
    meta: { [RESULT_META]: { n: 1 } },
  });
});

Deno.test("answerBudget is the operator's, and the most for a caller who gives a limit", () => {
  assertEquals(answerBudget(config(20_000), undefined), 20_000);
  assertEquals(answerBudget(config(20_000), 1), MAX_ANSWER_CHARS);
  assertEquals(answerBudget(config(1e9), undefined), MAX_ANSWER_CHARS);
});

Deno.test("failure stays within the characters of an error, with its notes", () => {
  const size = ({ message, notes }: CommandError) =>
    message.length + `[rousseau: ${notes.join("\n")}]`.length;
  for (const text of [10, ERROR_CHARS - 1, ERROR_CHARS, 50_000]) {
    for (const note of [0, 10, 50_000]) {
      const error = failure("t".repeat(text), {
        notes: note === 0 ? [] : ["n".repeat(note), "last"],
      });
      assert(error.message.length <= ERROR_CHARS);
      if (error.notes.length > 0) assert(size(error) <= ERROR_CHARS);
    }
  }
  assertEquals(failure(`${"x".repeat(20_000)}\nreason`).message, "reason");
});

Deno.test("prefixed puts the tool's name before a failure and leaves a bug alone", () => {
  const error = prefixed(
    "read",
    new CommandError("open /x: denied", { notes: ["n"], meta: { a: 1 } }),
  );
  assertInstanceOf(error, CommandError);
  assertEquals(
    [error.message, error.notes, error.meta],
    ["read: open /x: denied", ["n"], { a: 1 }],
  );
  const bug = new TypeError("x");
  assertEquals(prefixed("read", bug), bug);
});

Deno.test("osError words what the system said, and lets bugs and aborts through", () => {
  const missing = osError("read", new Deno.errors.NotFound("x"), "open", "/n");
  assertInstanceOf(missing, CommandError);
  assertEquals(missing.message, "read: open /n: no such file or directory");
  const coded = Object.assign(new Error("No space left (os error 28)"), {
    code: "ENOSPC",
  });
  assertEquals(
    (osError("write", coded, "write", "/n") as Error).message,
    "write: write /n: no space left on device",
  );
  for (const thrown of [new TypeError("bug"), new DOMException("gone")]) {
    assertEquals(osError("read", thrown, "open", "/n"), thrown);
  }
  assertEquals(
    osErrorText(new Deno.errors.IsADirectory(""), "read", "/p"),
    "read /p: is a directory",
  );
});

Deno.test("numbers are grouped, and nouns counted", () => {
  assertEquals([0, 999, 1_000, 1_234_567].map(grouped), [
    "0",
    "999",
    "1,000",
    "1,234,567",
  ]);
  assertEquals(counted(1, "line"), "1 line");
  assertEquals(counted(0, "line"), "0 lines");
});

Deno.test("process state is made once", () => {
  const state = new ProcessState();
  assertEquals(state.peek("a"), undefined);
  const made = state.get("a", () => ({}));
  assertEquals(state.get("a", () => ({ other: true })), made);
  assertEquals(state.peek("a"), made);
});
