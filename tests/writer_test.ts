import { assertEquals } from "@std/assert";
import { LineWriter, MAX_UNWRITTEN_CHARS } from "../lib/writer.ts";

/** A stream that keeps what is written, each write when `gate` lets it. */
function sink(gate: () => Promise<void> = () => Promise.resolve()) {
  const writes: string[] = [];
  let isClosed = false;
  const stream = new WritableStream<Uint8Array>({
    async write(bytes) {
      await gate();
      writes.push(new TextDecoder().decode(bytes));
    },
    close() {
      isClosed = true;
    },
  });
  return { stream, writes, isClosed: () => isClosed };
}

Deno.test("LineWriter joins lines that are ready together into one write", async () => {
  const { stream, writes } = sink();
  const writer = new LineWriter(stream, () => {});
  writer.write("a");
  writer.write("b");
  await writer.flush();
  writer.write("c");
  await writer.flush();
  assertEquals(writes, ["a\nb\n", "c\n"]);
});

Deno.test("LineWriter joins what becomes ready while it writes", async () => {
  const gate = Promise.withResolvers<void>();
  const { stream, writes } = sink(() => gate.promise);
  const writer = new LineWriter(stream, () => {});
  writer.write("a");
  await Promise.resolve();
  for (const line of ["b", "c", "d"]) writer.write(line);
  gate.resolve();
  await writer.flush();
  assertEquals(writes, ["a\n", "b\nc\nd\n"]);
});

Deno.test("LineWriter has room up to its limit, and again when the peer has read", async () => {
  const gate = Promise.withResolvers<void>();
  const { stream } = sink(() => gate.promise);
  const writer = new LineWriter(stream, () => {});
  writer.write("x".repeat(MAX_UNWRITTEN_CHARS - 1));
  assertEquals(writer.room(), undefined);
  writer.write("");
  const room = writer.room()!;
  gate.resolve();
  await room;
  assertEquals(writer.room(), undefined);
});

Deno.test("LineWriter tells once that the stream is closed, and then drops lines", async () => {
  let told = 0;
  const writer = new LineWriter(
    new WritableStream({
      write: () => Promise.reject(new Error("gone")),
    }),
    () => told++,
  );
  writer.write("a");
  await writer.flush();
  writer.write("b");
  await writer.flush();
  assertEquals([told, writer.room()], [1, undefined]);
  await writer.end({ close: true });
});

Deno.test("LineWriter closes its stream, or gives it back", async () => {
  const closed = sink();
  await new LineWriter(closed.stream, () => {}).end({ close: true });
  assertEquals(closed.isClosed(), true);
  const kept = sink();
  await new LineWriter(kept.stream, () => {}).end({ close: false });
  assertEquals([kept.isClosed(), kept.stream.locked], [false, false]);
});
