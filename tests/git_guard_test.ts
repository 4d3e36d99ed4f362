import { assertEquals, assertMatch } from "@std/assert";
import {
  executingKeys,
  gitState,
  MAX_CONFIG_BYTES,
  reviewGit,
  SET_ASIDE,
} from "../lib/git_guard.ts";
import { posixPaths } from "../lib/paths.ts";

async function inRepository(
  test: (root: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/.git/hooks`, { recursive: true });
    await Deno.writeTextFile(`${root}/.git/hooks/pre-push.sample`, "");
    await Deno.writeTextFile(`${root}/.git/hooks/post-commit`, "mine");
    await Deno.writeTextFile(
      `${root}/.git/config`,
      "[core]\n\tbare = false\n\tpager = less\n",
    );
    await test(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("executingKeys finds what makes git run something, in every notation", () => {
  const text = `
[core]
	bare = false
	FSMonitor = ./evil
  hooksPath=x ; comment
[alias] st = !sh -c evil
[filter "a b"]
	smudge = evil
[diff.tool]
	textconv = evil
[includeIf "gitdir:~/x"]
	path = evil
[remote "origin"]
	url = https://example.org/x
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	merge = refs/heads/main
[user]
	name = x
[core]
	sshCommand = a \\
b
`;
  assertEquals([...executingKeys(text).keys()], [
    "core.fsmonitor",
    "core.hookspath",
    "alias.st",
    "filter.a b.smudge",
    "diff.tool.textconv",
    "includeif.gitdir:~/x.path",
    "core.sshcommand",
  ]);
});

Deno.test("a command that changes nothing that git runs is not told of", async () => {
  await inRepository(async (root) => {
    const before = await gitState(posixPaths, root);
    await Deno.writeTextFile(
      `${root}/.git/config`,
      "[core]\n\tbare = false\n\tpager = less\n[user]\n\tname = x\n",
    );
    await Deno.writeTextFile(`${root}/.git/hooks/pre-commit.sample`, "");
    assertEquals(await reviewGit(posixPaths, root, before), []);
  });
});

Deno.test("a new hook is moved aside, an old one stays", async () => {
  await inRepository(async (root) => {
    const before = await gitState(posixPaths, root);
    await Deno.writeTextFile(`${root}/.git/hooks/pre-commit`, "evil");
    const [note] = await reviewGit(posixPaths, root, before);
    assertMatch(note ?? "", /pre-commit was renamed to pre-commit\.set-aside/);
    const names = [...Deno.readDirSync(`${root}/.git/hooks`)]
      .map(({ name }) => name).sort();
    assertEquals(names, [
      "post-commit",
      `pre-commit${SET_ASIDE}`,
      "pre-push.sample",
    ]);
    assertEquals(
      await reviewGit(posixPaths, root, await gitState(posixPaths, root)),
      [],
    );
  });
});

Deno.test("new and changed settings that run something are named", async () => {
  await inRepository(async (root) => {
    const before = await gitState(posixPaths, root);
    await Deno.writeTextFile(
      `${root}/.git/config`,
      "[core]\n\tpager = evil\n\tfsmonitor = evil\n",
    );
    const [note] = await reviewGit(posixPaths, root, before);
    assertMatch(note ?? "", /run programs.*: core\.pager, core\.fsmonitor;/);
  });
});

Deno.test("submodules count, also one that a command has made", async () => {
  await inRepository(async (root) => {
    const before = await gitState(posixPaths, root);
    await Deno.mkdir(`${root}/.git/modules/m/hooks`, { recursive: true });
    await Deno.writeTextFile(`${root}/.git/modules/m/hooks/update`, "evil");
    const [note] = await reviewGit(posixPaths, root, before);
    assertMatch(note ?? "", /modules\/m\/hooks\/update was renamed/);
  });
});

Deno.test("a settings file too long to read counts as changed", async () => {
  await inRepository(async (root) => {
    const before = await gitState(posixPaths, root);
    await Deno.writeTextFile(
      `${root}/.git/config`,
      " ".repeat(MAX_CONFIG_BYTES + 1),
    );
    assertEquals((await reviewGit(posixPaths, root, before)).length, 1);
  });
});

Deno.test("a git folder or hooks behind a link are another repository's, and left alone", async () => {
  await inRepository(async (other) => {
    const before = { folders: new Map() };
    const root = await Deno.makeTempDir();
    try {
      await Deno.symlink(`${other}/.git`, `${root}/.git`);
      assertEquals(await reviewGit(posixPaths, root, before), []);
      await Deno.remove(`${root}/.git`);
      await Deno.mkdir(`${root}/.git`);
      await Deno.symlink(`${other}/.git/hooks`, `${root}/.git/hooks`);
      assertEquals(await reviewGit(posixPaths, root, before), []);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
    assertEquals(
      (await Deno.stat(`${other}/.git/hooks/post-commit`)).isFile,
      true,
    );
  });
});

Deno.test("a folder without a repository has nothing to tell", async () => {
  const root = await Deno.makeTempDir();
  try {
    const before = await gitState(posixPaths, root);
    assertEquals(await reviewGit(posixPaths, root, before), []);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
