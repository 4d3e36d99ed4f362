import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { CHECKPOINT_BYTES, KEEPER_KEY } from "../lib/checkpoint.ts";
import { contentOf, trimContents } from "../lib/checkpoints.ts";
import { CommandError, toToolResult } from "../lib/command.ts";
import type { JsonObject } from "../lib/mcp.ts";
import { prepareInput } from "../lib/schema.ts";
import { STORE_KEY } from "../lib/session_tools.ts";
import { Sqlite } from "../lib/sqlite.ts";
import type { SessionStore } from "../lib/store.ts";
import type { ToolContext } from "../lib/tool.ts";
import { undoCommand } from "../lib/undo.ts";
import { FileWorld } from "./file_world.ts";
import { callStart, testStore, withFolder } from "./sessions.ts";

/** Files, and a store that records a call by which they are changed. */
class UndoWorld implements AsyncDisposable {
  private constructor(
    readonly files: FileWorld,
    readonly store: SessionStore,
  ) {}

  static async make(path?: string): Promise<UndoWorld> {
    const files = await FileWorld.make();
    const { store } = testStore({
      roots: [files.root],
      ...(path ? { path } : {}),
    });
    files.context.process.get(STORE_KEY, () => store);
    files.context.process.get(KEEPER_KEY, () => store.checkpoints);
    const world = new UndoWorld(files, store);
    world.call("1");
    return world;
  }

  /** A recorded call; what is changed with its context belongs to its session. */
  call(connectionId: string): ToolContext {
    const start = callStart({ connectionId });
    const context = {
      ...this.files.context,
      signal: connectionId === "1"
        ? this.files.context.signal
        : start.context.signal,
    };
    this.store.observer.started({ ...start, context });
    return context;
  }

  async undo(
    args: JsonObject = {},
  ): Promise<{ text: string; isError: boolean }> {
    const prepared = prepareInput(
      undoCommand.input ?? { type: "object" },
      args,
    );
    assertEquals(prepared.error, undefined);
    try {
      const output = await undoCommand.run?.(
        prepared.value as Parameters<NonNullable<typeof undoCommand.run>>[0],
        this.files.context,
      );
      const [block] = toToolResult(output ?? "").content;
      return { text: block?.type === "text" ? block.text : "", isError: false };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { text: error.message, isError: true };
    }
  }

  /** Everything in the root: content and mode. */
  async state(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for await (const { name, isFile } of Deno.readDir(this.files.root)) {
      if (!isFile) continue;
      const { mode } = await Deno.stat(this.files.path(name));
      found[name] = `${((mode ?? 0) & 0o777).toString(8)} ${await this.files
        .bytes(name)}`;
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.files[Symbol.asyncDispose]();
  }
}

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

Deno.test("random writes, edits, changes by hand and undos restore exactly what was, or refuse", async () => {
  await using world = await UndoWorld.make();
  const { files } = world;
  const names = ["p", "q", "r"];
  let seed = 20261130;
  const pick = (count: number) =>
    (seed = seed * 1103515245 + 12345 & 0x7fffffff) % count;
  let undone = 0, refused = 0;
  for (let round = 0; round < 60; round++) {
    for (const name of names) {
      await Deno.remove(files.path(name)).catch(() => {});
    }
    for (const name of names) {
      if (pick(2) === 0) continue;
      await files.file(name, crypto.getRandomValues(new Uint8Array(pick(200))));
      await Deno.chmod(
        files.path(name),
        [0o644, 0o600, 0o755][pick(3)] as number,
      );
    }
    const context = world.call(`round${round}`);
    const start = await world.state();
    const byHand = new Set<string>();
    const touched = new Set<string>();
    for (let i = pick(6) + 1; i > 0; i--) {
      const name = names[pick(3)] as string;
      const action = pick(10);
      if (action < 6) {
        await files.write({
          path: name,
          content: `w${pick(5)}\n`,
          append: pick(3) === 0,
        }, context);
        touched.add(name);
      } else if (action < 9) {
        const answer = await files.edit({
          path: name,
          old_string: "w1",
          new_string: "w2",
          replace_all: true,
        }, context);
        if (!answer.isError) touched.add(name);
      } else {
        await Deno.writeTextFile(files.path(name), `hand ${round} ${i}`);
        byHand.add(name);
      }
    }
    const now = await world.state();
    const { text, isError } = await world.undo({});
    const after = await world.state();
    if (isError) {
      refused++;
      assertEquals(after, now, text);
      assert(byHand.size > 0 || touched.size === 0, text);
    } else {
      undone++;
      for (const name of touched) {
        if (!byHand.has(name)) {
          assertEquals(after[name], start[name], `${round} ${name}\n${text}`);
        }
      }
      for (const name of names) {
        if (!touched.has(name)) assertEquals(after[name], now[name]);
      }
    }
    await world.store.delete(undefined);
  }
  assert(undone > 20 && refused > 3, `${undone} ${refused}`);
});
