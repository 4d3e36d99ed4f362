/**
 * The end of a path that does not exist: another spelling of the missing name that does, or names that are near it.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { hasVariants, nearestNames, sameName } from "./names.ts";
import type { Paths } from "./paths.ts";
import type { Located, ScopeFiles } from "./real_path.ts";

/** Names of a folder that are looked at for another spelling or a near one. */
export const MAX_NAMES = 10_000;

/** A path that ends in nothing. */
export interface PathEnd {
  /** Where it leads; its error is `NotFound`. */
  at: Located;
  /** The path in the caller's spelling. */
  shown: string;
  /** Where to look for names. */
  files: ScopeFiles;
  /** The system's rules of paths. */
  paths: Paths;
  /** Whether the caller may know what is at a real path. */
  allowed: (real: string) => boolean;
}

/**
 * The path with an existing name in place of the first missing one, when exactly one is equal but for its spelling;
 * undefined when none is.
 *
 * @throws {CommandError} when several are.
 */
export async function respell(end: PathEnd): Promise<string | undefined> {
  const { at: { base, rest = [] }, shown, files, paths } = end;
  const wanted = rest[0];
  if (base === undefined || wanted === undefined) return undefined;
  if (!hasVariants(wanted) || !end.allowed(base)) return undefined;
  const names = await namesIn(files, base);
  const equal = names.filter((name) => sameName(name, wanted));
  if (equal.length === 0) return undefined;
  const folder = shownBase(end, base);
  if (equal.length > 1) {
    throw new CommandError(
      `open ${shown}: ambiguous: in ${folder} there are ${
        equal.map(spellOut).join(" and ")
      }. Give one of them exactly`,
    );
  }
  return [equal[0]!, ...rest.slice(1)].reduce(
    (path, name) => paths.join(path, name),
    folder,
  );
}

/** That nothing is there, in the seed's words, with the nearest existing names as a note. */
export async function missingError(end: PathEnd): Promise<CommandError> {
  const { at: { base, rest = [] }, shown, files, paths } = end;
  const message = `open ${shown}: no such file or directory`;
  const wanted = rest[0];
  if (base === undefined || wanted === undefined || !end.allowed(base)) {
    return new CommandError(message);
  }
  const near = nearestNames(await namesIn(files, base), wanted)
    .filter((name) => end.allowed(paths.join(base, name)));
  const folder = shownBase(end, base);
  if (near.length > 0) {
    return new CommandError(message, {
      notes: [
        `${folder} has ${near.map((name) => JSON.stringify(name)).join(", ")}`,
      ],
    });
  }
  return new CommandError(message, {
    notes: rest.length > 1
      ? [`the deepest folder that exists is ${folder}`]
      : [],
  });
}

/** The names in a folder, at most {@linkcode MAX_NAMES}; none when it cannot be listed. */
export async function namesIn(
  files: ScopeFiles,
  folder: string,
): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const name of files.readNames(folder)) {
      names.push(name);
      if (names.length >= MAX_NAMES) break;
    }
  } catch {
    // A folder that cannot be listed has no names to offer.
  }
  return names;
}

/** The deepest existing folder in the caller's spelling, unless a link stands between. */
function shownBase({ at, shown, paths }: PathEnd, base: string): string {
  const { rest = [] } = at;
  const end = paths.components(shown).slice(-rest.length);
  if (!end.every((name, i) => name === rest[i])) return base;
  let folder = shown;
  for (let i = 0; i < rest.length; i++) folder = paths.dirname(folder);
  return folder;
}

/** A name with the characters spelled out that would look like others. */
function spellOut(name: string): string {
  return JSON.stringify(name).replace(
    /[^\x20-\x7e]/gu,
    (character) =>
      `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`,
  );
}
