import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  listFolder,
  LISTING_ENTRIES,
  LISTING_MS,
  LISTING_SCAN,
  type ListingRequest,
  SUBFOLDER_COUNT,
} from "../lib/listing.ts";

async function list(folder: string, options: Partial<ListingRequest> = {}) {
  return await listFolder({
    folder,
    separator: "/",
    offset: 1,
    maxEntries: LISTING_ENTRIES,
    maxChars: 10_000,
    denial: () => undefined,
    signal: new AbortController().signal,
    now: () => 0,
    ...options,
  });
}

async function inFolder(
  names: readonly string[],
  check: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "rousseau-test-" });
  try {
    for (const name of names) {
      if (name.endsWith("/")) await Deno.mkdir(`${folder}/${name}`);
      else await Deno.writeTextFile(`${folder}/${name}`, "");
    }
    await check(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("listFolder sorts by name and ends within its characters, exactly", async () => {
  await inFolder(["b", "a", "c"], async (folder) => {
    const line = "a  0 bytes\n";
    assertEquals(
      (await list(folder)).text,
      "a  0 bytes\nb  0 bytes\nc  0 bytes\n",
    );
    assertEquals(
      (await list(folder, { maxChars: line.length * 2 })).shown,
      2,
    );
    assertEquals(
      (await list(folder, { maxChars: line.length * 2 - 1 })).shown,
      1,
    );
  });
});

Deno.test("listFolder looks at so many entries and says that there are more", async () => {
  await inFolder(["a", "b", "c"], async (folder) => {
    const most = await list(folder, { scan: 3 });
    assertEquals([most.total, most.more], [3, false]);
    const over = await list(folder, { scan: 2 });
    assertEquals([over.total, over.more], [2, true]);
  });
  assertEquals(LISTING_SCAN, 100_000);
});

Deno.test("listFolder counts a subfolder up to a limit", async () => {
  const names = Array.from({ length: SUBFOLDER_COUNT }, (_, i) => `d/${i}`);
  await inFolder(["d/", ...names], async (folder) => {
    assertEquals((await list(folder)).text, "d/  1,000 entries\n");
    await Deno.writeTextFile(`${folder}/d/more`, "");
    assertEquals((await list(folder)).text, "d/  1,000+ entries\n");
  });
});

Deno.test("listFolder stops counting subfolders when its time is up", async () => {
  await inFolder(["d/", "e/"], async (folder) => {
    let now = 0;
    const { text } = await list(folder, { now: () => now += LISTING_MS });
    assertEquals(text, "d/\ne/\n");
  });
});

Deno.test("listFolder ends when its call is cancelled, and tells a missing folder", async () => {
  await inFolder(["a"], async (folder) => {
    const signal = AbortSignal.abort(new Error("cancelled"));
    await assertRejects(() => list(folder, { signal }), Error, "cancelled");
    await assertRejects(() => list(`${folder}/none`), Deno.errors.NotFound);
  });
});

Deno.test("listFolder writes control characters in names out", async () => {
  await inFolder(["a\x1b[31m\nb"], async (folder) => {
    assertStringIncludes(
      (await list(folder)).text,
      "a\\x1b[31m\\nb  0 bytes\n",
    );
  });
});
