import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  changedSince,
  changesText,
  MAX_LOOKED_AT,
  MAX_NAMED,
} from "../lib/tree_changes.ts";
import { FileWorld } from "./file_world.ts";

Deno.test("what changed in a git work tree since a moment is told, what git ignores is not", async () => {
  await using world = await FileWorld.make();
  const { root, context } = world;
  await world.file("old.txt", "old");
  await world.file("old too.txt", "old");
  assertEquals(await changedSince(root, 0, context), undefined);
  await Deno.mkdir(`${root}/.git`);
  await world.file(".git/index", "x");
  await world.file(".gitignore", "*.log\nbuild/\n");
  const since = Date.now() + 60_000;
  assertEquals(await changedSince(root, since, context), {
    paths: [],
    count: 0,
    isWhole: true,
  });
  await Deno.mkdir(`${root}/build`);
  await Deno.mkdir(`${root}/sub`);
  for (const name of ["new.txt", "old.txt", "a.log", "build/b", "sub/.c"]) {
    await world.file(name, "new");
    await Deno.utime(`${root}/${name}`, new Date(since), new Date(since));
  }
  const found = await changedSince(root, since, context);
  assertEquals(found?.paths.toSorted(), ["new.txt", "old.txt", "sub/.c"]);
  assertEquals(
    changesText(root, { paths: ["a", "b"], count: 2, isWhole: true }),
    `changed in ${root} while the command ran:\na\nb`,
  );
  assertEquals(
    changesText(root, { paths: [], count: 0, isWhole: false }),
    undefined,
  );
});

Deno.test("a large tree is looked at as far as the limits go", async () => {
  await using world = await FileWorld.make();
  const { root, context } = world;
  await Deno.mkdir(`${root}/.git`);
  for (let i = 0; i < MAX_LOOKED_AT + 1; i++) {
    Deno.writeTextFileSync(`${root}/f${i}`, "");
  }
  const found = await changedSince(root, 0, context);
  assert(found);
  assertEquals([found.count, found.isWhole], [MAX_LOOKED_AT, false]);
  assertEquals(found.paths.length, MAX_NAMED);
  const text = changesText(root, found) ?? "";
  assertStringIncludes(text, `of its first ${MAX_LOOKED_AT} files`);
  assert(text.endsWith(`… ${MAX_LOOKED_AT - MAX_NAMED} more`));
});
