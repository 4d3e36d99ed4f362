import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { LISTING_ENTRIES } from "../lib/listing.ts";
import { PAGE_LINES } from "../lib/paging.ts";
import { MEDIA_BYTES, read } from "../lib/read.ts";
import { REMEMBERED_SCANS, Scans } from "../lib/scans.ts";
import { memorySource, SCAN_MS } from "../lib/seek.ts";
import { COUNT_BYTES, NOTE_CHARS, readText } from "../lib/text_page.ts";
import { ANSWER_CHARS, MAX_ANSWER_CHARS } from "../lib/tool.ts";
import { bytesOf, FileWorld, utf16 } from "./file_world.ts";

const numbers = (n: number) =>
  Array.from({ length: n }, (_, i) => `line ${i + 1}\n`).join("");

Deno.test("read gives a file verbatim, and nothing beside it", async () => {
  await using world = await FileWorld.make();
  for (
    const text of ["one\ntwo\n", "no end", "a\r\nb\r\n", "tab\tä😀\u2028\n"]
  ) {
    const path = await world.file("f", text);
    const answer = await world.read({ path });
    assertEquals(answer.content, [{ type: "text", text }]);
    assert(!answer.isError);
  }
});

Deno.test("read says that an empty file is empty", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("empty", "");
  const { text, note } = await world.read({ path });
  assertEquals(text, "");
  assertEquals(note, `[rousseau: ${path} is empty (0 bytes)]`);
});

Deno.test("read of a missing file has the first seed's text and names what is there", async () => {
  await using world = await FileWorld.make();
  await world.file("notes.txt", "x");
  const { text, note, isError } = await world.read({
    path: world.path("note.txt"),
  });
  assertEquals(
    text,
    `read: open ${world.path("note.txt")}: no such file or directory`,
  );
  assertStringIncludes(note, "notes.txt");
  assert(isError);
});

Deno.test("read requires a path", async () => {
  await using world = await FileWorld.make();
  assertEquals((await world.read({})).text, "read: path is required");
  assertEquals((await world.read({ path: "" })).text, "read: path is required");
});

Deno.test("read shows a page of the usual lines and names the call that reads on", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "x\n".repeat(PAGE_LINES + 1));
  const first = await world.read({ path });
  assertEquals(first.text, "x\n".repeat(PAGE_LINES));
  assertEquals(
    first.note,
    "[rousseau: lines 1-2,000 of 2,001 (bytes 0-4,000 of 4,002); read on with offset=2001 byte_offset=4000]",
  );
  const second = await world.read({ path, offset: 2001, byte_offset: 4000 });
  assertEquals(second.text, "x\n");
  assertEquals(
    second.note,
    "[rousseau: line 2,001 of 2,001 (bytes 4,000-4,002 of 4,002), the end]",
  );
});

Deno.test("a page stays within the answer's characters, its note included", async () => {
  await using world = await FileWorld.make();
  const fits = await world.file(
    "fits",
    "y".repeat(99).concat("\n").repeat(200),
  );
  assertEquals((await world.read({ path: fits })).text.length, ANSWER_CHARS);
  const over = await world.file(
    "over",
    "y".repeat(99).concat("\n").repeat(201),
  );
  const { text, note } = await world.read({ path: over });
  assertEquals(text.length, ANSWER_CHARS - NOTE_CHARS);
  assert(text.length + note.length <= ANSWER_CHARS);
  // A whole file with something to say beside it needs room for that as well.
  const marked = await world.file("marked", `\ufeff${"y".repeat(19_990)}`);
  const answer = await world.read({ path: marked });
  assert(answer.text.length + answer.note.length <= ANSWER_CHARS);
});

Deno.test("the operator's and the caller's limits raise the budget, up to the most", async () => {
  await using world = await FileWorld.make({ answerChars: 30_000 });
  const path = await world.file("f", "y".repeat(99).concat("\n").repeat(5_000));
  assertEquals(
    (await world.read({ path })).text.length,
    30_000 - NOTE_CHARS,
  );
  const { text, note } = await world.read({ path, limit: 5_000 });
  assert(text.length > 200_000);
  assert(text.length + note.length <= MAX_ANSWER_CHARS);
});

Deno.test("read pages that follow each other make up the file", async () => {
  await using world = await FileWorld.make({ answerChars: 1_000 });
  const content = numbers(700) + "z".repeat(2_500) + "\n😀 end";
  const path = await world.file("f", content);
  for (const by of ["offset", "byte_offset", "both"]) {
    let joined = "";
    let args: Record<string, unknown> = { path };
    for (let page = 0; page < 100; page++) {
      const { text, note } = await world.read(args);
      joined += text;
      const next = note.match(/with offset=(\d+) byte_offset=(\d+)/);
      if (!next) break;
      const byBytes = by !== "offset" || note.includes("is cut");
      args = {
        path,
        ...(by === "byte_offset" ? {} : { offset: Number(next[1]) }),
        ...(byBytes ? { byte_offset: Number(next[2]) } : {}),
      };
      if (by === "byte_offset") {
        const { note: next } = await world.read(args);
        if (!next.includes("read on")) {
          joined += (await world.read(args)).text;
          break;
        }
        const bytes = next.match(/byte_offset=(\d+)/)!;
        joined += (await world.read(args)).text;
        args = { path, byte_offset: Number(bytes[1]), offset: 1 };
      }
    }
    assertEquals(joined, content, by);
  }
});

Deno.test("read starts at a line and stops after a number of them", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", numbers(10));
  const { text, note } = await world.read({ path, offset: 4, limit: 2 });
  assertEquals(text, "line 4\nline 5\n");
  assertStringIncludes(note, "lines 4-5 of 10");
  assertStringIncludes(note, "read on with offset=6 byte_offset=35");
});

Deno.test("read refuses line 0, of a file and of a folder", async () => {
  await using world = await FileWorld.make();
  for (const path of [await world.file("f", "one\n"), world.root, "absent"]) {
    const { text, isError } = await world.read({ path, offset: 0 });
    assertEquals(
      [text, isError],
      [
        "read: offset: must not be 0: the first line is 1, the last is -1",
        true,
      ],
    );
  }
});

Deno.test("read numbers lines on demand", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", numbers(10));
  assertEquals(
    (await world.read({ path, offset: 9, line_numbers: true })).text,
    "9\tline 9\n10\tline 10\n",
  );
  assertEquals(
    (await world.read({ path, offset: -1, line_numbers: true })).text,
    "10\tline 10\n",
  );
  const relative = await world.read({
    path,
    byte_offset: 7,
    limit: 1,
    line_numbers: true,
  });
  assertEquals(relative.text, "1\tline 2\n");
  assertStringIncludes(relative.note, "count from where this page begins");
});

Deno.test("an offset right behind the last line finds nothing yet, one beyond is refused", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", numbers(3));
  const next = await world.read({ path, offset: 4 });
  assert(!next.isError);
  assertStringIncludes(
    next.note,
    "has 3 lines (21 bytes): nothing follows yet",
  );
  const beyond = await world.read({ path, offset: 5 });
  assertEquals(
    beyond.text,
    `read: ${path} has 3 lines; offset 5 is past its end`,
  );
  const end = await world.read({ path, byte_offset: 21 });
  assertStringIncludes(end.note, "nothing follows yet");
  assertEquals(
    (await world.read({ path, byte_offset: 22 })).text,
    `read: ${path} has 21 bytes; byte_offset 22 is past its end`,
  );
});

Deno.test("a byte offset inside a character moves to the next one and says so", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "a😀b");
  for (const byte of [2, 3, 4]) {
    const { text, note } = await world.read({ path, byte_offset: byte });
    assertEquals(text, "b");
    assertStringIncludes(note, "begins at byte 5, the next whole character");
  }
  const wide = await world.file("u", utf16("abc", true));
  assertEquals((await world.read({ path: wide, byte_offset: 3 })).text, "bc");
});

Deno.test("read decodes UTF-16 with a byte-order mark, page by page", async () => {
  await using world = await FileWorld.make({ answerChars: 1_000 });
  const content = Array.from({ length: 300 }, (_, i) => `Zeile ä${i}\r\n`)
    .join("");
  for (const little of [true, false]) {
    const path = await world.file("u", utf16(content, little));
    let joined = "";
    let args: Record<string, unknown> = { path };
    for (;;) {
      const { text, note } = await world.read(args);
      assertStringIncludes(note, `decoded from UTF-16${little ? "LE" : "BE"}`);
      joined += text;
      const next = note.match(/offset=(\d+) byte_offset=(\d+)/);
      if (!next) break;
      args = { path, offset: Number(next[1]), byte_offset: Number(next[2]) };
    }
    assertEquals(joined, content);
    assertEquals(
      (await world.read({ path, offset: -2 })).text,
      "Zeile ä298\r\nZeile ä299\r\n",
    );
  }
});

Deno.test("read leaves a UTF-8 byte-order mark out and says so", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "\ufeffhi\n");
  const { text, note } = await world.read({ path });
  assertEquals(text, "hi\n");
  assertStringIncludes(note, "byte-order mark at its start is not shown");
});

Deno.test("read marks and counts the bytes of another encoding", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", bytesOf("na\xefve caf\xe9\n"));
  const { text, note, meta } = await world.read({ path });
  assertEquals(text, "na\\xefve caf\\xe9\n");
  assertStringIncludes(note, "2 bytes are not UTF-8, shown as \\xHH");
  assertEquals(meta.undecodable_bytes, 2);
});

Deno.test("read refuses binary files in the first seed's words and says what they are", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", bytesOf("\x7fELF\x02\x01\0\0"));
  const { text, note, isError } = await world.read({ path });
  assertEquals(text, `read: ${path} does not look like UTF-8 text`);
  assertStringIncludes(note, "an ELF executable or library of 8 bytes");
  assert(isError);
});

Deno.test("read hands pictures and sound over, up to a size", async () => {
  await using world = await FileWorld.make();
  const png = bytesOf("\x89PNG\r\n\x1a\n" + "\0".repeat(100));
  const path = await world.file("p.png", png);
  const { content, note } = await world.read({ path });
  assertEquals(content[0], {
    type: "image",
    mimeType: "image/png",
    data: btoa(String.fromCharCode(...png)),
  });
  assertStringIncludes(note, "image/png, 108 bytes");
  const sound = await world.file("s.wav", bytesOf("RIFF\x10\0\0\0WAVEfmt "));
  assertEquals((await world.read({ path: sound })).content[0]?.type, "audio");

  const large = new Uint8Array(MEDIA_BYTES + 1);
  large.set(png);
  const over = await world.file("large.png", large);
  assertEquals(
    (await world.read({ path: over })).text,
    `read: ${over}: image/png of 3,145,729 bytes, over the 3145728 byte limit`,
  );
  const most = await world.file("most.png", large.subarray(1 - 1, MEDIA_BYTES));
  const block = (await world.read({ path: most })).content[0];
  assertEquals(
    block?.type === "image" ? block.data.length : 0,
    MEDIA_BYTES / 3 * 4,
  );
});

Deno.test("read lists a folder with kinds, sizes and counts", async () => {
  await using world = await FileWorld.make();
  await Deno.mkdir(world.path("d/sub/deeper"), { recursive: true });
  await world.file("d/a.txt", "12345");
  await world.file("d/sub/x", "");
  await world.file("d/line\nfeed", "1");
  await Deno.symlink("a.txt", world.path("d/link"));
  const { text, note, meta } = await world.read({ path: world.path("d") });
  assertEquals(
    text,
    "a.txt  5 bytes\nline\\nfeed  1 byte\nlink -> a.txt\nsub/  2 entries\n",
  );
  assertEquals(
    note,
    `[rousseau: ${world.path("d")} is a directory: 4 entries]`,
  );
  assertEquals(meta, { directory: true, entries: 4, shown: 4 });
  await Deno.mkdir(world.path("none"));
  assertStringIncludes(
    (await world.read({ path: world.path("none") })).note,
    "is a directory: empty",
  );
});

Deno.test("read pages a folder like a file", async () => {
  await using world = await FileWorld.make();
  await Deno.mkdir(world.path("d"));
  for (let i = 0; i < 20; i++) {
    await world.file(`d/f${String(i).padStart(2, "0")}`, "");
  }
  const path = world.path("d");
  const { text, note } = await world.read({ path, offset: 3, limit: 2 });
  assertEquals(text, "f02  0 bytes\nf03  0 bytes\n");
  assertStringIncludes(note, "entries 3-4 of 20; read on with offset=5");
  assertEquals(
    (await world.read({ path, offset: -1 })).text,
    "f19  0 bytes\n",
  );
  assertEquals(
    (await world.read({ path, offset: 21 })).text,
    `read: ${path} has 20 entries; offset 21 is past its end`,
  );
  assert(LISTING_ENTRIES > 20);
});

Deno.test("a listing does not look into what may not be read", async () => {
  await using world = await FileWorld.make();
  await Deno.mkdir(world.path(".ssh"));
  await world.file(".ssh/id_ed25519", "secret");
  const { text } = await world.read({ path: world.root });
  assertMatch(text, /^\.ssh\/? {2}\(refused\)\n$/);
});

Deno.test("read ends when its call is cancelled", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", numbers(100_000));
  const signal = AbortSignal.abort(new DOMException("gone", "AbortError"));
  await assertRejects(
    () => world.read({ path, offset: 90_000 }, { ...world.context, signal }),
    DOMException,
    "gone",
  );
});

Deno.test("the lines of a file beyond a size are not counted", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "1234567\n".repeat(COUNT_BYTES / 8));
  assertStringIncludes(
    (await world.read({ path, limit: 1 })).note,
    "line 1 of 524,288",
  );
  await Deno.writeTextFile(path, "x", { append: true });
  assertStringIncludes(
    (await world.read({ path, limit: 1 })).note,
    "line 1 (bytes 0-8 of 4,194,305)",
  );
});

Deno.test("a search for a line that takes too long answers how to go on, and the same call does", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "1234567\n".repeat(200_000));
  const target = await world.context.scope.resolve(path, "read");
  const bytes = await Deno.readFile(path);
  let now = 0;
  const ask = (offset: number, step: number) =>
    readText({
      source: memorySource(bytes),
      target,
      info: target.info!,
      asked: {
        offset,
        limit: 1,
        byteOffset: undefined,
        lineNumbers: true,
      },
      ctx: world.context,
      now: () => now += step,
    }, { encoding: "utf-8", start: 0, head: bytes.subarray(0, 8_000) });
  const late = JSON.stringify(await ask(150_000, SCAN_MS / 2));
  assertStringIncludes(late, "stopped after 10 s: line 150,000");
  assertStringIncludes(late, "The same call again searches on");
  assertStringIncludes(late, '"partial":true');
  const first = Number(late.match(/"next_offset":(\d+)/)![1]);
  assert(first > 1 && first < 150_000);
  const again = JSON.stringify(await ask(150_000, 0));
  assertStringIncludes(again, '"150000\\t1234567\\n"');
  const tail = JSON.stringify(await ask(-150_000, SCAN_MS / 2));
  assertStringIncludes(tail, "stopped after 10 s: these are the last");
});

Deno.test("a search that ran out of time is gone on from while the file only grows", async () => {
  const scans = new Scans();
  const info = { dev: 1, ino: 2, birthtime: null } as Deno.FileInfo;
  const bytes = new TextEncoder().encode("a\nb\nc\nd\n");
  await scans.remember(memorySource(bytes), info, { line: 3, byte: 4 });
  const grown = new TextEncoder().encode("a\nb\nc\nd\ne\n");
  assertEquals((await scans.recall(memorySource(grown), info))?.line, 3);
  const rewritten = new TextEncoder().encode("a\n\n\n\nc\nd\ne\n");
  assertEquals(await scans.recall(memorySource(rewritten), info), undefined);
  const shorter = bytes.subarray(0, 6);
  assertEquals(await scans.recall(memorySource(shorter), info), undefined);
});

Deno.test("searches of only so many files are remembered", async () => {
  const scans = new Scans();
  const source = memorySource(new TextEncoder().encode("a\nb\n"));
  const info = (ino: number) =>
    ({ dev: 1, ino, birthtime: null }) as Deno.FileInfo;
  for (let ino = 0; ino <= REMEMBERED_SCANS; ino++) {
    await scans.remember(source, info(ino), { line: 2, byte: 2 });
  }
  assertEquals(await scans.recall(source, info(0)), undefined);
  assertEquals((await scans.recall(source, info(1)))?.line, 2);
});

Deno.test("the definition of read is short and says what it does", () => {
  assert(JSON.stringify([read.description, read.input]).length < 1_300);
  assertEquals(read.tool?.annotations?.readOnlyHint, true);
  assertEquals(
    read.tool?._meta?.["anthropic/maxResultSizeChars"],
    MAX_ANSWER_CHARS,
  );
});
