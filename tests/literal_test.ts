import { assertEquals } from "@std/assert";
import { Literals, MAX_LITERALS, requiredLiterals } from "../lib/literal.ts";
import { parsePattern } from "../lib/pattern_parser.ts";

function textsOf(pattern: string): string[] | undefined {
  const decoder = new TextDecoder();
  return requiredLiterals(parsePattern(pattern, {}).node)?.all
    .map(({ bytes }) => decoder.decode(bytes));
}

Deno.test("requiredLiterals finds the longest text that every match holds", () => {
  assertEquals(textsOf("needle"), ["needle"]);
  assertEquals(textsOf("a\\w+needle\\d"), ["needle"]);
  assertEquals(textsOf("(?:needle)+x*"), ["needle"]);
  assertEquals(textsOf("[a-z]+"), undefined);
  assertEquals(textsOf("x*"), undefined);
});

Deno.test("requiredLiterals finds one text for each of some alternatives", () => {
  assertEquals(textsOf("one|two|three"), ["one", "two", "three"]);
  assertEquals(textsOf("(?:get|set)[A-Z]\\w*"), ["get", "set"]);
  assertEquals(textsOf("(?:get|set)[A-Z]\\w*Name"), ["Name"]);
  assertEquals(textsOf("one|t*"), undefined);
  // One character is in nearly every line.
  assertEquals(textsOf("one|t"), undefined);
  const many = (n: number) =>
    Array.from({ length: n }, (_, i) => `word${i}`).join("|");
  assertEquals(textsOf(many(MAX_LITERALS))?.length, MAX_LITERALS);
  assertEquals(textsOf(many(MAX_LITERALS + 1)), undefined);
});

Deno.test("Literals.find tells the first of all, from wherever it is asked, in one text after the other", () => {
  const literals = new Literals(["ab", "bca", "cc", "none"]);
  for (let round = 0; round < 200; round++) {
    const text = Array.from(
      crypto.getRandomValues(new Uint8Array(60)),
      (byte) => "abc "[byte % 4],
    ).join("");
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at <= text.length; at += 1 + round % 5) {
      const places = ["ab", "bca", "cc", "none"]
        .map((one) => text.indexOf(one, at)).filter((place) => place >= 0);
      assertEquals(
        literals.find(bytes, at),
        places.length === 0 ? -1 : Math.min(...places),
        `${text} from ${at}`,
      );
    }
  }
});

Deno.test("Literals.find looks for a text that is nowhere once, not at every call", () => {
  const literals = new Literals(["ab", "zz"]);
  const bytes = new TextEncoder().encode("ab\n".repeat(1_000_000));
  const began = performance.now();
  let found = 0;
  for (let at = literals.find(bytes, 0); at >= 0; found++) {
    at = literals.find(bytes, at + 1);
  }
  assertEquals(found, 1_000_000);
  // A search of three megabytes at each of a million calls would take minutes.
  assertEquals(performance.now() - began < 20_000, true);
});
