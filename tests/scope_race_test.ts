import { assertEquals, assertGreater } from "@std/assert";
import { race } from "./scope_race.ts";

Deno.test("a file swapped for a link between check and use lets nothing out and nothing in", async () => {
  const { readOutside, wroteOutside, swaps } = await race("file", 400);
  assertGreater(swaps, 0);
  assertEquals({ readOutside, wroteOutside }, {
    readOutside: 0,
    wroteOutside: 0,
  });
});

Deno.test("through a folder swapped for a link no content is written", async () => {
  const { wroteOutside, swaps } = await race("folder", 400);
  assertGreater(swaps, 0);
  assertEquals(wroteOutside, 0);
});
