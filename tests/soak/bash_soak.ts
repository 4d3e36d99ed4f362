// deno-lint-ignore-file no-console -- a program of its own
/**
 * Many `bash` calls that succeed, fail, run out of time, are cancelled, and go to the background, several at a time;
 * afterwards no process, no descriptor and no memory may be left. Linux only: it looks into `/proc`.
 *
 * Run: `deno run --config tests/deno.json -A tests/soak/bash_soak.ts [CALLS]`
 *
 * @module
 */
import { type Taken, World } from "../bash_world.ts";

/** What was found after the calls. */
export interface SoakReport {
  calls: number;
  kinds: Record<string, number>;
  /** Command lines of processes that should be gone. */
  left: string[];
  /** Open descriptors more than before. */
  descriptors: number;
  /** Resident memory after each tenth of the calls, in MB. */
  memory: number[];
  /** What the program holds of it, in MB: the heap and what lies outside of it. */
  held: number[];
  seconds: number;
  /** Answers that were not as they should be. */
  wrong: string[];
}

/** Calls that run at once. */
const WORKERS = 8;

/** Seconds that commands sleep which are to be ended; no other process on the machine is likely to. */
const MARK = `7131.${Deno.pid}1`;

/** A kind of call: makes it, and says what is wrong with the answer. */
type Kind = (world: World, pick: () => number) => Promise<string | undefined>;

const KINDS: Record<string, Kind> = {
  async success(world, pick) {
    const n = Math.floor(pick() * 1000);
    const { text } = await world.bash(`echo ${n}`);
    return text === `${n}\n` ? undefined : text;
  },
  async failure(world, pick) {
    const code = 1 + Math.floor(pick() * 100);
    const { text } = await world.bash(`echo out; exit ${code}`);
    return text === `out\nbash: exit status ${code}` ? undefined : text;
  },
  async output(world, pick) {
    const bytes = Math.floor(pick() * 400_000);
    const { meta } = await world.bash(`yes | head -c ${bytes}`);
    return meta.bytes === bytes ? undefined : `${meta.bytes} of ${bytes}`;
  },
  async timeout(world) {
    const { meta } = await world.bash(`sleep ${MARK} & sleep ${MARK}`, {
      timeout: 0.1,
    });
    return meta.timed_out ? undefined : JSON.stringify(meta);
  },
  async stubborn(world) {
    const { meta } = await world.bash(
      `trap 'sleep 0.05; exit 3' TERM; sleep ${MARK} & wait; wait`,
      { timeout: 0.1 },
    );
    return meta.timed_out ? undefined : JSON.stringify(meta);
  },
  async cancel(world, pick) {
    const caller = new AbortController();
    const timer = setTimeout(() => caller.abort(), pick() * 60);
    try {
      const { text } = await world.bash(
        `sleep ${MARK} & sleep ${MARK}; echo`,
        {},
        caller.signal,
      );
      return text;
    } catch (error) {
      return (error as Error).name === "AbortError" ? undefined : `${error}`;
    } finally {
      clearTimeout(timer);
    }
  },
  async leftover(world) {
    const { text, meta } = await world.bash(`sleep ${MARK} & echo hi`);
    return text === "hi\n" && meta.killed_leftovers
      ? undefined
      : JSON.stringify(meta);
  },
  async background(world, pick) {
    const { meta } = await world.bash(`echo up; sleep ${MARK} & wait`, {
      background: true,
    });
    const job = meta.job as string;
    if (pick() < 0.5) await world.output(job, { since: 3, wait: 0.02 });
    const killed: Taken = await world.kill(job);
    return killed.text === `killed job ${job}` ? undefined : killed.text;
  },
};

/** Makes `calls` calls, chosen by a generator that starts at `seed`. */
export async function soak(calls: number, seed = 1): Promise<SoakReport> {
  const pick = generator(seed);
  const kinds: Record<string, number> = {};
  const wrong: string[] = [];
  const started = performance.now();
  let done = 0;
  const memory: number[] = [];
  const held: number[] = [];
  const work = async (world: World, upTo: number) => {
    while (done < upTo) {
      done++;
      const names = Object.keys(KINDS);
      const name = names[Math.floor(pick() * names.length)]!;
      kinds[name] = (kinds[name] ?? 0) + 1;
      const fault = await KINDS[name]!(world, pick);
      if (fault !== undefined) wrong.push(`${name}: ${fault}`);
    }
  };
  const all = (world: World, upTo: number) =>
    Promise.all(Array.from({ length: WORKERS }, () => work(world, upTo)));
  {
    // The runtime opens some of its own with the first child.
    await using world = await World.make();
    for (const kind of Object.values(KINDS)) await kind(world, pick);
  }
  const openBefore = await openDescriptors();
  {
    await using world = await World.make();
    for (let tenth = 1; tenth <= 10; tenth++) {
      await all(world, Math.ceil(calls * tenth / 10));
      const { rss, heapUsed, external } = Deno.memoryUsage();
      memory.push(Math.round(rss / 1e6));
      held.push(Math.round((heapUsed + external) / 1e6));
    }
  }
  const descriptors = await openDescriptors() - openBefore;
  return {
    calls: done,
    kinds,
    left: await leftOver(),
    descriptors,
    memory,
    held,
    seconds: (performance.now() - started) / 1000,
    wrong,
  };
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

async function openDescriptors(): Promise<number> {
  let open = 0;
  for await (const _ of Deno.readDir("/proc/self/fd")) open++;
  return open;
}

/** Our children, ended ones included, and any process that sleeps as only ours do. */
async function leftOver(): Promise<string[]> {
  const left: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = await Deno.readTextFile(`/proc/${name}/stat`);
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const line = await Deno.readTextFile(`/proc/${name}/cmdline`);
      const ours = Number(parent) === Deno.pid;
      if (ours || (state !== "Z" && line.includes(MARK))) {
        left.push(`${name} ${state} ${line.replaceAll("\0", " ")}`);
      }
    } catch {
      // It ended meanwhile.
    }
  }
  return left;
}

if (import.meta.main) {
  const report = await soak(Number(Deno.args[0] ?? 10_000));
  console.log(JSON.stringify(report, null, 2));
  const clean = report.left.length === 0 && report.descriptors <= 0 &&
    isSteady(report) && report.wrong.length === 0;
  if (!clean) Deno.exit(1);
}

/** Memory of the second half: no more is held than in the first, and no more is taken than its fragments explain. */
function isSteady({ memory, held }: SoakReport): boolean {
  return memory[9]! - memory[4]! < 32 &&
    Math.min(...held.slice(5)) <= Math.min(...held.slice(0, 5)) + 8;
}
