/**
 * Which entries of a tree the people who work on it do not want to see: `.gitignore`, `.ignore`,
 * `.git/info/exclude` and the global excludes, with ripgrep's precedence.
 *
 * - `.ignore` counts everywhere, the git files only within a git work tree.
 * - Files of folders above the searched one count too: `.gitignore` up to the top of the work tree.
 * - `.ignore` beats `.gitignore`, which beats `.git/info/exclude`, which beats the global excludes; of files of one
 *   kind the nearest that says something decides.
 *
 * @module
 */
import type { Ignore } from "ignore";

/** What the rules say: left out, kept on purpose (`!name`), or nothing. */
export type Verdict = "ignored" | "kept" | undefined;

/** Reads a small file; undefined when it is not there or may not be read. */
export type ReadText = (path: string) => string | undefined;

/** What the rules need of the world. */
export interface IgnoreWorld {
  /** Reads an ignore file that lies in a searched tree or above it. */
  read: ReadText;
  /** Whether an entry exists in a folder above the searched one. */
  exists(path: string): boolean;
  /** Makes a set of rules of an ignore file's text (the npm package `ignore`). */
  rules(text: string): Ignore;
  /** Text of the user's global excludes; undefined when there is none. */
  globalExcludes: string | undefined;
  /** `/`, or `\` on Windows. */
  separator: string;
}

/** The rules that hold in one folder and below. */
export interface IgnoreLevel {
  /** The level above. */
  readonly parent: IgnoreLevel | undefined;
  /** The folder, with a separator at its end. */
  readonly folder: string;
  /** The folder's `.ignore`. */
  readonly dotIgnore: Rules | undefined;
  /** The folder's `.gitignore`. */
  readonly gitIgnore: Rules | undefined;
  /** The work tree's `.git/info/exclude`. */
  readonly exclude: Rules | undefined;
  /** The folder is the top of a git work tree. */
  readonly top: boolean;
  /** The folder is in a git work tree. */
  readonly inGit: boolean;
}

/** Builds levels on the way down and asks them. */
export class IgnoreRules {
  readonly #world: IgnoreWorld;
  readonly #global: Rules | undefined;

  /** Rules that hold in the trees of `world`. */
  constructor(world: IgnoreWorld) {
    this.#world = world;
    this.#global = world.globalExcludes === undefined
      ? undefined
      : new Rules(world.globalExcludes, world);
  }

  /** The level that holds in the folder above `folder`, from everything above it. */
  above(folder: string): IgnoreLevel | undefined {
    const { separator, exists } = this.#world;
    const bases: string[] = [];
    for (
      let cut = folder.lastIndexOf(separator);
      cut >= 0;
      cut = cut === 0 ? -1 : folder.lastIndexOf(separator, cut - 1)
    ) {
      if (cut + 1 < folder.length) bases.unshift(folder.slice(0, cut + 1));
    }
    let level: IgnoreLevel | undefined;
    for (const base of bases) {
      level = this.enter(level, base, (name) => exists(base + name));
    }
    return level;
  }

  /** The level for `folder`, given the one above it and what is in the folder. */
  enter(
    parent: IgnoreLevel | undefined,
    folder: string,
    has: (name: string) => boolean,
  ): IgnoreLevel | undefined {
    const top = has(".git");
    const base = folder.endsWith(this.#world.separator)
      ? folder
      : folder + this.#world.separator;
    const dotIgnore = has(".ignore") ? this.#file(base + ".ignore") : undefined;
    const gitIgnore = has(".gitignore")
      ? this.#file(base + ".gitignore")
      : undefined;
    if (!top && !dotIgnore && !gitIgnore) return parent;
    const exclude = top
      ? this.#file(
        [base + ".git", "info", "exclude"].join(this.#world.separator),
      )
      : undefined;
    return {
      parent,
      folder: base,
      dotIgnore,
      gitIgnore,
      exclude,
      top,
      inGit: top || (parent?.inGit ?? false),
    };
  }

  /** What the rules of `level` and those above it say of an entry. */
  verdict(
    level: IgnoreLevel | undefined,
    path: string,
    isFolder: boolean,
  ): Verdict {
    if (!level) return undefined;
    let byIgnore: Verdict;
    let byGit: Verdict;
    let byExclude: Verdict;
    let byGlobal: Verdict;
    let passedTop = !level.inGit;
    for (let at: IgnoreLevel | undefined = level; at; at = at.parent) {
      const below = path.slice(at.folder.length);
      byIgnore ??= at.dotIgnore?.verdict(below, isFolder);
      if (passedTop) continue;
      byGit ??= at.gitIgnore?.verdict(below, isFolder);
      byExclude ??= at.exclude?.verdict(below, isFolder);
      if (at.top) {
        passedTop = true;
        byGlobal = this.#global?.verdict(below, isFolder);
      }
    }
    return byIgnore ?? byGit ?? byExclude ?? byGlobal;
  }

  #file(path: string): Rules | undefined {
    const text = this.#world.read(path);
    return text === undefined ? undefined : new Rules(text, this.#world);
  }
}

/**
 * The text of the user's global excludes: the file that `core.excludesFile` names in the user's git configuration,
 * else git's default for it. Undefined when there is none or it may not be read.
 */
export function globalExcludes(
  home: string | undefined,
  configHome: string | undefined,
  read: ReadText,
): string | undefined {
  if (home === undefined) return undefined;
  const config = configHome ?? `${home}/.config`;
  for (const path of [`${home}/.gitconfig`, `${config}/git/config`]) {
    const named = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im.exec(
      read(path) ?? "",
    )?.[1];
    if (named) return read(named.replace(/^~(?=\/)/, home));
  }
  return read(`${config}/git/ignore`);
}

/** One ignore file. */
export class Rules {
  readonly #test: (path: string) => { ignored: boolean; unignored: boolean };
  /** No rule looks at folders, so that the base name decides. */
  readonly #namesOnly: boolean;
  readonly #separator: string;

  /** The rules in an ignore file's text. */
  constructor(text: string, world: IgnoreWorld) {
    this.#test = ownTest(world.rules(text));
    this.#separator = world.separator;
    this.#namesOnly = text.split("\n").every((line) =>
      line.startsWith("#") || !/\/./.test(line.trimEnd())
    );
  }

  /** What they say of an entry, by its path from the folder of the file. */
  verdict(path: string, isFolder: boolean): Verdict {
    let tested = path;
    if (this.#separator !== "/") {
      tested = tested.replaceAll(this.#separator, "/");
    }
    if (this.#namesOnly) tested = tested.slice(tested.lastIndexOf("/") + 1);
    const result = this.#test(isFolder ? `${tested}/` : tested);
    return result.ignored ? "ignored" : result.unignored ? "kept" : undefined;
  }
}

/**
 * Asks about an entry itself. The package's own `test` also asks about the folders above it, and remembers every
 * answer; but what is asked about here lies in a folder that was entered, because a nearer rule has kept it or the
 * search began below it, and then only what is said of the entry counts, as in git and ripgrep. Its inner rules are
 * not part of its documented interface: the version is pinned, and a comparison with ripgrep tests this.
 */
function ownTest(rules: Ignore): (
  path: string,
) => { ignored: boolean; unignored: boolean } {
  const inner = (rules as unknown as {
    _rules?: {
      test?(
        path: string,
        mode: "regex",
      ): { ignored: boolean; unignored: boolean };
    };
  })._rules;
  return inner?.test
    ? (path) => inner.test!(path, "regex")
    : (path) => rules.test(path);
}
