// deno-lint-ignore-file camelcase -- the names are those of the schemas
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { edit } from "../lib/edit.ts";
import { EDIT_BYTES, SHOWN_CANDIDATE_CHARS } from "../lib/edit_refusal.ts";
import { ERROR_CHARS } from "../lib/tool.ts";
import { bytesOf, FileWorld, utf16 } from "./file_world.ts";

Deno.test("edit replaces one occurrence and answers with the diff", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one\ntwo\nthree\n");
  const { text, note, meta, isError } = await world.edit({
    path,
    old_string: "two",
    new_string: "TWO",
  });
  assert(!isError);
  assertEquals(text, `edited ${path} (1 replacement)`);
  assertEquals(
    note,
    "[rousseau: diff:\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three]",
  );
  assertEquals(meta, { replacements: 1, bytes: 14 });
  assertEquals(await world.bytes("f"), "one\nTWO\nthree\n");
});

Deno.test("edit checks its arguments in the first seed's order and words", async () => {
  await using world = await FileWorld.make();
  const cases: [Record<string, unknown>, string][] = [
    [{}, "edit: path is required"],
    [{ path: "" }, "edit: path is required"],
    [{ path: "nope" }, "edit: old_string is required"],
    [
      { path: "nope", old_string: "", new_string: "x" },
      "edit: old_string is required",
    ],
    [{ path: "nope", old_string: "x" }, "edit: new_string is required"],
    [
      { path: "nope", old_string: "x", new_string: "x" },
      "edit: old_string and new_string are identical",
    ],
    [
      { path: world.path("nope"), old_string: "x", new_string: "y" },
      `edit: read: open ${world.path("nope")}: no such file or directory`,
    ],
    [
      { path: world.root, old_string: "x", new_string: "y" },
      `edit: read: read ${world.root}: is a directory`,
    ],
  ];
  for (const [args, message] of cases) {
    const { text, isError } = await world.edit(args);
    assertEquals([text, isError], [message, true]);
  }
});

Deno.test("an empty new text deletes", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "keep drop keep2");
  await world.edit({ path, old_string: " drop", new_string: "" });
  assertEquals(await world.bytes("f"), "keep keep2");
});

Deno.test("edit replaces every occurrence on demand", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "a b a\na");
  const { text } = await world.edit({
    path,
    old_string: "a",
    new_string: "x",
    replace_all: true,
  });
  assertEquals(text, `edited ${path} (3 replacements)`);
  assertEquals(await world.bytes("f"), "x b x\nx");
});

Deno.test("edit makes a list of edits, each on what the one before left", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one two two");
  const { text } = await world.edit({
    path,
    edits: [
      { old_string: "one", new_string: "1" },
      { old_string: "two", new_string: "2", replace_all: true },
      { old_string: "1 2", new_string: "done" },
    ],
  });
  assertEquals(text, `edited ${path} (4 replacements)`);
  assertEquals(await world.bytes("f"), "done 2");
});

Deno.test("edit takes the pair or the list, not both", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one");
  const edits = [{ old_string: "one", new_string: "1" }];
  const both = await world.edit({
    path,
    old_string: "one",
    new_string: "2",
    edits,
  });
  assertEquals(
    both.text,
    "edit: give old_string and new_string, or edits, not both",
  );
  // Some models send an empty pair beside the list, or an empty list beside the pair.
  const padded = await world.edit({
    path,
    old_string: "",
    new_string: "",
    edits,
  });
  assert(!padded.isError);
  const empty = await world.edit({
    path,
    old_string: "1",
    new_string: "one",
    edits: [],
  });
  assert(!empty.isError);
  assertEquals(await world.bytes("f"), "one");
});

Deno.test("edits that come to nothing, and replace_all beside a list, are refused", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "a b\n");
  const edits = [
    { old_string: "a", new_string: "Q" },
    { old_string: "Q", new_string: "a" },
  ];
  const nothing = await world.edit({ path, edits });
  assertEquals(
    [nothing.text, nothing.isError],
    [`edit: the edits leave ${path} as it is`, true],
  );
  const all = await world.edit({ path, edits: [edits[0]!], replace_all: true });
  assertEquals(
    all.text,
    "edit: give replace_all inside of edits, to each that it is for",
  );
  assertEquals(await world.bytes("f"), "a b\n");
});

Deno.test("an empty list of edits without a pair is told as such", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one");
  for (const rest of [{}, { old_string: "", new_string: "" }]) {
    const { text, isError } = await world.edit({ path, edits: [], ...rest });
    assertEquals(
      [text, isError],
      [
        "edit: edits is empty: give at least one { old_string, new_string }, or the pair itself",
        true,
      ],
    );
  }
});

Deno.test("text in a binary file is edited, and no other byte changes", async () => {
  await using world = await FileWorld.make();
  const path = world.path("b");
  const bytes = (version: string) => {
    const text = new TextEncoder().encode(`version=${version}`);
    return Uint8Array.from([
      ...[0x7f, 0x45, 0x4c, 0x46, 0, 0xff, 0xfe, 0x80, 10, 0],
      ...text,
      ...[0, 13, 10, 0xc3, 0x28, 0, 26, 0xed, 0xa0, 0x80],
    ]);
  };
  await Deno.writeFile(path, bytes("1.2.3"));
  const { text, isError } = await world.edit({
    path,
    old_string: "version=1.2.3",
    new_string: "version=1.2.40",
  });
  assertEquals([text, isError], [`edited ${path} (1 replacement)`, false]);
  assertEquals(await Deno.readFile(path), bytes("1.2.40"));
  const foreign = await world.edit({
    path,
    old_string: "version",
    new_string: "versión",
  });
  assertStringIncludes(foreign.text, "is not UTF-8");
  assertEquals(await Deno.readFile(path), bytes("1.2.40"));
});

Deno.test("a list's faults name the index", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one");
  const same = await world.edit({
    path,
    edits: [{ old_string: "one", new_string: "1" }, {
      old_string: "x",
      new_string: "x",
    }],
  });
  assertEquals(
    same.text,
    "edit: edits[1]: old_string and new_string are identical",
  );
});

Deno.test("a dry run shows the diff and writes nothing", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one\n");
  const before = await Deno.stat(path);
  const { text, note, meta } = await world.edit({
    path,
    old_string: "one",
    new_string: "two",
    dry_run: true,
  });
  assertEquals(
    text,
    `would edit ${path} (1 replacement); nothing was written`,
  );
  assertStringIncludes(note, "-one\n+two");
  assertEquals(meta.dry_run, true);
  const after = await Deno.stat(path);
  assertEquals([after.ino, after.mtime], [before.ino, before.mtime]);
});

Deno.test("a text that is not there is refused with the closest one, verbatim", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "a\n\tif (x) {\n\t\treturn 1;\n\t}\n");
  const { text, note, isError } = await world.edit({
    path,
    old_string: "  if (x) {\n    return 1;",
    new_string: "y",
  });
  assert(isError);
  assertEquals(text, `edit: old_string not found in ${path}`);
  assertStringIncludes(note, "closest is lines 2-3, equal but for white space");
  assertStringIncludes(note, "\tif (x) {\n\t\treturn 1;");
});

Deno.test("a refusal tells that old_string holds line numbers", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one\ntwo\n");
  const { note } = await world.edit({
    path,
    old_string: "1\tone\n2\ttwo",
    new_string: "x",
  });
  assertStringIncludes(note, "holds line numbers as read prints them");
  assertStringIncludes(note, "one\ntwo");
});

Deno.test("a refusal stays within the characters of an error", async () => {
  await using world = await FileWorld.make();
  const long = `const value = "${"x".repeat(50_000)}";`;
  const path = await world.file("f", `${long}\n`.repeat(30));
  const { text, note } = await world.edit({
    path,
    old_string: `${long}\n${long}  \n${long}`,
    new_string: "y",
  });
  assert(text.length + note.length <= ERROR_CHARS);
  assert(note.length <= SHOWN_CANDIDATE_CHARS + 200);
});

Deno.test("edit keeps a UTF-16 file in UTF-16", async () => {
  await using world = await FileWorld.make();
  for (const little of [true, false]) {
    const path = await world.file("u", utf16("größe\r\nzwei\r\n", little));
    const { note } = await world.edit({
      path,
      old_string: "größe\nzwei",
      new_string: "Größe 😀\nZwei",
    });
    assertEquals(
      await Deno.readFile(path),
      utf16("Größe 😀\r\nZwei\r\n", little),
    );
    assertStringIncludes(note, "+Größe 😀\n");
  }
});

Deno.test("edit shows bytes of another encoding in the diff as read does", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", bytesOf("caf\xe9\none\n"));
  const { note } = await world.edit({
    path,
    old_string: "one",
    new_string: "two",
  });
  assertStringIncludes(note, " caf\\xe9\n-one\n+two");
});

Deno.test("a file that is UTF-8 but for a few bytes may get more UTF-8", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", bytesOf("\xc3\xa4 \xc3\xb6 \xff end"));
  const { isError } = await world.edit({
    path,
    old_string: "ö",
    new_string: "ü",
  });
  assert(!isError);
  assertEquals(await world.bytes("f"), "\xc3\xa4 \xc3\xbc \xff end");
});

Deno.test("in another encoding a match that may begin inside a character is refused", async () => {
  await using world = await FileWorld.make();
  // 0x83 0x5C is one character in Shift-JIS, whose second byte is the backslash.
  const path = await world.file("f", bytesOf("\x83\x5c\x83\x5c end\n"));
  const { text, isError } = await world.edit({
    path,
    old_string: "\\ end",
    new_string: "/ end",
  });
  assert(isError);
  assertEquals(
    text,
    `edit: old_string may begin inside a character of ${path} (line 1)`,
  );
  assertEquals(await world.bytes("f"), "\x83\x5c\x83\x5c end\n");
});

Deno.test("edit refuses half characters", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "a😀b");
  for (const args of [["\ud83d", "x"], ["a", "\ude00"]]) {
    const { text } = await world.edit({
      path,
      old_string: args[0],
      new_string: args[1],
    });
    assertStringIncludes(text, "half a character");
  }
  assertEquals(await Deno.readTextFile(path), "a😀b");
});

Deno.test("edit refuses a file beyond the limit, at the limit", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "needle");
  const args = { path, old_string: "needle", new_string: "n" };
  await Deno.truncate(path, EDIT_BYTES + 1);
  assertEquals(
    (await world.edit(args)).text,
    `edit: read: ${path}: ${
      EDIT_BYTES + 1
    } bytes, over the ${EDIT_BYTES} byte limit`,
  );
  await Deno.truncate(path, EDIT_BYTES);
  assert(!(await world.edit(args)).isError);
  assertEquals((await Deno.stat(path)).size, EDIT_BYTES - 5);
  const grow = await world.edit({
    path,
    old_string: "n",
    new_string: "needles",
  });
  assertEquals(
    grow.text,
    `edit: ${path} would be over the ${EDIT_BYTES} byte limit; nothing was written`,
  );
});

Deno.test("edit refuses a file that changed while it worked", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "one\n");
  const open = Deno.open;
  let meddling = true;
  try {
    Deno.open = async (...args) => {
      // The temporary file is made after the edit was worked out and before the rename.
      if (meddling && String(args[0]).includes(".rousseau-")) {
        meddling = false;
        await Deno.writeTextFile(path, "won\n");
      }
      return await open(...args);
    };
    const { text, isError } = await world.edit({
      path,
      old_string: "one",
      new_string: "two",
    });
    assert(isError);
    assertStringIncludes(text, "was changed by someone else");
  } finally {
    Deno.open = open;
  }
  assertEquals(await world.bytes("f"), "won\n");
});

Deno.test("edit does not follow a link to where it may not write", async () => {
  await using world = await FileWorld.make();
  await Deno.symlink("/etc/hostname", world.path("link"));
  const { text, isError } = await world.edit({
    path: world.path("link"),
    old_string: "a",
    new_string: "b",
  });
  assert(isError);
  assertStringIncludes(text, "/etc/hostname");
});

Deno.test("the definition of edit is short and says that it is destructive", () => {
  assert(JSON.stringify([edit.description, edit.input]).length < 1_300);
  assertEquals(edit.tool?.annotations, {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
  });
});
