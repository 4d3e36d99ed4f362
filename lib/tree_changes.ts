/**
 * Which files of a git work tree were made or changed since a moment: told by their times, since git itself would run
 * what the tree's configuration says, outside any sandbox.
 *
 * @module
 */
import { ignoreRules } from "./grep.ts";
import { delay } from "./database_files.ts";
import { pathsOf } from "./paths.ts";
import { Skips } from "./skips.ts";
import type { ToolContext } from "./tool.ts";
import { walk } from "./walk.ts";

/** Files that are looked at in one tree at most. */
export const MAX_LOOKED_AT = 5_000;

/** Changed files that are named. */
export const MAX_NAMED = 50;

/** Milliseconds of work between two pauses. */
export const SLICE_MS = 3;

/** What a look at a tree found. */
export interface TreeChanges {
  /** Paths below the tree, the first {@linkcode MAX_NAMED}. */
  paths: string[];
  /** How many there are. */
  count: number;
  /** False when the tree is too large to be looked at whole. */
  isWhole: boolean;
}

/**
 * Looks at the files that git does not ignore. Works in slices, so that calls go first. Undefined when `root` is no
 * git work tree.
 *
 * @param since milliseconds since 1970.
 */
export async function changedSince(
  root: string,
  since: number,
  ctx: ToolContext,
): Promise<TreeChanges | undefined> {
  const { separator } = pathsOf(ctx.platform.os);
  const base = root.endsWith(separator) ? root : root + separator;
  if (!await isThere(`${base}.git`)) return undefined;
  const found: TreeChanges = { paths: [], count: 0, isWhole: true };
  const files = walk({
    root,
    separator,
    denial: (path) => ctx.scope.denial(path, "read"),
    hidden: true,
    ignore: await ignoreRules(await import("node:fs"), ctx),
    include: undefined,
    exclude: undefined,
    skips: new Skips(),
  });
  let looked = 0;
  let begun = performance.now();
  for (const file of files) {
    if (performance.now() - begun > SLICE_MS) {
      await delay(1, ctx.signal);
      begun = performance.now();
    }
    if (!file) continue;
    if (++looked > MAX_LOOKED_AT) {
      found.isWhole = false;
      break;
    }
    const info = await Deno.lstat(file.path).catch(() => undefined);
    const time = Math.max(
      info?.mtime?.getTime() ?? 0,
      info?.ctime?.getTime() ?? 0,
    );
    if (time < since) continue;
    found.count++;
    if (found.paths.length < MAX_NAMED) {
      found.paths.push(file.path.slice(base.length));
    }
  }
  return found;
}

/** The changes in words, for the record; undefined when there are none. */
export function changesText(
  root: string,
  { paths, count, isWhole }: TreeChanges,
): string | undefined {
  if (count === 0) return undefined;
  const more = count > paths.length ? `\n… ${count - paths.length} more` : "";
  const part = isWhole ? "" : `, of its first ${MAX_LOOKED_AT} files`;
  return `changed in ${root} while the command ran${part}:\n${
    paths.join("\n")
  }${more}`;
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
