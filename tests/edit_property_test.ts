import { assertGreater } from "@std/assert";
import { tryEdits } from "./edit_property.ts";

Deno.test("edit and write change no byte that was not asked for, on 500 random files", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { edited, written } = await tryEdits(500, { seed, maxBytes: 200_000 });
  assertGreater(edited, 100);
  assertGreater(written, 50);
});
