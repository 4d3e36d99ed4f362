import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { bashKill, bashOutput, bashTool } from "../lib/bash.ts";
import { exitCode, failureLine, stateText } from "../lib/bash_report.ts";
import { MAX_TIMEOUT_S, MAX_WAIT_S } from "../lib/bash_schema.ts";
import type { EndReason, Outcome } from "../lib/execution.ts";
import { MAX_COMMAND_BYTES } from "../lib/shell.ts";
import { allGone, pidsIn, World } from "./bash_world.ts";

function outcome(ended: Partial<Outcome>): Outcome {
  return {
    code: undefined,
    signal: undefined,
    reason: undefined,
    durationMs: 1200,
    leftovers: [],
    ...ended,
  };
}

Deno.test("bash answers with the output and nothing else when the command succeeds", async () => {
  await using world = await World.make();
  const { text, note, isError, meta, exitCode } = await world.bash(
    "echo one; echo two",
  );
  assertEquals([text, note, isError, exitCode], ["one\ntwo\n", "", false, 0]);
  assertEquals(meta.exit_code, 0);
  assertEquals(meta.bytes, 8);
  assertEquals(meta.sandbox, "off");
  assert(Number.isInteger(meta.duration_ms));
});

Deno.test("bash says so when there is no output", async () => {
  await using world = await World.make();
  assertEquals((await world.bash(":")).text, "(no output)");
  assertEquals((await world.bash("exit 4")).text, "bash: exit status 4");
});

Deno.test("bash keeps standard output and error in order, syntax errors included", async () => {
  await using world = await World.make();
  const { text } = await world.bash(
    "for i in 1 2 3; do echo out $i; echo err $i >&2; done",
  );
  assertEquals(text, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
  const broken = await world.bash("echo before\n)");
  assertMatch(broken.text, /^before\n.*syntax error/);
  assertMatch(broken.text, /\nbash: exit status \d+$/);
});

Deno.test("bash puts the failure on a line of its own after the output", async () => {
  await using world = await World.make();
  assertEquals(
    (await world.bash("printf partial; exit 1")).text,
    "partial\nbash: exit status 1",
  );
});

Deno.test("bash runs in the first root, or in the folder that cwd names", async () => {
  await using world = await World.make();
  await Deno.mkdir(`${world.root}/sub`);
  assertEquals(
    (await world.bash("pwd; echo $PWD")).text,
    `${world.root}\n`.repeat(2),
  );
  const sub = await world.bash("pwd", { cwd: "sub" });
  assertEquals(sub.text, `${world.root}/sub\n`);
});

Deno.test("bash refuses a cwd that is missing, no folder, or out of scope, in its own name", async () => {
  await using world = await World.make();
  await Deno.writeTextFile(`${world.root}/file`, "");
  for (
    const [cwd, text] of [
      ["gone", `bash: cwd ${world.root}/gone: no such file or directory`],
      ["file", `bash: cwd ${world.root}/file: not a directory`],
      ["/denied", "bash: /denied: outside the roots"],
    ] as const
  ) {
    const answer = await world.bash("echo ran", { cwd });
    assertEquals([answer.text, answer.isError], [text, true]);
  }
});

Deno.test("bash without a root runs in an empty private folder and says which line to add", async () => {
  await using world = await World.make({ roots: [] });
  const { text, note } = await world.bash("ls -A; pwd");
  assertMatch(text, /^\/.*rousseau-[^/\n]*\n$/);
  assertStringIncludes(note, '"--root"');
});

Deno.test("bash adds the call's variables, and refuses the loader's and misnamed ones", async () => {
  await using world = await World.make();
  const env = { GREETING: "hello there", EDITOR: "ed" };
  assertEquals(
    (await world.bash('echo "$GREETING" $EDITOR', { env })).text,
    "hello there ed\n",
  );
  for (const name of ["LD_PRELOAD", "A B"]) {
    const { text, isError } = await world.bash("echo ran", {
      env: { [name]: "x" },
    });
    assertEquals(isError, true);
    assertStringIncludes(text, name);
  }
});

Deno.test("bash hands over the environment that was built, not ours", async () => {
  await using world = await World.make({
    env: { PATH: Deno.env.get("PATH")!, MY_TOKEN: "t", LISTED: "l", LANG: "C" },
    config: { env: ["LISTED"] },
  });
  const { text } = await world.bash("env");
  assertStringIncludes(text, "LISTED=l\n");
  assertStringIncludes(text, "LANG=C\n");
  assert(!text.includes("MY_TOKEN"), text);
  // Set by this test run's own process.
  assert(!/^DENO_(?!DIR|INSTALL|CERT|TLS)/m.test(text), text);
});

Deno.test("bash refuses an empty command, a NUL byte, and what no argument can hold", async () => {
  await using world = await World.make();
  assertEquals((await world.bash("  \n")).text, "bash: command is required");
  assertStringIncludes((await world.bash("echo a\0b")).text, "NUL");
  const longest = `: ${"x".repeat(MAX_COMMAND_BYTES - 2)}`;
  assertEquals((await world.bash(longest)).text, "(no output)");
  const { text, isError } = await world.bash(`${longest}x`);
  assertEquals(isError, true);
  assertStringIncludes(text, `at most ${MAX_COMMAND_BYTES}`);
});

Deno.test("bash is refused in mode read-only, with the flag that allows it", async () => {
  await using world = await World.make({ mode: "read-only" });
  const { text, isError } = await world.bash("echo ran");
  assertEquals(isError, true);
  assertStringIncludes(text, "--mode workspace");
});

Deno.test("bash shortens a failed command's output to what hosts pass on, mostly its end", async () => {
  await using world = await World.make();
  const { text, note, meta } = await world.bash(
    "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; exit 2",
  );
  assert(text.length + note.length <= 9000, `${text.length}`);
  assert(text.length > 7500, `${text.length}`);
  assertMatch(text, /^line 0\n/);
  assertMatch(text, /line 2999\nbash: exit status 2$/);
  const [head, tail] = text.split(/\[output truncated: .*\n/);
  assert(head!.length * 4 < tail!.length);
  const kept = await Deno.readTextFile(meta.output_file as string);
  assertMatch(kept, /^line 0\n[^]*line 2999\n$/);
});

Deno.test("bash fits text and notes together into the answer's budget", async () => {
  await using world = await World.make({ config: { answerChars: 1000 } });
  for (const bytes of [900, 936, 937, 990, 1000, 1001, 5000]) {
    const { text, note } = await world.bash(
      `i=0; while [ $i -lt ${
        bytes / 10 | 0
      } ]; do echo 123456789; i=$((i+1)); done; printf %${
        bytes % 10
      }s; printf '\\001' ; sleep 9 >&- 2>&- &`,
    );
    assert(
      text.length + note.length <= 1000,
      `${bytes}: ${text.length + note.length}`,
    );
  }
});

Deno.test("bash says how to read the file, by a tool where the scope allows and by bash where not", async () => {
  const command = "yes | head -n 40000";
  await using open = await World.make();
  const allowed = await open.bash(command);
  assertStringIncludes(
    allowed.note,
    `read {"path":"${allowed.meta.output_file}"}`,
  );
  await using closed = await World.make({ denyRead: true });
  assertStringIncludes((await closed.bash(command)).note, "sed -n");
});

Deno.test("bash takes the default time limit from the configuration", async () => {
  await using world = await World.make({ config: { bash: { timeout: 0.2 } } });
  assertEquals(
    (await world.bash("sleep 30")).text,
    "bash: timed out after 0.2s",
  );
});

Deno.test("bash on the command line waits as long as it takes, and takes no background", async () => {
  await using world = await World.make({ terminal: true, jobAfterMs: 20 });
  const { text, meta } = await world.bash("sleep 0.2; yes | head -n 40000");
  assertEquals([text.length, meta.job], [80_000, undefined]);
  const background = await world.bash("sleep 9", { background: true });
  assertEquals(background.isError, true);
  const failed = await world.bash("yes | head -n 40000; exit 7");
  assertEquals([failed.text.length > 80_000, failed.exitCode], [true, 7]);
});

Deno.test("bash turns a command that outlasts the host's patience into a job, and its output stays whole", async () => {
  await using world = await World.make({ jobAfterMs: 100 });
  const first = await world.bash(
    "echo first; sleep 0.5; echo second; exit 5",
  );
  assertEquals([first.text, first.isError], ["first\n", false]);
  assertMatch(
    first.note,
    /still running, job: j1; go on with bash_output \{"job":"j1","since":6,"wait":45\}/,
  );
  assertEquals([first.meta.job, first.meta.running], ["j1", true]);
  const rest = await world.output("j1", { since: 6, wait: 10 });
  assertEquals(rest.text, "second\n");
  const all = await world.ended("j1");
  assertEquals([all.text, all.isError], ["first\nsecond\n", false]);
  assertMatch(all.note, /job j1 ended after [\d.]+ s: exit status 5\]/);
  assertEquals([all.meta.exit_code, all.meta.running], [5, false]);
});

Deno.test("bash with a time limit is not turned into a job", async () => {
  await using world = await World.make({ jobAfterMs: 20 });
  const { text, meta } = await world.bash("sleep 0.3; echo done", {
    timeout: 20,
  });
  assertEquals([text, meta.job], ["done\n", undefined]);
});

Deno.test("a job started in the background goes on after the call and the caller's cancellation", async () => {
  await using world = await World.make();
  const caller = new AbortController();
  const { text, note } = await world.bash("echo up; sleep 60", {
    background: true,
  }, caller.signal);
  assertEquals(text, "up\n");
  assertStringIncludes(note, "job: j1");
  caller.abort();
  const state = await world.output("j1", { since: 3 });
  assertEquals([state.text, state.meta.running], ["(no new output)", true]);
  assertEquals((await world.kill("j1")).text, "killed job j1");
});

Deno.test("a background command that fails at once is told as failed", async () => {
  await using world = await World.make();
  const { text, isError, note, meta } = await world.bash("exit 9", {
    background: true,
  });
  assertEquals([text, isError], ["bash: exit status 9", true]);
  assertStringIncludes(note, "job j1 ended");
  assertEquals(meta.exit_code, 9);
});

Deno.test("a background command has only the time limit that its call names", async () => {
  await using world = await World.make({ config: { bash: { timeout: 0.4 } } });
  await world.bash("sleep 60", { background: true });
  await world.bash("sleep 60", { background: true, timeout: 0.5 });
  const limited = await world.ended("j2");
  assertStringIncludes(limited.note, "timed out after 0.5 s");
  assertEquals((await world.output("j1")).meta.running, true);
});

Deno.test("bash_output gives the same bytes again for the same offset", async () => {
  await using world = await World.make();
  await world.bash("echo abc; echo def; sleep 60", { background: true });
  for (let i = 0; i < 2; i++) {
    assertEquals((await world.output("j1", { since: 4 })).text, "def\n");
  }
  assertEquals((await world.output("j1", { since: -4 })).text, "def\n");
});

Deno.test("bash_output pages through a long output with the next call named", async () => {
  await using world = await World.make({ config: { answerChars: 2000 } });
  await world.bash(
    "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done",
    { background: true },
  );
  let text = "";
  let since = 0;
  for (;;) {
    await world.jobs.find("j1", "test").execution.done;
    const page = await world.output("j1", { since });
    assert(page.text.length + page.note.length <= 2000);
    text += page.text;
    since = page.meta.next as number;
    if (since === page.meta.bytes) break;
    assertStringIncludes(page.note, `{"job":"j1","since":${since}}`);
  }
  assertMatch(text, /^line 0\n[^]*line 2999\n$/);
  assertEquals(text.split("\n").length, 3001);
});

Deno.test("bash_output waits for output, for the end, or for its time", async () => {
  await using world = await World.make();
  await world.bash("sleep 0.6; echo late; sleep 0.4; exit 3", {
    background: true,
  });
  const nothing = await world.output("j1", { wait: 0.05 });
  assertEquals(nothing.text, "(no output)");
  assertEquals((await world.output("j1", { wait: 20 })).text, "late\n");
  const end = await world.output("j1", { since: 5, wait: 20 });
  assertEquals(end.text, "(no new output)");
  assertStringIncludes(end.note, "exit status 3");
});

Deno.test("bash_output stops waiting when its caller cancels", async () => {
  await using world = await World.make();
  await world.bash("sleep 60", { background: true });
  const caller = new AbortController();
  const waiting = world.output("j1", { wait: 45 }, caller.signal);
  caller.abort();
  await assertRejects(() => waiting, DOMException);
});

Deno.test("bash_output and bash_kill name the jobs that there are when asked for another", async () => {
  await using world = await World.make();
  await world.bash("sleep 60", { background: true });
  for (const answer of [await world.output("j7"), await world.kill("j7")]) {
    assertEquals(answer.isError, true);
    assertMatch(
      answer.text,
      /^bash_(output|kill): no job "j7"; running: j1 `sleep 60`$/,
    );
  }
});

Deno.test("bash_kill ends everything that the job started, and again does nothing", async () => {
  await using world = await World.make();
  const { text } = await world.bash(
    "sleep 60 & echo $!; sleep 60 & echo $!; wait",
    { background: true },
  );
  assertEquals((await world.kill("j1")).text, "killed job j1");
  await allGone(pidsIn(text));
  assertMatch(
    (await world.kill("j1")).text,
    /^job j1 had ended after [\d.]+ s: killed by bash_kill$/,
  );
});

Deno.test("bash reports progress that rises, with the last of the output", async () => {
  await using world = await World.make();
  await world.bash(
    "for i in 1 2 3 4; do echo step $i; sleep 0.4; done",
  );
  const values = world.progress.map(({ value }) => value);
  assert(values.length >= 2, `${values}`);
  assertEquals(values, [...new Set(values)].sort((a, b) => a - b));
  assertMatch(world.progress.at(-1)!.message!, /step \d$/);
  const told = world.progress.length;
  await world.bash("echo quick");
  assertEquals(world.progress.length, told);
});

Deno.test("failureLine words an end as Go's standard library does", () => {
  const line = (ended: Partial<Outcome>) => failureLine(outcome(ended), 60);
  assertEquals(line({ code: 0 }), undefined);
  assertEquals(line({ code: 3 }), "bash: exit status 3");
  for (
    const [signal, words] of [
      ["SIGKILL", "killed"],
      ["SIGTERM", "terminated"],
      ["SIGINT", "interrupt"],
      ["SIGSEGV", "segmentation fault"],
      ["SIGABRT", "aborted"],
      ["SIGRTMIN", "SIGRTMIN"],
    ] as const
  ) assertEquals(line({ signal }), `bash: signal: ${words}`);
  const ended = (reason: EndReason) => line({ signal: "SIGTERM", reason });
  assertEquals(ended("timeout"), "bash: timed out after 60s");
  assertStringIncludes(ended("shutdown")!, "stopping");
});

Deno.test("exitCode is the command's own, 124 for the time limit, 128 and more for a signal", () => {
  assertEquals(exitCode(outcome({ code: 3 })), 3);
  assertEquals(exitCode(outcome({ signal: "SIGKILL" })), 137);
  assertEquals(
    exitCode(outcome({ signal: "SIGTERM", reason: "timeout" })),
    124,
  );
});

Deno.test("stateText says how a job stands", () => {
  assertEquals(stateText(undefined, 61_500, undefined), "running for 61.5 s");
  assertEquals(
    stateText(outcome({ code: 0 }), 1200, undefined),
    "ended after 1.2 s: exit status 0",
  );
});

Deno.test("the shell tools' limits stand in their schemas, and the three together stay small", () => {
  const bash = bashTool({
    os: "linux",
    env: () => undefined,
    home: undefined,
    temp: "/tmp",
    cwd: undefined,
    execPath: undefined,
    uid: undefined,
  });
  assertEquals(bash.input!.properties.timeout.maximum, MAX_TIMEOUT_S);
  assertEquals(bashOutput.input!.properties.wait.maximum, MAX_WAIT_S);
  const size = [bash, bashOutput, bashKill]
    .map(({ description, input }) =>
      JSON.stringify([description, input]).length
    )
    .reduce((sum, n) => sum + n);
  assert(size <= 1500, `${size} bytes`);
});
