import { assert, assertEquals } from "@std/assert";
import { soak } from "./soak/bash_soak.ts";

Deno.test("bash leaves no process, descriptor or wrong answer behind after calls of every kind", async () => {
  if (Deno.build.os !== "linux") return;
  const report = await soak(80);
  assertEquals(report.wrong, []);
  assertEquals(report.left, []);
  assert(report.descriptors <= 0, `${report.descriptors} more descriptors`);
});
