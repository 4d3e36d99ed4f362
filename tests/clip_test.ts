import { assert, assertEquals } from "@std/assert";
import {
  clipChars,
  clipHead,
  clipTail,
  escapeControls,
  stripAnsi,
  unitsWithin,
  wellFormed,
} from "../lib/clip.ts";

Deno.test("clipChars keeps text that fits, at the limit", () => {
  assertEquals(clipChars("abc", 3), "abc");
  assertEquals(clipChars("abcd", 3), "abc");
  assertEquals(clipChars("", 0), "");
});

Deno.test("unitsWithin counts bytes, at the limit and never half a character", () => {
  for (
    const [text, bytes, units] of [
      ["abc", 3, 3],
      ["abc", 2, 2],
      ["日本", 6, 2],
      ["日本", 5, 1],
      ["a😀b", 4, 1],
      ["a😀b", 5, 3],
      ["a😀b", 6, 4],
      ["", 0, 0],
    ] as const
  ) assertEquals(unitsWithin(text, bytes), units, `${text} ${bytes}`);
});

Deno.test("clipChars never cuts inside a character", () => {
  assertEquals(clipChars("a😀b", 2), "a");
  assertEquals(clipChars("a😀b", 3), "a😀");
  for (let max = 0; max <= 8; max++) {
    assert(clipChars("😀é😀x", max).isWellFormed());
  }
});

Deno.test("clipHead cuts at the last line end within the limit", () => {
  assertEquals(clipHead("ab\ncd\nef", 8), { text: "ab\ncd\nef", dropped: 0 });
  assertEquals(clipHead("ab\ncd\nef", 7), { text: "ab\ncd\n", dropped: 2 });
  assertEquals(clipHead("ab\ncd\nef", 6), { text: "ab\ncd\n", dropped: 2 });
  assertEquals(clipHead("ab\ncd\nef", 5), { text: "ab\n", dropped: 5 });
});

Deno.test("clipHead cuts a single longer line inside, between characters", () => {
  assertEquals(clipHead("abcdef\n", 4), { text: "abcd", dropped: 3 });
  assertEquals(clipHead("abc😀\n", 4), { text: "abc", dropped: 3 });
});

Deno.test("clipTail keeps the last whole lines within the limit", () => {
  assertEquals(clipTail("ab\ncd\nef", 8), { text: "ab\ncd\nef", dropped: 0 });
  assertEquals(clipTail("ab\ncd\nef", 7), { text: "cd\nef", dropped: 3 });
  assertEquals(clipTail("ab\ncd\nef", 5), { text: "cd\nef", dropped: 3 });
  assertEquals(clipTail("ab\ncd\nef", 4), { text: "ef", dropped: 6 });
});

Deno.test("clipTail cuts a single longer line inside, between characters", () => {
  assertEquals(clipTail("abcdef", 4), { text: "cdef", dropped: 2 });
  assertEquals(clipTail("😀abc", 4), { text: "abc", dropped: 2 });
  assertEquals(clipTail("abcdef\n", 4), { text: "def\n", dropped: 3 });
});

Deno.test("wellFormed replaces lone surrogates", () => {
  assertEquals(wellFormed("a\ud800b\udc00c😀"), "a\ufffdb\ufffdc😀");
});

Deno.test("stripAnsi takes colours, cursor moves and titles out", () => {
  assertEquals(stripAnsi("\x1b[1;31mred\x1b[0m"), "red");
  assertEquals(stripAnsi("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b"), "ab");
  assertEquals(stripAnsi("\x1b[2K\x1b[1Gdone\x1b(B"), "done");
  assertEquals(stripAnsi("plain [31m"), "plain [31m");
});

Deno.test("R09: control characters are written out and counted", () => {
  assertEquals(escapeControls("a\0b\x1b[31m\x7f\x85"), {
    text: "a\\x00b\\x1b[31m\\x7f\\x85",
    escaped: 4,
  });
});

Deno.test("escapeControls keeps tabs, line feeds and CRLF", () => {
  assertEquals(escapeControls("a\tb\nc\r\n"), {
    text: "a\tb\nc\r\n",
    escaped: 0,
  });
  assertEquals(escapeControls("50%\r100%\r\n"), {
    text: "50%\\x0d100%\r\n",
    escaped: 1,
  });
});
