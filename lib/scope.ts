/**
 * What this process may touch: every path that a tool uses is resolved and decided here, and nowhere else.
 *
 * @module
 */
import { grantFor } from "./grants.ts";
import { CommandError } from "./command.ts";
import type { Config, Mode } from "./config.ts";
import { DenyList } from "./deny.ts";
import type { DenyRule } from "./deny.ts";
import { systemFolders, tempFolders, toolchainFolders } from "./folders.ts";
import { refuseBadNames, refuseMalformed } from "./path_text.ts";
import { foldPath, isWithin, narrow, pathsOf } from "./paths.ts";
import type { Paths } from "./paths.ts";
import { expandHome } from "./platform.ts";
import type { Platform } from "./platform.ts";
import { denoScopeFiles, locate } from "./real_path.ts";
import type { Located, ScopeFiles } from "./real_path.ts";
import { reasonOf } from "./reason.ts";
import {
  denyText,
  describeScope,
  NAME_A_ROOT,
  outsideText,
  readOnlyText,
} from "./refusals.ts";
import { ownPlaces } from "./own_places.ts";
import { missingError, namesIn, respell } from "./path_end.ts";
import type { PathEnd } from "./path_end.ts";
import { findRoots, readFolders } from "./roots.ts";
import type { Roots } from "./roots.ts";

/** What is to be done with a path. `search` walks a folder without reading one file by name. */
export type Access = "read" | "write" | "search";

/** A path that the scope has allowed. */
export interface Resolved {
  /** Absolute, with every link resolved: the path to open. */
  real: string;
  /** Absolute as the caller meant it, for answers. */
  shown: string;
  /** What is there now (`lstat` of `real`), or undefined when nothing is. */
  info: Deno.FileInfo | undefined;
  /** Set when another spelling of the name was taken (Unicode folding) or a relative path was completed. */
  notes: readonly string[];
}

/** The decision on paths. One per process; it never widens after start. */
export interface Scope {
  /** The operator's choice of what tools may touch. */
  readonly mode: Mode;
  /** Real paths of the roots, first is where relative paths start. */
  readonly roots: readonly string[];
  /**
   * Resolves `path` component by component and decides. `..` is taken out as text first.
   *
   * @throws {CommandError} with the text for the model, without a tool's name before it: which rule refused, and the
   * flag that would allow it; or what is wrong with the path; or, unless it is to be written, that nothing is there
   * (`open /nope: no such file or directory`), with the nearest existing names as a note.
   */
  resolve(path: string, access: Access): Promise<Resolved>;
  /** Decides on a real path found by walking from a resolved folder (no link in it). Undefined: allowed. */
  denial(real: string, access: Access): string | undefined;
  /** For instructions and `doctor`: the rules in one or two sentences. */
  describe(): string;
}

/** The scope of a process, with what the sandbox and `doctor` ask beside paths. */
export interface ProcessScope extends Scope {
  /** Where the roots come from, such as `--root`; undefined when there are none. */
  readonly origin: string | undefined;
  /** Real paths below which tools may write; empty in mode `read-only`. In mode `full` everything is. */
  readonly writable: readonly string[];
  /** Real paths below which tools may read, those of {@linkcode writable} left out. In `open` and `full` all is. */
  readonly readable: readonly string[];
  /** Resolves when {@linkcode readable} and {@linkcode closed} are whole; `resolve` waits for it by itself. */
  ready(): Promise<void>;
  /** Closed places at fixed paths, those of the user's home included. */
  readonly closed: readonly { path: string; rule: DenyRule }[];
}

/** What a scope is made from. */
export interface ScopeOptions {
  /** The facts of the machine. */
  platform: Platform;
  /** The operator's settings. */
  config: Config;
  /** The client's roots, as paths or `file:` URIs: they narrow what the operator gave, or stand in where that is nothing. */
  hostRoots?: readonly string[];
  /** The roots, where they are known already. */
  found?: Roots;
  /** Further paths that belong to rousseau itself, such as the configuration file that was read. */
  own?: readonly string[];
  /** The file system; tests put others in. */
  files?: ScopeFiles;
}

/**
 * Finds the roots and makes the scope. Warnings are for the operator's log and `doctor`.
 *
 * @throws {CommandError} when a folder that was named as a root cannot be one.
 */
export async function createScope(
  options: ScopeOptions,
): Promise<{ scope: ProcessScope; warnings: string[] }> {
  const { platform, config } = options;
  const files = options.files ?? denoScopeFiles;
  const paths = pathsOf(platform.os);
  const { roots, origin, warnings } = options.found ?? await findRoots({
    platform,
    files,
    named: config.roots,
    clientRoots: options.hostRoots,
    within: config.machine?.within.roots,
  });
  const named = readFolders(platform, config.read);
  const real = (folder: string) => realFolder(files, folder);
  const within = config.machine?.within;
  const [temps, read] = await Promise.all([
    Promise.all(tempFolders(platform).map(real)),
    Promise.all(named.map(real)),
  ]);
  return {
    scope: new PathScope({
      platform,
      files,
      paths,
      mode: config.mode,
      roots,
      origin,
      // The variable that names it is the user's, and the bound is not.
      temp: inside(
        platform,
        temps,
        within?.roots && [
          ...within.roots,
          ...SYSTEM_TEMPS,
        ],
      ),
      read,
      within: within?.read && [...within.read, ...within.roots ?? []],
      makeDenyList: () =>
        new DenyList({
          platform,
          denyRead: config.scope.denyRead,
          denyWrite: config.scope.denyWrite,
          roots,
          ...ownPlaces(platform, config.state.path, options.own ?? []),
          ownOnly: config.mode === "full",
        }),
    }),
    warnings,
  };
}

interface PathScopeOptions {
  platform: Platform;
  files: ScopeFiles;
  paths: Paths;
  mode: Mode;
  roots: readonly string[];
  origin: string | undefined;
  temp: readonly string[];
  read: readonly string[];
  /** In which folders toolchains may be read; undefined: anywhere. */
  within: readonly string[] | undefined;
  /** Called at the first use: start-up need not pay for the tables. */
  makeDenyList: () => DenyList;
}

class PathScope implements ProcessScope {
  readonly mode: Mode;
  readonly roots: readonly string[];
  readonly origin: string | undefined;
  readonly writable: readonly string[];
  readonly #options: PathScopeOptions;
  readonly #write: readonly string[];
  #readable: readonly string[];
  #read: readonly string[];
  #ready: Promise<void> | undefined;
  #denyList: DenyList | undefined;

  constructor(options: PathScopeOptions) {
    const { mode, roots, temp, read, platform } = options;
    this.#options = options;
    this.mode = mode;
    this.roots = roots;
    this.origin = options.origin;
    const granted = roots.length === 0 ? [] : [...roots, ...temp];
    this.writable = mode === "read-only" ? [] : granted;
    this.#readable = [
      ...(this.writable.length > 0 ? [] : [...roots, ...temp]),
      ...read,
      ...systemFolders(platform),
    ];
    this.#write = this.writable.map((path) => foldPath(platform.os, path));
    this.#read = this.#folded();
  }

  get readable(): readonly string[] {
    return this.#readable;
  }

  ready(): Promise<void> {
    return this.#ready ??= this.#prepare();
  }

  get closed(): readonly { path: string; rule: DenyRule }[] {
    return this.#deny.fixedPaths(this.#options.platform.home);
  }

  async resolve(path: string, access: Access): Promise<Resolved> {
    const notes: string[] = [];
    await this.ready();
    let shown = await this.#absolute(path, access, notes);
    // Each turn takes one differently spelled component; there are not more of those than components.
    for (let turn = 0; turn < MAX_RESPELLED; turn++) {
      const at = await this.#locate(shown);
      const denied = this.denial(at.real, access);
      if (denied !== undefined) {
        // The names in the file system's root are the same everywhere: that one is missing gives nothing away.
        if (access !== "write" && isMissingAtTop(this.#options.paths, at)) {
          throw await missingError(this.#end(at, shown));
        }
        throw this.#refusal(denied, shown, at.real);
      }
      if (at.error === undefined || at.info !== undefined) {
        return { real: at.real, shown, info: at.info, notes };
      }
      if (!(at.error instanceof Deno.errors.NotFound)) {
        throw this.#failure(at, shown, access);
      }
      const respelled = await respell(this.#end(at, shown));
      if (respelled === undefined) {
        if (access === "write") {
          return { real: at.real, shown, info: at.info, notes };
        }
        throw await missingError(this.#end(at, shown));
      }
      notes.push(
        `${shown} does not exist; taken instead is ${respelled}, whose name differs only in its Unicode spaces or composed characters`,
      );
      shown = respelled;
    }
    throw new CommandError(`open ${shown}: file name too long`);
  }

  denial(real: string, access: Access): string | undefined {
    const write = access === "write";
    const rule = this.#deny.find(real, write);
    if (rule !== undefined) return denyText(real, rule, write);
    if (this.mode === "full") return undefined;
    if (write && this.mode === "read-only") {
      return readOnlyText(real);
    }
    if (!write && this.mode === "open") return undefined;
    const { paths, platform } = this.#options;
    const folded = foldPath(platform.os, real);
    const granted = write ? this.#write : this.#read;
    for (let i = 0; i < granted.length; i++) {
      if (isWithin(paths, granted[i]!, folded)) return undefined;
    }
    return outsideText({
      real,
      folder: paths.dirname(real),
      roots: this.roots,
      write,
      readable: write && this.mode === "workspace" &&
        this.denial(real, "read") === undefined,
    });
  }

  describe(): string {
    return describeScope(this.mode, this.roots);
  }

  /** Follows the links in the home, which start-up need not wait for: closed places and toolchains may be links. */
  async #prepare(): Promise<void> {
    const { platform, files, paths } = this.#options;
    const { home } = platform;
    const there = new Set(home === undefined ? [] : await namesIn(files, home));
    const exists = (path: string) => {
      if (home === undefined || path === home) return true;
      const first = paths.components(path)[paths.components(home).length];
      return !isWithin(paths, home, path) || there.has(first ?? "");
    };
    const real = async (path: string) =>
      exists(path) ? await realFolder(files, path) : path;
    const [toolchains] = await Promise.all([
      Promise.all(toolchainFolders(platform).map(real)),
      this.#deny.followLinks(home, real),
    ]);
    this.#readable = [
      ...new Set([
        ...this.#readable,
        ...inside(platform, toolchains, this.#options.within),
      ]),
    ];
    this.#read = this.#folded();
  }

  get #deny(): DenyList {
    return this.#denyList ??= this.#options.makeDenyList();
  }

  #folded(): string[] {
    const { os } = this.#options.platform;
    return [
      ...this.#write,
      ...this.#readable.map((path) => foldPath(os, path)),
    ];
  }

  /** What the caller wrote, made absolute as text. */
  async #absolute(
    path: string,
    access: Access,
    notes: string[],
  ): Promise<string> {
    const { paths, platform } = this.#options;
    refuseMalformed(path);
    const expanded = expandHome(platform, path);
    const absolute = paths.isAbsolute(expanded)
      ? paths.resolve("", expanded)
      : await this.#fromRoots(expanded, access, notes);
    if (absolute === undefined) {
      throw new CommandError(
        `path must be absolute, got ${
          JSON.stringify(path)
        }: it depends on a drive's own folder or names a device. Write the drive and a backslash, such as C:\\`,
      );
    }
    refuseBadNames(paths, absolute);
    return absolute;
  }

  async #fromRoots(
    path: string,
    access: Access,
    notes: string[],
  ): Promise<string | undefined> {
    const { paths } = this.#options;
    const [first, ...others] = this.roots;
    if (first === undefined) {
      throw new CommandError(
        `path must be absolute, got ${
          JSON.stringify(path)
        }: there is no root that it could start from. Give the whole path; ${NAME_A_ROOT}`,
      );
    }
    const start = paths.resolve(first, path);
    if (start === undefined) return undefined;
    let taken = start;
    if (others.length > 0) {
      const there: string[] = [];
      for (const root of this.roots) {
        const candidate = paths.resolve(root, path);
        if (candidate === undefined) continue;
        const { info, real } = await this.#locate(candidate);
        if (info && this.denial(real, access) === undefined) {
          there.push(candidate);
        }
      }
      const distinct = [...new Set(there)];
      if (distinct.length > 1) {
        throw new CommandError(
          `${JSON.stringify(path)} exists in more than one root: ${
            distinct.join(", ")
          }. Give the absolute path of the one that is meant`,
        );
      }
      taken = distinct[0] ?? start;
    }
    if (taken !== path) notes.push(`${path || "."} is ${taken}`);
    return taken;
  }

  #locate(path: string): Promise<Located> {
    const { files, paths } = this.#options;
    return locate(files, paths, path);
  }

  #end(at: Located, shown: string): PathEnd {
    const { files, paths } = this.#options;
    return {
      at,
      shown,
      files,
      paths,
      allowed: (path) => this.denial(path, "search") === undefined,
    };
  }

  #refusal(text: string, shown: string, real: string): CommandError {
    return new CommandError(
      shown === real
        ? text
        : `${text}. (${shown} leads to ${real} through a link.)`,
      { meta: { refused: true, path: real } },
    );
  }

  #failure(at: Located, shown: string, access: Access): CommandError {
    const { error: cause, real } = at;
    if (cause instanceof Deno.errors.NotCapable) {
      const way = grantFor(
        this.#options.paths.dirname(real),
        access === "write" ? ["read", "write"] : ["read"],
      );
      return new CommandError(
        `open ${shown}: this process has no permission for it: ${way}`,
        { cause },
      );
    }
    return new CommandError(`open ${shown}: ${reasonOf(cause)}`, { cause });
  }
}

const MAX_RESPELLED = 64;

/** Where systems keep temporary files, whatever variables say. */
const SYSTEM_TEMPS = [
  "/tmp",
  "/var/tmp",
  "/private/tmp",
  "/private/var/folders",
];

/** Of folders those that lie in one of `bounds`; all of them without bounds. */
function inside(
  { os }: Platform,
  folders: readonly string[],
  bounds: readonly string[] | undefined,
): readonly string[] {
  return bounds
    ? folders.filter((folder) => narrow(os, bounds, [folder]).includes(folder))
    : folders;
}

function isMissingAtTop(paths: Paths, { base, error }: Located): boolean {
  return error instanceof Deno.errors.NotFound && base !== undefined &&
    paths.dirname(base) === base;
}

async function realFolder(files: ScopeFiles, path: string): Promise<string> {
  try {
    return await files.realPath(path);
  } catch {
    return path;
  }
}
