import { assertEquals } from "@std/assert";
import { sniff } from "../lib/sniff.ts";
import { bytesOf, utf16 } from "./file_world.ts";

Deno.test("sniff knows pictures and sound by their first bytes", () => {
  const kinds: [string, string][] = [
    ["\x89PNG\r\n\x1a\n\0", "image/png"],
    ["\xff\xd8\xff\xe0\0", "image/jpeg"],
    ["GIF89a\x01\0", "image/gif"],
    ["RIFF\x10\0\0\0WEBPVP8 ", "image/webp"],
    ["RIFF\x10\0\0\0WAVEfmt ", "audio/wav"],
    ["ID3\x04\0\0", "audio/mpeg"],
    ["\xff\xfb\x90\0\0", "audio/mpeg"],
    ["OggS\0\x02", "audio/ogg"],
    ["fLaC\0\0", "audio/flac"],
    ["\0\0\0\x20ftypM4A \0", "audio/mp4"],
  ];
  for (const [head, mimeType] of kinds) {
    const kind = sniff(bytesOf(head));
    assertEquals(kind.kind === "media" ? kind.mimeType : "", mimeType);
  }
});

Deno.test("sniff takes text for text, whatever it begins like", () => {
  for (
    const text of [
      "",
      "plain",
      "RIFF WAVE",
      "ID3 is a tag",
      "\xff\xfbla",
      "BZh",
    ]
  ) {
    assertEquals(sniff(bytesOf(text)), { kind: "text" });
  }
  assertEquals(sniff(utf16("text", true)), { kind: "text" });
  assertEquals(sniff(utf16("text", false)), { kind: "text" });
});

Deno.test("sniff names other binary files", () => {
  const named: [string, string][] = [
    ["%PDF-1.7", "a PDF document"],
    ["PK\x03\x04\x14\0", "a ZIP archive (or an office document)"],
    ["\x7fELF\x02", "an ELF executable or library"],
    ["SQLite format 3\0", "an SQLite database"],
    ["h\0e\0l\0l\0o\0", "UTF-16LE text without a byte-order mark"],
    ["\0h\0e\0l\0l\0o", "UTF-16BE text without a byte-order mark"],
    ["\0", "a binary file"],
    ["a\0", "a binary file"],
    ["\xff\xfe\0\0h\0\0\0", "UTF-32 text"],
    ["some\0thing", "a binary file"],
  ];
  for (const [head, name] of named) {
    assertEquals(sniff(bytesOf(head)), { kind: "binary", name });
  }
});
