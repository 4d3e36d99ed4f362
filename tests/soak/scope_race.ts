/**
 * Swaps a file, then its folder, for a link while tools read and write: `deno run -A --config tests/deno.json
 * tests/soak/scope_race.ts [ROUNDS]`, 100,000 rounds each by default. Fails when a swapped file let anything out or in,
 * or when content was written through a swapped folder; reads through a swapped folder are counted.
 *
 * @module
 */
import { race } from "../scope_race.ts";

const rounds = Number(Deno.args[0] ?? 100_000);
const file = await race("file", rounds);
const folder = await race("folder", rounds);
await Deno.stdout.write(
  new TextEncoder().encode(`${JSON.stringify({ file, folder }, null, 2)}\n`),
);
if (file.readOutside + file.wroteOutside + folder.wroteOutside > 0) {
  Deno.exit(1);
}
