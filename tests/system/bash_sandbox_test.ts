/** The shell tools with the sandbox around them. Needs bubblewrap and git. */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import type { Mode } from "../../lib/config.ts";
import { createScope } from "../../lib/scope.ts";
import { World } from "../bash_world.ts";
import type { WorldOptions } from "../bash_world.ts";
import { fakeConfig, fakePlatform } from "../fake_files.ts";

/** A world whose commands run in a sandbox that follows a real scope. */
async function inSandbox(
  test: (world: World, root: string) => Promise<void>,
  given: { mode?: Mode; rootless?: boolean; options?: WorldOptions } = {},
): Promise<void> {
  await Deno.mkdir("/srv", { recursive: true });
  const base = await Deno.realPath(await Deno.makeTempDir({ dir: "/srv" }));
  const root = `${base}/root`;
  for (const name of ["root", "home", "temp"]) {
    await Deno.mkdir(`${base}/${name}`);
  }
  const variables = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const platform = fakePlatform("linux", {
    home: `${base}/home`,
    temp: `${base}/temp`,
    cwd: given.rootless ? "/" : root,
    uid: Deno.uid() ?? 0,
    variables,
  });
  const { scope } = await createScope({
    platform,
    config: fakeConfig({
      roots: given.rootless ? [] : [root],
      mode: given.mode ?? "workspace",
    }),
  });
  try {
    await using world = await World.make({
      ...given.options,
      platform,
      scope,
      config: { sandbox: { mode: "require", allowNet: false, writable: [] } },
    });
    await test(world, root);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

Deno.test("bash runs inside, and says so in its figures", async () => {
  await inSandbox(async (world, root) => {
    const { text, meta, note } = await world.bash("pwd; echo x >f; exit 3");
    assertEquals(text, `${root}\nbash: exit status 3`);
    assertEquals(meta.sandbox, "bubblewrap");
    assertEquals(note, "");
    assertEquals(await Deno.readTextFile(`${root}/f`), "x\n");
    const outside = await world.bash(`ls ${root}/../home; touch ${root}/../y`);
    assert(outside.isError);
  });
});

Deno.test("the folder for temporary files is kept from one command to the next", async () => {
  await inSandbox(async (world) => {
    await world.bash("echo kept >/tmp/x");
    assertEquals((await world.bash("cat /tmp/x; ls /tmp")).text, "kept\nx\n");
  });
});

Deno.test("a command that runs out of time gets its TERM first", async () => {
  await inSandbox(async (world) => {
    const { text, meta } = await world.bash(
      "trap 'echo cleaned up; exit 4' TERM; echo begun; sleep 30 & wait",
      { timeout: 0.5 },
    );
    assertMatch(text, /^begun\ncleaned up\n/);
    assertEquals(meta.timed_out, true);
  });
});

Deno.test("a stubborn command is killed, and what left its session with it", async () => {
  await inSandbox(async (world, root) => {
    const { meta } = await world.bash(
      `trap '' TERM; setsid -f sh -c 'trap "" TERM; sleep 3; touch ${root}/late'; while :; do sleep 0.1; done`,
      { timeout: 0.2 },
    );
    assertEquals(meta.timed_out, true);
    // The namespace went with its first process: nothing in it can still run.
    const { text } = await world.bash("ls");
    assertNotMatch(text, /late/);
  });
});

Deno.test("a job is a server that other commands reach", async () => {
  await inSandbox(async (world) => {
    const { meta } = await world.bash(
      "exec python3 -u -m http.server 8124",
      { background: true },
    );
    const job = String(meta.job);
    await world.output(job, { wait: 5 });
    const { text } = await world.bash(
      "curl -s -m 5 -o /dev/null -w '%{http_code}' http://127.0.0.1:8124/",
    );
    assertEquals(text, "200");
    await world.kill(job);
  });
});

Deno.test("a hook that a command plants is moved aside and named", async () => {
  await inSandbox(async (world, root) => {
    await world.bash("git init -q .");
    const { note } = await world.bash(
      "echo evil >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git config core.fsmonitor ./evil",
    );
    assertMatch(note, /pre-commit was renamed to pre-commit\.set-aside/);
    assertMatch(note, /run programs outside of the sandbox: core\.fsmonitor/);
    const names = [...Deno.readDirSync(`${root}/.git/hooks`)]
      .map(({ name }) => name);
    assertEquals(names.includes("pre-commit"), false);
  });
});

Deno.test("in mode read-only, bash is of use and changes nothing", async () => {
  await inSandbox(async (world, root) => {
    await Deno.writeTextFile(`${root}/f`, "text\n");
    assertEquals((await world.bash("cat f")).text, "text\n");
    assertMatch((await world.bash("echo x >f")).text, /Read-only file system/);
  }, { mode: "read-only" });
});

Deno.test("what the sandbox was in the way of is told once, with what would open it", async () => {
  await inSandbox(async (world) => {
    const closed = await world.bash("curl -sS -m 5 http://example.org/");
    assertMatch(
      closed.note,
      /network is closed inside the sandbox.*--allow-net/,
    );
    const again = await world.bash("curl -sS -m 5 http://example.org/");
    assertEquals(again.note, "");
    const system = await world.bash("touch /usr/x");
    assertMatch(system.note, /only the roots.*--root DIR/);
    const temporary = await world.bash("cat /tmp/of-the-file-tools");
    assertMatch(temporary.note, /another folder than that of the file tools/);
    assertEquals((await world.bash("cat nothing")).note, "");
  });
});

Deno.test("a working folder that is not shown inside is refused with a sentence", async () => {
  await inSandbox(async (world) => {
    const { text, isError } = await world.bash("pwd", {
      cwd: `${world.root}/../temp`,
    });
    assert(isError);
    assertMatch(
      text,
      /^bash: .*not there inside the sandbox|outside the workspace/,
    );
  });
});

Deno.test("without a root, commands run in their own folder for temporary files", async () => {
  await inSandbox(async (world) => {
    const { text, note } = await world.bash("pwd; echo x >f && cat f");
    assertEquals(text, "/tmp\nx\n");
    assertMatch(note, /this ran in the sandbox's own \/tmp;/);
  }, { rootless: true });
});

Deno.test("each scope has a sandbox of its own, so that a narrowed client stays narrow", async () => {
  await inSandbox(async (world, root) => {
    await Deno.mkdir(`${root}/a`);
    await Deno.writeTextFile(`${root}/f`, "text");
    assertEquals((await world.bash(`cat ${root}/f`)).text, "text");
    const { scope } = await createScope({
      platform: world.context().platform,
      config: fakeConfig({ roots: [root] }),
      hostRoots: [`${root}/a`],
    });
    const execution = await world.jobs.start({
      command: `cat ${root}/f; pwd`,
      cwd: `${root}/a`,
      scope,
      env: {},
      timeoutMs: undefined,
      budget: 1_000,
      signal: new AbortController().signal,
      patienceMs: 1_000,
    });
    await execution.done;
    const { text } = execution.output.show(1_000);
    assertMatch(text, /No such file or directory\n.*\/a\n$/);
  });
});

Deno.test("inside, a command that a signal ends is told so, and one that exits with such a code is not", async () => {
  await inSandbox(async (world) => {
    for (const command of ["kill -9 $$", "kill -9 0"]) {
      const { text, meta } = await world.bash(command);
      assertEquals(text, "bash: signal: killed");
      assertEquals(meta.signal, "SIGKILL");
      assertEquals(meta.exit_code, undefined);
    }
    const { text, meta } = await world.bash("exit 137");
    assertEquals(text, "bash: exit status 137");
    assertEquals(meta.signal, undefined);
  });
});

Deno.test("what a command leaves running inside is killed and named, also when it left its session", async () => {
  await inSandbox(async (world) => {
    for (
      const command of ["sleep 300 & echo hi", "setsid sleep 300 & echo hi"]
    ) {
      const { text, meta, note } = await world.bash(command);
      assertEquals(text, "hi\n");
      assertEquals(meta.killed_leftovers, ["sleep"]);
      assertMatch(note, /killed what the command left running: sleep/);
    }
    const late = await world.bash("(sleep 0.02; echo late) & echo first");
    assertEquals([late.text, late.note], ["first\nlate\n", ""]);
  });
});

Deno.test("inside, a command sees the descriptors 0, 1 and 2 alone", async () => {
  await inSandbox(async (world) => {
    const { text } = await world.bash(
      "for f in /proc/self/fd/*; do echo ${f##*/}; done; :",
    );
    assertEquals(
      text.split("\n").filter((one) => Number(one) > 2 && Number(one) !== 255),
      ["3"],
    );
  });
});

Deno.test("what a command writes to the home inside is named as not kept", async () => {
  await inSandbox(async (world) => {
    const { text, note, isError } = await world.bash(
      "echo x >~/notes && mkdir ~/.tool && cat ~/notes",
    );
    assertEquals([text, isError], ["x\n", false]);
    assertMatch(
      note,
      /not kept: ~\/notes, ~\/\.tool: the home inside the sandbox/,
    );
    assertEquals(
      (await world.bash("cd ~ && git config --global -l; true")).note,
      "",
    );
  });
});
