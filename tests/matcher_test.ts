import { assert, assertEquals, assertThrows } from "@std/assert";
import { Matcher, type MatcherOptions, SLICE } from "../lib/matcher.ts";
import { MAX_INSTRUCTIONS } from "../lib/nfa.ts";
import { PROPERTY_COST } from "../lib/char_set.ts";
import {
  MAX_CLASS_WORK,
  MAX_NESTING,
  MAX_PATTERN,
  MAX_REPEAT,
  PatternError,
} from "../lib/pattern.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The lines that match, as text. */
function lines(
  pattern: string,
  text: string | Uint8Array,
  options: MatcherOptions = {},
): string[] {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const found: string[] = [];
  for (const hit of new Matcher(pattern, options).hits(bytes)) {
    if (hit) found.push(decoder.decode(bytes.subarray(hit.start, hit.end)));
  }
  return found;
}

function complaint(pattern: string): { message: string; position: number } {
  const { message, position } = assertThrows(
    () => new Matcher(pattern),
    PatternError,
  );
  return { message, position };
}

Deno.test("Matcher understands the syntax that models write", () => {
  for (
    const [pattern, text, expected] of [
      ["a.c", "abc\nac\nazc", ["abc", "azc"]],
      ["colou?r", "color\ncolour\ncolr", ["color", "colour"]],
      ["foo|^bar", "a bar\nbar\nzfoo", ["bar", "zfoo"]],
      ["a{3,5}b", "aab\naaab", ["aaab"]],
      ["a{2}", "a\naa", ["aa"]],
      ["x{", "x{\nx", ["x{"]],
      ["interface{}", "interface{}\ninterface", ["interface{}"]],
      ["{,3}", "a{,3}\na", ["a{,3}"]],
      ["\\bfoo\\b", "foo\nafoo\na foo.", ["foo", "a foo."]],
      ["\\Boo", "foo\noo", ["foo"]],
      ["(?i)todo", "TODO\ntodo", ["TODO", "todo"]],
      ["(?i:to)DO", "TODO\ntodo", ["TODO"]],
      ["a(?i)b|c", "aB\nC\nAb", ["aB", "C"]],
      ["(?P<name>x)(?<other>y)(?'third'z)", "xyz\nxy", ["xyz"]],
      ["(?m)^b$", "a\nb", ["b"]],
      ["(?-m)^a", "a\na", ["a"]],
      ["\\Aa", "a\na", ["a"]],
      ["a\\z", "a\na", ["a"]],
      ["(?U)a+?b", "aab", ["aab"]],
      ["[[:alpha:]]+\\d", "ab1\n1", ["ab1"]],
      ["[[:^digit:]]", "1\n1a", ["1a"]],
      ["[]a]", "]\nb", ["]"]],
      ["[^]a]", "]\na\nb", ["b"]],
      ["[a\\-z]", "-\nb", ["-"]],
      ["[\\w.-]+@", "a.b-c@\n@", ["a.b-c@"]],
      ["[a-\\d]", "-\n5\nb", ["-", "5"]],
      ["\\Qa.b*\\E+", "a.b**\naxb", ["a.b**"]],
      ["\\Qa.b", "a.b\naxb", ["a.b"]],
      ["\\x41\\x{42}\\u0043\\u{44}", "ABCD\nabcd", ["ABCD"]],
      ['\\t\\.\\/\\-\\ \\_\\"', '\t./- _"', ['\t./- _"']],
      ["\\033\\[", "\x1b[0m\n[", ["\x1b[0m"]],
      ["\\p{Lu}\\pL\\P{L}", "Ab1\nab1", ["Ab1"]],
      ["\\p{Greek}", "α\na", ["α"]],
      ["[\\p{L}-]+x", "é-x\n1x", ["é-x"]],
      ["\\h\\S", "a b\nab", ["a b"]],
      ["-flag", "--flag\nflag", ["--flag"]],
      ["(|a)b", "b\nab", ["b", "ab"]],
      ["()", "a\n\nb", ["a", "", "b"]],
      ["日本|naïve", "日本語\nnaive\nnaïve", ["日本語", "naïve"]],
      ["^.$", "𝒳\né\nab", ["𝒳", "é"]],
      ["[^a]", "a\n𝒳", ["𝒳"]],
      ["[а-я]+", "привет\nhi", ["привет"]],
    ] as const
  ) {
    assertEquals(lines(pattern, text), [...expected], pattern);
  }
});

Deno.test("Matcher folds case beyond ASCII, and where folding is odd", () => {
  const options = { ignoreCase: true };
  assertEquals(lines("grün", "GRÜN\ngrun", options), ["GRÜN"]);
  assertEquals(lines("k", "\u212a", options), ["\u212a"]);
  assertEquals(lines("[a-f]x", "Cx\ngx", options), ["Cx"]);
  assertEquals(lines("[^a]", "A\nb", options), ["b"]);
  assertEquals(lines("σ", "ς\nΣ", options), ["ς", "Σ"]);
});

Deno.test("Matcher takes a carriage return as part of the line end, and a lone one as a character", () => {
  assertEquals(lines("c$", "abc\r\nbc\n"), ["abc\r", "bc"]);
  assertEquals(lines("^$", "\r\n\na\r\n"), ["\r", ""]);
  assertEquals(lines("c.", "abc\r\nabcd\r\n"), ["abcd\r"]);
  assertEquals(lines("c\\s", "abc\r\nc \r\n"), ["c \r"]);
  assertEquals(lines("c[^a]", "abc\r\n"), []);
  assertEquals(lines("a.*b", "a\rb\n"), ["a\rb"]);
  assertEquals(lines("c\\r$", "abc\r\nabc\n"), ["abc\r"]);
  assertEquals(lines("[\\r]", "abc\r\nabc\n"), ["abc\r"]);
});

Deno.test("Matcher counts no line after the last line end, and a last line without one", () => {
  assertEquals(lines("$", "a\nb\n"), ["a", "b"]);
  assertEquals(lines("$", "a\nb"), ["a", "b"]);
  assertEquals(lines("$", ""), []);
  assertEquals(lines("^", "\n\n"), ["", ""]);
  assertEquals(lines("x*", "a\nb\n"), ["a", "b"]);
});

Deno.test("Matcher finds matches across lines when asked, and when the pattern names a line end", () => {
  const text = "one\ntwo\nthree\nfour\n";
  assertEquals(lines("two\\s+three", text, { multiline: true }), [
    "two\nthree",
  ]);
  assertEquals(lines("two\\s+three", text), []);
  assertEquals(lines("two\\nthree", text), ["two\nthree"]);
  assertEquals(lines("two\nthree", text), ["two\nthree"]);
  assertEquals(lines("two\\nthree", text.replaceAll("\n", "\r\n")), [
    "two\r\nthree\r",
  ]);
  assertEquals(lines("(?s)one.*?three", text), ["one\ntwo\nthree"]);
  assertEquals(lines("^two$", text, { multiline: true }), ["two"]);
  assertEquals(lines("e$\\s^f", text, { multiline: true }), ["three\nfour"]);
  assertEquals(lines("\\Aone|four\\n\\z", text), ["one", "four"]);
  assertEquals(
    lines("(?s)t.*?e", text, { multiline: true }),
    [
      "two\nthree",
      "",
    ].slice(0, 1),
  );
});

Deno.test("Matcher gives each line once where matches across lines overlap in it", () => {
  assertEquals(
    lines("a\\nb|c\\nd", "a\nb c\nd\nx\n"),
    ["a\nb c", "d"],
  );
});

Deno.test("Matcher matches bytes that are not UTF-8 with nothing but what surrounds them", () => {
  const text = Uint8Array.of(0x61, 0xff, 0x62, 0x0a, 0x61, 0x62, 0x0a);
  const found = [...new Matcher("a.?b").hits(text)].filter(Boolean);
  assertEquals(found.length, 1);
  assertEquals(lines("b", text).length, 2);
});

Deno.test("Matcher agrees with JavaScript's engine on random patterns and texts", () => {
  const random = generator(20);
  let compared = 0;
  while (compared < 6000) {
    const pattern = randomPattern(random);
    const ignoreCase = random.below(3) === 0;
    const flags = ignoreCase ? "ui" : "u";
    const expression = new RegExp(pattern, flags);
    const matcher = new Matcher(pattern, { ignoreCase });
    for (let i = 0; i < 4; i++, compared++) {
      const text = randomText(random, pattern.includes("\\B"));
      const bytes = encoder.encode(text);
      const expected = text.replace(/\n$/, "").split("\n")
        .map((line, n) => expression.test(line.replace(/\r$/, "")) ? n : -1)
        .filter((n) => n >= 0 && text !== "");
      const found: number[] = [];
      for (const hit of matcher.hits(bytes)) {
        if (hit) found.push(newlines(bytes, hit.start));
      }
      assertEquals(
        found,
        expected,
        JSON.stringify({ pattern, flags, text }),
      );
    }
  }
});

Deno.test("Matcher agrees with JavaScript's engine on which lines matches across lines touch", () => {
  const random = generator(7);
  let compared = 0;
  while (compared < 3000) {
    const pattern = randomPattern(random);
    // The engines differ in loops over what may be empty.
    if (/\)[*+{?]/.test(pattern)) continue;
    const matcher = new Matcher(pattern, { multiline: true });
    for (let i = 0; i < 3; i++, compared++) {
      const text = randomText(random, pattern.includes("\\B"))
        .replaceAll("\r", "");
      const bytes = encoder.encode(text);
      const touched = new Set<number>();
      const count = text.split("\n").length - (/\n$|^$/.test(text) ? 1 : 0);
      for (const match of text.matchAll(new RegExp(pattern, "gmu"))) {
        const end = match.index + match[0].length;
        const first = text.slice(0, match.index).split("\n").length - 1;
        const last = text.slice(0, Math.max(match.index, end - 1))
          .split("\n").length - 1;
        for (let n = first; n <= last && n < count; n++) touched.add(n);
      }
      const found: number[] = [];
      for (const hit of matcher.hits(bytes)) {
        if (!hit) continue;
        const first = newlines(bytes, hit.start);
        const last = newlines(bytes, hit.end);
        for (let n = first; n <= last; n++) found.push(n);
      }
      assertEquals(
        found,
        [...touched].sort((a, b) => a - b),
        JSON.stringify({ pattern, text }),
      );
    }
  }
});

Deno.test("Matcher takes linear time for patterns that hang a backtracking engine", () => {
  const started = performance.now();
  for (
    const [pattern, text] of [
      ["(a+)+$", "a".repeat(50_000) + "b"],
      ["(a*)*[bc]", "a".repeat(100_000)],
      ["(a|a)*[bc]", "a".repeat(100_000)],
      ["(.*)(.*)(.*)(.*)[xyz]", "a".repeat(100_000)],
      ["(a?){50}a{50}[bc]", "a".repeat(5_000)],
      ["(x+x+)+[yz]", "x".repeat(100_000)],
      ["^(([a-z])+.)+[A-Z]([a-z])+$", "a".repeat(100_000)],
      ["(?i)(a|b|ab)*[cd]", "ab".repeat(50_000)],
      ["(\\w{1,20}){1,20}[!?]", "a".repeat(20_000)],
      ["(?s)(.+)+\\n\\n\\n[qr]", "ab\n".repeat(30_000)],
    ] as const
  ) {
    assertEquals(lines(pattern, text), [], pattern);
  }
  // Far from tight: every one of them takes a backtracking engine longer than anyone waits.
  assert(performance.now() - started < 10_000);
});

Deno.test("Matcher pauses within a line that has no end", () => {
  const bytes = new Uint8Array(3 * SLICE).fill(0x61);
  const pauses = [...new Matcher("b|c").hits(bytes)];
  assert(pauses.length >= 2);
  assert(pauses.every((pause) => pause === undefined));
});

Deno.test("Matcher pauses when states are many and bytes few", () => {
  const random = generator(3);
  const text = Array.from(
    { length: 20_000 },
    () => "ab"[random.below(2)],
  ).join("");
  const steps = [
    ...new Matcher("(?:a|b)*a(?:a|b){300}[xy]").hits(encoder.encode(text)),
  ];
  assert(steps.length > 20);
});

Deno.test("Matcher.matchStart finds where a match begins, no further back than it may look", () => {
  const matcher = new Matcher("b+c");
  const bytes = encoder.encode("aabbbc");
  assertEquals(matcher.matchStart(bytes, 6, 0), 2);
  assertEquals(matcher.matchStart(bytes, 6, 4), 4);
});

Deno.test("Matcher.matchStart gives its floor where a pattern is too large from right to left", () => {
  const pattern = ".{1000}.{1000}";
  assertThrows(() => new Matcher(pattern, { multiline: true }), PatternError);
  const matcher = new Matcher(pattern);
  const bytes = encoder.encode("a".repeat(2100));
  assertEquals(matcher.matchStart(bytes, 2050, 40), 40);
});

Deno.test("Matcher says what is wrong with a pattern, and where", () => {
  for (
    const [pattern, part, position] of [
      ["foo(bar", "missing )", 3],
      ["foo)", "unmatched )", 3],
      ["a[b", "missing ]", 1],
      ["a[z-a]", "out of order", 2],
      ["[[:foo:]]", "unknown class", 1],
      ["*a", "nothing to repeat", 0],
      ["a|+", "nothing to repeat", 2],
      ["a**", "nothing to repeat", 2],
      ["a++", "possessive", 2],
      ["a{2}{3}", "nothing to repeat", 4],
      ["a{3,2}", "ends before it begins", 1],
      ["ab\\", "lone", 2],
      ["[a\\", "lone", 2],
      ["a\\y", "unknown escape", 1],
      ["\\xZZ", "number of a character", 0],
      ["\\x{110000}", "number of a character", 0],
      ["\\p{Nope}", "Unicode property", 0],
      ["(?y)a", "unknown group", 0],
      ["é(", "missing )", 1],
    ] as const
  ) {
    const found = complaint(pattern);
    assert(
      found.message.includes(part),
      `${pattern}: ${found.message} lacks ${part}`,
    );
    assertEquals(found.position, position, pattern);
  }
});

Deno.test("Matcher refuses what no linear engine can do, and names the way out", () => {
  for (
    const pattern of [
      "a(?=b)",
      "a(?!b)",
      "(?<=a)b",
      "(?<!a)b",
      "(a)\\1",
      "(?P<n>a)(?P=n)",
      "(?<n>a)\\k<n>",
      "(?>a)",
      "a\\Kb",
      "(?R)",
      "(*FAIL)",
    ]
  ) {
    const { message } = complaint(pattern);
    assert(message.includes("not supported"), pattern);
    assert(message.includes("bash"), pattern);
  }
});

Deno.test("Matcher holds its limits", () => {
  new Matcher("a".repeat(MAX_PATTERN));
  assert(complaint("a".repeat(MAX_PATTERN + 1)).message.includes("limit"));
  new Matcher(`a{${MAX_REPEAT}}`);
  assert(complaint(`a{${MAX_REPEAT + 1}}`).message.includes("limit"));
  new Matcher("(".repeat(MAX_NESTING) + ")".repeat(MAX_NESTING));
  assert(
    complaint("(".repeat(MAX_NESTING + 1) + ")".repeat(MAX_NESTING + 1))
      .message.includes("nested"),
  );
  const most = Math.floor((MAX_INSTRUCTIONS - 10) / 1000);
  new Matcher(`(?:${"a".repeat(most)}){1000}`);
  assert(
    complaint(`(?:${"a".repeat(most + 1)}){1000}`).message.includes("large"),
  );
  new Matcher("\\p{L}".repeat(8));
  const large = Array.from(
    { length: 1 + MAX_CLASS_WORK / PROPERTY_COST },
    (_, i) => `\\p{${["L", "Lu", "Ll", "N", "Nd", "P", "S", "Z"][i]}}`,
  ).join("");
  assert(complaint(large).message.includes("too many large classes"));
  assert(complaint("((a{1000}){1000}){1000}").message.includes("large"));
  new Matcher("((){1000}){1000}");
});

function newlines(bytes: Uint8Array, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at++) if (bytes[at] === 0x0a) count++;
  return count;
}

interface Random {
  below(n: number): number;
  pick(items: readonly string[]): string;
}

function generator(seed: number): Random {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * n);
  };
  return { below, pick: (items) => items[below(items.length)]! };
}

function randomPattern(random: Random, depth = 2): string {
  let out = "";
  for (let i = random.below(4); i >= 0; i--) {
    const inner = () => randomPattern(random, depth - 1);
    const kind = random.below(depth > 0 ? 12 : 8);
    const atom = kind < 3
      ? random.pick(["a", "b", "é", "𝒳", " ", "-", "_", "A"])
      : kind === 3
      ? "."
      : kind === 4
      ? random.pick(["[ab]", "[^a]", "[a-c]", "[^é]", "[é-ü]", "[\\w-]"])
      : kind === 5
      ? random.pick(["\\d", "\\w", "\\s", "\\W", "\\S", "\\D"])
      : kind < 8
      ? ""
      : kind < 10
      ? `(${inner()})`
      : `(?:${inner()})`;
    out += atom === ""
      ? random.pick(["^", "$", "\\b", "\\B", "a", "b"])
      : atom + random.pick(["", "", "", "*", "+", "?", "{2}", "{0,2}", "*?"]);
  }
  return random.below(4) === 0 && depth > 0
    ? `${out}|${randomPattern(random, 0)}`
    : out;
}

/** JavaScript's `\B` also holds within a surrogate pair, hence `plain`. */
function randomText(random: Random, plain: boolean): string {
  let out = "";
  for (let i = random.below(14); i > 0; i--) {
    out += random.pick(
      ["a", "b", "a", "é", " ", "-", "_", "1", "A", "\n", "\r\n"].concat(
        plain ? [] : ["𝒳"],
      ),
    );
  }
  return out;
}
