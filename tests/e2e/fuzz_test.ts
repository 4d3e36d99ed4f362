import { assertEquals } from "@std/assert";
import { fuzz } from "../soak/fuzz.ts";

Deno.test("20,000 random and mutated lines: no crash, no hang, nothing but JSON-RPC on stdout", async () => {
  const report = await fuzz(20_000, 20_261_130);
  assertEquals(report.probes, 40);
});
