import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { write, WRITE_BYTES } from "../lib/write.ts";
import { bytesOf, FileWorld, utf16 } from "./file_world.ts";

Deno.test("write creates a file and its folders, and counts UTF-8 bytes", async () => {
  await using world = await FileWorld.make();
  const path = world.path("a/b/c.txt");
  const { text, note, meta } = await world.write({ path, content: "héllo 😀" });
  assertEquals(text, `wrote 11 bytes to ${path}`);
  assertEquals(note, "[rousseau: created]");
  assertEquals(meta, { bytes: 11, outcome: "created" });
  assertEquals(await Deno.readTextFile(path), "héllo 😀");
});

Deno.test("write replaces the whole content and keeps the mode", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "old content");
  await Deno.chmod(path, 0o750);
  const { text, note } = await world.write({ path, content: "new" });
  assertEquals(text, `wrote 3 bytes to ${path}`);
  assertStringIncludes(note, "replaced 11 bytes");
  assertEquals(await Deno.readTextFile(path), "new");
  assertEquals((await Deno.stat(path)).mode! & 0o777, 0o750);
});

Deno.test("write leaves a file alone that already holds the content", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "same");
  await Deno.utime(path, 1_000, 1_000);
  const { text, note, meta } = await world.write({ path, content: "same" });
  assertEquals(text, `wrote 4 bytes to ${path}`);
  assertStringIncludes(note, "unchanged");
  assertEquals(meta.outcome, "unchanged");
  assertEquals((await Deno.stat(path)).mtime?.getTime(), 1_000_000);
});

Deno.test("write does not tell whether a file that may not be read holds the content", async () => {
  await using world = await FileWorld.make({ denyRead: ["secret"] });
  const path = await world.file("secret", "guess");
  const { meta, isError } = await world.write({ path, content: "guess" });
  assert(isError || meta.outcome === "replaced");
});

Deno.test("write takes an empty content, and requires one", async () => {
  await using world = await FileWorld.make();
  const path = world.path("f");
  assertEquals(
    (await world.write({ path, content: "" })).text,
    `wrote 0 bytes to ${path}`,
  );
  assertEquals(await Deno.readTextFile(path), "");
  assertEquals(
    (await world.write({ path })).text,
    "write: content is required",
  );
  assertEquals(
    (await world.write({ path: "", content: "x" })).text,
    "write: path is required",
  );
});

Deno.test("write appends, and makes the file where there is none", async () => {
  await using world = await FileWorld.make();
  const path = world.path("log");
  const first = await world.write({ path, content: "one\n", append: true });
  assertEquals(first.meta.outcome, "created");
  const second = await world.write({ path, content: "two", append: true });
  assertEquals(second.text, `wrote 3 bytes to ${path}`);
  assertEquals(second.note, "[rousseau: appended; the file now has 7 bytes]");
  const third = await world.write({ path, content: "!\n", append: true });
  assertStringIncludes(third.note, "continues that line");
  assertEquals(await Deno.readTextFile(path), "one\ntwo!\n");
  const nothing = await world.write({ path, content: "", append: true });
  assertEquals(nothing.meta.outcome, "unchanged");
});

Deno.test("write appends in the file's own encoding, or refuses", async () => {
  await using world = await FileWorld.make();
  for (const little of [true, false]) {
    const path = await world.file("u", utf16("ä\n", little));
    await world.write({ path, content: "ö\n", append: true });
    assertEquals(await Deno.readFile(path), utf16("ä\nö\n", little));
  }
  const latin = await world.file("l", bytesOf("caf\xe9\n"));
  await world.write({ path: latin, content: "plain\n", append: true });
  assertEquals(await world.bytes("l"), "caf\xe9\nplain\n");
  const { text, isError } = await world.write({
    path: latin,
    content: "é\n",
    append: true,
  });
  assert(isError);
  assertEquals(
    text,
    `write: ${latin} is not UTF-8, so UTF-8 text cannot be appended to it`,
  );
  assertEquals(await world.bytes("l"), "caf\xe9\nplain\n");
});

Deno.test("append refuses a file beyond the limit, at the limit", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "");
  await Deno.truncate(path, WRITE_BYTES);
  const { text, isError } = await world.write({
    path,
    content: "x",
    append: true,
  });
  assert(isError);
  assertEquals(
    text,
    `write: ${path}: ${
      WRITE_BYTES + 1
    } bytes, over the ${WRITE_BYTES} byte limit`,
  );
  await Deno.truncate(path, WRITE_BYTES + 1);
  assertStringIncludes(
    (await world.write({ path, content: "x", append: true })).text,
    "over the",
  );
});

Deno.test("write refuses folders and what is no regular file", async () => {
  await using world = await FileWorld.make();
  assertEquals(
    (await world.write({ path: world.root, content: "x" })).text,
    `write: open ${world.root}: is a directory`,
  );
  const below = world.path("f/g");
  await world.file("f", "x");
  const { text, isError } = await world.write({ path: below, content: "x" });
  assert(isError);
  assertStringIncludes(text, "not a directory");
});

Deno.test("write refuses a file that is read-only", async () => {
  await using world = await FileWorld.make();
  const path = await world.file("f", "old");
  await Deno.chmod(path, 0o444);
  const { text } = await world.write({ path, content: "new" });
  assertStringIncludes(text, `write: open ${path}: permission denied`);
  assertEquals(await Deno.readTextFile(path), "old");
});

Deno.test("write refuses half characters", async () => {
  await using world = await FileWorld.make();
  const { text } = await world.write({
    path: world.path("f"),
    content: "a\ud83d",
  });
  assertStringIncludes(text, "write: content holds half a character");
});

Deno.test("write leaves no temporary file behind", async () => {
  await using world = await FileWorld.make();
  for (let i = 0; i < 5; i++) {
    await world.write({ path: world.path("f"), content: `${i}` });
  }
  assertEquals(
    Array.from(Deno.readDirSync(world.root), ({ name }) => name),
    ["f"],
  );
});

Deno.test("parallel appends are all kept", async () => {
  await using world = await FileWorld.make();
  const path = world.path("f");
  await Promise.all(
    Array.from(
      { length: 20 },
      (_, i) => world.write({ path, content: `${i}\n`, append: true }),
    ),
  );
  const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
  assertEquals(
    lines.map(Number).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i),
  );
});

Deno.test("a hyphen is a content like any other", async () => {
  await using world = await FileWorld.make();
  await world.write({ path: world.path("f"), content: "-" });
  assertEquals(await world.bytes("f"), "-");
});

Deno.test("the definition of write says that it is destructive", () => {
  assert(JSON.stringify([write.description, write.input]).length < 900);
  assertEquals(write.tool?.annotations, {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  });
});
