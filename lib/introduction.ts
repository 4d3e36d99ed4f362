/**
 * What this program says of itself to a client.
 *
 * @module
 */
import about from "../deno.json" with { type: "json" };
import type { Config } from "./config.ts";
import type { Introduction } from "./handshake.ts";
import { instructions } from "./instructions.ts";
import { describeScope } from "./refusals.ts";
import type { Offer } from "./selection.ts";

/** The version of this program. */
export const VERSION: string = about.version;

/** The program's introduction, where that is served. */
export function introduce(
  { config, roots }: { config: Config; roots: readonly string[] },
  { selection, custom, sessions }: Offer,
): Introduction {
  return {
    info: { name: "rousseau", version: VERSION, title: "Rousseau" },
    instructions: instructions({
      scope: describeScope(config.mode, roots),
      config,
      selection,
      custom,
    }),
    findsResources: sessions,
  };
}
