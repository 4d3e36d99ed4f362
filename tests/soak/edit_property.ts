// deno-lint-ignore-file no-console -- a program of its own
/**
 * The property of `edit` and `write` over many random files: `deno run -A --config tests/deno.json
 * tests/soak/edit_property.ts [RUNS] [SEED]`, 100,000 files of up to 5 MB by default.
 *
 * @module
 */
import { tryEdits } from "../edit_property.ts";

const runs = Number(Deno.args[0] ?? 100_000);
const seed = Number(Deno.args[1] ?? Math.floor(Math.random() * 2 ** 31));
const began = performance.now();
const outcome = await tryEdits(runs, { seed, maxBytes: 5_000_000 });
const seconds = Math.round((performance.now() - began) / 1_000);
console.log(JSON.stringify({ runs, seed, seconds, ...outcome }));
