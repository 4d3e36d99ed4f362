import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { CHECKPOINT_BYTES } from "../lib/checkpoint.ts";
import { contentOf, trimContents } from "../lib/checkpoints.ts";
import { Sqlite } from "../lib/sqlite.ts";
import { reviewChanges, undoPrompt } from "../lib/undo_prompts.ts";
import { withFolder } from "./sessions.ts";
import { tryUndos } from "./undo_property.ts";
import { UndoWorld } from "./undo_world.ts";

Deno.test("write and edit name the step that undoes them", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  assertStringIncludes(
    (await files.write({ path: "a", content: "one\n" })).note,
    "undo: step 1",
  );
  assertStringIncludes(
    (await files.edit({ path: "a", old_string: "one", new_string: "two" }))
      .note,
    "undo: step 2",
  );
  const same = await files.write({ path: "a", content: "two\n" });
  assert(!same.note.includes("undo"));
  const failed = await files.edit({
    path: "a",
    old_string: "absent",
    new_string: "x",
  });
  assert(failed.isError && !failed.note.includes("undo"));
  assertStringIncludes(
    (await files.write({ path: "a", content: "x", append: true })).note,
    "undo: step 3",
  );
});

Deno.test("undo puts back bytes, modes and absence, and shows the difference", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.file(
    "kept",
    new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0xff]),
  );
  await Deno.chmod(files.path("kept"), 0o750);
  const before = await world.state();
  await files.write({ path: "new", content: "n" });
  await files.write({ path: "kept", content: "changed" });
  await files.write({ path: "kept", content: "changed again" });
  const dry = await world.undo({ dry_run: true });
  assertStringIncludes(dry.text, `${files.path("new")}: would be removed`);
  assertStringIncludes(dry.text, "-changed again");
  assertEquals(await files.bytes("kept"), "changed again");
  const done = await world.undo();
  assertEquals(done.isError, false, done.text);
  assertMatch(done.text, /kept: put back \(undo: step \d+\)/);
  assertEquals(await world.state(), before);
  assertMatch((await world.undo()).text, /kept: as it was/);
});

Deno.test("an undo is a step and can be undone", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.file("a", "first\n");
  await Deno.chmod(files.path("a"), 0o600);
  await files.write({ path: "a", content: "second\n" });
  await files.write({ path: "b", content: "new\n" });
  const changed = await world.state();
  const { text } = await world.undo();
  const steps = [...text.matchAll(/undo: step (\d+)/g)].map(([, step]) =>
    Number(step)
  );
  assertEquals(steps, [3, 4]);
  for (const step of steps) {
    assertEquals((await world.undo({ step })).isError, false);
  }
  assertEquals(await world.state(), changed);
});

Deno.test("undo of one step, and of one file", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.write({ path: "a", content: "1" });
  await files.write({ path: "b", content: "1" });
  await files.write({ path: "a", content: "2" });
  const blocked = await world.undo({ step: 1 });
  assert(blocked.isError);
  assertStringIncludes(blocked.text, "changed again in step 3");
  assertEquals((await world.undo({ step: 3 })).isError, false);
  assertEquals([await files.bytes("a"), await files.bytes("b")], ["1", "1"]);
  assertEquals((await world.undo({ file: files.path("b") })).isError, false);
  assertEquals(Object.keys(await world.state()), ["a"]);
  assertStringIncludes((await world.undo({ step: 99 })).text, "no step 99");
  assertStringIncludes(
    (await world.undo({ file: files.path("zz") })).text,
    "did not change that file",
  );
});

Deno.test("undo touches nothing where one file was changed since, unless forced", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.file("a", "old a");
  await files.file("b", "old b");
  await files.write({ path: "a", content: "new a" });
  await files.write({ path: "b", content: "new b" });
  await Deno.writeTextFile(files.path("b"), "by hand");
  const before = await world.state();
  const refused = await world.undo();
  assert(refused.isError);
  assertStringIncludes(refused.text, `${files.path("b")}: changed since`);
  assertEquals(await world.state(), before);
  assertEquals((await world.undo({ force: true })).isError, false);
  assertEquals([await files.bytes("a"), await files.bytes("b")], [
    "old a",
    "old b",
  ]);
});

Deno.test("undo finds the session that last changed a file, or the one that is named", async () => {
  await using world = await UndoWorld.make();
  const { files, store } = world;
  assertStringIncludes(
    (await world.undo()).text,
    "no session of this project changed a file",
  );
  await files.write({ path: "a", content: "first session" });
  const [first] = (await store.list({ limit: 5 })).items;
  await files.write({ path: "b", content: "second session" }, world.call("2"));
  assertStringIncludes(
    (await world.undo({ dry_run: true })).text,
    files.path("b"),
  );
  const named = await world.undo({ session: first?.id.slice(0, 8) });
  assertStringIncludes(named.text, `${files.path("a")}: removed`);
  assertEquals(Object.keys(await world.state()), ["b"]);
});

Deno.test("a file beyond the limit is written, and the answer says that undo is not available", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.file("big", new Uint8Array(CHECKPOINT_BYTES + 1));
  await files.file("fits", new Uint8Array(CHECKPOINT_BYTES));
  const big = await files.write({ path: "big", content: "small" });
  assertEquals(big.isError, false);
  assertStringIncludes(
    big.note,
    `undo is not available for this: the file had more than ${CHECKPOINT_BYTES} bytes`,
  );
  assertStringIncludes(
    (await files.write({ path: "fits", content: "small" })).note,
    "undo: step 1",
  );
});

Deno.test("where the store cannot be written the file still is", async () => {
  await withFolder(async (folder) => {
    await using world = await UndoWorld.make(`${folder}/s.db`);
    await world.store.flush({ wait: 2_000 });
    const other = await Sqlite.open(`${folder}/s.db`);
    other.exec("BEGIN IMMEDIATE");
    const locked = await world.files.write({ path: "a", content: "x" });
    other.exec("COMMIT");
    other.close();
    assertEquals([locked.isError, await world.files.bytes("a")], [false, "x"]);
    assertStringIncludes(locked.note, "undo is not available for this: ");
    assertStringIncludes(
      (await world.files.write({ path: "a", content: "y" })).note,
      "undo: step 1",
    );
  });
});

Deno.test("a call that is not recorded keeps nothing and says nothing", async () => {
  await using world = await UndoWorld.make();
  const context = {
    ...world.files.context,
    signal: new AbortController().signal,
  };
  const answer = await world.files.write({ path: "a", content: "x" }, context);
  assert(!answer.note.includes("undo"));
});

Deno.test("equal contents are kept once, and the oldest go when there are too many", async () => {
  await using world = await UndoWorld.make();
  const { files, store } = world;
  const random = Array.from(
    crypto.getRandomValues(new Uint8Array(3_000)),
    (byte) => byte.toString(16),
  ).join("");
  await files.file("a", random);
  await files.file("b", random);
  await files.write({ path: "a", content: "1" });
  await files.write({ path: "b", content: "2" });
  const contents = () =>
    store.query((db) => db.all<{ hash: string }>("SELECT hash FROM contents"));
  const [kept, ...more] = await contents();
  assertEquals(more, []);
  assertEquals(
    (await contentOf((query) => store.query(query), kept?.hash ?? "")).length,
    random.length,
  );
  assertEquals(await store.change((db) => trimContents(db, 1_000_000)), 0);
  assertEquals(await store.change((db) => trimContents(db, 100)), 2);
  assertEquals(await contents(), []);
});

Deno.test("a deleted session takes its steps along", async () => {
  await using world = await UndoWorld.make();
  await world.files.file("a", "old");
  await world.files.write({ path: "a", content: "x" });
  await world.store.delete(undefined);
  assertEquals(
    await world.store.query((db) => db.all("SELECT * FROM steps")),
    [],
  );
  assertStringIncludes((await world.undo()).text, "no session");
});

Deno.test("what others changed between two steps is not put back over", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.file("a", "old");
  await files.write({ path: "a", content: "one" });
  await Deno.writeTextFile(files.path("a"), "by hand");
  await files.write({ path: "a", content: "two" });
  const refused = await world.undo();
  assert(refused.isError);
  assertStringIncludes(refused.text, "changed by others before step 2");
  assertEquals(await files.bytes("a"), "two");
  assertEquals((await world.undo({ step: 2 })).isError, false);
  assertEquals(await files.bytes("a"), "by hand");
  assert((await world.undo({ step: 1 })).isError);
  assertEquals((await world.undo({ force: true })).isError, false);
  assertEquals(await files.bytes("a"), "old");
});

Deno.test("a mode that others gave a file stays, unless forced", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  await files.file("a", "old");
  await Deno.chmod(files.path("a"), 0o644);
  await files.write({ path: "a", content: "new" });
  await Deno.chmod(files.path("a"), 0o600);
  const refused = await world.undo();
  assert(refused.isError);
  assertStringIncludes(refused.text, "its mode changed since, to 600");
  assertEquals((await world.undo({ force: true })).isError, false);
  assertEquals((await world.state()).a, "644 old");
});

Deno.test("the tool undoes this conversation's changes, and leaves what others changed", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  const [mine, others] = [world.call("mine"), world.call("others")];
  await files.file("a", "old a");
  assertStringIncludes(
    (await world.tool({}, mine)).text,
    "this conversation changed no file",
  );
  await files.write({ path: "a", content: "new a" }, mine);
  await files.write({ path: "b", content: "new b" }, others);
  const shown = await world.tool({ dry_run: true }, mine);
  assertStringIncludes(shown.text, "a: would be put back");
  assertEquals(await files.bytes("a"), "new a");
  assertStringIncludes((await world.tool({}, mine)).text, "a: put back");
  assertEquals([await files.bytes("a"), await files.bytes("b")], [
    "old a",
    "new b",
  ]);
  await files.write({ path: "a", content: "again" }, mine);
  await Deno.writeTextFile(files.path("a"), "by hand");
  const refused = await world.tool({}, mine);
  assert(refused.isError && !refused.text.includes("--force"), refused.text);
  assertEquals(await files.bytes("a"), "by hand");
});

Deno.test("the tool's answer holds no secret and stays within the budget", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  const ctx = world.call("mine");
  const token = `ghp_${"a1B2".repeat(9)}`;
  await files.file("a", `token ${token}\n${"a line of text\n".repeat(5_000)}`);
  await files.write({ path: "a", content: "gone\n" }, ctx);
  const { text } = await world.tool({ dry_run: true }, ctx);
  assert(!text.includes(token) && text.length <= 20_000, text.slice(0, 200));
});

Deno.test("review_changes shows what a session changed, and undo asks first", async () => {
  await using world = await UndoWorld.make();
  const { files, store } = world;
  await files.file("a", "old\nsecret ghp_" + "a1B2".repeat(9) + "\n");
  await files.write({ path: "a", content: "new\n" });
  await files.write({ path: "b", content: "made\n" });
  await Deno.writeTextFile(files.path("b"), "made\nby hand\n");
  const { items: [session] } = await store.list({ limit: 1 });
  for (const prompt of [reviewChanges, undoPrompt]) {
    const text = await prompt.run(
      { session: session!.id.slice(0, 8) },
      files.context,
    ) as string;
    assertStringIncludes(text, `session ${session!.id}`);
    assertStringIncludes(text, `${files.path("a")}: changed\n`);
    assertStringIncludes(text, "-old\n");
    assertStringIncludes(text, "+new");
    assertStringIncludes(text, `${files.path("b")}: new, also by others since`);
    assertStringIncludes(text, "+by hand");
    assert(!text.includes("a1B2"), text);
  }
  assertEquals(await files.bytes("a"), "new\n");
});

Deno.test("random writes, edits, changes by hand and undos restore exactly what was, or refuse", async () => {
  const { undone, refused } = await tryUndos(60, 20261130);
  assert(undone > 20 && refused > 3, `${undone} ${refused}`);
});
