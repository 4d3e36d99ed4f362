import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  memorySource,
  SCAN_CHUNK,
  type ScanLimits,
  seekLine,
  seekTail,
  UNSIZED_BYTES,
  unsizedSource,
} from "../lib/seek.ts";
import { utf16 } from "./file_world.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const start = { line: 1, byte: 0 };
const unhurried: ScanLimits = {
  signal: new AbortController().signal,
  now: () => 0,
};

Deno.test("seekLine finds where each line begins", async () => {
  const source = memorySource(utf8("a\nbb\n\nlast"));
  for (const [line, byte] of [[1, 0], [2, 2], [3, 5], [4, 6]]) {
    assertEquals(
      await seekLine(source, line!, start, "utf-8", unhurried),
      { line: line!, byte: byte!, outcome: "found" },
    );
  }
});

Deno.test("seekLine tells the last line of a file that is too short", async () => {
  for (const [text, last] of [["a\nb", 2], ["a\nb\n", 2], ["a", 1]]) {
    const source = memorySource(utf8(text as string));
    for (const target of [(last as number) + 1, 99]) {
      const found = await seekLine(source, target, start, "utf-8", unhurried);
      assertEquals([found.outcome, found.line], ["end", last as number]);
    }
  }
});

Deno.test("seekLine goes on from a known line", async () => {
  const source = memorySource(utf8("a\nbb\nccc\ndddd"));
  assertEquals(
    await seekLine(source, 4, { line: 3, byte: 5 }, "utf-8", unhurried),
    { line: 4, byte: 9, outcome: "found" },
  );
});

Deno.test("seekLine crosses chunks, in UTF-16 too", async () => {
  const lines = Array.from({ length: 40_000 }, (_, i) => `line ${i + 1}`);
  const text = lines.join("\n");
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    const bytes = encoding === "utf-8"
      ? utf8(text)
      : utf16(text, encoding === "utf-16le");
    assert(bytes.length > SCAN_CHUNK);
    const from = { line: 1, byte: encoding === "utf-8" ? 0 : 2 };
    const found = await seekLine(
      memorySource(bytes),
      39_000,
      from,
      encoding,
      unhurried,
    );
    const before = lines.slice(0, 38_999).join("\n").length + 1;
    assertEquals(
      found.byte,
      encoding === "utf-8" ? before : before * 2 + 2,
    );
  }
});

Deno.test("seekLine stops when its time is up, at a line that can be gone on from", async () => {
  const bytes = utf8("12345678\n".repeat(200_000));
  let now = 0;
  const limits = { ...unhurried, now: () => now++, limit: 2 };
  const first = await seekLine(
    memorySource(bytes),
    190_000,
    start,
    "utf-8",
    limits,
  );
  assertEquals(first.outcome, "timeout");
  assertEquals(first.byte, (first.line - 1) * 9);
  const second = await seekLine(
    memorySource(bytes),
    190_000,
    first,
    "utf-8",
    unhurried,
  );
  assertEquals(second, {
    line: 190_000,
    byte: 189_999 * 9,
    outcome: "found",
  });
});

Deno.test("seekLine ends when its call is cancelled", async () => {
  const controller = new AbortController();
  controller.abort(new Error("cancelled"));
  await assertRejects(
    () =>
      seekLine(memorySource(utf8("a\nb\n")), 2, start, "utf-8", {
        ...unhurried,
        signal: controller.signal,
      }),
    Error,
    "cancelled",
  );
});

Deno.test("seekTail finds where the last lines begin", async () => {
  for (const end of ["", "\n"]) {
    const source = memorySource(utf8(`a\nbb\n\nlast${end}`));
    for (const [count, byte] of [[1, 6], [2, 5], [3, 2]]) {
      assertEquals(
        await seekTail(source, count!, 0, "utf-8", unhurried),
        { byte: byte!, lines: count!, outcome: "found" },
      );
    }
    for (const count of [4, 5, 99]) {
      assertEquals(
        await seekTail(source, count, 0, "utf-8", unhurried),
        { byte: 0, lines: 4, outcome: "start" },
      );
    }
  }
  assertEquals(
    await seekTail(memorySource(utf8("")), 3, 0, "utf-8", unhurried),
    { byte: 0, lines: 0, outcome: "start" },
  );
});

Deno.test("seekTail crosses chunks, in UTF-16 too", async () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i + 1}`);
  const text = lines.join("\n");
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"] as const) {
    const bytes = encoding === "utf-8"
      ? utf8(text)
      : utf16(text, encoding === "utf-16le");
    const from = encoding === "utf-8" ? 0 : 2;
    const tail = await seekTail(
      memorySource(bytes),
      50_000,
      from,
      encoding,
      unhurried,
    );
    const before = lines.slice(0, 10_000).join("\n").length + 1;
    assertEquals(tail, {
      byte: from + before * (encoding === "utf-8" ? 1 : 2),
      lines: 50_000,
      outcome: "found",
    });
  }
});

Deno.test("seekTail stops when its time is up, with what it found", async () => {
  const bytes = utf8("12345678\n".repeat(200_000));
  let now = 0;
  const tail = await seekTail(memorySource(bytes), 190_000, 0, "utf-8", {
    ...unhurried,
    now: () => now++,
    limit: 2,
  });
  assertEquals(tail.outcome, "timeout");
  assertEquals(tail.byte, (200_000 - tail.lines) * 9);
  assert(tail.lines > 0);
});

Deno.test("unsizedSource reads to the end, up to its limit", async () => {
  const endless = (left: number) => ({
    read: (into: Uint8Array) => {
      const n = Math.min(left, into.length, 100_000);
      left -= n;
      return Promise.resolve(n === 0 ? null : n);
    },
  });
  assertEquals((await unsizedSource(endless(0))).size, 0);
  assertEquals((await unsizedSource(endless(250_001))).size, 250_001);
  assertEquals((await unsizedSource(endless(Infinity))).size, UNSIZED_BYTES);
});
