import { assert, assertEquals, assertMatch } from "@std/assert";
import { allGone, pidsIn, runs, World } from "../bash_world.ts";

const IDENTITY = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.com",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.com",
};

Deno.test("S06: git log, commit without a message and rebase --continue wait for no key", async () => {
  await using world = await World.make();
  const git = (command: string) =>
    world.bash(command, { env: IDENTITY, timeout: 30 });
  await git(
    "git init -q -b main . && echo 1 > f && git add f && git commit -qm one && echo 2 > f && git commit -qam two",
  );
  assertMatch((await git("git log")).text, /two[^]*one/);
  const amended = await git("git commit --amend");
  assertEquals(amended.isError, false, amended.text);
  const unnamed = await git("echo 3 > f; git commit -a");
  assertMatch(unnamed.text, /empty commit message/);
  const rebased = await git(`
    git commit -qam three; git checkout -q -b side HEAD~1; echo 4 > f; git commit -qam four
    git rebase main; echo 5 > f; git add f; git rebase --continue && git status --porcelain`);
  assertEquals(rebased.isError, false, rebased.text);
});

Deno.test("S06: a clone that would ask for a password fails at once", async () => {
  await using world = await World.make();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () =>
      new Response("", {
        status: 401,
        headers: { "www-authenticate": "Basic realm=x" },
      }),
  );
  const { text, isError } = await world.bash(
    `git clone http://127.0.0.1:${server.addr.port}/x.git`,
    { timeout: 30 },
  );
  await server.shutdown();
  assertEquals(isError, true);
  assertMatch(text, /terminal prompts disabled|could not read Username/);
});

Deno.test("S03: descriptors beyond 9 are closed, too, where the shell is bash", async () => {
  const script = `
    import { World } from ${
    JSON.stringify(import.meta.resolve("../bash_world.ts"))
  };
    await using world = await World.make();
    console.log((await world.bash("ls /proc/self/fd")).text);
  `;
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: [
      "-c",
      'exec 5</dev/null 12</dev/null 200</dev/null "$0" run -A --no-check --config "$1" "$2"',
      Deno.execPath(),
      new URL("../deno.json", import.meta.url).pathname,
      `data:application/typescript,${encodeURIComponent(script)}`,
    ],
  }).output();
  // 3 is what ls itself opens.
  assertEquals(
    new TextDecoder().decode(stdout).trim().split(/\s+/),
    ["0", "1", "2", "3"],
    new TextDecoder().decode(stderr),
  );
});

Deno.test("a command runs in bash where there is one", async () => {
  await using world = await World.make();
  const { text } = await world.bash(
    'a=(x y); [[ ${#a[@]} == 2 ]] && echo "$0 $#"; shopt -q expand_aliases || echo plain',
  );
  assertEquals(text, "bash 0\nplain\n");
});

Deno.test("S03: a Node program neither takes our input nor changes it", async () => {
  await using world = await World.make();
  const { text } = await world.bash(
    "node -e \"process.stdin.on('data', () => {}); process.stdin.on('end', () => console.log('ended'))\"",
    { timeout: 30 },
  );
  assert(text.startsWith("ended"), text);
});

Deno.test({
  name:
    "what made a session of its own without a sandbox ends with the server, and what is not ours goes on",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const other = new Deno.Command("sleep", { args: ["300"] }).spawn();
    let left: number;
    {
      await using world = await World.make();
      const { text } = await world.bash(
        "setsid sh -c 'sleep 300 & echo $!; exec >/dev/null; sleep 300' & sleep 0.2",
      );
      left = pidsIn(text)[0]!;
      assertEquals(await runs(left), true);
    }
    await allGone([left]);
    assertEquals(await runs(other.pid), true);
    other.kill("SIGKILL");
    await other.status;
  },
});
