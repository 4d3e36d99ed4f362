/**
 * Which folders are the roots of this process: the first step of a ladder that names any, and never a folder so wide
 * that nobody can have meant it.
 *
 * @module
 */
import { CommandError } from "./failure.ts";
import { unfitRoot } from "./folders.ts";
import { rootsFromEnvironment, unexpanded } from "./hosts.ts";
import { fromFileUri, narrow, pathsOf } from "./paths.ts";
import { fromUser } from "./platform.ts";
import type { Platform } from "./platform.ts";
import { locate } from "./real_path.ts";
import type { ScopeFiles } from "./real_path.ts";

/** What the ladder is given. */
export interface RootsOptions {
  /** The facts of the machine. */
  platform: Platform;
  /** Where folders are looked at. */
  files: ScopeFiles;
  /** Folders that the operator named by flag, environment or file. */
  named: readonly string[];
  /** Folders that the client named (`roots/list`), as `file:` URIs or paths; undefined when it was not asked. */
  clientRoots: readonly string[] | undefined;
  /** Real paths of folders that roots have to lie in, as the administrator bounds them; undefined: anywhere. */
  within?: readonly string[] | undefined;
}

/** The roots, and how they were found. */
export interface Roots {
  /** Real paths, without doubles. The first is where relative paths start. */
  roots: string[];
  /** Where they come from, such as `--root` or `the working directory`; undefined when there are none. */
  origin: string | undefined;
  /** What was passed over and why, a sentence each. */
  warnings: string[];
}

/**
 * Climbs the ladder: what the operator named, the host's variables, the working directory, the client's roots.
 *
 * @throws {CommandError} when a folder that was named cannot be one: a placeholder that the host did not fill in, a file,
 * or none of them exists.
 */
export async function findRoots(options: RootsOptions): Promise<Roots> {
  const warnings: string[] = [];
  const found = await operatorRoots(options, warnings);
  const { clientRoots } = options;
  if (clientRoots === undefined) return { ...found, warnings };
  const client = await existing(options, clientRoots, true, warnings);
  if (found.roots.length === 0) {
    return {
      roots: client,
      origin: client.length > 0 ? "the client's roots" : undefined,
      warnings,
    };
  }
  const { os } = options.platform;
  const narrowed = narrow(os, found.roots, client);
  if (narrowed.length === 0) {
    if (client.length > 0) {
      warnings.push(
        `the client's roots (${
          client.join(", ")
        }) lie outside the operator's (${
          found.roots.join(", ")
        }), which stay in force`,
      );
    }
    return { ...found, warnings };
  }
  return { roots: narrowed, origin: found.origin, warnings };
}

/**
 * Further folders that the operator opens for reading, absolute.
 *
 * @throws {CommandError} for one that is not absolute and has nothing to start from.
 */
export function readFolders(
  platform: Platform,
  folders: readonly string[],
): string[] {
  return folders.map((folder) => {
    const path = fromUser(platform, folder);
    if (path !== undefined) return path;
    throw new CommandError(
      `--read "${folder}" is not an absolute path. Write the whole path`,
    );
  });
}

async function operatorRoots(
  options: RootsOptions,
  warnings: string[],
): Promise<{ roots: string[]; origin: string | undefined }> {
  const { platform, named } = options;
  if (named.length > 0) {
    return {
      roots: await mustExist(options, named, warnings),
      origin: "--root",
    };
  }
  for (const { name, folders, explicit } of rootsFromEnvironment(platform)) {
    const roots = explicit
      ? await mustExist(options, folders, warnings)
      : await existing(options, folders, false, warnings, name);
    if (roots.length > 0) return { roots, origin: name };
  }
  if (platform.cwd !== undefined) {
    const origin = "the working directory";
    const roots = await existing(
      options,
      [platform.cwd],
      false,
      warnings,
      origin,
    );
    if (roots.length > 0) return { roots, origin };
  }
  return { roots: [], origin: undefined };
}

/** Folders that a person named: what is wrong with one is told, and when none is left that is an error. */
async function mustExist(
  options: RootsOptions,
  folders: readonly string[],
  warnings: string[],
): Promise<string[]> {
  const roots: string[] = [];
  const missing: string[] = [];
  for (const folder of folders) {
    const placeholder = unexpanded(folder);
    if (placeholder !== undefined) {
      throw new CommandError(
        `root "${folder}" is not a folder: the host did not fill in ${placeholder}. Write the absolute path of the folder in its place`,
      );
    }
    const path = fromUser(
      options.platform,
      fromFileUri(options.platform.os, folder) ?? folder,
    );
    if (path === undefined) {
      throw new CommandError(
        `root "${folder}" is not an absolute path, and there is no folder that it could start from. Write the whole path`,
      );
    }
    const problem = await look(options, path, roots);
    if (problem !== undefined) {
      missing.push(`root "${folder}" ${problem}`);
    }
  }
  if (roots.length === 0) {
    throw new CommandError(
      `${missing.join("; ")}. Make the folder, or name another with --root`,
    );
  }
  warnings.push(...missing);
  return roots;
}

/** Folders that nobody named for this: what does not fit is passed over. */
async function existing(
  options: RootsOptions,
  folders: readonly string[],
  silent: boolean,
  warnings: string[],
  origin = "the client's root",
): Promise<string[]> {
  const { platform } = options;
  const roots: string[] = [];
  for (const folder of folders) {
    const path = fromFileUri(platform.os, folder) ?? folder;
    const absolute = pathsOf(platform.os).isAbsolute(path)
      ? pathsOf(platform.os).resolve("", path)
      : undefined;
    let problem = absolute === undefined
      ? "is not an absolute path"
      : unfit(platform, absolute);
    if (problem === undefined) {
      const found: string[] = [];
      problem = await look(options, absolute!, found) ??
        unfit(platform, found[0]!);
      if (problem === undefined) roots.push(found[0]!);
    }
    if (problem !== undefined && !silent) {
      warnings.push(
        `${origin} (${folder}) is not taken as a root: it ${problem}`,
      );
    }
  }
  return [...new Set(roots)];
}

function unfit(platform: Platform, folder: string): string | undefined {
  const reason = unfitRoot(platform, folder);
  return reason === undefined ? undefined : `is ${reason}`;
}

/** Adds the real path of a folder to `roots`, or says why it cannot be one. */
async function look(
  { files, platform, within }: RootsOptions,
  path: string,
  roots: string[],
): Promise<string | undefined> {
  const { real, info, error } = await locate(
    files,
    pathsOf(platform.os),
    path,
  );
  if (within && !narrow(platform.os, within, [real]).includes(real)) {
    return `lies outside the folders that the machine's policy allows (${
      within.join(", ")
    })`;
  }
  if (error instanceof Deno.errors.NotFound) return "does not exist";
  if (error instanceof Deno.errors.NotCapable) {
    // A part of it may be granted; each path is asked for when it is used.
    if (!roots.includes(real)) roots.push(real);
    return undefined;
  }
  if (error !== undefined) return "cannot be looked at";
  if (!info?.isDirectory) return "is not a folder";
  if (!roots.includes(real)) roots.push(real);
  return undefined;
}
