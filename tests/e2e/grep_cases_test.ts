/**
 * Inputs that broke other servers, for the tool `grep`; each is named by its case. Those about its limit are beside the
 * test of how responsive the server stays.
 */
import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import { ProgramWorld } from "../program_world.ts";

Deno.test("G01: a pattern may begin with a dash", async () => {
  await using world = await ProgramWorld.make({ "a": "--flag\n-e\nflag\n" });
  assertEquals(await world.rows({ pattern: "--flag" }), ["a:1: --flag"]);
  assertEquals(await world.rows({ pattern: "-e" }), ["a:2: -e"]);
  assertEquals(await world.rows({ pattern: "-" }), ["a:1: --flag", "a:2: -e"]);
});

Deno.test("G03: ignored files are counted and named, and can be searched", async () => {
  await using world = await ProgramWorld.make({
    ".git/HEAD": "",
    ".gitignore": ".env\n",
    ".env": "SECRET=1",
    "a": "",
  });
  const { text, note, meta } = await world.grep({ pattern: "SECRET" });
  assertEquals(text, "no matches");
  assertStringIncludes(note, "ignored 1 (.env)");
  assertStringIncludes(note, "no_ignore: true");
  assertEquals(meta.skipped, { hidden: 1, ignored: 1 });
  assertEquals(
    await world.rows({ pattern: "SECRET", no_ignore: true, hidden: true }),
    [".env:1: SECRET=1"],
  );
});

Deno.test("G05: look-around and back-references are refused with the way out", async () => {
  await using world = await ProgramWorld.make({ "a": "ab" });
  for (const pattern of ["a(?=b)", "(?<!x)a", "(a)\\1"]) {
    const { text, isError } = await world.grep({ pattern });
    assert(isError);
    assert(/^grep: compile pattern: .+ not supported/.test(text), text);
    assertStringIncludes(text, "linear time");
    assertStringIncludes(text, "rg -P or grep -P with bash");
  }
});

Deno.test("G06: a bad pattern is an error that shows the place", async () => {
  await using world = await ProgramWorld.make({ "a": "foo(bar" });
  const { text, isError } = await world.grep({ pattern: "foo(bar" });
  assert(isError);
  assertEquals(
    text,
    'grep: compile pattern: missing ) for this group; write "\\(" for the character itself (at character 4)\nfoo(bar\n   ^',
  );
  const far = await world.grep({ pattern: `${"é".repeat(100)}[` });
  const [, shown, mark] = far.text.split("\n");
  assertEquals(shown!.indexOf("["), mark!.indexOf("^"));
  assertStringIncludes(far.text, "(at character 101)");
});

Deno.test("G07: a pattern over several lines matches them, and the answer says so", async () => {
  await using world = await ProgramWorld.make({
    "crlf": "x\r\nstart\r\nmiddle\r\n",
    "lf": "start\nmiddle\nend\n",
  });
  const { text, note } = await world.grep({ pattern: "start\\nmid" });
  assertEquals(
    text.replaceAll(`${world.root}/`, "").split("\n"),
    ["crlf:2: start", "crlf:3: middle", "lf:1: start", "lf:2: middle"],
  );
  assertStringIncludes(note, "searched across lines");
  assertEquals(
    await world.rows({ pattern: "start\\s+mid", multiline: true }),
    ["crlf:2: start", "crlf:3: middle", "lf:1: start", "lf:2: middle"],
  );
  assertEquals(await world.rows({ pattern: "start\\s+mid" }), ["no matches"]);
});

Deno.test("G08: a catastrophic pattern takes milliseconds", async () => {
  await using world = await ProgramWorld.make({
    "a": `${"a".repeat(45)}b\n`,
    "b": "a".repeat(1 << 20),
  });
  const started = performance.now();
  for (const pattern of ["(a+)+$", "(a*)*[bc]$", "(a|aa)+[bc]$", "(.*)*[xy]"]) {
    await world.grep({ pattern, limit: 1 });
  }
  assertLess(performance.now() - started, 5000);
});

Deno.test("G09: of a minified line only what is around the match is shown", async () => {
  const part = "function a(){return b};";
  const line = part.repeat(20_000);
  await using world = await ProgramWorld.make({
    "min.js": `${line}NEEDLE${line}\n${line}NEEDLE\nNEEDLE${line}`,
  });
  const { text, note } = await world.grep({ pattern: "NEEDLE" });
  const rows = text.split("\n");
  assertEquals(rows.length, 3);
  for (const row of rows) {
    assertStringIncludes(row, "NEEDLE");
    assertLess(row.length, 700);
  }
  assertStringIncludes(rows[0]!, `${part}NEEDLE${part}`);
  assert(rows[1]!.endsWith("NEEDLE"));
  assert(rows[2]!.startsWith(`${world.root}/min.js:3: NEEDLE`));
  assertStringIncludes(note, "3 long lines cut around the match");
});

Deno.test("G11: no program is needed: it works with no PATH", async () => {
  await using world = await ProgramWorld.make({ "a": "needle\n" }, {
    env: { PATH: "" },
  });
  assertEquals(await world.rows({ pattern: "needle" }), ["a:1: needle"]);
});
