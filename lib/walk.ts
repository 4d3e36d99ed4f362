/**
 * The files of a tree, in lexical order, without those that are not meant: hidden, ignored, refused by the scope,
 * or no files at all. What is left out is counted and named.
 *
 * @module
 */
import type { Globs } from "./glob.ts";
import type { IgnoreLevel, IgnoreRules } from "./ignore.ts";
import type { SkipReason, Skips } from "./skips.ts";

/** A file that was found. */
export interface Found {
  /** Real path, absolute. */
  path: string;
  /** Base name. */
  name: string;
}

/** What to walk, and what is meant. */
export interface WalkOptions {
  /** The real path of a folder, normal, allowed by the scope. */
  root: string;
  /** `/`, or `\` on Windows. */
  separator: string;
  /** Why an entry may not be read; undefined when it may. */
  denial(path: string): string | undefined;
  /** Hidden entries are meant, too. */
  hidden: boolean;
  /** Undefined: nothing is ignored. */
  ignore: IgnoreRules | undefined;
  /** Only files that match. */
  include: Globs | undefined;
  /** No files or folders that match. */
  exclude: Globs | undefined;
  /** Told what is left out. */
  skips: Skips;
}

/**
 * Yields the files; undefined where the walk pauses. Links are not followed, `.git` is never entered.
 *
 * @throws {Error} of the operating system when the root cannot be read.
 */
export function* walk(
  options: WalkOptions,
): Generator<Found | undefined, void, void> {
  const { root, separator, ignore, skips } = options;
  const base = root.endsWith(separator) ? root : root + separator;
  const stack = [openFolder(options, base, ignore?.above(root))];
  while (stack.length > 0) {
    const folder = stack.at(-1)!;
    const entry = folder.entries[folder.next++];
    if (!entry) {
      stack.pop();
      yield undefined;
      continue;
    }
    if (folder.next % PAUSE_ENTRIES === 0) yield undefined;
    const { name } = entry;
    if (name === ".git") continue;
    const path = folder.base + name;
    const below = path.slice(base.length);
    const relative = separator === "/"
      ? below
      : below.replaceAll(separator, "/");
    if (options.exclude?.matches(relative, name)) continue;
    if (entry.isDirectory && options.exclude?.matches(`${relative}/`, name)) {
      continue;
    }
    const reason = leftOut(options, folder.level, path, entry);
    if (reason) {
      skips.add(reason, relative);
    } else if (entry.isDirectory) {
      try {
        stack.push(openFolder(options, path + separator, folder.level));
      } catch {
        skips.add("unreadable", relative);
      }
    } else if (options.include?.matches(relative, name) ?? true) {
      yield { path, name };
    }
  }
}

interface Folder {
  /** The folder's path, with a separator at its end. */
  base: string;
  entries: Deno.DirEntry[];
  next: number;
  level: IgnoreLevel | undefined;
}

function openFolder(
  options: WalkOptions,
  base: string,
  above: IgnoreLevel | undefined,
): Folder {
  const entries = [...Deno.readDirSync(base)].sort(byName);
  const level = options.ignore?.enter(
    above,
    base,
    (name) => has(entries, name),
  );
  return { base, entries, next: 0, level };
}

function leftOut(
  options: WalkOptions,
  level: IgnoreLevel | undefined,
  path: string,
  entry: Deno.DirEntry,
): SkipReason | undefined {
  const verdict = options.ignore?.verdict(level, path, entry.isDirectory);
  if (verdict === "ignored") return "ignored";
  if (!options.hidden && verdict !== "kept" && entry.name.startsWith(".")) {
    return "hidden";
  }
  if (entry.isSymlink) return "links";
  if (!entry.isDirectory && !entry.isFile) return "special files";
  return options.denial(path) === undefined ? undefined : "out of scope";
}

/** By UTF-16 units, the order of upstream's walk for all but unusual names; the same on every run. */
function byName(a: Deno.DirEntry, b: Deno.DirEntry): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Binary search: ignore files are asked for in every folder. */
function has(sorted: readonly Deno.DirEntry[], name: string): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.name < name) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.name === name;
}

const PAUSE_ENTRIES = 256;
