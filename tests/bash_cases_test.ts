import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Execution } from "../lib/execution.ts";
import { Output } from "../lib/output.ts";
import type { ProcessGroup } from "../lib/process_group.ts";
import { allGone, eventually, pidsIn, runs, World } from "./bash_world.ts";

Deno.test("S01: the time limit ends the whole group", async () => {
  await using world = await World.make();
  const started = performance.now();
  const { text, isError, meta } = await world.bash(
    "echo $$; sleep 60 & echo $!; sleep 60",
    { timeout: 0.5 },
  );
  assert(performance.now() - started < 3000);
  assertMatch(text, /^\d+\n\d+\nbash: timed out after 0.5s$/);
  assertEquals([isError, meta.timed_out], [true, true]);
  await allGone(pidsIn(text));
});

Deno.test("S02: a command without time limit does not hold the call: it becomes a job", async () => {
  await using world = await World.make({ jobAfterMs: 100 });
  const { note, meta } = await world.bash("sleep 1000");
  assertStringIncludes(note, "still running, job: j1");
  assertEquals(meta.running, true);
});

Deno.test("S02: a command that reads its input meets the end of it", async () => {
  await using world = await World.make();
  assertEquals((await world.bash("cat; echo ended")).text, "ended\n");
});

Deno.test("S03: the child's standard input is not ours", async () => {
  await using world = await World.make();
  const { text } = await world.bash(
    "[ -t 0 ] || echo no terminal; read -r x || echo empty",
  );
  assertEquals(text, "no terminal\nempty\n");
});

Deno.test("S03: the child sees descriptors 0, 1 and 2 only", async () => {
  if (Deno.build.os === "windows") return;
  // The script's own process inherits descriptors 5 and 7, as from a careless host.
  const script = `
    import { World } from ${
    JSON.stringify(import.meta.resolve("./bash_world.ts"))
  };
    await using world = await World.make();
    const { text } = await world.bash("for f in /dev/fd/*; do [ -e $f ] && echo \${f##*/}; done");
    console.log(text);
  `;
  const config = new URL("deno.json", import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: [
      "-c",
      'exec 5</dev/null 7</dev/null "$0" run -A --no-check --config "$1" "$2"',
      Deno.execPath(),
      config,
      `data:application/typescript,${encodeURIComponent(script)}`,
    ],
  }).output();
  const seen = new TextDecoder().decode(stdout).trim().split("\n").sort();
  assertEquals(
    seen.slice(0, 3),
    ["0", "1", "2"],
    new TextDecoder().decode(stderr),
  );
  assert(!seen.includes("5") && !seen.includes("7"), `${seen}`);
});

Deno.test("S04: the call ends with the command, not with a grandchild that holds the pipe", async () => {
  await using world = await World.make();
  const started = performance.now();
  const { text, note, isError, meta } = await world.bash(
    "sleep 8 & echo $!; echo hi",
  );
  assert(performance.now() - started < 2000);
  assertMatch(text, /^\d+\nhi\n$/);
  assertEquals(isError, false);
  assertStringIncludes(note, "killed what the command left running: sleep;");
  assertStringIncludes(note, "background");
  assertEquals(meta.killed_leftovers, ["sleep"]);
  await allGone(pidsIn(text));
});

Deno.test("S04: what closes the pipe but stays in the group is ended, too", async () => {
  await using world = await World.make();
  const { text, meta } = await world.bash(
    "sleep 60 >/dev/null 2>&1 & echo $!",
  );
  assertEquals(meta.killed_leftovers, ["sleep"]);
  await allGone(pidsIn(text));
});

Deno.test("S04: what ends by itself right after the command is waited for", async () => {
  await using world = await World.make();
  const { text, note } = await world.bash(
    "(sleep 0.05; echo late) & echo early",
  );
  assertEquals([text, note], ["early\nlate\n", ""]);
});

Deno.test("S04: a grandchild that floods the pipe does not hold the call", async () => {
  await using world = await World.make();
  const started = performance.now();
  const { meta } = await world.bash("yes & echo $! > pid; echo hi");
  assert(performance.now() - started < 5000);
  assertEquals(meta.exit_code, 0);
  await allGone(pidsIn(await Deno.readTextFile(`${world.root}/pid`)));
});

Deno.test("S06: pager and editor return at once", async () => {
  await using world = await World.make();
  const { text } = await world.bash(
    "echo text > f; $PAGER f; $GIT_PAGER f; $EDITOR f; $GIT_EDITOR f; [ -t 1 ] || echo no terminal; (: </dev/tty) 2>/dev/null || echo none to ask",
  );
  assertEquals(text, "text\ntext\nno terminal\nnone to ask\n");
});

Deno.test("S07: of a huge output head and tail are shown, all is counted, and the whole is in a file", async () => {
  await using world = await World.make();
  const { text, note, meta } = await world.bash(
    "echo first; yes | head -c 60000000; echo last",
  );
  assert(text.length + note.length <= 20_000);
  assertMatch(text, /^first\ny\n/);
  assertMatch(text, /\[output truncated: \d+ bytes dropped\]\n/);
  assertMatch(text, /y\nlast\n$/);
  assertEquals(meta.bytes, 60_000_011);
  const file = await Deno.stat(meta.output_file as string);
  assertEquals(file.size, 60_000_011);
  assertStringIncludes(note, meta.output_file as string);
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

Deno.test("S08: the exit code is told in the text and in the figures", async () => {
  await using world = await World.make();
  const { text, isError, meta, exitCode } = await world.bash(
    "echo out; exit 3",
  );
  assertEquals([text, isError], ["out\nbash: exit status 3", true]);
  assertEquals([meta.exit_code, exitCode], [3, 3]);
  const killed = await world.bash("kill -9 $$");
  assertEquals(killed.text, "bash: signal: killed");
  assertEquals([killed.meta.signal, killed.exitCode], ["SIGKILL", 137]);
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

Deno.test("S16: invalid UTF-8 and colours are shown as plain text, and it is said", async () => {
  await using world = await World.make();
  const { text, note } = await world.bash(
    "printf 'a\\377b'; printf '\\033[31mred\\033[0m\\n'",
  );
  assertEquals(text, "a\ufffdbred\n");
  assertStringIncludes(note, "not UTF-8");
  const control = await world.bash("printf 'a\\000b\\007'");
  assertEquals(control.text, "a\\x00b\\x07");
  assertStringIncludes(control.note, "2 control characters");
});

Deno.test("S16: a character that comes in two writes is one character", async () => {
  await using world = await World.make();
  const { text, note } = await world.bash(
    "printf '\\303'; sleep 0.1; printf '\\251\\n'",
  );
  assertEquals([text, note], ["é\n", ""]);
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
