import { assertEquals, assertMatch } from "@std/assert";

/** Runs the probe with the given permissions only. */
async function probe(
  permissions: string[],
  args: string[],
): Promise<{ roots: string[]; warnings: string[]; answers: unknown[] }> {
  const here = new URL("./", import.meta.url);
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--config",
      new URL("deno.json", here).pathname,
      ...permissions,
      new URL("fixtures/scope_probe.ts", here).pathname,
      ...args,
    ],
    stdin: "null",
  }).output();
  const errors = new TextDecoder().decode(stderr);
  assertEquals(success, true, errors);
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function onDisk(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${folder}/r/sub`, { recursive: true });
    await Deno.mkdir(`${folder}/out`);
    await Deno.writeTextFile(`${folder}/r/sub/f`, "mine");
    await Deno.writeTextFile(`${folder}/out/s`, "secret");
    await Deno.symlink(`${folder}/out/s`, `${folder}/r/l`);
    await Deno.symlink(`${folder}/out/new`, `${folder}/r/dangling`);
    await Deno.symlink(`${folder}/r`, `${folder}/link`);
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("with only the root granted, everything in it resolves and nothing leads out", async () => {
  await onDisk(async (folder) => {
    const root = `${folder}/r`;
    const { roots, answers } = await probe([`--allow-read=${root}`], [
      root,
      `read:${root}/sub/f`,
      "read:sub/f",
      "write:new/deep/x",
      "read:missing",
      "read:l",
      "write:dangling",
      "read:../out/s",
      "read:/etc/hostname",
    ]);
    assertEquals(roots, [root]);
    const [file, relative, fresh, missing, link, dangling, out, etc] = answers;
    assertEquals(file, {
      shown: `${root}/sub/f`,
      real: `${root}/sub/f`,
      text: "mine",
    });
    assertEquals(relative, file);
    assertEquals(fresh, {
      shown: `${root}/new/deep/x`,
      real: `${root}/new/deep/x`,
    });
    assertMatch(String(missing), /no such file or directory$/);
    for (const answer of [link, dangling, out]) {
      assertMatch(String(answer), /outside the workspace/);
    }
    assertMatch(
      String(etc),
      /no permission for it: start Deno with --allow-read/,
    );
  });
});

Deno.test("a root granted through a link asks for the real folder's permission", async () => {
  await onDisk(async (folder) => {
    const root = `${folder}/link`;
    const { roots, answers } = await probe([`--allow-read=${root}`], [
      root,
      `read:${root}/sub/f`,
      "read:l",
    ]);
    assertEquals(roots, [`${folder}/r`]);
    assertMatch(
      String(answers[0]),
      new RegExp(`start Deno with --allow-read="${folder}/r/sub"`),
    );
    assertMatch(String(answers[1]), /no permission/);
  });
});

Deno.test("with a part of the root granted, that part works and the rest says what is missing", async () => {
  await onDisk(async (folder) => {
    const root = `${folder}/r`;
    const { answers } = await probe([`--allow-read=${root}/sub`], [
      root,
      "read:sub/f",
      "read:l",
    ]);
    assertEquals((answers[0] as { text: string }).text, "mine");
    assertMatch(String(answers[1]), /no permission/);
  });
});

Deno.test("with nothing granted, every path says what is missing, and nothing prompts", async () => {
  await onDisk(async (folder) => {
    const root = `${folder}/r`;
    const { answers } = await probe([], [root, "read:sub/f", "write:x"]);
    assertMatch(String(answers[0]), /no permission.*--allow-read/);
    assertMatch(String(answers[1]), /no permission.*--allow-write/);
  });
});
