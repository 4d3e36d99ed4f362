// deno-lint-ignore-file no-console -- a program of its own
/**
 * The property of `undo` over many random sequences: `deno run -A --config tests/deno.json tests/soak/undo_property.ts
 * [RUNS] [SEED]`, 10,000 by default.
 *
 * @module
 */
import { tryUndos } from "../undo_property.ts";

const runs = Number(Deno.args[0] ?? 10_000);
const seed = Number(Deno.args[1] ?? Math.floor(Math.random() * 2 ** 31));
const began = performance.now();
const outcome = await tryUndos(runs, seed);
const seconds = Math.round((performance.now() - began) / 1_000);
console.log(JSON.stringify({ runs, seed, seconds, ...outcome }));
