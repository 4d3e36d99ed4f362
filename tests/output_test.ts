import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { HEAD_SHARE, Output } from "../lib/output.ts";
import { KEPT_FILES, OutputFiles } from "../lib/output_files.ts";
import { clean, fitHead, fitTail } from "../lib/output_text.ts";

const encoder = new TextEncoder();

/** Writes `bytes` in chunks of `size` and ends. */
async function collect(
  bytes: Uint8Array | string,
  { budget = 100, size = 7, files, fileMax }: {
    budget?: number;
    size?: number;
    files?: OutputFiles;
    fileMax?: number;
  } = {},
): Promise<Output> {
  const all = typeof bytes === "string" ? encoder.encode(bytes) : bytes;
  const output = new Output(budget, files, fileMax);
  for (let at = 0; at < all.length; at += size) {
    await output.write(all.slice(at, at + size));
  }
  await output.end();
  return output;
}

/** Runs `body` with a place for files that is gone afterwards. */
async function withFiles(
  body: (files: OutputFiles, temp: string) => Promise<void>,
): Promise<void> {
  const temp = await Deno.realPath(await Deno.makeTempDir());
  const files = new OutputFiles(temp);
  try {
    await body(files, temp);
  } finally {
    await files.close();
    await Deno.remove(temp, { recursive: true });
  }
}

function numbered(lines: number): string {
  return Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join("");
}

/** All of an output, read page by page. */
async function readAll(output: Output, budget: number): Promise<string> {
  let text = "";
  for (let since = 0; since < output.total;) {
    const piece = await output.read(since, budget);
    assertEquals(piece.from, since);
    assert(piece.next > since, `no progress at ${since}`);
    assert(piece.text.length <= budget);
    text += piece.text;
    since = piece.next;
  }
  return text;
}

Deno.test("Output shows text up to the budget whole, and one character more with a gap", async () => {
  const fits = await collect("x".repeat(1000), { budget: 1000 });
  assertEquals(fits.show(1000), {
    text: "x".repeat(1000),
    escaped: 0,
    invalid: false,
    dropped: 0,
  });
  const over = (await collect("x".repeat(1001), { budget: 1000 })).show(1000);
  assert(over.dropped > 0);
  assert(over.text.length <= 1000);
});

Deno.test("Output shows nothing as nothing", async () => {
  assertEquals((await collect("")).show(100).text, "");
});

Deno.test("Output keeps three-byte characters whole up to the budget", async () => {
  const text = "漢".repeat(500);
  assertEquals((await collect(text, { budget: 500 })).show(500).text, text);
});

Deno.test("Output cuts at line ends and counts every byte that it leaves out", async () => {
  for (const lines of [40, 400, 40_000]) {
    const text = numbered(lines);
    const output = await collect(text, { budget: 200, size: 4096 });
    const shown = output.show(200);
    const gap = `[output truncated: ${shown.dropped} bytes dropped]\n`;
    const [head, tail] = shown.text.split(gap) as [string, string];
    assert(text.startsWith(head) && head.endsWith("\n"), head);
    assert(text.endsWith(tail) && /^line \d+\n/.test(tail), tail);
    assertEquals(head.length + tail.length + shown.dropped, text.length);
    assert(shown.text.length <= 200);
    assertEquals(output.total, text.length);
  }
});

Deno.test("Output gives the head its share", async () => {
  const output = await collect(numbered(10_000), { budget: 2000, size: 4096 });
  const [head, tail] = output.show(2000).text.split(/\[output .*\n/);
  assert(head!.length <= 2000 * HEAD_SHARE && head!.length > 700);
  assert(tail!.length > 1000);
  const most = output.show(2000, 0.1).text.split(/\[output .*\n/);
  assert(most[0]!.length <= 200 && most[1]!.length > 1700);
});

Deno.test("Output cuts an endless line between characters", async () => {
  for (const character of ["é", "漢", "😀", "a漢é😀"]) {
    const output = await collect(character.repeat(20_000), {
      budget: 300,
      size: 1000,
    });
    const shown = output.show(300);
    assertEquals(shown.invalid, false, character);
    assert(shown.text.isWellFormed());
    assert(shown.text.length <= 300);
  }
});

Deno.test("Output puts characters together that chunks cut", async () => {
  const text = "aé漢😀\n".repeat(20);
  for (const size of [1, 2, 3, 5]) {
    const output = await collect(text, { budget: 1000, size });
    assertEquals(output.show(1000), {
      text,
      escaped: 0,
      invalid: false,
      dropped: 0,
    });
  }
});

Deno.test("clean strips terminal sequences, writes out control characters and marks what is not UTF-8", () => {
  const bytes = new Uint8Array([
    ...encoder.encode("\x1b[31mred\x1b[0m \x07 tab\t\r\n\x00"),
    0xff,
  ]);
  assertEquals(clean(bytes), {
    text: "red \\x07 tab\t\r\n\\x00\ufffd",
    escaped: 2,
    invalid: true,
  });
});

Deno.test("fitHead and fitTail count what the text becomes, not the bytes", () => {
  const controls = new Uint8Array(100);
  assertEquals(fitHead(controls, 40), 10);
  assertEquals(fitTail(controls, 40), 10);
  const colours = encoder.encode("\x1b[31ma".repeat(10));
  assertEquals(fitHead(colours, 10), colours.length);
  assertEquals(fitHead(encoder.encode("abc"), 0), 0);
  assertEquals(fitTail(encoder.encode("abc"), 0), 0);
});

Deno.test("Output makes no file while memory holds everything", async () => {
  await withFiles(async (files, temp) => {
    const output = await collect("x".repeat(300), { budget: 100, files });
    assertEquals(output.path, undefined);
    assertEquals([...Deno.readDirSync(temp)], []);
  });
});

Deno.test("Output keeps all of a long output in a private file", async () => {
  await withFiles(async (files) => {
    const text = numbered(5000);
    const output = await collect(text, { budget: 100, size: 999, files });
    assertEquals(await Deno.readTextFile(output.path!), text);
    assertEquals(output.saved, text.length);
    if (Deno.build.os !== "windows") {
      assertEquals((await Deno.stat(output.path!)).mode! & 0o777, 0o600);
      const folder = await Deno.stat(await files.folder());
      assertEquals(folder.mode! & 0o777, 0o700);
    }
  });
});

Deno.test("Output stops its file at the limit and goes on counting", async () => {
  await withFiles(async (files) => {
    const output = await collect("x".repeat(5000), {
      budget: 100,
      files,
      fileMax: 1234,
      size: 100,
    });
    assertEquals((await Deno.stat(output.path!)).size, 1234);
    assertEquals(output.saved, 1234);
    assertEquals(output.total, 5000);
  });
});

Deno.test("Output.keep puts into a file what memory holds, and what follows after it", async () => {
  await withFiles(async (files) => {
    const output = new Output(100, files);
    await output.write(encoder.encode("a".repeat(200)));
    const path = await output.keep();
    assertEquals(await Deno.readTextFile(path!), "a".repeat(200));
    await output.write(encoder.encode("b".repeat(200)));
    await output.write(encoder.encode("c".repeat(200)));
    await output.end();
    assertEquals(
      await Deno.readTextFile(path!),
      "a".repeat(200) + "b".repeat(200) + "c".repeat(200),
    );
  });
});

Deno.test("Output goes on without a file where none can be made", async () => {
  const files = new OutputFiles("/nowhere/at/all");
  const output = await collect(numbered(1000), { budget: 100, files });
  assertEquals(output.path, undefined);
  assertEquals(await output.keep(), undefined);
  assertStringIncludes(output.show(100).text, "line 1000");
});

Deno.test("Output.read gives every byte once, from memory and from the file", async () => {
  await withFiles(async (files) => {
    for (const text of [numbered(30), numbered(3000), "é漢😀".repeat(4000)]) {
      const output = await collect(text, { budget: 150, size: 1000, files });
      assertEquals(await readAll(output, 150), text);
    }
  });
});

Deno.test("Output.read moves on to what is still kept where there is no file", async () => {
  const output = await collect(numbered(5000), { budget: 100, size: 1000 });
  const piece = await output.read(5000, 100);
  assertEquals(piece.from, output.total - 200);
  assertEquals((await output.read(0, 100)).text.slice(0, 7), "line 1\n");
});

Deno.test("Output.read counts a negative offset from the end", async () => {
  const output = await collect("one\ntwo\nthree\n");
  assertEquals((await output.read(-6, 100)).text, "three\n");
  assertEquals((await output.read(-600, 100)).from, 0);
  const past = await output.read(99, 100);
  assertEquals([past.text, past.from, past.next], ["", 14, 14]);
});

Deno.test("Output.read waits with a character that is not yet whole", async () => {
  const output = new Output(100);
  const bytes = encoder.encode("a漢");
  await output.write(bytes.slice(0, 3));
  assertEquals((await output.read(0, 100)).next, 1);
  await output.write(bytes.slice(3));
  assertEquals((await output.read(1, 100)).text, "漢");
  await output.end();
});

Deno.test("Output.read shows an unfinished character at the end as what it is", async () => {
  const output = await collect(new Uint8Array([97, 0xe6]));
  const piece = await output.read(0, 100);
  assertEquals(piece.text, "a\ufffd");
  assertEquals(piece.next, 2);
});

Deno.test("Output.news comes with a write, and at once after the end", async () => {
  const output = new Output(100);
  const news = output.news();
  await output.write(encoder.encode("x"));
  await news;
  const last = output.news();
  await output.end();
  await last;
  await output.news();
});

Deno.test("Output.last is the end of what was printed", async () => {
  const output = await collect(numbered(5000), { budget: 100, size: 1000 });
  assertEquals(output.last(24), "line 4999\nline 5000\n");
});

Deno.test("OutputFiles keeps the newest files, those in use, and removes all in the end", async () => {
  await withFiles(async (files, temp) => {
    const open = await files.create();
    const paths: string[] = [];
    for (let i = 0; i < KEPT_FILES + 3; i++) {
      const { path, file } = await files.create();
      file.close();
      files.finished(path);
      paths.push(path);
    }
    const left = [...Deno.readDirSync(await files.folder())];
    assertEquals(left.length, KEPT_FILES);
    assertEquals((await Deno.stat(open.path)).isFile, true);
    assertEquals((await Deno.stat(paths.at(-1)!)).isFile, true);
    open.file.close();
    await files.close();
    assertEquals([...Deno.readDirSync(temp)], []);
  });
});
