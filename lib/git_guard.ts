/**
 * What a sandboxed command left in a repository for git to run later, outside: hooks and settings. Git itself must be
 * able to write there, so they are compared afterwards instead of closed.
 *
 * @module
 */
import type { Paths } from "./paths.ts";

/** Submodules of a repository that are looked at. */
export const MAX_SUBMODULES = 50;

/** Bytes of a settings file that are read; a longer one is taken as changed as a whole. */
export const MAX_CONFIG_BYTES = 1 << 20;

/** What a repository had before a command. */
export interface GitState {
  /** Its git folders: its own, and its submodules'. */
  readonly folders: ReadonlyMap<string, FolderState>;
}

/** One git folder. */
export interface FolderState {
  /** Names in `hooks`, samples left out. */
  readonly hooks: ReadonlySet<string>;
  /** Settings that make git run something: key → values. */
  readonly keys: ReadonlyMap<string, string>;
}

/** The state of the repository at `root`; empty where there is none. */
export async function gitState(paths: Paths, root: string): Promise<GitState> {
  const top = paths.join(root, ".git");
  const modules = paths.join(top, "modules");
  const names = await isFolder(top)
    ? (await namesIn(modules)).slice(0, MAX_SUBMODULES)
    : [];
  const folders = new Map<string, FolderState>();
  await Promise.all(
    [top, ...names.map((name) => paths.join(modules, name))]
      .map(async (folder) => {
        if (!await isFolder(folder)) return;
        const [hooks, ...configs] = await Promise.all([
          namesIn(paths.join(folder, "hooks")),
          readConfig(paths.join(folder, "config")),
          readConfig(paths.join(folder, "config.worktree")),
        ]);
        folders.set(folder, {
          hooks: new Set(hooks.filter((name) => !isInert(name))),
          keys: new Map(
            configs.flatMap((text) => [...executingKeys(text)]),
          ),
        });
      }),
  );
  return { folders };
}

/**
 * Compares with the state before a command: new hooks are moved aside (git runs exact names only), new or changed
 * settings that run something are named. Returns what to tell, a sentence each.
 */
export async function reviewGit(
  paths: Paths,
  root: string,
  before: GitState,
): Promise<string[]> {
  const notes: string[] = [];
  const after = await gitState(paths, root);
  for (const [folder, now] of after.folders) {
    const then = before.folders.get(folder);
    const added = [...now.hooks].filter((name) => !then?.hooks.has(name));
    for (const name of added) {
      const hook = paths.join(paths.join(folder, "hooks"), name);
      try {
        await Deno.rename(hook, `${hook}${SET_ASIDE}`);
        notes.push(
          `the new git hook ${hook} was renamed to ${name}${SET_ASIDE}, because git would run it outside of the sandbox; the person can rename it back`,
        );
      } catch {
        notes.push(
          `the new git hook ${hook} runs outside of the sandbox with the next git command; look at it`,
        );
      }
    }
    const changed = [...now.keys]
      .filter(([key, value]) => then?.keys.get(key) !== value)
      .map(([key]) => key);
    if (changed.length > 0) {
      notes.push(
        `${
          paths.join(folder, "config")
        } now has settings that make git run programs outside of the sandbox: ${
          changed.slice(0, 10).join(", ")
        }; look at them`,
      );
    }
  }
  return notes;
}

/** The settings in the text of a git configuration file that make git run something, read other files, or move hooks. */
export function executingKeys(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let section = "";
  for (const line of text.replace(/\\\r?\n/g, "").split(/\r?\n/)) {
    let rest = line.trim();
    const head = /^\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest);
    if (head) {
      const name = head[1]!.toLowerCase();
      section = head[2] === undefined ? name : `${name}.${head[2]}`;
      rest = rest.slice(head[0].length).trim();
    }
    const entry = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest);
    if (!entry) continue;
    const key = `${section}.${entry[1]!.toLowerCase()}`;
    if (!EXECUTING.test(key)) continue;
    const value = entry[2] ?? "";
    const known = found.get(key);
    found.set(key, known === undefined ? value : `${known}\n${value}`);
  }
  return found;
}

/** The end of the name of a hook that was moved aside. */
export const SET_ASIDE = ".set-aside";

const EXECUTING = new RegExp(
  `^(${
    [
      "core\\.(fsmonitor|hookspath|sshcommand|editor|pager|askpass|gitproxy|alternaterefscommand|attributesfile)",
      "alias\\..*",
      "filter\\..*\\.(clean|smudge|process)",
      "diff\\..*\\.(command|textconv)|diff\\.external",
      "merge\\..*\\.driver",
      "(merge|diff)tool\\..*\\.(cmd|path)|(merge|diff)\\.(gui)?tool",
      "include(if\\..*)?\\.path",
      "credential(\\..*)?\\.helper",
      "gpg(\\..*)?\\.(program|defaultkeycommand)",
      "pager\\..*|sequence\\.editor|interactive\\.difffilter",
      "(remote\\..*|transfer|fetch)\\.(uploadpack|receivepack|vcs|proxy)",
      "uploadpack\\.packobjectshook|receive\\.procreceiverefs",
      "url\\..*\\.(pushinsteadof|insteadof)",
      "protocol\\..*",
      "submodule\\..*\\.update",
      "(browser|man|trailer|guitool|imap|web|instaweb)\\..*",
      "sendemail\\..*|init\\.templatedir",
      "hook\\..*",
    ].join("|")
  })$`,
  "i",
);

/** Git runs neither samples nor what was moved aside. */
function isInert(name: string): boolean {
  return name.endsWith(".sample") || name.endsWith(SET_ASIDE);
}

/** Names in a real folder: one behind a link lies elsewhere, and what is there is not this repository's. */
async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    if (!(await Deno.lstat(folder)).isDirectory) return [];
    for await (const { name } of Deno.readDir(folder)) names.push(name);
  } catch {
    // No such folder, no names.
  }
  return names;
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.lstat(path)).isDirectory;
  } catch {
    return false;
  }
}

async function readConfig(path: string): Promise<string> {
  try {
    const { size, isFile } = await Deno.lstat(path);
    if (!isFile) return "";
    if (size > MAX_CONFIG_BYTES) return `[alias]\n\ttoo-long = ${size}`;
    return await Deno.readTextFile(path);
  } catch {
    return "";
  }
}
