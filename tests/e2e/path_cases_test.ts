/** Inputs that broke other servers, about paths, roots, links and names; each is named by its case. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { commandLine, Folders, Server } from "../harness.ts";
import { ProgramWorld } from "../program_world.ts";

/** No tool reads, changes or makes what is at `path`, and each says that it lies outside. */
async function outside(world: ProgramWorld, path: string): Promise<void> {
  for (
    const answer of [
      await world.read({ path }),
      await world.write({ path, content: "evil" }),
      await world.edit({ path, old_string: "secret", new_string: "evil" }),
      await world.grep({ path, pattern: "s" }),
    ]
  ) {
    assert(answer.isError, answer.text);
    assertMatch(answer.text, /outside the workspace/);
    assert(!answer.text.includes("secret") && !answer.note.includes("secret"));
  }
}

/** A world with a folder beside the root that holds a secret, and a link to that. */
async function withSecret(): Promise<{ world: ProgramWorld; out: string }> {
  const world = await ProgramWorld.make();
  const out = `${world.folders.base}/out`;
  await Deno.mkdir(out);
  await Deno.writeTextFile(`${out}/s.txt`, "secret\n");
  return { world, out };
}

/** The folder outside is as it was. */
async function untouched(out: string): Promise<void> {
  assertEquals([...Deno.readDirSync(out)].map(({ name }) => name), ["s.txt"]);
  assertEquals(await Deno.readTextFile(`${out}/s.txt`), "secret\n");
}

Deno.test("P01: a sibling folder with the same prefix is outside", async () => {
  await using world = await ProgramWorld.make();
  const sibling = `${world.root}2`;
  await Deno.mkdir(sibling);
  await Deno.writeTextFile(`${sibling}/s.txt`, "secret\n");
  await outside(world, `${sibling}/s.txt`);
  await untouched(sibling);
});

Deno.test("P02 P03: a link in the root to a file outside is not followed, however it is written", async () => {
  const { world, out } = await withSecret();
  await using _ = world;
  await Deno.symlink(`${out}/s.txt`, world.path("link"));
  await Deno.symlink("../out/s.txt", world.path("relative"));
  await Deno.mkdir(world.path("d"));
  await Deno.symlink(out, world.path("d/e"));
  const { root } = world;
  for (
    const path of [
      `${root}/link`,
      `${root}/relative`,
      `${root}/d/./e/../e/s.txt`,
      `${root}/../out/s.txt`,
      "link",
      "../out/s.txt",
    ]
  ) await outside(world, path);
  await untouched(out);
});

Deno.test("P04: nothing is made through a dangling link that leads outside", async () => {
  const { world, out } = await withSecret();
  await using _ = world;
  await Deno.symlink(`${out}/new`, world.path("d"));
  await Deno.symlink("d", world.path("chain"));
  for (const path of ["d", "chain"]) await outside(world, path);
  await untouched(out);
});

Deno.test("P05: nothing is made below a linked folder that leads outside", async () => {
  const { world, out } = await withSecret();
  await using _ = world;
  await Deno.symlink(out, world.path("ld"));
  for (const path of ["ld/evil", "ld/new/deep/evil"]) {
    await outside(world, path);
  }
  await untouched(out);
});

Deno.test("P08: the file system's root is a root when the operator says so", async () => {
  await using world = await ProgramWorld.make({ f: "text\n" }, {
    flags: ["--root", "/"],
  });
  const { text } = await world.read({ path: "/etc/passwd", limit: 1 });
  assertStringIncludes(text, "root");
  const path = `${world.folders.base}/beside`;
  const { isError } = await world.write({ path, content: "x" });
  assert(!isError);
});

Deno.test("P09: the client's roots narrow the operator's, and do not replace them", async () => {
  await using folders = await Folders.make();
  await folders.write("repo/in", "in\n");
  await folders.write("beside", "beside\n");
  await Deno.mkdir(`${folders.base}/other`);
  await Deno.writeTextFile(`${folders.base}/other/f`, "secret\n");
  for (
    const [client, seen] of [
      // Inside of the operator's root: only that is left.
      [`${folders.root}/repo`, { in: true, beside: false }],
      // Outside of it: the operator's stays.
      [`${folders.base}/other`, { in: true, beside: true }],
    ] as const
  ) {
    await using server = await Server.start({ folders });
    await server.send({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { roots: {} },
        clientInfo: { name: "test", version: "1" },
      },
    });
    await server.answer(0);
    await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    // The first call asks.
    const first = server.call("read", { path: `${folders.root}/repo/in` });
    const { id } = await server.find(
      ({ method }) => method === "roots/list",
      "the question for roots",
    );
    await server.send({
      jsonrpc: "2.0",
      id: id!,
      result: { roots: [{ uri: `file://${client}` }] },
    });
    await first;
    const readable = async (path: string) =>
      !(await server.call("read", { path })).isError;
    assertEquals({
      in: await readable(`${folders.root}/repo/in`),
      beside: await readable(`${folders.root}/beside`),
    }, seen);
    assertEquals(await readable(`${folders.base}/other/f`), false);
  }
});

Deno.test("P15: a narrow no-break space in a name is found with a plain one, and that is said", async () => {
  const name = "Shot at 9.52.38\u202fAM.txt";
  await using world = await ProgramWorld.make({ [name]: "shot\n" });
  const { text, note } = await world.read({ path: "Shot at 9.52.38 AM.txt" });
  assertEquals(text, "shot\n");
  assertStringIncludes(note, "does not exist; taken instead");
});

Deno.test("P16: a name is found in either Unicode composition, and two are ambiguous", async () => {
  await using world = await ProgramWorld.make({
    "e\u0301.txt": "found\n",
    "a\u00a0e\u0301": "x",
    "a\u2009\u00e9": "x",
  });
  assertEquals((await world.read({ path: "\u00e9.txt" })).text, "found\n");
  const { text, isError } = await world.read({ path: "a \u00e9" });
  assertEquals(isError, true);
  assertStringIncludes(text, "ambiguous");
});

Deno.test("P17: a NUL in a path is refused with a sentence", async () => {
  await using world = await ProgramWorld.make();
  for (
    const answer of [
      await world.read({ path: "a\0b" }),
      await world.write({ path: "a\0b", content: "" }),
      await world.grep({ path: "a\0b", pattern: "x" }),
    ]
  ) {
    assert(answer.isError);
    assertStringIncludes(answer.text, "holds a NUL character");
  }
});

Deno.test("P20: where there is no room a write leaves the old file whole, and no trace of itself", async () => {
  // What a full disk does to a write: the limit on a file's size, which the shell sets before it becomes the program.
  await using folders = await Folders.make();
  const path = await folders.write("f", "old\n");
  const command = await commandLine(["mcp", "--root", folders.root]);
  await using server = await Server.open({
    folders,
    program: ["sh", "-c", "ulimit -f 2048; trap '' XFSZ; exec \"$@\"", "sh"]
      .concat(command),
  });
  const answer = await server.call("write", {
    path,
    content: "x".repeat(4_000_000),
  });
  assertEquals(answer.isError, true);
  assertEquals(await Deno.readTextFile(path), "old\n");
  assertEquals([...Deno.readDirSync(folders.root)].map(({ name }) => name), [
    "f",
  ]);
});
