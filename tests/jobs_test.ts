import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Guardian } from "../lib/guardian.ts";
import { KEPT_JOBS, MAX_SHELLS } from "../lib/jobs.ts";
import { ProcessGroup } from "../lib/process_group.ts";
import { Slots } from "../lib/slots.ts";
import { allGone, eventually, pidsIn, runs, World } from "./bash_world.ts";

function start(command: string): ProcessGroup {
  return new ProcessGroup({
    program: "/bin/sh",
    args: ["-c", command],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    twoPipes: false,
  }, "linux");
}

async function text(group: ProcessGroup): Promise<string> {
  return await new Response(group.streams[0]!).text();
}

Deno.test("Slots gives places in the order of asking", async () => {
  const slots = new Slots(1);
  const { signal } = new AbortController();
  const order: number[] = [];
  const first = await slots.take(signal, 1000);
  const second = slots.take(signal, 1000).then((release) => {
    order.push(2);
    return release;
  });
  const third = slots.take(signal, 1000).then((release) => {
    order.push(3);
    return release;
  });
  first!();
  first!();
  (await second)!();
  (await third)!();
  assertEquals(order, [2, 3]);
});

Deno.test("Slots lets go of whoever stops waiting, by time or by signal", async () => {
  const slots = new Slots(1);
  const caller = new AbortController();
  const release = await slots.take(caller.signal, 10);
  assertEquals(await slots.take(caller.signal, 10), undefined);
  const waiting = slots.take(caller.signal, 10_000);
  caller.abort();
  await assertRejects(() => waiting, DOMException);
  await assertRejects(() => slots.take(caller.signal, 10), DOMException);
  release!();
  assert(await slots.take(new AbortController().signal, 10));
});

Deno.test("no more shells run at once than the limit; the rest wait their turn", async () => {
  await using world = await World.make({ maxShells: 2 });
  const count =
    `mkdir "$0.$$"; ls -d "$0".* | wc -l; sleep 0.15; rmdir "$0.$$"`;
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => world.bash(count.replaceAll("$0", "busy"))),
  );
  for (const { text } of answers) assert(Number(text) <= 2, text);
  assertEquals(MAX_SHELLS, 16);
});

Deno.test("a call that finds no place in time says which jobs hold them", async () => {
  await using world = await World.make({ maxShells: 1, jobAfterMs: 50 });
  await world.bash("sleep 60", { background: true });
  const { text, isError } = await world.bash("echo ran");
  assertEquals(isError, true);
  assertStringIncludes(text, "j1 `sleep 60`");
  assertStringIncludes(text, "bash_kill");
  await world.kill("j1");
  assertEquals((await world.bash("echo ran")).text, "ran\n");
});

Deno.test("a call cancelled while it waits for a place starts nothing", async () => {
  await using world = await World.make({ maxShells: 1 });
  await world.bash("sleep 60", { background: true });
  const caller = new AbortController();
  const waiting = world.bash("touch ran", {}, caller.signal);
  caller.abort();
  await assertRejects(() => waiting, DOMException);
  await world.kill("j1");
  assertEquals((await world.bash("ls")).text, "(no output)");
});

Deno.test("only the newest ended jobs are kept, and what became of an older one is said", async () => {
  await using world = await World.make();
  for (let i = 0; i < KEPT_JOBS + 3; i++) {
    const job = await world.bash(`echo ${i}`, { background: true });
    assertEquals(job.text, `${i}\n`);
  }
  assertEquals((await world.output(`j${KEPT_JOBS + 3}`)).isError, false);
  assertStringIncludes((await world.output("j1")).text, "no longer kept");
});

Deno.test("terminateAll ends everything with TERM and lets nothing start", async () => {
  await using world = await World.make();
  const job = await world.bash(
    "trap 'echo got term; exit 0' TERM; echo $$; sleep 60 & wait",
    { background: true },
  );
  const waiting = world.bash("touch started; sleep 60");
  await eventually(
    () => Deno.stat(`${world.root}/started`).then(() => true, () => false),
    "the start of the command",
  );
  await world.jobs.terminateAll();
  const stopped = await waiting;
  assertEquals(stopped.text, "bash: stopped: the server is stopping");
  assertStringIncludes((await world.output("j1")).text, "got term");
  await allGone(pidsIn(job.text));
  assertStringIncludes((await world.bash("echo ran")).text, "not started");
});

Deno.test("killAll ends what ignores TERM", async () => {
  await using world = await World.make();
  const job = await world.bash(
    "trap '' TERM; echo $$; while :; do sleep 0.05; done",
    { background: true },
  );
  const started = performance.now();
  const polite = world.jobs.terminateAll();
  await world.jobs.killAll();
  assert(performance.now() - started < 1500);
  await polite;
  await allGone(pidsIn(job.text));
});

Deno.test("a group that ignores TERM is killed after two seconds", async () => {
  const group = start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  const reader = group.streams[0]!.getReader();
  await reader.read();
  const started = performance.now();
  assertEquals(await group.end(), true);
  const took = performance.now() - started;
  assert(took > 1900 && took < 3500, `${took} ms`);
  assertEquals((await group.status).signal, "SIGKILL");
  await reader.cancel();
});

Deno.test("endBackground ends the jobs and lets running calls finish, but none becomes a job any more", async () => {
  await using world = await World.make({ jobAfterMs: 200 });
  await world.bash("sleep 60", { background: true });
  const waiting = world.bash("sleep 0.6; echo finished");
  await world.jobs.endBackground();
  assertStringIncludes(
    (await world.output("j1")).note,
    "stopped with the server",
  );
  const { text, meta } = await waiting;
  assertEquals([text, meta.job], ["finished\n", undefined]);
  const late = await world.bash("sleep 60", { background: true });
  assertEquals(late.meta.job, "j2");
  assertStringIncludes(
    (await world.ended("j2")).note,
    "stopped with the server",
  );
});

Deno.test("close removes the private folder", async () => {
  const world = await World.make({ roots: [] });
  const folder = (await world.bash("pwd")).text.trim();
  await world.jobs.close();
  await assertRejects(() => Deno.stat(folder), Deno.errors.NotFound);
  await world[Symbol.asyncDispose]();
});

Deno.test("the login shell is asked for its PATH once, and only when it is wanted", async () => {
  let asked = 0;
  const answer = () => {
    asked++;
    return Promise.resolve("/opt/login/bin:/usr/bin");
  };
  const env = { PATH: "/usr/bin:/bin" };
  const bash = { loginPath: true };
  await using world = await World.make({
    loginPath: answer,
    env,
    config: { bash },
  });
  for (let i = 0; i < 2; i++) {
    assertEquals(
      (await world.bash("echo $PATH")).text,
      "/opt/login/bin:/usr/bin:/bin\n",
    );
  }
  assertEquals(asked, 1);
  await using off = await World.make({ loginPath: answer, env });
  assertEquals((await off.bash("echo $PATH")).text, "/usr/bin:/bin\n");
  assertEquals(asked, 1);
});

Deno.test("the login shell's own PATH is found, and a shell that hangs is killed after two seconds", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const shells = {
      quick:
        '#!/bin/sh\necho motd\nPATH=/from/login:/usr/bin\nexport PATH\neval "$2"\n',
      hangs: "#!/bin/sh\nsleep 60\n",
    };
    for (const [name, script] of Object.entries(shells)) {
      await Deno.writeTextFile(`${folder}/${name}`, script, { mode: 0o755 });
    }
    for (const [name, path] of [["quick", "/from/login:"], ["hangs", ""]]) {
      await using world = await World.make({
        env: { PATH: "/usr/bin:/bin", SHELL: `${folder}/${name}` },
        config: { bash: { loginPath: true } },
      });
      const started = performance.now();
      assertEquals(
        (await world.bash("echo $PATH")).text,
        `${path}/usr/bin:/bin\n`,
      );
      assert(performance.now() - started < 4000);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a process group tells its members by name, and that none is left", async () => {
  const group = start("sleep 60 & sleep 60 & echo ready; wait");
  const reader = group.streams[0]!.getReader();
  await reader.read();
  const members = await group.members();
  assertEquals(members?.sort(), ["sh", "sleep", "sleep"]);
  assertEquals(await group.exists(), true);
  assertEquals(await group.end(), true);
  assertEquals(await group.members(), []);
  await reader.cancel();
  await group.status;
});

Deno.test("the guardian kills the groups on its list when its pipe closes, and removes the folder", async () => {
  const folder = await Deno.makeTempDir();
  const guarded = start(
    "sleep 60 >/dev/null & echo $!; echo $$; exec sleep 60 >/dev/null",
  );
  const released = start("echo $$; exec sleep 60 >/dev/null");
  const [doomed, spared] = await Promise.all([text(guarded), text(released)]);
  const guardian = Guardian.start("/bin/sh", "none")!;
  guardian.add(guarded.pid);
  guardian.add(released.pid);
  guardian.folder(folder);
  guardian.remove(released.pid);
  await guardian.close();
  await allGone(pidsIn(doomed));
  assertEquals((await guarded.status).signal, "SIGKILL");
  assertEquals(await runs(pidsIn(spared)[0]!), true);
  await assertRejects(() => Deno.stat(folder), Deno.errors.NotFound);
  await released.end();
  await released.status;
});

Deno.test("under permission for sh alone the whole group is still ended", async () => {
  const script = `
    import { World } from ${
    JSON.stringify(import.meta.resolve("./bash_world.ts"))
  };
    await using world = await World.make({ env: { PATH: "/usr/bin:/bin" } });
    const left = await world.bash("sleep 60 & echo $!");
    const late = await world.bash("sleep 60 & echo $!; sleep 60", { timeout: 0.2 });
    console.log(left.text + late.text);
  `;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-run=sh",
      "--config",
      new URL("deno.json", import.meta.url).pathname,
      `data:application/typescript,${encodeURIComponent(script)}`,
    ],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assertStringIncludes(
    text,
    "bash: timed out after 0.2s",
    new TextDecoder().decode(stderr),
  );
  assertEquals(pidsIn(text).length, 2);
  await allGone(pidsIn(text));
});
