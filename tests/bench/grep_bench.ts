// deno-lint-ignore-file no-console -- a program of its own
/**
 * `grep` beside ripgrep, warm, on a tree of made-up source files: the time of a call of the running server, and of `rg`
 * from its start to its end.
 *
 * Run: `deno run --config tests/deno.json -A tests/bench/grep_bench.ts [FILES] [FOLDER]`; a folder that is named is
 * made where it does not exist, and kept.
 *
 * @module
 */
import { Folders, Server } from "../harness.ts";

/** Searches, by what is special about each. */
const SEARCHES: Record<string, { pattern: string; ignore_case?: boolean }> = {
  "a word that is rare": { pattern: "needle_in_a_haystack" },
  "a word in any case": { pattern: "Needle_In_A_Haystack", ignore_case: true },
  "a class, no word": { pattern: "[A-Z][a-z]+Err[0-9]{3}" },
  "alternatives": { pattern: "needle_in|haystack_of" },
};

/** Times of which the best counts. */
const ROUNDS = 5;

const files = Number(Deno.args[0] ?? 100_000);
await using folders = await Folders.make();
const root = Deno.args[1] ?? `${folders.base}/tree`;
await makeTree(root, files);
await using server = await Server.open({
  folders,
  args: ["mcp", "--root", root],
});

console.log(`${files} files`);
for (const [what, search] of Object.entries(SEARCHES)) {
  const args = [
    ...["--line-number", "--no-heading", "--color=never"],
    ...(search.ignore_case ? ["--ignore-case"] : []),
    ...["--regexp", search.pattern, root],
  ];
  let found = "";
  const theirs = await best(async () => {
    const { stdout } = await new Deno.Command("rg", { args }).output();
    found = new TextDecoder().decode(stdout);
  });
  let text = "";
  const ours = await best(async () => {
    text = await server.text("grep", { ...search, limit: 10_000 });
  });
  const rows = (answer: string) => answer.trim().split("\n").length;
  if (rows(found) !== rows(text)) {
    throw new Error(`${rows(text)} rows, and ${rows(found)} of rg's`);
  }
  console.log(
    `${what.padEnd(20)} ${ours.toFixed(0).padStart(6)} ms  rg ${
      theirs.toFixed(0).padStart(5)
    } ms  ${(ours / theirs).toFixed(1)} x  (${rows(text)} rows)`,
  );
}

async function best(run: () => Promise<void>): Promise<number> {
  let least = Infinity;
  for (let i = 0; i <= ROUNDS; i++) {
    const began = performance.now();
    await run();
    // The first makes it warm.
    if (i > 0) least = Math.min(least, performance.now() - began);
  }
  return least;
}

/** Twenty files a folder, ten folders a folder; 200 bytes to 8 KB each, as source files are; one in 1,000 has a hit. */
async function makeTree(root: string, files: number): Promise<void> {
  if (await Deno.stat(root).then(() => true, () => false)) return;
  const words =
    "const let return function import export await async value index name type string number result error path file"
      .split(" ");
  let state = 1;
  const below = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * n);
  };
  const lines = Array.from(
    { length: 2_000 },
    () =>
      `${"  ".repeat(below(4))}${
        Array.from({ length: 2 + below(8) }, () => words[below(words.length)])
          .join(" ")
      };\n`,
  );
  for (let i = 0; i < files; i++) {
    const folder = `${root}/p${Math.floor(i / 2_000)}/q${
      Math.floor(i / 200) % 10
    }/r${Math.floor(i / 20) % 10}`;
    if (i % 20 === 0) await Deno.mkdir(folder, { recursive: true });
    const from = below(1_800);
    const text = lines.slice(from, from + 5 + below(195)).join("");
    const hit = i % 1_000 === 500
      ? "the needle_in_a_haystack: TypeErr404\n"
      : "";
    Deno.writeTextFileSync(`${folder}/f${i}.ts`, text + hit);
  }
}
