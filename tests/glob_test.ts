import { assert, assertEquals, assertThrows } from "@std/assert";
import { GlobError, Globs, MAX_GLOB } from "../lib/glob.ts";

function matches(glob: string, path: string, root?: string): boolean {
  return new Globs([glob], root).matches(
    path,
    path.slice(path.lastIndexOf("/") + 1),
  );
}

Deno.test("Globs match by base name without a slash, by path with one", () => {
  for (
    const [glob, yes, no] of [
      ["*.ts", ["a.ts", "x/y/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
      ["a?c", ["abc", "x/aéc"], ["ac", "abbc"]],
      ["[a-c]x", ["ax", "cx"], ["dx"]],
      ["[!a-c]x", ["dx", "𝒳x"], ["ax"]],
      ["[^a]x", ["dx"], ["ax"]],
      ["[]]x", ["]x"], ["ax"]],
      ["[a\\]]x", ["]x", "ax"], ["\\x"]],
      ["[a-]x", ["-x", "ax"], ["bx"]],
      ["*.{ts,js}", ["a.ts", "b.js"], ["a.tjs", "a.{ts,js}"]],
      ["{a,{b,c}d}", ["a", "bd", "cd"], ["b", "d"]],
      ["a{,b}", ["a", "ab"], ["a{,b}"]],
      ["\\*", ["*"], ["a"]],
      ["a,b", ["a", "b"], ["a,b"]],
      ["a\\,b", ["a,b"], ["a"]],
      ["src/*.ts", ["src/a.ts"], ["src/x/a.ts", "x/src/a.ts"]],
      ["src/**", ["src/a", "src/x/a"], ["src", "xsrc/a"]],
      ["src/**/a", ["src/a", "src/x/a", "src/x/y/a"], ["src/xa", "a"]],
      ["**/a", ["a", "x/a", "x/y/a"], ["xa"]],
      ["**/src/*", ["src/a", "x/src/a"], ["src/x/a"]],
      ["/a", ["a"], ["x/a"]],
      ["./a", ["a"], ["x/a"]],
      ["dist/", ["dist/a", "x/dist/a/b"], ["dist", "xdist/a"]],
      ["a/dist/", ["a/dist/b"], ["x/a/dist/b"]],
      ["a**b", ["aXb"], ["a/b"]],
      ["***", ["a", "a/b"], []],
      ["/w/src/*.ts", ["src/a.ts"], ["x/src/a.ts"]],
    ] as const
  ) {
    for (const path of yes) {
      assert(matches(glob, path, "/w"), `${glob} ${path}`);
    }
    for (const path of no) {
      assert(!matches(glob, path, "/w"), `${glob} ${path}`);
    }
  }
});

Deno.test("Globs match when one of several does", () => {
  const globs = new Globs(["*.ts", "docs/**"]);
  assertEquals(globs.matches("a.ts", "a.ts"), true);
  assertEquals(globs.matches("docs/x/y", "y"), true);
  assertEquals(globs.matches("a.js", "a.js"), false);
});

Deno.test("Globs say what is wrong with a pattern", () => {
  for (
    const [glob, part] of [
      ["[a", "missing ]"],
      ["{a,b", "missing }"],
      ["a\\", "lone"],
      ["[z-a]", "out of order"],
      ["{".repeat(21) + "}".repeat(21), "nested"],
      ["a".repeat(MAX_GLOB + 1), "longer"],
    ] as const
  ) {
    const error = assertThrows(() => new Globs([glob]), GlobError);
    assert(error.message.includes(part), `${glob}: ${error.message}`);
  }
  new Globs(["a".repeat(MAX_GLOB)]);
});

Deno.test("Globs take linear time", () => {
  const started = performance.now();
  assertEquals(matches("*a".repeat(100) + "b", "a".repeat(255)), false);
  assertEquals(matches("**/a/".repeat(100) + "b", "a/".repeat(1000)), false);
  assert(performance.now() - started < 2000);
});
