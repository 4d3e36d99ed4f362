import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  COMPARED_PLACE_CHARS,
  DIFF_CHARS,
  DIFF_PLACES,
  unifiedDiff,
} from "../lib/diff.ts";
import { applyEdits } from "../lib/replacement.ts";

async function diff(
  text: string,
  edits: [string, string][],
  replaceAll = false,
) {
  const applied = applyEdits(
    text,
    edits.map(([oldText, newText]) => ({ oldText, newText, replaceAll })),
    { maxLength: 10_000_000 },
  );
  return await unifiedDiff(text, applied.text, applied.changes);
}

const numbers = (n: number) =>
  Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join("");

Deno.test("a diff shows three lines around a change, with line numbers", async () => {
  const { text, added, removed, left } = await diff(numbers(20), [[
    "line 10\n",
    "LINE 10\nmore\n",
  ]]);
  assertEquals(
    text,
    "@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+LINE 10\n+more\n line 11\n line 12\n line 13\n",
  );
  assertEquals([added, removed, left], [2, 1, undefined]);
});

Deno.test("a diff of several places numbers the new lines after what was added", async () => {
  const { text } = await diff(numbers(100), [
    ["line 10\n", "line 10\na\nb\n"],
    ["line 50\n", ""],
    ["line 90\n", "LINE 90\n"],
  ]);
  assertEquals(
    text.split("\n").filter((line) => line.startsWith("@@")),
    ["@@ -8,6 +8,8 @@", "@@ -47,7 +49,6 @@", "@@ -87,7 +88,7 @@"],
  );
});

Deno.test("changes that lie close together are one place", async () => {
  const { text } = await diff(numbers(20), [["line 5\n", "5\n"], [
    "line 9\n",
    "9\n",
  ]]);
  assertEquals(text.match(/@@ -/g)?.length, 1);
});

Deno.test("unchanged lines within a replaced block are not shown as changed", async () => {
  const { added, removed } = await diff("a\nb\nc\nd\ne\n", [[
    "a\nb\nc\nd\ne",
    "A\nb\nc\nd\nE",
  ]]);
  assertEquals([added, removed], [2, 2]);
});

Deno.test("a missing line end at the end of the file is shown", async () => {
  const { text } = await diff("a\nb", [["b", "c"]]);
  assertEquals(
    text,
    "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
  );
});

Deno.test("carriage returns are left out, and shown where they differ", async () => {
  assertEquals(
    (await diff("a\r\nb\r\n", [["b", "c"]])).text,
    "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
  );
  assertStringIncludes(
    (await diff("a\nb\n", [["a\n", "a\r\n"]])).text,
    "+a\\r",
  );
});

Deno.test("a diff stays within its characters and counts what it leaves out", async () => {
  const { text, left } = await diff(numbers(5_000), [[
    numbers(4_000),
    "gone\n",
  ]]);
  assert(text.length <= DIFF_CHARS);
  assertStringIncludes(left!, "more lines");
});

Deno.test("a diff shows the first places of many and counts the others", async () => {
  const spread = Array.from(
    { length: 200 },
    (_, i) => `needle ${i}\n${"x\n".repeat(10)}`,
  ).join("");
  const { text, left } = await diff(spread, [["needle", "pin"]], true);
  assert(text.length <= DIFF_CHARS);
  assertStringIncludes(left!, `${200 - DIFF_PLACES} more places`);
});

Deno.test("a place too large to compare is shown as removed and added", async () => {
  const before = "a\n".repeat(COMPARED_PLACE_CHARS / 2);
  const { text } = await diff(`${before}z\n`, [[before, "b\n"]]);
  assert(text.length <= DIFF_CHARS);
  assertStringIncludes(text, "-a\n");
});

Deno.test("a long line is clipped around its change", async () => {
  const long = `${"x".repeat(5_000)}OLD${"y".repeat(5_000)}`;
  const { text } = await diff(`${long}\n`, [["OLD", "NEW"]]);
  assertStringIncludes(text, "OLD");
  assertStringIncludes(text, "NEW");
  assert(text.length < 1_000);
});

Deno.test("of a line too long to compare the change is shown, and the lines around it as they are", async () => {
  const long = `${"x".repeat(COMPARED_PLACE_CHARS)}OLD${"y".repeat(5_000)}`;
  const { text, removed, added } = await diff(
    `first\n${long}\n${long}2\nlast\n`,
    [["OLDy", "NEWy"], ["OLDy", "NEUy"]].map(([old, put]) => [
      `${old}${"y".repeat(4_999)}${put === "NEUy" ? "2" : "\n"}`,
      `${put}${"y".repeat(4_999)}${put === "NEUy" ? "2" : "\n"}`,
    ]),
  );
  const x = `…${"x".repeat(60)}`;
  assertStringIncludes(
    text.replaceAll(/y+/g, "y"),
    ` first\n-${x}OLDy…\n-${x}OLDy…\n+${x}NEWy…\n+${x}NEUy…\n last\n`,
  );
  assertEquals([removed, added], [2, 2]);
});
