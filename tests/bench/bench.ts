/**
 * Measures the program beside the official filesystem server and a ten-line floor, in one run, and prints a table
 * of medians and ratios.
 *
 *     deno task bench
 *
 * The official server needs Node and npm. With `dist/rousseau` there, the executable is measured too, beside the
 * floor compiled the same way.
 *
 * @module
 */
import { commandLine, environment, Folders } from "../harness.ts";
import { inWords, measure } from "./many_commands.ts";
import { median, type Peer, Run } from "./peer.ts";

const OFFICIAL = "@modelcontextprotocol/server-filesystem@2026.8.31";

/** Starts of each peer, taken in turns so that a busy moment meets all of them. */
const ROUNDS = 31;

/** Rounds of what runs for a while. */
const LONG_ROUNDS = 5;

interface Figures {
  start: number;
  memory: number;
  read: number;
  inFlight: number;
  pings: number;
  toolsList: number;
}

const root = new URL("../../", import.meta.url).pathname;

async function main(): Promise<void> {
  await using folders = await Folders.make();
  const file = await folders.write("small.txt", "a line of text\n".repeat(20));
  const peers = await findPeers(folders, file);
  const samples = new Map(
    peers.map((peer) => [peer.name, emptySamples()] as const),
  );
  for (let round = 0; round < ROUNDS; round++) {
    for (const peer of inTurn(peers, round)) {
      const begun = performance.now();
      await using run = new Run(peer);
      await run.initialize();
      samples.get(peer.name)?.start.push(performance.now() - begun);
    }
  }
  for (let round = 0; round < LONG_ROUNDS; round++) {
    for (const peer of inTurn(peers, round)) {
      const sample = samples.get(peer.name) as Samples;
      {
        await using run = new Run(peer);
        await run.initialize();
        await run.reads(100);
        sample.memory.push(await run.memory());
        sample.read.push(median(await run.reads(300)));
        sample.inFlight.push(await run.readsInFlight(3_000, 20));
        sample.toolsList.push(await run.toolsListSize());
      }
      await using run = new Run(peer);
      await run.initialize();
      sample.pings.push(await run.pings());
    }
  }
  print(peers.map((peer) => ({
    name: peer.name,
    figures: medians(samples.get(peer.name) as Samples),
  })));
  await printSizes();
  say(`\n${inWords(await measure())}`);
}

type Samples = Record<keyof Figures, number[]>;

function emptySamples(): Samples {
  return {
    start: [],
    memory: [],
    read: [],
    inFlight: [],
    pings: [],
    toolsList: [],
  };
}

function medians(samples: Samples): Figures {
  return Object.fromEntries(
    Object.entries(samples).map(([name, values]) => [name, median(values)]),
  ) as unknown as Figures;
}

function inTurn<T>(list: readonly T[], round: number): T[] {
  const from = round % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}

async function findPeers(folders: Folders, file: string): Promise<Peer[]> {
  const env = await environment(folders);
  const common = { env, cwd: folders.root, file, readTool: "read" };
  const floorScript = `${root}tests/bench/floor.ts`;
  const peers: Peer[] = [
    {
      ...common,
      name: "rousseau",
      command: await commandLine(["mcp", "--root", folders.root]),
      pings: 200_000,
    },
    {
      ...common,
      name: "floor",
      command: [
        Deno.execPath(),
        "run",
        // The tests' own configuration would make it start later.
        "--no-config",
        "--no-prompt",
        "--allow-read",
        floorScript,
      ],
      pings: 200_000,
    },
  ];
  const binary = `${root}dist/rousseau`;
  if (await exists(binary)) {
    peers.push({
      ...common,
      name: "rousseau, executable",
      command: [binary, "mcp", "--root", folders.root],
      pings: 200_000,
    });
    const floor = await compileFloor(folders, floorScript);
    if (floor) {
      peers.push({
        ...common,
        name: "floor, executable",
        command: [floor],
        pings: 200_000,
      });
    }
  }
  const official = await installOfficial(folders);
  if (official) {
    peers.push({
      ...common,
      name: "official filesystem server",
      command: ["node", official, folders.root],
      readTool: "read_text_file",
      pings: 20_000,
    });
  }
  return peers;
}

/** The floor compiled like the executable; undefined where there is no runtime base to write it onto. */
async function compileFloor(
  folders: Folders,
  script: string,
): Promise<string | undefined> {
  const output = `${folders.base}/floor`;
  const compiler = Deno.env.get("DENORT_BIN")
    ? ["npx", "-y", "deno@2.8.3"]
    : [Deno.execPath()];
  const { code, stderr } = await new Deno.Command(compiler[0] as string, {
    args: [
      ...compiler.slice(1),
      "compile",
      "--quiet",
      "--no-config",
      "--no-check",
      "--bundle",
      "--minify",
      "--no-code-cache",
      "--allow-read",
      "--output",
      output,
      script,
    ],
    stdout: "null",
  }).output();
  if (code === 0) return output;
  say(`No compiled floor: ${new TextDecoder().decode(stderr).trim()}`);
  return undefined;
}

/** The entry file of the official server, or undefined without npm. */
async function installOfficial(folders: Folders): Promise<string | undefined> {
  const prefix = `${folders.base}/official`;
  try {
    const { code } = await new Deno.Command("npm", {
      args: [
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        prefix,
        OFFICIAL,
      ],
      stdout: "null",
      stderr: "null",
    }).output();
    if (code !== 0) throw new Error(`npm install ended with ${code}`);
  } catch (error) {
    say(`No official server to measure: ${(error as Error).message}`);
    return undefined;
  }
  const name = OFFICIAL.slice(0, OFFICIAL.lastIndexOf("@"));
  return `${prefix}/node_modules/${name}/dist/index.js`;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

const ROWS: [keyof Figures, string, (value: number) => string][] = [
  ["start", "start to `initialize` answer, ms", (n) => n.toFixed(0)],
  ["memory", "resident memory after 100 calls, MB", (n) => n.toFixed(0)],
  ["read", "warm `read` of a small file, ms", (n) => n.toFixed(2)],
  ["inFlight", "`read` calls a second, 20 in flight", (n) => n.toFixed(0)],
  ["pings", "pipelined pings a second", (n) => n.toFixed(0)],
  ["toolsList", "`tools/list`, bytes", (n) => n.toFixed(0)],
];

function print(results: { name: string; figures: Figures }[]): void {
  const names = results.map(({ name }) => name);
  const rows = ROWS.map(([key, title, format]) => [
    title,
    ...results.map(({ figures }) =>
      key === "toolsList" && figures[key] < 100 ? "–" : format(figures[key])
    ),
    ...ratios(key, results),
  ]);
  const header = ["figure", ...names, ...ratioTitles(names)];
  say(
    [header, header.map(() => "---"), ...rows].map((row) =>
      `| ${row.join(" | ")} |`
    ).join("\n"),
  );
}

/** Pairs whose ratio is of interest: ours and what it is held against. */
const PAIRS: [string, string][] = [
  ["rousseau", "floor"],
  ["rousseau, executable", "floor, executable"],
  ["rousseau", "official filesystem server"],
];

function ratioTitles(names: string[]): string[] {
  return PAIRS.filter((pair) => pair.every((name) => names.includes(name))).map(
    ([ours, other]) => `${ours} / ${other}`,
  );
}

function ratios(
  key: keyof Figures,
  results: { name: string; figures: Figures }[],
): string[] {
  const figure = (name: string) =>
    results.find((result) => result.name === name)?.figures[key];
  return PAIRS.flatMap(([ours, other]) => {
    const [a, b] = [figure(ours), figure(other)];
    if (a === undefined || b === undefined) return [];
    return [key === "toolsList" && b < 100 ? "–" : (a / b).toFixed(2)];
  });
}

async function printSizes(): Promise<void> {
  const path = `${root}dist/rousseau`;
  if (!await exists(path)) return;
  const { size } = await Deno.stat(path);
  say(`\nexecutable: ${(size / 1e6).toFixed(1)} MB`);
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

if (import.meta.main) await main();
