import { assert, assertEquals } from "@std/assert";
import {
  byteOrderMark,
  decodeExact,
  encodeExact,
  mostlyUtf8,
  renderBytes,
  sequenceLength,
} from "../lib/encoding.ts";
import { bytesOf, utf16 } from "./file_world.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("byteOrderMark knows UTF-8 and both UTF-16, and not UTF-32", () => {
  assertEquals(byteOrderMark(bytesOf("\xef\xbb\xbfh")), {
    encoding: "utf-8",
    length: 3,
  });
  assertEquals(byteOrderMark(bytesOf("\xff\xfeh\0")), {
    encoding: "utf-16le",
    length: 2,
  });
  assertEquals(byteOrderMark(bytesOf("\xfe\xff\0h")), {
    encoding: "utf-16be",
    length: 2,
  });
  assertEquals(byteOrderMark(bytesOf("\xff\xfe\0\0")), undefined);
  assertEquals(byteOrderMark(bytesOf("\xff\xfe")), {
    encoding: "utf-16le",
    length: 2,
  });
  assertEquals(byteOrderMark(bytesOf("plain")), undefined);
});

Deno.test("renderBytes decodes what is valid and counts nothing", () => {
  assertEquals(renderBytes(utf8("héllo 😀\r\n"), "utf-8"), {
    text: "héllo 😀\r\n",
    used: 13,
    bad: 0,
    escaped: 0,
  });
});

Deno.test("renderBytes marks and counts bytes that do not decode", () => {
  assertEquals(renderBytes(bytesOf("caf\xe9\r\n\xc3\xa9\xff"), "utf-8"), {
    text: "caf\\xe9\r\né\\xff",
    used: 9,
    bad: 2,
    escaped: 0,
  });
  // Overlong forms, surrogates and code points beyond the last are no UTF-8.
  assertEquals(renderBytes(bytesOf("\xc0\x80"), "utf-8").bad, 2);
  assertEquals(renderBytes(bytesOf("\xed\xa0\x80"), "utf-8").bad, 3);
  assertEquals(renderBytes(bytesOf("\xf4\x90\x80\x80"), "utf-8").bad, 4);
});

Deno.test("renderBytes stops at the limit, between characters, and says how far it came", () => {
  assertEquals(renderBytes(utf8("é😀x"), "utf-8", 2).used, 2);
  assertEquals(renderBytes(utf8("é😀x"), "utf-8", 3).used, 6);
  assertEquals(renderBytes(bytesOf("ab\xe9"), "utf-8", 5), {
    text: "ab",
    used: 2,
    bad: 0,
    escaped: 0,
  });
  assertEquals(renderBytes(bytesOf("ab\0"), "utf-8", 5).text, "ab");
  assertEquals(renderBytes(bytesOf("ab\0"), "utf-8", 6).text, "ab\\x00");
});

Deno.test("renderBytes decodes UTF-16 of both kinds", () => {
  for (const little of [true, false]) {
    const bytes = utf16("a😀\r\n", little).subarray(2);
    const encoding = little ? "utf-16le" : "utf-16be";
    assertEquals(renderBytes(bytes, encoding).text, "a😀\r\n");
    assertEquals(renderBytes(bytes, encoding, 2), {
      text: "a",
      used: 2,
      bad: 0,
      escaped: 0,
    });
  }
});

Deno.test("renderBytes marks lone surrogates and half units of UTF-16", () => {
  const bytes = new Uint8Array([0x61, 0, 0x00, 0xd8, 0x62, 0, 0x63]);
  assertEquals(renderBytes(bytes, "utf-16le"), {
    text: "a\\ud800b\\x63",
    used: 7,
    bad: 3,
    escaped: 0,
  });
});

Deno.test("decodeExact and encodeExact give back every byte", () => {
  const files: [Uint8Array, string][] = [
    [utf8("plain\n"), "utf-8"],
    [utf8("\ufeffmit Bom äöü 😀"), "utf-8"],
    [utf16("hällo 😀", true), "utf-16le"],
    [utf16("hällo 😀", false), "utf-16be"],
    [new Uint8Array([0xff, 0xfe, 0x00, 0xd8, 0x61, 0]), "utf-16le"],
    [new Uint8Array([0xff, 0xfe, 0x61]), "bytes"],
    [Uint8Array.from({ length: 256 }, (_, i) => i), "bytes"],
    [new Uint8Array(), "utf-8"],
  ];
  for (const [bytes, encoding] of files) {
    const exact = decodeExact(bytes);
    assertEquals(exact.encoding, encoding as typeof exact.encoding);
    assertEquals(encodeExact(exact.text, exact.encoding), bytes);
  }
});

Deno.test("sequenceLength agrees with the platform's decoder on every start of three bytes", () => {
  const strict = new TextDecoder("utf-8", { fatal: true });
  for (let lead = 0; lead < 256; lead++) {
    for (
      const second of [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
    ) {
      const bytes = Uint8Array.of(lead, second, 0x80, 0xbf);
      const length = sequenceLength(bytes, 0);
      for (const tried of [1, 2, 3, 4]) {
        let valid = true;
        try {
          const text = strict.decode(bytes.subarray(0, tried));
          valid = [...text].length === 1;
        } catch {
          valid = false;
        }
        assertEquals(valid, length === tried, `${lead} ${second} ${tried}`);
      }
    }
  }
});

Deno.test("mostlyUtf8 tells a damaged UTF-8 file from another encoding", () => {
  assert(mostlyUtf8(bytesOf("\xc3\xa9\xc3\xa8\xff")));
  assert(!mostlyUtf8(bytesOf("caf\xe9")));
  assert(!mostlyUtf8(bytesOf("\x93\xfa\x96\x7b\x8c\xea"))); // 日本語 in Shift-JIS
});
