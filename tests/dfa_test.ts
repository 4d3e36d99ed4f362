import { assert, assertEquals } from "@std/assert";
import { Dfa, MAX_CELLS, type Wanted, WORK_SLICE } from "../lib/dfa.ts";
import { compileNfa, type NfaOptions, utf8Sequences } from "../lib/nfa.ts";
import { parsePattern } from "../lib/pattern_parser.ts";

const encoder = new TextEncoder();

function dfa(
  pattern: string,
  wanted: Wanted,
  options: Partial<NfaOptions> & { maxCells?: number } = {},
): Dfa {
  const { reverse = false, unanchored = true, multiline = true } = options;
  const { node } = parsePattern(pattern, { multiline });
  return new Dfa(
    compileNfa(node, { reverse, unanchored, multiline }),
    wanted,
    options.maxCells ?? MAX_CELLS,
  );
}

/** Where the match ends (or, from right to left, starts), or -1. */
function read(dfa: Dfa, bytes: Uint8Array, from: number, to: number): number {
  dfa.begin(bytes, from);
  let at = from;
  do at = dfa.run(bytes, at, to); while (dfa.stopped === "pause");
  if (dfa.stopped === "match") return at;
  if (dfa.stopped === "limit" && dfa.finish(bytes, at)) return at;
  return dfa.best;
}

Deno.test("Dfa finds the earliest end, the preferred end, and the longest", () => {
  const bytes = encoder.encode("xaab");
  assertEquals(read(dfa("a+", "earliest"), bytes, 0, 4), 2);
  assertEquals(read(dfa("a+", "first"), bytes, 0, 4), 3);
  assertEquals(read(dfa("a+?", "first"), bytes, 0, 4), 2);
  assertEquals(read(dfa("a|aab", "first"), bytes, 0, 4), 2);
  assertEquals(
    read(dfa("a|aab", "longest", { unanchored: false }), bytes, 1, 4),
    4,
  );
  assertEquals(read(dfa("c", "first"), bytes, 0, 4), -1);
});

Deno.test("Dfa reads from right to left, and sees the same anchors", () => {
  const bytes = encoder.encode("ab cd\ncd");
  const backward = (pattern: string) =>
    dfa(pattern, "longest", { reverse: true, unanchored: false });
  assertEquals(read(backward("[a-z]+"), bytes, 5, 0), 3);
  assertEquals(read(backward("\\b.d$"), bytes, 5, 0), 3);
  assertEquals(read(backward("^cd"), bytes, 8, 0), 6);
  assertEquals(read(backward("^cd"), bytes, 5, 0), -1);
  assertEquals(read(backward("\\Aab"), bytes, 2, 0), 0);
  const text = encoder.encode("naïve\r\n日本");
  assertEquals(
    read(backward("ïve\\n日本"), text, text.length, 0),
    2,
  );
});

Deno.test("Dfa gives the same answers when it keeps forgetting its states", () => {
  const text = encoder.encode(
    "abcabca bcbca\nxaybzc\n\nfoo bar baz\r\nnaïve 日本\n".repeat(20),
  );
  for (
    const pattern of [
      "(?:a|b)*a(?:b|c){3}[xy]",
      "\\b\\w+\\b.*z$",
      "[^a-c\\s]{4,6}",
      "(foo|bar|baz)+\\s*$",
      "^.*本$",
      "q",
    ]
  ) {
    for (const wanted of ["earliest", "first"] as const) {
      const roomy = dfa(pattern, wanted, { multiline: false });
      const tight = dfa(pattern, wanted, { multiline: false, maxCells: 300 });
      for (let from = 0; from < 100; from += 7) {
        assertEquals(
          read(tight, text, from, text.length),
          read(roomy, text, from, text.length),
          `${pattern} ${wanted} from ${from}`,
        );
      }
    }
  }
});

Deno.test("Dfa stops for others when states are costly, and goes on from there", () => {
  let seed = 1;
  const bytes = new Uint8Array(2000).map(() => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return 0x61 + (seed >>> 31);
  });
  const slow = dfa("(?:a|b)*a(?:a|b){400}[xy]", "earliest");
  slow.begin(bytes, 0);
  let at = 0;
  let pauses = 0;
  do {
    const before = at;
    at = slow.run(bytes, at, bytes.length);
    assert(at > before);
    pauses++;
  } while (slow.stopped === "pause");
  assertEquals(at, bytes.length);
  assert(pauses > 2000 * 200 / WORK_SLICE / 2);
});

Deno.test("utf8Sequences covers every code point but surrogates, each by one form", () => {
  const sequences: number[][] = [];
  utf8Sequences(0x80, 0x10ffff, sequences);
  let count = 0;
  for (const ranges of sequences) {
    let forms = 1;
    for (let i = 0; i < ranges.length; i += 2) {
      forms *= ranges[i + 1]! - ranges[i]! + 1;
    }
    count += forms;
  }
  assertEquals(count, 0x110000 - 0x80 - 0x800);
  const some: number[][] = [];
  utf8Sequences(0x7ff, 0x800, some);
  assertEquals(some, [
    [0xdf, 0xdf, 0xbf, 0xbf],
    [0xe0, 0xe0, 0xa0, 0xa0, 0x80, 0x80],
  ]);
});
