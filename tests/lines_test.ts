import { assertEquals, assertLess, assertRejects } from "@std/assert";
import {
  HEAD_BYTES,
  type Line,
  MAX_LINE_BYTES,
  readLines,
  TAIL_BYTES,
} from "../lib/lines.ts";

const encoder = new TextEncoder();

function bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

async function linesOf(...chunks: (string | Uint8Array)[]): Promise<Line[]> {
  const source = ReadableStream.from(
    chunks.map((chunk) => typeof chunk === "string" ? bytes(chunk) : chunk),
  );
  return (await Array.fromAsync(readLines(source))).flat();
}

Deno.test("readLines splits at line feeds, with or without a carriage return", async () => {
  assertEquals(await linesOf("a\nb\r\nc\n"), ["a", "b", "c"]);
});

Deno.test("readLines hands over a last line without a newline", async () => {
  assertEquals(await linesOf("a\nb"), ["a", "b"]);
  assertEquals(await linesOf("a\nb\r"), ["a", "b"]);
});

Deno.test("readLines joins a line that spans many chunks", async () => {
  assertEquals(await linesOf("a", "", "b", "c\nd", "\n"), ["abc", "d"]);
});

Deno.test("J03: a character split between chunks arrives whole", async () => {
  const line = bytes('{"t":"😀"}\n');
  for (let at = 1; at < line.length; at++) {
    assertEquals(await linesOf(line.subarray(0, at), line.subarray(at)), [
      '{"t":"😀"}',
    ]);
  }
});

Deno.test("J07: a byte-order mark at the start is skipped, even split between chunks", async () => {
  const mark = new Uint8Array([0xef, 0xbb, 0xbf]);
  assertEquals(await linesOf(mark, "{}\n"), ["{}"]);
  assertEquals(
    await linesOf(
      mark.subarray(0, 1),
      mark.subarray(1, 2),
      mark.subarray(2),
      "{}",
    ),
    ["{}"],
  );
  assertEquals(await linesOf("{}\n\uFEFF{}\n"), ["{}", "\uFEFF{}"]);
  assertEquals(await linesOf("\uFEFF\uFEFF{}\n"), ["\uFEFF{}"]);
});

Deno.test("J23: U+2028, U+2029, U+0085, form feed and a lone carriage return end no line", async () => {
  const line = "a\u2028b\u2029c\u0085d\fe\rf";
  assertEquals(await linesOf(`${line}\n`), [line]);
});

Deno.test("readLines skips blank lines", async () => {
  assertEquals(await linesOf("\n\r\n  \t\na\n\n"), ["a"]);
});

Deno.test("readLines hands over together what arrived together", async () => {
  const source = ReadableStream.from([
    bytes("a\nb\n"),
    bytes("c"),
    bytes("\n"),
  ]);
  assertEquals(await Array.fromAsync(readLines(source)), [["a", "b"], ["c"]]);
});

Deno.test("readLines accepts a line of exactly the limit, with either line end", async () => {
  const line = "x".repeat(MAX_LINE_BYTES);
  assertEquals(
    (await linesOf(`${line}\r\n`, "a\n")).map((l) => String(l).length),
    [
      MAX_LINE_BYTES,
      1,
    ],
  );
  assertEquals((await linesOf(`${line}\n`)).length, 1);
  assertEquals(
    (await linesOf(line.slice(1), "x", "\r", "\n")).map((l) => typeof l),
    ["string"],
  );
});

Deno.test("readLines reports a line of one byte more by its two ends, and goes on", async () => {
  const line = "a" + "x".repeat(MAX_LINE_BYTES - 1) + "z";
  const expected = {
    problem: "too long",
    head: "a" + "x".repeat(HEAD_BYTES - 1),
    tail: "x".repeat(TAIL_BYTES - 1) + "z",
  };
  assertEquals(await linesOf(`${line}\nb\n`), [expected, "b"] as Line[]);
  assertEquals(
    await linesOf(line.slice(0, 5000), line.slice(5000), "\r\nb\n"),
    [expected, "b"] as Line[],
  );
  assertEquals(await linesOf(line), [expected] as Line[]);
});

Deno.test("readLines does not hold a line that is too long", async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(0x78);
  let sent = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < 200) controller.enqueue(chunk);
      else controller.close();
    },
  });
  const before = Deno.memoryUsage();
  const [batch] = await Array.fromAsync(readLines(source));
  const after = Deno.memoryUsage();
  assertEquals(typeof batch![0], "object");
  assertLess(
    after.external - before.external + after.heapTotal - before.heapTotal,
    64 * 1024 * 1024,
  );
});

Deno.test("readLines reports a line that is not UTF-8, and only that line", async () => {
  const bad = new Uint8Array([...bytes('{"a":"'), 0xff, ...bytes('"}\n')]);
  assertEquals(
    await linesOf(new Uint8Array([...bytes("a\n"), ...bad, ...bytes("b\n")])),
    [
      "a",
      { problem: "not UTF-8", head: '{"a":"\uFFFD"}', tail: "" },
      "b",
    ],
  );
});

Deno.test("readLines reports a character that the end of input cuts", async () => {
  assertEquals(await linesOf(new Uint8Array([0x61, 0xf0, 0x9f])), [
    { problem: "not UTF-8", head: "a\uFFFD", tail: "" },
  ]);
});

Deno.test("readLines is not misled by lines that look like its own marks", async () => {
  assertEquals(
    await linesOf("\0\n", "\0" + "0\0head\0tail\n", "\uFEFF\0\na\n"),
    [
      { problem: "not text", head: " ", tail: "" },
      { problem: "not text", head: " 0 head tail", tail: "" },
      "\uFEFF\0",
      "a",
    ] as Line[],
  );
  assertEquals(await linesOf("\uFEFF\0\n"), [
    { problem: "not text", head: " ", tail: "" },
  ]);
});

Deno.test("readLines takes linear time for a line of many small chunks", async () => {
  const chunk = bytes("x".repeat(16));
  const time = async (count: number) => {
    const startedAt = performance.now();
    let sent = 0;
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent++ < count) controller.enqueue(chunk);
        else controller.close();
      },
    });
    await Array.fromAsync(readLines(source));
    return performance.now() - startedAt;
  };
  await time(1000);
  const short = await time(5000);
  const long = await time(50_000);
  assertLess(long, 40 * short + 200);
});

Deno.test("readLines ends and cancels its source when aborted", async () => {
  const abort = new AbortController();
  const cancelled = Promise.withResolvers<void>();
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes("a\n")),
    cancel: () => cancelled.resolve(),
  });
  const seen: Line[] = [];
  for await (const batch of readLines(source, abort.signal)) {
    seen.push(...batch);
    abort.abort();
  }
  assertEquals(seen, ["a"]);
  await cancelled.promise;
});

Deno.test("readLines passes on the failure of its source", async () => {
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error("gone")),
  });
  await assertRejects(() => Array.fromAsync(readLines(source)), Error, "gone");
});
