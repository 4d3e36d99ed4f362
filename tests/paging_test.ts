import { assert, assertEquals } from "@std/assert";
import type { Encoding } from "../lib/encoding.ts";
import {
  countFeeds,
  countLines,
  cutPage,
  lastLineStart,
  lineEnd,
  pageBytes,
} from "../lib/paging.ts";
import { bytesOf, utf16 } from "./file_world.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

function page(
  text: string | Uint8Array,
  options: {
    maxLines?: number;
    maxChars?: number;
    firstNumber?: number;
    atEnd?: boolean;
    encoding?: Encoding;
  } = {},
) {
  return cutPage({
    bytes: typeof text === "string" ? utf8(text) : text,
    encoding: "utf-8",
    atEnd: true,
    maxLines: 100,
    maxChars: 1_000,
    ...options,
  });
}

Deno.test("cutPage shows a text that fits as it is", () => {
  for (const text of ["", "a", "a\n", "a\nb", "\n\n", "a\r\nb\r\n"]) {
    const { text: shown, used, cut } = page(text);
    assertEquals([shown, used, cut], [text, text.length, false]);
  }
});

Deno.test("cutPage counts lines with and without a last line end", () => {
  for (const [text, lines] of [["", 0], ["a", 1], ["a\n", 1], ["a\nb", 2]]) {
    assertEquals(page(text as string).lines, lines as number);
    assertEquals(
      page(text as string, { firstNumber: 1 }).lines,
      lines as number,
    );
  }
});

Deno.test("cutPage ends at the line limit, exactly", () => {
  assertEquals(page("a\nb\nc\n", { maxLines: 3 }).used, 6);
  assertEquals(page("a\nb\nc\n", { maxLines: 2 }).text, "a\nb\n");
  assertEquals(page("a\nb\nc", { maxLines: 2 }).used, 4);
});

Deno.test("cutPage ends at a line end within the characters, exactly", () => {
  assertEquals(page("aa\nbb\ncc\n", { maxChars: 9 }).text, "aa\nbb\ncc\n");
  assertEquals(page("aa\nbb\ncc\n", { maxChars: 8 }).text, "aa\nbb\n");
  assertEquals(page("aa\nbb\ncc\n", { maxChars: 6 }).text, "aa\nbb\n");
  assertEquals(page("aa\nbb\ncc\n", { maxChars: 5 }).text, "aa\n");
});

Deno.test("cutPage cuts a line longer than a page inside, and says so", () => {
  const { text, used, cut, lines } = page("abcdefgh\nx\n", { maxChars: 5 });
  assertEquals([text, used, cut, lines], ["abcde", 5, true, 1]);
  const emoji = page("abcd😀\n", { maxChars: 5 });
  assertEquals([emoji.text, emoji.used], ["abcd", 4]);
});

Deno.test("cutPage leaves a line that does not fit to the next page", () => {
  const { text, cut } = page("a\nbcdefgh\n", { maxChars: 5 });
  assertEquals([text, cut], ["a\n", false]);
});

Deno.test("cutPage does not show half of a line whose end it does not see", () => {
  const { text, used } = page("a\nbcd", { atEnd: false });
  assertEquals([text, used], ["a\n", 2]);
});

Deno.test("cutPage numbers lines, within the characters", () => {
  assertEquals(page("a\nb", { firstNumber: 9 }).text, "9\ta\n10\tb");
  assertEquals(
    page("a\nb", { firstNumber: 9, maxChars: 4 }).text,
    "9\ta\n",
  );
});

Deno.test("cutPage budgets marked bytes and written-out controls as they are shown", () => {
  assertEquals(page(bytesOf("\xe9\n\xe9\n"), { maxChars: 9 }).text, "\\xe9\n");
  assertEquals(page(bytesOf("\xe9\n\xe9\n"), { maxChars: 10 }).bad, 2);
  assertEquals(page("\x1b\n\x1b\n", { maxChars: 10 }).escaped, 2);
});

Deno.test("pages follow each other without a gap, in every encoding and budget", () => {
  const text = "erste Zeile\r\nzwéi\n\n😀😀😀😀😀😀😀😀😀\nlast without end";
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    const bytes = encoding === "utf-8"
      ? utf8(text)
      : utf16(text, encoding === "utf-16le").subarray(2);
    for (let maxChars = 4; maxChars < 60; maxChars++) {
      let joined = "";
      let pages = 0;
      for (let at = 0; at < bytes.length; pages++) {
        const part = bytes.subarray(at, at + pageBytes(maxChars));
        const { text, used } = cutPage({
          bytes: part,
          encoding,
          atEnd: at + part.length === bytes.length,
          maxLines: 2,
          maxChars,
        });
        assert(used > 0 && text.length <= maxChars);
        joined += text;
        at += used;
      }
      assertEquals(joined, text, `${encoding} ${maxChars}`);
    }
  }
});

Deno.test("countFeeds counts every feed and nothing else, wherever the bytes begin and end", () => {
  const all = crypto.getRandomValues(new Uint8Array(5_000))
    // Feeds, and the bytes that differ from one by a bit.
    .map((byte) => [0x0a, 0x0b, 0x8a, 0x09, byte][byte % 5]!);
  all.fill(0x0a, 2_000, 4_000);
  for (let from = 0; from < 9; from++) {
    for (const to of [from, from + 1, from + 6, 3_000, 4_990, 4_999, 5_000]) {
      const bytes = all.subarray(from, to);
      let feeds = 0;
      for (const byte of bytes) if (byte === 0x0a) feeds++;
      assertEquals(countFeeds(bytes, "utf-8"), feeds, `${from}-${to}`);
    }
  }
});

Deno.test("line ends of UTF-16 are whole units", () => {
  // U+0A0A and U+0A00 hold the byte 0x0A without being line feeds.
  for (const little of [true, false]) {
    const bytes = utf16("\u0a0a\u0a00a\nb", little).subarray(2);
    const encoding = little ? "utf-16le" : "utf-16be";
    assertEquals(lineEnd(bytes, 0, encoding), 8);
    assertEquals(lineEnd(bytes, 8, encoding), -1);
    assertEquals(lastLineStart(bytes, bytes.length, encoding), 8);
    assertEquals(lastLineStart(bytes, 6, encoding), 0);
    assertEquals(countLines(bytes, encoding), 2);
  }
});
