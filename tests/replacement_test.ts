import { assertEquals, assertThrows } from "@std/assert";
import {
  applyEdits,
  type Change,
  compose,
  COUNTED_MATCHES,
  type Edit,
  EditRefusal,
  MAX_REPLACEMENTS,
} from "../lib/replacement.ts";
import { findSpans } from "../lib/spans.ts";

const limits = { maxLength: 1_000_000 };

function change(
  text: string,
  oldText: string,
  newText: string,
  replaceAll = false,
): string {
  return applyEdits(text, [{ oldText, newText, replaceAll }], limits).text;
}

function refused(text: string, ...edits: [string, string][]): EditRefusal {
  return assertThrows(
    () =>
      applyEdits(
        text,
        edits.map(([oldText, newText]) => ({
          oldText,
          newText,
          replaceAll: false,
        })),
        limits,
      ),
    EditRefusal,
  );
}

Deno.test("E01: replacement patterns are put in as they are", () => {
  for (const pattern of ["$&", "$$", "$'", "$`", "$1", "$<n>", "\\n", "\\1"]) {
    assertEquals(change("x TOKEN y", "TOKEN", pattern), `x ${pattern} y`);
  }
  assertEquals(change("x (a+)* y", "(a+)*", "."), "x . y");
});

Deno.test("applyEdits replaces the only occurrence, and all on demand", () => {
  assertEquals(change("foo bar", "bar", "baz"), "foo baz");
  assertEquals(change("foo bar", "bar", ""), "foo ");
  assertEquals(change("a.a.a", "a", "bb", true), "bb.bb.bb");
  assertEquals(change("aaaa", "aa", "b", true), "bb");
});

Deno.test("E02: an empty old text occurs nowhere", () => {
  assertEquals(refused("abc", ["", "x"]).reason, "missing");
});

Deno.test("E03: several occurrences are refused with their count and lines", () => {
  const { reason, count, lines } = refused("foo\nbar\nfoo\nfoo foo", [
    "foo",
    "x",
  ]);
  assertEquals(reason, "ambiguous");
  assertEquals([count, lines], [4, [1, 3, 4, 4]]);
});

Deno.test("E03: a text that overlaps itself is not unique either", () => {
  assertEquals(refused("aaa", ["aa", "b"]).count, 2);
  assertEquals(refused("}\n}\n}\n", ["}\n}\n", "x"]).lines, [1, 2]);
  assertEquals(refused("}\r\n}\r\n}\r\n", ["}\n}\n", "x"]).lines, [1, 2]);
  assertEquals(refused("\r\n\r\n\r\n", ["\n\n", "x"]).count, 2);
});

Deno.test("occurrences are counted up to a limit", () => {
  assertEquals(
    refused("ab".repeat(20_000), ["ab", "x"]).count,
    COUNTED_MATCHES,
  );
});

Deno.test("E05: editing one line of a CRLF text changes nothing else", () => {
  assertEquals(change("a\r\nb\r\n", "b", "B"), "a\r\nB\r\n");
});

Deno.test("E06: a line feed in the old text matches CRLF, and CRLF is written back", () => {
  assertEquals(change("a\r\nb\r\nc", "a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\nc");
  assertEquals(change("a\r\nb\r\n", "b\n", ""), "a\r\n");
  assertEquals(change("a\r\nb\r\n", "\nb", "\nc"), "a\r\nc\r\n");
  assertEquals(change("a\r\nb", "b", "b\nc\n"), "a\r\nb\r\nc\r\n");
});

Deno.test("in mixed line ends each line keeps or inherits its own", () => {
  const text = "a\r\nb\nc\r\nd\n";
  assertEquals(
    change(text, "a\nb\nc\nd\n", "a\nB\nc\nd\n"),
    "a\r\nB\nc\r\nd\n",
  );
  assertEquals(change(text, "b\nc", "x\ny\nz"), "a\r\nx\ny\nz\r\nd\n");
  assertEquals(change(text, "c", "c\nc2"), "a\r\nb\nc\r\nc2\r\nd\n");
  assertEquals(change(text, "b", "b\nb2"), "a\r\nb\nb2\nc\r\nd\n");
  assertEquals(change("a\r\nb", "b", "x\ny"), "a\r\nx\r\ny");
});

Deno.test("carriage returns in the old text are meant as they are", () => {
  assertEquals(change("a\r\nb\r\n", "a\r\nb", "a\nb"), "a\nb\r\n");
  assertEquals(refused("a\nb\n", ["a\r\nb", "x"]).reason, "missing");
  assertEquals(change("a\rb", "a\rb", "c"), "c");
});

Deno.test("carriage returns in the new text are not doubled", () => {
  assertEquals(change("a\r\nb", "a\nb", "x\r\ny\nz"), "x\r\ny\r\nz");
  assertEquals(change("a\nb\n", "a\nb", "a\r\nb"), "a\r\nb\n");
});

Deno.test("an edit that only asks for other line ends than the file has is refused", () => {
  assertEquals(refused("a\r\nb", ["a\nb", "a\r\nb"]).reason, "same");
});

Deno.test("occurrences count with either line end", () => {
  assertEquals(refused("a\nb a\r\nb", ["a\nb", "x"]).count, 2);
  assertEquals(change("a\nb a\r\nb", "a\nb", "c\nd", true), "c\nd c\r\nd");
});

Deno.test("E14: edits are made in order, all or none, and the failing one is named", () => {
  const edits = (...pairs: [string, string][]): Edit[] =>
    pairs.map(([oldText, newText]) => ({
      oldText,
      newText,
      replaceAll: false,
    }));
  assertEquals(
    applyEdits("one two", edits(["one", "1"], ["1 two", "1 2"]), limits).text,
    "1 2",
  );
  const { index, reason, text } = refused("one two", ["one", "1"], [
    "three",
    "3",
  ]);
  assertEquals([index, reason, text], [1, "missing", "1 two"]);
});

Deno.test("a result beyond the limit is refused, at the limit", () => {
  const edit = { oldText: "a", newText: "bbb", replaceAll: true };
  assertEquals(applyEdits("aa", [edit], { maxLength: 6 }).text, "bbbbbb");
  assertEquals(
    assertThrows(
      () => applyEdits("aa", [edit], { maxLength: 5 }),
      EditRefusal,
    ).reason,
    "large",
  );
});

Deno.test("more replacements than the most are refused, at the limit", () => {
  const edit = { oldText: "a", newText: "b", replaceAll: true };
  const most = "a".repeat(MAX_REPLACEMENTS);
  const wide = { maxLength: 2 * MAX_REPLACEMENTS };
  assertEquals(
    applyEdits(most, [edit], wide).replacements,
    MAX_REPLACEMENTS,
  );
  assertEquals(
    assertThrows(() => applyEdits(`${most}a`, [edit], wide), EditRefusal)
      .reason,
    "large",
  );
});

Deno.test("a match that begins inside a character is refused", () => {
  assertEquals(
    assertThrows(
      () =>
        applyEdits("ab", [{ oldText: "b", newText: "c", replaceAll: false }], {
          maxLength: 100,
          splits: (_, start) => start === 1,
        }),
      EditRefusal,
    ).reason,
    "split",
  );
});

Deno.test("changes tell exactly what became what, through several edits", () => {
  const text = "alpha beta gamma delta";
  const { changes, text: now } = applyEdits(text, [
    { oldText: "beta", newText: "BETA!", replaceAll: false },
    { oldText: "! gamma", newText: "?", replaceAll: false },
    { oldText: "alpha ", newText: "", replaceAll: false },
  ], limits);
  assertEquals(now, "BETA? delta");
  assertEquals(rebuilt(text, now, changes), now);
  assertEquals(changes.length, 1);
});

Deno.test("composed changes rebuild the text, over random edits", () => {
  const random = mulberry(7);
  const pick = (n: number) => Math.floor(random() * n);
  for (let run = 0; run < 300; run++) {
    const text = Array.from({ length: pick(60) + 5 }, () => "ab\n\r"[pick(4)])
      .join("");
    let now = text;
    let changes: Change[] = [];
    for (let i = 0; i < 6; i++) {
      const oldText = now.slice(pick(now.length), pick(now.length) + 1);
      if (oldText === "") continue;
      try {
        const applied = applyEdits(now, [{
          oldText,
          newText: ["", "X", "YY\nY", "ab"][pick(4)]!,
          replaceAll: pick(2) === 0,
        }], limits);
        changes = compose(changes, applied.changes);
        now = applied.text;
      } catch (error) {
        if (!(error instanceof EditRefusal)) throw error;
      }
    }
    assertEquals(rebuilt(text, now, changes), now);
  }
});

Deno.test("findSpans maps matches back over carriage returns", () => {
  const text = "a\r\n\r\nb\r\nc\n";
  assertEquals(findSpans(text, "\n\nb\n", 9), [{ start: 1, end: 8 }]);
  assertEquals(findSpans(text, "\n", 9), [
    { start: 1, end: 3 },
    { start: 3, end: 5 },
    { start: 6, end: 8 },
    { start: 9, end: 10 },
  ]);
});

/** The old text with each change made: equal to the new text when the changes are right and all else is as it was. */
function rebuilt(
  before: string,
  after: string,
  changes: readonly Change[],
): string {
  let text = "";
  let at = 0;
  for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
    text += before.slice(at, oldStart);
    assertEquals(text.length, newStart);
    text += after.slice(newStart, newEnd);
    at = oldEnd;
  }
  return text + before.slice(at);
}

function mulberry(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
