/**
 * Where a path really leads, links followed, also when the last part of it does not exist yet.
 *
 * @module
 */
import type { Paths } from "./paths.ts";

/** Links that are followed for one path before it counts as a loop. Linux's own bound is the same. */
export const MAX_LINKS = 40;

/** What resolving needs of a file system. */
export interface ScopeFiles {
  /** `Deno.realPath`. */
  realPath(path: string): Promise<string>;
  /** `Deno.lstat`. */
  lstat(path: string): Promise<Deno.FileInfo>;
  /** `Deno.readLink`. */
  readLink(path: string): Promise<string>;
  /** Names in a folder. */
  readNames(path: string): AsyncIterable<string>;
}

/** The real file system. */
export const denoScopeFiles: ScopeFiles = {
  realPath: (path) => Deno.realPath(path),
  lstat: (path) => Deno.lstat(path),
  readLink: (path) => Deno.readLink(path),
  async *readNames(path) {
    for await (const entry of Deno.readDir(path)) yield entry.name;
  },
};

/**
 * The real file system before anything else is under way: a look without the trip to another thread and back, which on
 * a busy machine takes longer than the look.
 */
export const startFiles: ScopeFiles = {
  ...denoScopeFiles,
  // deno-lint-ignore require-await -- what it throws is to reject
  realPath: async (path) => Deno.realPathSync(path),
  // deno-lint-ignore require-await -- likewise
  lstat: async (path) => Deno.lstatSync(path),
};

/** Where a path leads. */
export interface Located {
  /** Absolute, links followed as far as there are any. */
  real: string;
  /** `lstat` of `real`; undefined when nothing is there or it could not be looked at. */
  info: Deno.FileInfo | undefined;
  /** Why it could not be looked at; `NotFound` when it does not exist. */
  error?: unknown;
  /** Then the deepest folder that exists… */
  base?: string;
  /** …and the names that are missing below it. */
  rest?: string[];
}

/**
 * Resolves an absolute, normal path. One call to the system where all of it exists. Otherwise component by component
 * upwards, so that a dangling link is found and its target is what is resolved; no folder above the granted ones is
 * ever asked for.
 */
export async function locate(
  files: ScopeFiles,
  paths: Paths,
  path: string,
): Promise<Located> {
  let at = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    // Together, since each is a trip to the thread pool.
    const [real, info] = await Promise.allSettled([
      files.realPath(at),
      files.lstat(at),
    ]);
    if (real.status === "fulfilled" && info.status === "fulfilled") {
      // macOS shows the volume that holds the user's data under a second name.
      const found = real.value.replace(/^\/System\/Volumes\/Data(?=\/)/, "");
      const exists = info.value.isSymlink || found !== at
        ? await look(files, found)
        : { info: info.value };
      return { real: found, ...exists };
    }
    const error = real.status === "rejected"
      ? real.reason
      : (info as PromiseRejectedResult).reason;
    if (!isMissing(error) && !isRefused(error)) {
      return { real: at, info: undefined, error };
    }
    const end = await walkUp(files, paths, at, error);
    if (typeof end !== "string") return end;
    at = end;
  }
  return {
    real: at,
    info: undefined,
    error: new Deno.errors.FilesystemLoop(
      "Too many levels of symbolic links (os error 40)",
    ),
  };
}

/** From the end of a path upwards: its end, or the path to go on with when a link on the way leads nowhere. */
async function walkUp(
  files: ScopeFiles,
  paths: Paths,
  path: string,
  error: unknown,
): Promise<Located | string> {
  const rest: string[] = [];
  let failure = error;
  for (let at = path;;) {
    const parent = paths.dirname(at);
    const found = await look(files, at);
    if (found.info !== undefined) {
      // It came into being between the two looks.
      if (rest.length === 0 && isMissing(failure) && !found.info.isSymlink) {
        return path;
      }
      const base = await realPathOf(files, at);
      if (base !== undefined) {
        return missing(paths, { base, rest, info: found.info, failure });
      }
      if (!found.info.isSymlink) {
        return { real: path, info: undefined, error: failure };
      }
      const folder = await realPathOf(files, parent);
      const link = folder === undefined ? undefined : await linkAt(files, at);
      // No link any more: somebody replaced it between the looks.
      if (folder !== undefined && link === undefined) return path;
      const target = folder === undefined || link === undefined
        ? undefined
        : paths.resolve(folder, link);
      if (target === undefined) {
        return { real: path, info: undefined, error: failure };
      }
      return below(paths, target, rest);
    }
    if (isRefused(found.error)) failure = found.error;
    if (parent === at || !(isMissing(found.error) || isRefused(found.error))) {
      return { real: path, info: undefined, error: failure };
    }
    rest.unshift(paths.basename(at));
    at = parent;
  }
}

function missing(
  paths: Paths,
  end: {
    base: string;
    rest: string[];
    info: Deno.FileInfo;
    failure: unknown;
  },
): Located {
  const { base, rest, info, failure } = end;
  return {
    real: below(paths, base, rest),
    info: undefined,
    error: isMissing(failure) && info.isFile && rest.length > 0
      ? new Deno.errors.NotADirectory("Not a directory (os error 20)")
      : failure,
    base,
    rest,
  };
}

function below(paths: Paths, folder: string, names: string[]): string {
  return names.reduce((path, name) => paths.join(path, name), folder);
}

async function realPathOf(
  files: ScopeFiles,
  path: string,
): Promise<string | undefined> {
  try {
    return await files.realPath(path);
  } catch {
    return undefined;
  }
}

async function linkAt(
  files: ScopeFiles,
  path: string,
): Promise<string | undefined> {
  try {
    return await files.readLink(path);
  } catch {
    return undefined;
  }
}

async function look(
  files: ScopeFiles,
  path: string,
): Promise<{ info: Deno.FileInfo | undefined; error?: unknown }> {
  try {
    return { info: await files.lstat(path) };
  } catch (error) {
    return { info: undefined, error };
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory;
}

function isRefused(error: unknown): boolean {
  return error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotCapable;
}
