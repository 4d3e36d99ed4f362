import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Execution } from "../lib/execution.ts";
import { Output } from "../lib/output.ts";
import type { ProcessGroup } from "../lib/process_group.ts";
import { allGone, eventually, pidsIn, runs, World } from "./bash_world.ts";

Deno.test("S02: a command without time limit does not hold the call: it becomes a job", async () => {
  await using world = await World.make({ jobAfterMs: 100 });
  const { note, meta } = await world.bash("sleep 1000");
  assertStringIncludes(note, "still running, job: j1");
  assertEquals(meta.running, true);
});

Deno.test("S07: other work goes on while output floods in", async () => {
  await using world = await World.make({ jobAfterMs: 400 });
  let worst = 0;
  let last = performance.now();
  const ticks = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - last);
    last = now;
  }, 1);
  const before = Deno.memoryUsage().rss;
  try {
    await world.bash("yes");
  } finally {
    clearInterval(ticks);
  }
  const grown = Deno.memoryUsage().rss - before;
  await world.kill("j1");
  assert(worst < 250, `nothing else ran for ${worst} ms`);
  assert(grown < 200 * 1024 * 1024, `${grown} bytes more`);
});

Deno.test("S14: on Windows a child that holds the pipe does not hold the call past the leader's end", async () => {
  // What Start-Process leaves behind: the leader has ended, its pipe never does.
  let cancelled = false;
  const held = new ReadableStream<Uint8Array>({
    type: "bytes",
    start: (controller) => controller.enqueue(new TextEncoder().encode("hi\n")),
    cancel: () => {
      cancelled = true;
    },
  });
  const group = {
    pid: 1,
    streams: [held],
    status: Promise.resolve({ code: 0, signal: undefined }),
    exists: () => Promise.resolve(false),
    gone: () => Promise.resolve(true),
    members: () => Promise.resolve(undefined),
    end: () => Promise.resolve(true),
    signal: () => Promise.resolve(false),
  } as unknown as ProcessGroup;
  const output = new Output(1000);
  const execution = new Execution(group, output, undefined);
  const { code } = await execution.done;
  assertEquals([code, cancelled, output.show(100).text], [0, true, "hi\n"]);
});

Deno.test("S17: a server told to stop ends the tree of every command", async () => {
  await using world = await World.make();
  const running = world.bash(
    "sleep 60 & echo $! >> pids; (sleep 60 & echo $! >> pids; wait) & echo $! >> pids; wait",
  );
  const pids = async () =>
    pidsIn(await Deno.readTextFile(`${world.root}/pids`).catch(() => ""));
  await eventually(async () => (await pids()).length === 3, "three processes");
  const stopped = world.jobs.terminateAll();
  assertEquals((await running).text, "bash: stopped: the server is stopping");
  await stopped;
  await allGone(await pids());
});

Deno.test("S17: a server that is killed leaves no process and no file behind", async () => {
  const script = `
    import { World } from ${
    JSON.stringify(import.meta.resolve("./bash_world.ts"))
  };
    const world = await World.make();
    const job = await world.bash("yes | head -c 200000; sleep 60 & echo; echo $!; echo $$; wait", { background: true });
    const { meta } = await world.output("j1", { since: -40 });
    const path = await world.jobs.folder();
    console.log(JSON.stringify([(await world.output("j1", { since: -40 })).text, path, world.root]));
    await new Promise(() => setInterval(() => {}, 1000));
  `;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--config",
      new URL("deno.json", import.meta.url).pathname,
      `data:application/typescript,${encodeURIComponent(script)}`,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let line = "";
  while (!line.includes("\n")) line += (await reader.read()).value ?? "\n";
  const [text, folder, root] = JSON.parse(line) as [string, string, string];
  const pids = pidsIn(text);
  assertEquals(pids.length, 2, text);
  for (const pid of pids) assertEquals(await runs(pid), true);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  await allGone(pids);
  await eventually(
    () => Deno.stat(folder).then(() => false, () => true),
    "the private folder removed",
  );
  await Deno.remove(root.slice(0, -"/root".length), { recursive: true });
});

Deno.test("S18: a cancelled call ends its group and has no answer", async () => {
  await using world = await World.make();
  const caller = new AbortController();
  const running = world.bash(
    "echo $$ >> pids; sleep 60 & echo $! >> pids; wait",
    {},
    caller.signal,
  );
  const pids = async () =>
    pidsIn(await Deno.readTextFile(`${world.root}/pids`).catch(() => ""));
  await eventually(async () => (await pids()).length === 2, "two processes");
  caller.abort();
  const error = await assertRejects(() => running, DOMException);
  assertEquals(error.name, "AbortError");
  await allGone(await pids());
  assertEquals((await world.bash("echo next")).text, "next\n");
});

Deno.test("S19: after the host has gone jobs end at once, and a call ends with the drain limit", async () => {
  await using world = await World.make();
  const job = await world.bash("echo $$; sleep 60", { background: true });
  const drain = new AbortController();
  const slow = world.bash("sleep 60", {}, drain.signal);
  const quick = world.bash("sleep 0.2; echo asked for");
  await world.jobs.endBackground();
  await allGone(pidsIn(job.text));
  assertEquals((await quick).text, "asked for\n");
  drain.abort();
  await assertRejects(() => slow, DOMException);
});
