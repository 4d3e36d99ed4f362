import { assertEquals, assertRejects } from "@std/assert";
import { Ahead, MAX_AHEAD_CHARS } from "../lib/ahead.ts";
import type { Line } from "../lib/lines.ts";

async function* source(...batches: Line[][]): AsyncGenerator<Line[], void> {
  for (const batch of batches) yield await Promise.resolve(batch);
}

async function rest(ahead: Ahead): Promise<Line[][]> {
  const all: Line[][] = [];
  for (let read = await ahead.next(); !read.done; read = await ahead.next()) {
    all.push(read.value);
  }
  return all;
}

const NEVER = new Promise<void>(() => {});

Deno.test("Ahead notices the end of input without room, and loses nothing", async () => {
  const ahead = new Ahead(source(["a"], ["b", "c"], ["d"]));
  assertEquals(await ahead.next(), { value: ["a"], done: false });
  await ahead.until(NEVER);
  assertEquals(await rest(ahead), [["b", "c"], ["d"]]);
  await ahead.until(NEVER);
  assertEquals((await ahead.next()).done, true);
});

Deno.test("Ahead goes on when there is room, with what it had begun to read", async () => {
  const { readable, writable } = new TransformStream<Line[], Line[]>();
  const writer = writable.getWriter();
  const ahead = new Ahead(readable.values());
  await ahead.until(Promise.resolve());
  const written = [writer.write(["a"]), writer.close()];
  assertEquals(await rest(ahead), [["a"]]);
  await Promise.all(written);
});

Deno.test("Ahead reads a bounded number of characters ahead", async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<Line[], void> {
    for (;;) {
      given++;
      yield await Promise.resolve(["x".repeat(MAX_AHEAD_CHARS / 4)]);
    }
  }
  const ahead = new Ahead(endless());
  const { promise: room, resolve } = Promise.withResolvers<void>();
  const until = ahead.until(room);
  await new Promise((done) => setTimeout(done, 10));
  assertEquals(given, 4);
  resolve();
  await until;
  await ahead.next();
  assertEquals(given, 4);
});

Deno.test("Ahead hands a failure of the input on", async () => {
  const failing = () =>
    new Ahead({ next: () => Promise.reject(new Error("x")) });
  await assertRejects(() => failing().until(NEVER), Error, "x");
  await assertRejects(() => failing().next(), Error, "x");
});
