import { assert, assertEquals } from "@std/assert";
import * as files from "node:fs";
import { cpuUsage } from "node:process";
import {
  Search,
  type SearchFile,
  type SearchJob,
  searchTools,
} from "../lib/search.ts";
import { ALONE, BATCH, MAX_WORKERS, searchAll } from "../lib/search_pool.ts";
import { GrepTree } from "./grep_world.ts";

/** Files that the main thread searches before workers in these tests. */
const HEAD = 50;

/** A tree with so many files that workers are called, and some among them that are left out. */
async function makeTree(
  size: number,
): Promise<{ tree: GrepTree; found: SearchFile[] }> {
  const tree = await GrepTree.make({ "f/": "" });
  const found: SearchFile[] = [];
  for (let i = 0; i < size; i++) {
    const path = `${tree.root}/f/${i}`;
    await Deno.writeTextFile(
      path,
      i % 100 === 99 ? "needle\0" : `one\nneedle ${i}\ntwo\n`,
    );
    found.push({ path, shown: path, name: `${i}` });
  }
  found.splice(HEAD + 50, 0, {
    path: `${tree.root}/gone`,
    shown: "gone",
    name: "gone",
  });
  return { tree, found };
}

const JOB: SearchJob = {
  pattern: "need[l]e|x",
  ignoreCase: false,
  multiline: false,
  output: "content",
  context: 0,
  maxRows: 10_000,
  maxChars: 10_000_000,
};

async function run(
  job: SearchJob,
  found: SearchFile[],
  workers: number,
): Promise<Record<string, unknown>> {
  const search = new Search(job, searchTools(job, files));
  const whole = await searchAll(search, found.values(), {
    signal: new AbortController().signal,
    limitMs: 60_000,
    workers,
    alone: HEAD,
  });
  const { rows } = search;
  return {
    whole,
    text: rows.text("matches"),
    figures: [rows.matches, rows.files, rows.count, rows.full, rows.clipped],
    skips: search.skips.entries(),
    searched: search.searched,
    last: search.last,
  };
}

Deno.test("searchAll gives the same answer with workers as without", async (t) => {
  const { tree, found } = await makeTree(HEAD + 7 * BATCH + 1);
  await using _ = tree;
  for (
    const [name, more] of Object.entries(
      {
        content: {},
        context: { context: 2 },
        files: { output: "files" },
        count: { output: "count" },
        "up to a limit of rows": { maxRows: HEAD + 3 * BATCH + 7 },
        "up to a limit of rows with context": {
          maxRows: HEAD + BATCH,
          context: 1,
        },
        "up to a limit of characters": { maxChars: 30_000 },
        "nothing found": { pattern: "nothing[0-9]" },
      } satisfies Record<string, Partial<SearchJob>>,
    )
  ) {
    await t.step(name, async () => {
      const job = { ...JOB, ...more } as SearchJob;
      assertEquals(await run(job, found, 2), await run(job, found, 0));
    });
  }
});

Deno.test("searchAll ends when its time is up while workers work", async () => {
  const { tree, found } = await makeTree(HEAD + 7 * BATCH + 1);
  await using _ = tree;
  const text = crypto.getRandomValues(new Uint8Array(65_536))
    .map((byte) => 0x61 + (byte & 1));
  await Deno.writeFile(found[HEAD + 10]!.path, text);
  const job = { ...JOB, pattern: "(?:a|b)*a(?:a|b){900}[xy]" };
  const search = new Search(job, searchTools(job, files));
  const started = performance.now();
  const whole = await searchAll(search, found.values(), {
    signal: new AbortController().signal,
    limitMs: 1500,
    workers: 2,
    alone: HEAD,
  });
  assertEquals(whole, false);
  assert(performance.now() - started < 10_000);
  // A worker that went on would use all of one processor.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const before = cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { user, system } = cpuUsage(before);
  assert((user + system) / 1000 < 250, `${(user + system) / 1000} ms`);
});

Deno.test("searchAll throws the signal's reason while workers work", async () => {
  const { tree, found } = await makeTree(HEAD + 7 * BATCH + 1);
  await using _ = tree;
  const controller = new AbortController();
  const search = new Search(JOB, searchTools(JOB, files));
  let reason: unknown;
  await searchAll(search, found.values(), {
    signal: controller.signal,
    limitMs: 60_000,
    workers: MAX_WORKERS,
    alone: HEAD,
    tick() {
      if (search.searched > HEAD) controller.abort(new Error("stop"));
    },
  }).catch((error) => reason = error);
  assertEquals((reason as Error | undefined)?.message, "stop");
});

Deno.test("searchAll does without workers where their module may not be read", async () => {
  const { tree, found } = await makeTree(ALONE + BATCH);
  await using _ = tree;
  const world = new URL("./grep_world.ts", import.meta.url);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--no-check", "--no-lock"],
      `--allow-read=${tree.root}`,
      ...["--config", new URL("./deno.json", import.meta.url).pathname, "-"],
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(`
    import { callGrep, grepContext } from ${JSON.stringify(world.href)};
    const context = grepContext(${JSON.stringify(tree.root)});
    const args = { pattern: "need[l]e", output: "count", limit: 1 };
    const { meta } = await callGrep({ ...args, pattern: "nothing" }, context);
    console.log(meta.searched);
  `));
  await writer.close();
  const { stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  assertEquals(decoder.decode(stderr), "");
  assertEquals(
    decoder.decode(stdout),
    `${found.length - 1 - Math.floor(found.length / 100)}\n`,
  );
});
