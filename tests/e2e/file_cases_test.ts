// deno-lint-ignore-file camelcase -- the names are those of the schemas
/**
 * Inputs that broke other servers, for the tools `read`, `write` and `edit`; each is named by its case.
 */
import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import { bytesOf, utf16 } from "../file_world.ts";
import { Server } from "../harness.ts";
import { ProgramWorld } from "../program_world.ts";

Deno.test("E01: $ patterns in the new text are put in as they are", async () => {
  await using world = await ProgramWorld.make();
  for (const pattern of ["$&", "$$", "$'", "$1", "$`"]) {
    const path = await world.file("f", "x TOKEN y");
    await world.edit({ path, old_string: "TOKEN", new_string: pattern });
    assertEquals(await world.bytes("f"), `x ${pattern} y`);
  }
});

Deno.test("E02: an empty old text is refused before anything, with replace_all too", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "abc");
  for (const more of [{}, { replace_all: true }]) {
    const { text, isError } = await world.edit({
      path,
      old_string: "",
      new_string: "x",
      ...more,
    });
    assertEquals([text, isError], ["edit: old_string is required", true]);
  }
  assertEquals(await world.bytes("f"), "abc");
});

Deno.test("E03: several matches are refused with their count and lines", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "foo\nbar\nfoo\n");
  const { text, note } = await world.edit({
    path,
    old_string: "foo",
    new_string: "x",
  });
  assertEquals(
    text,
    `edit: old_string is not unique in ${path} (found 2 occurrences); provide more surrounding context`,
  );
  assertStringIncludes(note, "lines 1, 3");
  assertEquals(await world.bytes("f"), "foo\nbar\nfoo\n");
});

Deno.test("E04: a refusal is an error", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "foo\nbar\nfoo\n");
  for (const wanted of ["foo", "missing"]) {
    const args = { path, old_string: wanted, new_string: "x" };
    assertEquals((await world.edit(args)).isError, true);
  }
});

Deno.test("E05: editing a CRLF file changes only the edited span", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "a\r\nb\r\nc\n");
  await world.edit({ path, old_string: "b", new_string: "B" });
  assertEquals(await world.bytes("f"), "a\r\nB\r\nc\n");
});

Deno.test("E06: LF text matches a CRLF file, and CRLF is written back", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "a\r\nb\r\nc\r\n");
  const { isError } = await world.edit({
    path,
    old_string: "a\nb",
    new_string: "a\nnew\nb",
  });
  assert(!isError);
  assertEquals(await world.bytes("f"), "a\r\nnew\r\nb\r\nc\r\n");
});

Deno.test("E09: a byte-order mark is kept", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", bytesOf("\xef\xbb\xbfhi"));
  await world.edit({ path, old_string: "hi", new_string: "ho" });
  assertEquals(await world.bytes("f"), "\xef\xbb\xbfho");
});

Deno.test("E12: bytes of another encoding far from the edit are kept", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", bytesOf("one\ncaf\xe9\n\x80\x81\xfe\xff"));
  const { isError } = await world.edit({
    path,
    old_string: "one",
    new_string: "two",
  });
  assert(!isError);
  assertEquals(await world.bytes("f"), "two\ncaf\xe9\n\x80\x81\xfe\xff");
});

Deno.test("E13: UTF-8 is not put into a Shift-JIS file", async () => {
  await using world = await ProgramWorld.make();
  const content = "name = \x93\xfa\x96\x7b\n"; // 日本
  const path = await world.file("f", bytesOf(content));
  const { text, isError } = await world.edit({
    path,
    old_string: "name",
    new_string: "名前",
  });
  assert(isError);
  assertEquals(
    text,
    `edit: ${path} is not UTF-8, and new_string is not plain ASCII`,
  );
  assertEquals(await world.bytes("f"), content);
});

Deno.test("E14: of a list with one bad edit nothing is written, and its index is named", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "one two\n");
  const { text, note, isError } = await world.edit({
    path,
    edits: [
      { old_string: "one", new_string: "1" },
      { old_string: "three", new_string: "3" },
    ],
  });
  assert(isError);
  assertEquals(text, `edit: edits[1]: old_string not found in ${path}`);
  assertStringIncludes(note, "nothing was written");
  assertEquals(await world.bytes("f"), "one two\n");
});

Deno.test("E17: table rows that only look the same are refused quickly, with the text to copy", async () => {
  await using world = await ProgramWorld.make();
  const rows = Array.from(
    { length: 20_000 },
    (_, i) => `| row ${i} | value\u00a0${i} | ok |`,
  );
  const path = await world.file("f", rows.join("\n"));
  const began = performance.now();
  const { note, isError } = await world.edit({
    path,
    old_string: "| row 15000 | value 15000 | ok |",
    new_string: "x",
  });
  assert(isError);
  assertLess(performance.now() - began, 10_000);
  assertStringIncludes(note, "line 15001");
  assertStringIncludes(note, "U+00A0");
  assertStringIncludes(note, rows[15_000]!);
});

Deno.test("E20: 50 parallel edits of one file are all kept", async () => {
  await using world = await ProgramWorld.make();
  const lines = Array.from({ length: 50 }, (_, i) => `line <${i}>`);
  const path = await world.file("f", lines.join("\n"));
  const answers = await Promise.all(
    lines.map((line, i) =>
      world.edit({ path, old_string: line, new_string: `edited <${i}>` })
    ),
  );
  assertEquals(answers.filter(({ isError }) => isError), []);
  assertEquals(
    await world.bytes("f"),
    lines.map((_, i) => `edited <${i}>`).join("\n"),
  );
});

Deno.test("E20: 8 servers with 50 edits each on one file lose none", async () => {
  await using world = await ProgramWorld.make();
  const name = (server: number, edit: number) => `<${server}.${edit}>`;
  const lines = Array.from(
    { length: 400 },
    (_, i) => `${name(i % 8, Math.floor(i / 8))} open\n`,
  ).join("");
  const path = await world.file("shared.txt", lines);
  const { folders } = world;
  await Promise.all(Array.from({ length: 8 }, async (_, me) => {
    await using server = await Server.open({ folders, shared: true });
    const texts = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        server.text("edit", {
          path,
          old_string: `${name(me, i)} open`,
          new_string: `${name(me, i)} done`,
        })),
    );
    assertEquals(new Set(texts), new Set([`edited ${path} (1 replacement)`]));
  }));
  assertEquals(
    await Deno.readTextFile(path),
    lines.replaceAll("open", "done"),
  );
});

Deno.test("E22: mode bits are kept", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("run.sh", "#!/bin/sh\necho a\n");
  await Deno.chmod(path, 0o755);
  await world.edit({ path, old_string: "echo a", new_string: "echo b" });
  assertEquals((await Deno.stat(path)).mode! & 0o7777, 0o755);
});

Deno.test("R01: a named pipe, a device and a socket are refused by name, at once", async () => {
  await using world = await ProgramWorld.make();
  const pipe = world.path("pipe");
  const made = await new Deno.Command("mkfifo", { args: [pipe] }).output();
  assert(made.success);
  assertEquals(
    (await world.read({ path: pipe })).text,
    `read: ${pipe}: not a regular file: it is a FIFO (named pipe)`,
  );
  const zero = await world.read({ path: "/dev/zero" });
  assert(zero.isError);
  const socket = world.path("socket");
  const listener = Deno.listen({ transport: "unix", path: socket });
  try {
    assertEquals(
      (await world.read({ path: socket })).text,
      `read: ${socket}: not a regular file: it is a socket`,
    );
  } finally {
    listener.close();
  }
  for (
    const answer of [
      await world.write({ path: pipe, content: "x" }),
      await world.edit({ path: pipe, old_string: "a", new_string: "b" }),
    ]
  ) {
    assertStringIncludes(answer.text, "it is a FIFO (named pipe)");
  }
});

Deno.test("R02: a few lines of a file larger than an answer are given", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", "0123456789012345678\n".repeat(20_000));
  const { text, isError } = await world.read({ path, offset: 1, limit: 20 });
  assert(!isError);
  assertEquals(text, "0123456789012345678\n".repeat(20));
});

Deno.test("R04: the last lines of a 31 GB log are found without reading it", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("log", "start of the log\n");
  const size = 31 * 1024 ** 3;
  // Sparse: takes no room on the disk.
  await Deno.truncate(path, size);
  const lines = Array.from({ length: 200 }, (_, i) => `event ${i}\n`).join("");
  {
    using file = await Deno.open(path, { write: true });
    await file.seek(size, Deno.SeekMode.Start);
    await file.write(new TextEncoder().encode(`\n${lines}`));
  }
  // Its head must be text for it to be a log.
  {
    using file = await Deno.open(path, { write: true });
    await file.write(new TextEncoder().encode("head\n".repeat(2_000)));
  }
  const began = performance.now();
  const { text, note } = await world.read({ path, offset: -100 });
  // To read it would take a minute.
  assertLess(performance.now() - began, 10_000);
  assertEquals(text, lines.slice(lines.indexOf("event 100\n")));
  assertStringIncludes(note, "100 lines (bytes 33,");
  assertStringIncludes(note, "the end");
});

Deno.test("R05: a 4 MB file and a line of 5 MB are paged, and nothing freezes", async () => {
  await using world = await ProgramWorld.make();
  const many = await world.file(
    "many",
    "some text of a line\n".repeat(200_000),
  );
  const one = await world.file("one", "x".repeat(5_000_000));
  const marked = await world.file(
    "marked",
    new Uint8Array(5_000_000).fill(0xe9),
  );
  for (const path of [many, one, marked]) {
    const began = performance.now();
    const [{ text, note, isError }] = await Promise.all([
      world.read({ path }),
      world.server.request("ping"),
    ]);
    assertLess(performance.now() - began, 10_000);
    assert(!isError);
    assertLess(text.length + note.length, 20_001);
    assertStringIncludes(note, "byte_offset=");
  }
  const { text } = await world.read({ path: many, offset: 150_000, limit: 1 });
  assertEquals(text, "some text of a line\n");
  const edited = await world.edit({
    path: one,
    old_string: "missing",
    new_string: "y",
  });
  assert(edited.isError);
});

Deno.test("R09: control and NUL bytes are not handed over raw", async () => {
  await using world = await ProgramWorld.make();
  const nul = await world.file("nul", bytesOf("\0"));
  assertEquals(
    (await world.read({ path: nul })).text,
    `read: ${nul} does not look like UTF-8 text`,
  );
  const late = await world.file(
    "late",
    bytesOf(`${"text\n".repeat(1_990)}\x1b[31mred\0\n`),
  );
  const { text, note } = await world.read({ path: late });
  assertStringIncludes(text, "\\x1b[31mred\\x00\n");
  assertStringIncludes(note, "2 control characters shown as \\xHH");
});

Deno.test("R10: a folder is answered as a folder, with what is in it", async () => {
  await using world = await ProgramWorld.make();
  await world.file("a.txt", "x");
  const { text, note, isError } = await world.read({ path: world.root });
  assert(!isError);
  assertEquals(text, "a.txt  1 byte\n");
  assertStringIncludes(note, `${world.root} is a directory: 1 entry`);
});

Deno.test("R11: a folder of many entries is listed within bounds and counted", async () => {
  await using world = await ProgramWorld.make();
  const folder = world.path("node_modules");
  await Deno.mkdir(folder);
  const names = Array.from(
    { length: 3_000 },
    (_, i) => `package-${String(i).padStart(4, "0")}`,
  );
  for (const name of names) await Deno.mkdir(`${folder}/${name}`);
  const { text, note } = await world.read({ path: folder });
  assertEquals(text.split("\n").length, 501);
  assertStringIncludes(
    note,
    "entries 1-500 of 3,000; read on with offset=501",
  );
  assertLess(text.length + note.length, 20_001);
  const rest = await world.read({ path: folder, offset: 2_999 });
  assertEquals(
    rest.text,
    "package-2998/  0 entries\npackage-2999/  0 entries\n",
  );
});

Deno.test("UTF-16 files are read, edited and appended to as what they are", async () => {
  await using world = await ProgramWorld.make();
  const path = await world.file("f", utf16("eins\r\nzwei\r\n", true));
  assertEquals((await world.read({ path })).text, "eins\r\nzwei\r\n");
  await world.edit({ path, old_string: "zwei", new_string: "drei" });
  await world.write({ path, content: "vier\r\n", append: true });
  assertEquals(
    await Deno.readFile(path),
    utf16("eins\r\ndrei\r\nvier\r\n", true),
  );
});
