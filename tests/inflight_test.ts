import { assertEquals } from "@std/assert";
import { InFlight, Slots } from "../lib/inflight.ts";
import { BigId } from "../lib/rpc.ts";

const never = new AbortController().signal;

Deno.test("InFlight takes an id once until it has ended", () => {
  const table = new InFlight<string>();
  assertEquals(table.register(1, "a"), true);
  assertEquals(table.register(1, "b"), false);
  assertEquals(table.register("1", "c"), true);
  assertEquals(table.register(new BigId("11111111111111111111"), "d"), true);
  assertEquals(table.register(new BigId("11111111111111111111"), "e"), false);
  assertEquals([table.size, table.has(1), table.values()], [
    3,
    true,
    ["a", "c", "d"],
  ]);
  assertEquals(table.complete(1, "a"), true);
  assertEquals(table.register(1, "f"), true);
});

Deno.test("InFlight ends each entry once: completed, or cancelled", () => {
  const table = new InFlight<string>();
  table.register(1, "a");
  assertEquals(table.cancel(1), "a");
  assertEquals(table.cancel(1), undefined);
  assertEquals(table.complete(1, "a"), false);
  table.register(1, "b");
  assertEquals(table.complete(1, "a"), false);
  assertEquals(table.complete(1, "b"), true);
});

Deno.test("InFlight tells when it is idle, or that it is not in time", async () => {
  const table = new InFlight<string>();
  assertEquals(await table.idleWithin(0), true);
  table.register(1, "a");
  assertEquals(await table.idleWithin(5), false);
  const idle = table.idleWithin(10_000);
  table.complete(1, "a");
  assertEquals(await idle, true);
});

Deno.test("Slots gives its places at once, and the rest in the order of asking", async () => {
  const slots = new Slots(2);
  assertEquals([slots.take(never), slots.take(never)], [undefined, undefined]);
  const order: string[] = [];
  const third = slots.take(never)!.then(() => order.push("third"));
  const fourth = slots.take(never)!.then(() => order.push("fourth"));
  assertEquals(slots.waiting, 2);
  slots.release();
  slots.release();
  await Promise.all([third, fourth]);
  assertEquals(order, ["third", "fourth"]);
  slots.release();
  assertEquals(slots.take(never), undefined);
  assertEquals(slots.take(never) instanceof Promise, true);
});

Deno.test("Slots lets go of one that no longer wants a place", async () => {
  const slots = new Slots(1);
  slots.take(never);
  const abort = new AbortController();
  const left = slots.take(abort.signal)!;
  const stays = slots.take(never)!;
  abort.abort();
  assertEquals(await left, false);
  slots.release();
  assertEquals(await stays, true);
});

Deno.test("Slots tells when fewer wait than there may", async () => {
  const slots = new Slots(1);
  slots.take(never);
  assertEquals(slots.room(2), undefined);
  const waiting = [slots.take(never), slots.take(never)];
  const room = slots.room(2)!;
  let isThere = false;
  void room.then(() => isThere = true);
  await Promise.resolve();
  assertEquals(isThere, false);
  slots.release();
  await room;
  slots.release();
  await Promise.all(waiting);
});
