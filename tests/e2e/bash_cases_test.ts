/**
 * Inputs that broke other servers, for the tool `bash`; each is named by its case. How commands end with the server is
 * in `shutdown_test.ts`.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { allGone, pidsIn } from "../bash_world.ts";
import { commandLine, Folders, Server } from "../harness.ts";
import { ProgramWorld } from "../program_world.ts";

/** In the sandbox processes have numbers of their own, signals are told as exit codes, and what is left ends at once. */
const OPEN = { flags: ["--sandbox", "off"] };

Deno.test("S01: the time limit ends the whole group", async () => {
  await using world = await ProgramWorld.make({}, OPEN);
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

Deno.test("S02: a command that reads its input meets the end of it", async () => {
  await using world = await ProgramWorld.make();
  assertEquals((await world.bash("cat; echo ended")).text, "ended\n");
});

Deno.test("S02: a command without end is ended by the operator's limit", async () => {
  await using world = await ProgramWorld.make({}, {
    env: { ROUSSEAU_BASH_TIMEOUT: "0.5" },
  });
  const { text, isError } = await world.bash("echo begun; sleep 1000");
  assertEquals([text, isError], ["begun\nbash: timed out after 0.5s", true]);
});

Deno.test("S03: the child's standard input is not ours", async () => {
  await using world = await ProgramWorld.make();
  const { text } = await world.bash(
    "[ -t 0 ] || echo no terminal; read -r x || echo empty",
  );
  assertEquals(text, "no terminal\nempty\n");
});

Deno.test("S03: the child sees descriptors 0, 1 and 2 only", async () => {
  await using folders = await Folders.make();
  // The program inherits descriptors 5 and 7, as from a careless host.
  const program = ["sh", "-c", 'exec 5</dev/null 7</dev/null "$0" "$@"'];
  const args = ["mcp", "--root", folders.root];
  await using server = await Server.open({
    folders,
    program: [...program, ...await commandLine(args)],
  });
  const seen = await server.text("bash", {
    command: "for f in /dev/fd/*; do [ -e $f ] && echo ${f##*/}; done; true",
  });
  const lines = seen.trim().split("\n");
  assertEquals(lines.slice(0, 3), ["0", "1", "2"]);
  assert(!lines.includes("5") && !lines.includes("7"), seen);
});

Deno.test("S04: the call ends with the command, not with a grandchild that holds the pipe", async () => {
  await using world = await ProgramWorld.make({}, OPEN);
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
  await using world = await ProgramWorld.make({}, OPEN);
  const { text, meta } = await world.bash(
    "sleep 60 >/dev/null 2>&1 & echo $!",
  );
  assertEquals(meta.killed_leftovers, ["sleep"]);
  await allGone(pidsIn(text));
});

Deno.test("S04: what ends by itself right after the command is waited for", async () => {
  await using world = await ProgramWorld.make({}, OPEN);
  const { text, meta } = await world.bash(
    "(sleep 0.05; echo late) & echo early",
  );
  assertEquals(text, "early\nlate\n");
  assertEquals(meta.killed_leftovers, undefined);
});

Deno.test("S04: a grandchild that floods the pipe does not hold the call", async () => {
  await using world = await ProgramWorld.make({}, OPEN);
  const started = performance.now();
  const { meta } = await world.bash("yes & echo $! > pid; echo hi");
  assert(performance.now() - started < 5000);
  assertEquals(meta.exit_code, 0);
  await allGone(pidsIn(await Deno.readTextFile(`${world.root}/pid`)));
});

Deno.test("S06: pager and editor return at once", async () => {
  await using world = await ProgramWorld.make();
  const { text } = await world.bash(
    "echo text > f; $PAGER f; $GIT_PAGER f; $EDITOR f; $GIT_EDITOR f; [ -t 1 ] || echo no terminal; (: </dev/tty) 2>/dev/null || echo none to ask",
  );
  assertEquals(text, "text\ntext\nno terminal\nnone to ask\n");
});

Deno.test("S07: of a huge output head and tail are shown, all is counted, and the whole is in a file", async () => {
  await using world = await ProgramWorld.make();
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

Deno.test("S08: the exit code is told in the text and in the figures", async () => {
  await using world = await ProgramWorld.make({}, OPEN);
  const { text, isError, meta } = await world.bash(
    "echo out; exit 3",
  );
  assertEquals([text, isError], ["out\nbash: exit status 3", true]);
  assertEquals(meta.exit_code, 3);
  const killed = await world.bash("kill -9 $$");
  assertEquals(killed.text, "bash: signal: killed");
  assertEquals(killed.meta.signal, "SIGKILL");
});

Deno.test("S16: invalid UTF-8 and colours are shown as plain text, and it is said", async () => {
  await using world = await ProgramWorld.make();
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
  await using world = await ProgramWorld.make();
  const { text, note } = await world.bash(
    "printf '\\303'; sleep 0.1; printf '\\251\\n'",
  );
  assertEquals([text, note], ["é\n", ""]);
});
