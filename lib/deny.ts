/**
 * The deny lists: what stays closed inside every scope, decided on real paths. Data first, then the matching, which is
 * a few table look-ups, because walks ask it for every entry.
 *
 * @module
 */
import { homesParents, knownHomes } from "./folders.ts";
import { pathsOf } from "./paths.ts";
import type { Paths } from "./paths.ts";
import type { Platform } from "./platform.ts";
import {
  HOME_READ,
  HOME_WRITE,
  NAMES_READ,
  NAMES_WRITE,
  PAIRS_WRITE,
  PATHS_READ,
  PATHS_WRITE,
} from "./deny_rules.ts";

/** A rule that closes a place. */
export interface DenyRule {
  /** As people write it: `~/.ssh`, `/etc/shadow`, `.git/hooks`, `id_rsa`. */
  pattern: string;
  /** What is protected, such as `private keys`. */
  reason: string;
  /** `own` cannot be lifted: it is rousseau's store, settings and program. */
  origin: "built-in" | "configured" | "own";
  /** Closed for writing only. */
  writeOnly: boolean;
}

/** What a deny list is made from. */
export interface DenyOptions {
  /** Whose homes, and which system's fixed paths. */
  platform: Platform;
  /** The operator's `scope.deny_read` and `scope.deny_write`; an entry that begins with `!` lifts a built-in rule. */
  denyRead: readonly string[];
  /** The same, closed for writing only. */
  denyWrite: readonly string[];
  /** Real paths of the roots: where relative entries start. */
  roots: readonly string[];
  /** Absolute paths that belong to rousseau itself. */
  own: readonly string[];
  /** Closed for writing only. */
  ownReadable: readonly string[];
  /** Only rousseau's own places (mode `full`). */
  ownOnly: boolean;
}

/** The rules in force, ready to be asked. */
export class DenyList {
  readonly #paths: Paths;
  readonly #homes: string[];
  readonly #homesParents: readonly string[];
  /** Folded absolute path → rule. */
  readonly #absolute = new Map<string, DenyRule>();
  /** Folded path below any home → rule. */
  readonly #home = new Map<string, DenyRule>();
  /** Folded name of a component, at any depth → rule. */
  readonly #names = new Map<string, DenyRule>();
  /** Folded `folder/name`, at any depth → rule. */
  readonly #pairs = new Map<string, DenyRule>();
  readonly #globs: { glob: RegExp; rule: DenyRule }[] = [];
  readonly #procRule: DenyRule | undefined;
  #lastFolder: string | undefined;
  #lastRead: DenyRule | undefined;
  #lastWrite: DenyRule | undefined;

  /** Builds the tables. */
  constructor(options: DenyOptions) {
    const { platform, roots } = options;
    this.#paths = pathsOf(platform.os);
    this.#homes = knownHomes(platform).map(fold);
    this.#homesParents = homesParents(platform).map(fold);
    for (const path of options.own) {
      this.#absolute.set(fold(path), ownRule(path, false));
    }
    for (const path of options.ownReadable) {
      if (!this.#absolute.has(fold(path))) {
        this.#absolute.set(fold(path), ownRule(path, true));
      }
    }
    if (options.ownOnly) return;
    const lifted = new Set(
      [...options.denyRead, ...options.denyWrite]
        .filter((entry) => entry.startsWith("!"))
        .map((entry) => fold(entry.slice(1))),
    );
    this.#addBuiltIn(platform, lifted);
    for (
      const [entries, writeOnly] of [
        [options.denyRead, false],
        [options.denyWrite, true],
      ] as const
    ) {
      for (const entry of entries) {
        if (entry.startsWith("!")) continue;
        this.#addConfigured(entry, writeOnly, roots);
      }
    }
    if (platform.os === "linux" && !lifted.has("/proc")) {
      this.#procRule = {
        pattern: "/proc",
        reason: "what other processes hold",
        origin: "built-in",
        writeOnly: false,
      };
    }
  }

  /** The rule that closes `real` for reading (or, with `write`, for writing), or undefined. Takes about 1 µs. */
  find(real: string, write: boolean): DenyRule | undefined {
    const at = real.lastIndexOf(this.#paths.separator);
    const folder = real.slice(0, at);
    if (folder !== this.#lastFolder) {
      this.#lastRead = undefined;
      this.#lastWrite = undefined;
      this.#lastFolder = folder;
      const key = fold(folder);
      // Every ancestor counts: a rule that closes a folder closes all that is in it.
      for (let end = 0; end < key.length;) {
        end = key.indexOf(this.#paths.separator, end + 1);
        if (end < 0) end = key.length;
        this.#note(this.#own(key.slice(0, end)));
      }
    }
    const here = this.#own(fold(real));
    const read = this.#lastRead ?? here.read;
    if (!write) return read;
    return read ?? this.#lastWrite ?? here.write ?? this.#pointer(real, at);
  }

  /**
   * Places at fixed paths that the rules close, for a sandbox to mask: those of the user's home and the absolute ones.
   */
  fixedPaths(home: string | undefined): { path: string; rule: DenyRule }[] {
    const found = [...this.#absolute].map(([path, rule]) => ({ path, rule }));
    if (home !== undefined) {
      for (const rule of new Set(this.#home.values())) {
        const below = rule.pattern.slice(2);
        found.push({ path: this.#paths.resolve(home, below)!, rule });
      }
    }
    return found;
  }

  /**
   * Closes the places that links among the closed ones lead to: a `~/.ssh` that is a link into another folder.
   * `realPath` gives the path itself for what does not exist or may not be asked.
   */
  async followLinks(
    home: string | undefined,
    realPath: (path: string) => Promise<string>,
  ): Promise<void> {
    if (home !== undefined) {
      const real = fold(await realPath(home));
      if (!this.#homes.includes(real)) this.#homes.push(real);
    }
    await Promise.all(
      this.fixedPaths(home).map(async ({ path, rule }) => {
        const real = await realPath(path);
        if (real === path) return;
        const key = fold(real);
        const known = this.#absolute.get(key);
        if (known && (!known.writeOnly || rule.writeOnly)) return;
        this.#absolute.set(key, rule);
        this.#lastFolder = undefined;
      }),
    );
  }

  #note({ read, write }: Found): void {
    this.#lastRead ??= read;
    this.#lastWrite ??= write;
  }

  /** A file named `.git` points git at a repository elsewhere, with hooks of its own. */
  #pointer(real: string, at: number): DenyRule | undefined {
    return fold(real.slice(at + 1)) === ".git"
      ? this.#pairs.get(".git/hooks")
      : undefined;
  }

  /** Rules that name exactly this path; `key` is folded. */
  #own(key: string): Found {
    const { separator } = this.#paths;
    const at = key.lastIndexOf(separator);
    const name = key.slice(at + 1);
    const before = key.lastIndexOf(separator, at - 1);
    let read: DenyRule | undefined;
    let write: DenyRule | undefined;
    const add = (rule: DenyRule | undefined) => {
      if (rule === undefined) return;
      if (rule.writeOnly) write ??= rule;
      else read ??= rule;
    };
    add(this.#absolute.get(key));
    add(this.#names.get(name));
    if (at > 0) add(this.#pairs.get(`${key.slice(before + 1, at)}/${name}`));
    for (const { glob, rule } of this.#globs) if (glob.test(name)) add(rule);
    const below = this.#belowHome(key);
    if (below !== undefined) add(this.#home.get(below));
    const hidden = key.indexOf(GIT_FOLDER[separator]!);
    if (hidden >= 0 && this.#pairs.has(".git/config")) {
      add(this.#repository(key.slice(hidden + GIT_FOLDER[separator]!.length)));
    }
    if (this.#procRule && isKernelPath(key) && !isHarmless(key)) {
      add(this.#procRule);
    }
    return { read, write };
  }

  /** The repositories of submodules and linked work trees have hooks and settings of their own. */
  #repository(below: string): DenyRule | undefined {
    const parts = below.split(this.#paths.separator);
    if (parts[0] !== "modules" && parts[0] !== "worktrees") return undefined;
    const last = parts.at(-1);
    return last === "hooks" || last === "config" || last === "config.worktree"
      ? this.#pairs.get(`.git/${last}`)
      : undefined;
  }

  #belowHome(key: string): string | undefined {
    const { separator } = this.#paths;
    for (const home of this.#homes) {
      if (key.startsWith(home) && key[home.length] === separator) {
        return key.slice(home.length + 1).replaceAll(separator, "/");
      }
    }
    for (const parent of this.#homesParents) {
      if (!key.startsWith(parent) || key[parent.length] !== separator) continue;
      const end = key.indexOf(separator, parent.length + 1);
      if (end > 0) return key.slice(end + 1).replaceAll(separator, "/");
    }
    return undefined;
  }

  #addBuiltIn(platform: Platform, lifted: ReadonlySet<string>): void {
    const add = (
      table: Map<string, DenyRule>,
      rules: Readonly<Record<string, readonly string[]>>,
      prefix: string,
      writeOnly: boolean,
    ) => {
      for (const [reason, patterns] of Object.entries(rules)) {
        for (const pattern of patterns) {
          const shown = `${prefix}${pattern}`;
          const key = fold(pattern);
          if (lifted.has(fold(shown)) || table.has(key)) continue;
          table.set(key, {
            pattern: shown,
            reason,
            origin: "built-in",
            writeOnly,
          });
        }
      }
    };
    add(this.#home, HOME_READ, "~/", false);
    add(this.#home, HOME_WRITE, "~/", true);
    add(this.#names, NAMES_READ, "", false);
    add(this.#names, NAMES_WRITE, "", true);
    add(this.#pairs, PAIRS_WRITE, "", true);
    add(this.#absolute, PATHS_READ[platform.os], "", false);
    add(this.#absolute, PATHS_WRITE[platform.os], "", true);
  }

  #addConfigured(
    entry: string,
    writeOnly: boolean,
    roots: readonly string[],
  ): void {
    const rule: DenyRule = {
      pattern: entry,
      reason: "the operator's rule",
      origin: "configured",
      writeOnly,
    };
    const plain = entry.replace(/[/\\]+$/, "");
    if (/^~[/\\]/.test(plain)) {
      put(this.#home, fold(plain.slice(2)).replaceAll("\\", "/"), rule);
    } else if (this.#paths.isAbsolute(plain)) {
      put(this.#absolute, fold(this.#paths.resolve("", plain)!), rule);
    } else if (/[/\\]/.test(plain)) {
      for (const root of roots) {
        const path = this.#paths.resolve(root, plain);
        if (path !== undefined) put(this.#absolute, fold(path), rule);
      }
    } else if (plain.includes("*")) {
      const text = plain.split("*").map((part) =>
        part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")
      ).join(".*");
      this.#globs.push({ glob: new RegExp(`^${fold(text)}$`, "s"), rule });
    } else {
      put(this.#names, fold(plain), rule);
    }
  }
}

/** True for an entry of `scope.deny_read` or `scope.deny_write` that takes a built-in rule away. */
export function lifts(entry: string): boolean {
  return entry.startsWith("!");
}

interface Found {
  read: DenyRule | undefined;
  write: DenyRule | undefined;
}

const GIT_FOLDER: Readonly<Record<string, string>> = {
  "/": "/.git/",
  "\\": "\\.git\\",
};

/** Case never opens what is closed: some folders ignore it on every system. */
function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function put(
  table: Map<string, DenyRule>,
  key: string,
  rule: DenyRule,
): void {
  const known = table.get(key);
  if (known === undefined || (known.writeOnly && !rule.writeOnly)) {
    table.set(key, rule);
  }
}

function ownRule(path: string, writeOnly: boolean): DenyRule {
  return {
    pattern: path,
    reason: "rousseau's own store, settings and program",
    origin: "own",
    writeOnly,
  };
}

function isKernelPath(key: string): boolean {
  return /^\/(proc|sys)\/./.test(key);
}

function isHarmless(key: string): boolean {
  return HARMLESS.test(key);
}

/** Facts about the machine; nothing of a process but its limits and mounts. Folders on the way are walked through. */
const HARMLESS =
  /^\/proc\/(cpuinfo|meminfo|version|loadavg|uptime|stat|vmstat|filesystems|partitions|diskstats|swaps|devices|modules|crypto|cmdline|mounts|self|thread-self|pressure(\/\w+)?|sys|sys\/(kernel|vm|fs|net)|sys\/(vm|fs)\/.*|sys\/kernel\/(ostype|osrelease|hostname|version|pid_max|threads-max)|\d+|\d+\/(limits|cgroup|mounts|mountinfo|status))$|^\/sys\/(devices|fs|kernel|kernel\/mm|(devices\/system|fs\/cgroup|kernel\/mm\/transparent_hugepage)(\/.*)?)$/;
