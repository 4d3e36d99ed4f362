import { assert, assertEquals, assertLess } from "@std/assert";
import { soakClients } from "./soak/http_clients.ts";
import { soakIdle } from "./soak/http_idle.ts";

Deno.test("many HTTP clients of both eras get right answers, and leave nothing behind", async () => {
  if (Deno.build.os !== "linux") return;
  const report = await soakClients(2, 20);
  assertEquals(report.wrong, []);
  assert(report.requests > 100, `${report.requests} requests`);
  assert(report.descriptors <= 0, `${report.descriptors} more descriptors`);
});

Deno.test("idle and half-open HTTP connections keep nobody waiting, and do not hold up the end", async () => {
  if (Deno.build.os !== "linux") return;
  const report = await soakIdle(300);
  assertEquals([report.open, report.wrong], [300, []]);
  assert(report.descriptors <= 0, `${report.descriptors} more descriptors`);
  assertLess(report.ping, 1_000);
  // A host kills half a second after it has asked.
  assertLess(report.exit, 450);
});
