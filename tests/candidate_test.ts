import { assert, assertEquals } from "@std/assert";
import {
  BLANK_LINES,
  type Candidate,
  CANDIDATE_MS,
  closest,
  fold,
  SHORT_CHARS,
} from "../lib/candidate.ts";

const still = () => 0;

async function theClosest(
  ...args: Parameters<typeof closest>
): Promise<Candidate> {
  const found = await closest(...args);
  assert(found);
  return found;
}

Deno.test("fold makes equal what is easily confused", () => {
  assertEquals(fold("  a\u00a0 b\t"), "a b");
  assertEquals(
    fold("\u201cit\u2019s\u201d \u2013 e\u0301"),
    '"it\'s" - \u00e9',
  );
});

Deno.test("closest finds the lines that differ in indentation, verbatim", async () => {
  const text = "function a() {\n\tif (x) {\n\t\treturn 1;\n\t}\n}\n";
  const found = await theClosest(text, "  if (x) {\n    return 1;\n  }", still);
  assertEquals(found.text, "\tif (x) {\n\t\treturn 1;\n\t}");
  assertEquals([found.firstLine, found.lastLine, found.alike], [2, 4, 1]);
  assertEquals(
    found.difference,
    "line 2, column 1: the file has U+0009, old_string has U+0020",
  );
});

Deno.test("closest finds a line with another word, and says how alike it is", async () => {
  const text = "const a = 1;\nconst total = sum(items);\nreturn total;\n";
  const found = await theClosest(text, "const total = add(items);", still);
  assertEquals([found.text, found.firstLine], ["const total = sum(items);", 2]);
  assert(found.alike > 0.7 && found.alike < 1);
  assertEquals(found.difference, undefined);
});

Deno.test("closest finds a short line with one slip, whatever ends it", async () => {
  for (const wanted of ["tow\n", "tow", "Two\r\n", "wo\n", "twoo\n\n"]) {
    const found = await theClosest("one\ntwo\n", wanted, still);
    assertEquals([found.text, found.firstLine], ["two", 2], wanted);
  }
  assertEquals(await closest("one\ntwo\n", "six\n", still), undefined);
});

Deno.test("closest finds lines that blank lines part, or do not", async () => {
  const apart = await theClosest(
    "a();\n\n \nfoo();\n\nbar();\n",
    "a();\nfoo();\nbar();\n",
    still,
  );
  assertEquals(apart.text, "a();\n\n \nfoo();\n\nbar();");
  assertEquals([apart.firstLine, apart.lastLine, apart.alike], [1, 6, 1]);
  const joined = await theClosest(
    "foo();\nbar();\n",
    "foo();\n\nbar();",
    still,
  );
  assertEquals([joined.text, joined.alike], ["foo();\nbar();", 1]);
  const far = (count: number) =>
    closest(
      `foo();\n${"\n".repeat(count)}bar();\n`,
      "foo();\nbar();",
      still,
    );
  assertEquals((await far(BLANK_LINES))?.alike, 1);
  assertEquals(await far(BLANK_LINES + 1), undefined);
});

Deno.test("closest counts slips in short lines alone", async () => {
  const [wanted, text] = ["abcdefghijkl", "bacdfeghjilk"];
  assertEquals(wanted.length, SHORT_CHARS);
  assertEquals((await theClosest(text, wanted, still)).text, text);
  assertEquals(await closest(`${text}m`, `${wanted}m`, still), undefined);
});

Deno.test("closest finds text across CRLF lines", async () => {
  const found = await theClosest(
    "a\r\nhello  world\r\nb\r\n",
    "hello world",
    still,
  );
  assertEquals([found.text, found.firstLine], ["hello  world", 2]);
});

Deno.test("closest finds nothing where nothing is alike", async () => {
  assertEquals(await closest("alpha\nbeta\n", "zzzzzz", still), undefined);
  assertEquals(await closest("alpha\nbeta\n", " \n\n", still), undefined);
  assertEquals(await closest("", "alpha", still), undefined);
});

Deno.test("closest finds the right place in a large text by its rarest word", async () => {
  const lines = Array.from({ length: 200_000 }, (_, i) => `row ${i} of many`);
  lines[150_000] = "  const distinguished  = 42;";
  const began = performance.now();
  const found = await theClosest(
    lines.join("\n"),
    "const distinguished = 42;",
    () => performance.now(),
  );
  assertEquals([found.firstLine, found.alike], [150_001, 1]);
  assert(performance.now() - began < CANDIDATE_MS * 10);
});

Deno.test("E17: the search for the closest text ends when its time is up", async () => {
  const rows = Array.from(
    { length: 50_000 },
    (_, i) => `| cell ${i} | cell ${i + 1} | cell ${i + 2} |`,
  );
  let now = 0;
  const found = await closest(
    rows.join("\n"),
    "| cell x | cell y | cell z |\n".repeat(90),
    () => now += 1,
  );
  assert(now <= CANDIDATE_MS + 3);
  assert(found === undefined || found.alike < 1);
});

Deno.test("E17: a text that is the same but for look-alikes is shown with the first difference", async () => {
  const row = "| name\u00a0| size \u2013 MB |";
  const found = await theClosest(
    `| a | b |\n${row}\n`,
    "| name | size - MB |",
    still,
  );
  assertEquals([found.text, found.alike], [row, 1]);
  assertEquals(
    found.difference,
    "line 2, column 7: the file has U+00A0, old_string has U+0020",
  );
});
