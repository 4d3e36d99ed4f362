import { assert, assertEquals } from "@std/assert";
import { inSlices, SLICE_MS } from "../lib/slices.ts";

/** Work for so many milliseconds, in steps of one. */
function* work(
  ms: number,
  ended: () => void,
): Generator<undefined, void, void> {
  const end = performance.now() + ms;
  try {
    while (performance.now() < end) {
      const step = performance.now() + 1;
      while (performance.now() < step);
      yield undefined;
    }
  } finally {
    ended();
  }
}

Deno.test("inSlices runs work to its end and lets timers and input through", async () => {
  const child = new Deno.Command("sh", {
    args: ["-c", "while read line; do echo $line; done"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const reader = child.stdout.getReader();
  let ended = 0;
  let ticks = 0;
  const signal = new AbortController().signal;
  const working = inSlices(work(300, () => ended++), {
    signal,
    limitMs: 10_000,
    tick: () => ticks++,
  });
  let answered = 0;
  for (let i = 0; i < 5; i++) {
    await writer.write(Uint8Array.of(0x61, 0x0a));
    await reader.read();
    if (ended === 0) answered++;
  }
  assertEquals(await working, true);
  assertEquals([ended, answered], [1, 5]);
  assert(ticks > 300 / SLICE_MS / 10);
  await writer.close();
  await child.status;
  reader.releaseLock();
  await child.stdout.cancel();
});

Deno.test("inSlices leaves work unfinished when its time is up, and closes it", async () => {
  let ended = 0;
  const signal = new AbortController().signal;
  const done = await inSlices(work(60_000, () => ended++), {
    signal,
    limitMs: 30,
  });
  assertEquals([done, ended], [false, 1]);
});

Deno.test("inSlices throws the signal's reason, and closes the work", async () => {
  let ended = 0;
  const controller = new AbortController();
  const working = inSlices(work(60_000, () => ended++), {
    signal: controller.signal,
    limitMs: 60_000,
  });
  setTimeout(() => controller.abort(new Error("stop")), 20);
  let reason: unknown;
  await working.catch((error) => reason = error);
  assertEquals((reason as Error | undefined)?.message, "stop");
  assertEquals(ended, 1);
});
