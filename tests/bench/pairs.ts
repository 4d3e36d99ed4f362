/**
 * Start-up and calls of this checkout beside those of another one, in pairs of which each member goes first in turn:
 * whether a change made the program slower.
 *
 *     deno run --config tests/deno.json --allow-all tests/bench/pairs.ts OTHER_CHECKOUT [PAIRS]
 *
 * @module
 */
import { commandLine, environment, Folders } from "../harness.ts";
import { median, type Peer, Run } from "./peer.ts";

const PAIRS = 30;
const CALLS = 300;

const [other, pairs = PAIRS] = Deno.args;
if (other === undefined) throw new Error("name the other checkout");

const root = new URL("../../", import.meta.url).pathname;

await using folders = await Folders.make();
const file = await folders.write("small.txt", "a line of text\n".repeat(20));
const env = await environment(folders);
const command = await commandLine(["mcp", "--root", folders.root]);
const peer = (name: string, command: string[]): Peer => ({
  name,
  command,
  env,
  cwd: folders.root,
  file,
  readTool: "read",
  pings: 0,
});
const sides = [
  peer("this", command),
  peer(
    "other",
    command.map((word) =>
      word.startsWith(root) ? `${other}/${word.slice(root.length)}` : word
    ),
  ),
] as const;

interface Sample {
  start: number;
  call: number;
}

async function sample(peer: Peer): Promise<Sample> {
  const begun = performance.now();
  await using run = new Run(peer);
  await run.initialize();
  const start = performance.now() - begun;
  await run.reads(50);
  return { start, call: median(await run.reads(CALLS)) };
}

for (const side of sides) await sample(side);
const samples: [Sample, Sample][] = [];
for (let i = 0; i < Number(pairs); i++) {
  const first = await sample(sides[i % 2]!);
  const second = await sample(sides[1 - i % 2]!);
  samples.push(i % 2 === 0 ? [first, second] : [second, first]);
}
for (
  const [key, what] of [
    ["start", "start to the initialize answer"],
    ["call", "tools/call read"],
  ] as const
) {
  const of = (i: 0 | 1) => median(samples.map((pair) => pair[i][key]));
  const ratio = median(samples.map(([a, b]) => a[key] / b[key]));
  Deno.stdout.writeSync(
    new TextEncoder().encode(
      `${what}: ${of(0).toFixed(3)} ms, other ${
        of(1).toFixed(3)
      } ms; ratio in ${samples.length} pairs ${ratio.toFixed(3)}\n`,
    ),
  );
}
