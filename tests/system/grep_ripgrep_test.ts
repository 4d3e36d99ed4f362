import { assertEquals } from "@std/assert";
import { grep } from "../../lib/grep.ts";
import { grepContext, rowsOf } from "../grep_world.ts";

/** How many trees are generated and searched by both. */
const TREES = 240;

Deno.test(`grep finds what ripgrep finds on ${TREES} generated trees with ignore files`, async () => {
  const base = await Deno.makeTempDir({ prefix: "rousseau-rg-" });
  try {
    let searches = 0;
    for (let tree = 0; tree < TREES; tree++) {
      const random = generator(tree + 1);
      const folder = `${base}/t${tree}`;
      // Across lines, \n in a pattern also matches \r\n here, and not in ripgrep.
      const crlf = random.chance(3);
      await makeTree(random, folder, { depth: 0, crlf });
      for (let i = 0; i < 3; i++) {
        const search = pickSearch(random, folder, crlf);
        assertEquals(
          await ours(search, base),
          await ripgreps(search, base),
          `tree ${tree}: ${JSON.stringify(search)}`,
        );
        searches++;
      }
      await Deno.remove(folder, { recursive: true });
    }
    assertEquals(searches, 3 * TREES);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});

interface Search {
  root: string;
  pattern: string;
  ignoreCase: boolean;
  multiline: boolean;
  hidden: boolean;
  noIgnore: boolean;
  context: number;
}

async function ours(search: Search, home: string): Promise<string[]> {
  const output = await grep.run!({
    pattern: search.pattern,
    path: search.root,
    ignore_case: search.ignoreCase,
    multiline: search.multiline,
    hidden: search.hidden,
    no_ignore: search.noIgnore,
    context: search.context,
    limit: 10_000,
  }, grepContext(search.root, { home }));
  const text = rowsOf(output);
  return text === "no matches"
    ? []
    : text.split("\n").map((row) => row.replace(/^([^:]*?[:-]\d+[:-]) /, "$1"));
}

async function ripgreps(search: Search, home: string): Promise<string[]> {
  const { stdout, stderr, code } = await new Deno.Command("rg", {
    args: [
      ...["--no-config", "--no-heading", "--with-filename", "--line-number"],
      ...["--color=never", "--sort=path", "--crlf", "--glob=!.git"],
      ...(search.ignoreCase ? ["--ignore-case"] : []),
      ...(search.multiline ? ["--multiline"] : []),
      ...(search.hidden ? ["--hidden"] : []),
      ...(search.noIgnore ? ["--no-ignore"] : []),
      ...(search.context > 0 ? [`--context=${search.context}`] : []),
      ...["--regexp", search.pattern, search.root],
    ],
    clearEnv: true,
    env: { HOME: home, PATH: Deno.env.get("PATH") ?? "" },
  }).output();
  const decoder = new TextDecoder();
  if (code > 1) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout).split("\n").slice(0, -1)
    .map((row) => row.replace(/\r$/, ""));
}

function pickSearch(random: Random, folder: string, crlf: boolean): Search {
  const multiline = !crlf && random.chance(5);
  return {
    root: random.chance(4) ? deeper(random, folder) : folder,
    pattern: random.pick(multiline ? ACROSS : WITHIN),
    ignoreCase: random.chance(3),
    multiline,
    hidden: random.chance(3),
    noIgnore: random.chance(6),
    context: random.chance(4) ? 1 + random.below(2) : 0,
  };
}

function deeper(random: Random, folder: string): string {
  const folders = [...Deno.readDirSync(folder)]
    .filter((entry) => entry.isDirectory && entry.name !== ".git")
    .map((entry) => entry.name).sort();
  return folders.length === 0 ? folder : `${folder}/${random.pick(folders)}`;
}

async function makeTree(
  random: Random,
  folder: string,
  { depth, crlf }: { depth: number; crlf: boolean },
) {
  await Deno.mkdir(folder, { recursive: true });
  if (random.chance(depth === 0 ? 1.3 : 12)) {
    await Deno.mkdir(`${folder}/.git/info`, { recursive: true });
    if (random.chance(3)) {
      await Deno.writeTextFile(`${folder}/.git/info/exclude`, rules(random));
    }
  }
  for (const [name, odds] of [[".gitignore", 2.5], [".ignore", 5]] as const) {
    if (random.chance(odds)) {
      await Deno.writeTextFile(`${folder}/${name}`, rules(random));
    }
  }
  for (let i = random.below(7); i >= 0; i--) {
    const name = random.pick(NAMES) + random.pick(ENDINGS);
    const path = `${folder}/${name}`;
    if (await exists(path)) continue;
    if (depth < 3 && random.chance(2.2)) {
      await makeTree(random, path, { depth: depth + 1, crlf });
    } else {
      await Deno.writeTextFile(path, fileText(random, crlf));
    }
  }
}

function rules(random: Random): string {
  const lines: string[] = [];
  for (let i = random.below(5); i >= 0; i--) {
    const name = random.pick([
      random.pick(NAMES) + random.pick(ENDINGS),
      `*${random.pick(ENDINGS) || "a"}`,
      `${random.pick(NAMES).slice(0, 1)}*`,
      random.pick(["[ab]*", "?uild", "*.[jt]s", "a?pha*", "[!a-m]*"]),
    ]);
    const place = random.pick([
      "",
      "",
      "",
      "/",
      "**/",
      `${random.pick(NAMES)}/`,
    ]);
    const end = random.pick(["", "", "", "/", "/**", "/*"]);
    lines.push((random.chance(5) ? "!" : "") + place + name + end);
  }
  if (random.chance(4)) lines.push("# a comment", "", "\\#hash");
  return lines.join("\n") + (random.chance(2) ? "\n" : "");
}

function fileText(random: Random, crlf: boolean): string {
  const end = crlf && random.chance(2) ? "\r\n" : "\n";
  const lines: string[] = [];
  for (let i = random.below(12); i > 0; i--) {
    const words: string[] = [];
    for (let w = random.below(5); w >= 0; w--) words.push(random.pick(WORDS));
    lines.push(words.join(random.pick([" ", " ", ", ", "_"])));
  }
  return lines.join(end) + (random.chance(2) ? end : "");
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

interface Random {
  below(n: number): number;
  /** True about once in `n` times. */
  chance(n: number): boolean;
  pick<T>(items: readonly T[]): T;
}

function generator(seed: number): Random {
  let state = seed * 2654435761 >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
  for (let i = 0; i < 5; i++) next();
  return {
    below: (n) => Math.floor(next() * n),
    chance: (n) => next() * n < 1,
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}

const NAMES = ["alpha", "build", "docs", "apple", ".env", "main", "zeta", "a"];
const ENDINGS = ["", "", ".ts", ".js", ".log", ".tmp"];
const WORDS = [
  "alpha",
  "Beta",
  "gamma",
  "TODO:",
  "x=1;",
  "naïve",
  "Straße",
  "日本",
  "foo(bar)",
  "42",
  "a-b",
  "",
];

/** Patterns that mean the same in both languages. */
const WITHIN = [
  "alpha",
  "TODO",
  "beta|gamma",
  "^alpha",
  "42$",
  "^$",
  "[A-Z][a-z]+",
  "a.*a",
  "foo\\(bar\\)",
  "x=\\d;",
  "(?i)todo:?",
  "a{1,2}",
  "naïve|日本",
  "(alpha|beta)[ ,_]+(gamma|42)",
  "(?:al|ga)(?:pha|mma)\\b",
  "[^a-z ]{2}",
  "stra[ßs]e",
  "\\AalphaX|Beta",
];

const ACROSS = ["alpha\\s+gamma", "(?s)TODO.{1,30}42", "a-b\\n", "\\n\\n"];
