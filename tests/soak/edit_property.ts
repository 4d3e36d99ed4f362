// deno-lint-ignore-file no-console -- a program of its own
/**
 * The property of `edit` and `write` over many random files: `deno run -A --config tests/deno.json
 * tests/soak/edit_property.ts [RUNS] [SEED]`, 100,000 files of up to 5 MB by default, by as many processes as there
 * are processors.
 *
 * @module
 */
import { tryEdits } from "../edit_property.ts";

/** Third argument of a process that does its share itself. */
const SHARE = "share";

const [runs = "100000", seed = `${Math.floor(Math.random() * 2 ** 31)}`, role] =
  Deno.args;
const began = performance.now();
const outcome = role === SHARE
  ? await tryEdits(+runs, { seed: +seed, maxBytes: 5_000_000 })
  : await shared(+runs, +seed);
const seconds = Math.round((performance.now() - began) / 1_000);
console.log(JSON.stringify({ runs: +runs, seed: +seed, seconds, ...outcome }));

/** Gives each process a part of the seeds, and adds up what they came to. */
async function shared(
  runs: number,
  seed: number,
): Promise<Record<string, number>> {
  const size = Math.ceil(runs / navigator.hardwareConcurrency);
  const starts: number[] = [];
  for (let at = 0; at < runs; at += size) starts.push(at);
  const outcomes = await Promise.all(starts.map(async (at) => {
    const config = new URL("../deno.json", import.meta.url).pathname;
    const script = new URL(import.meta.url).pathname;
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--allow-all", "--config", config, script],
        ...[`${Math.min(size, runs - at)}`, `${seed + at}`, SHARE],
      ],
      stderr: "inherit",
    }).output();
    if (!success) Deno.exit(1);
    return JSON.parse(new TextDecoder().decode(stdout));
  }));
  const sum = (key: string) => outcomes.reduce((n, o) => n + o[key], 0);
  return {
    edited: sum("edited"),
    refused: sum("refused"),
    written: sum("written"),
  };
}
