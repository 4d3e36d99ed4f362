/** A file system in memory, with the oddities of each operating system, and the platform values that go with it. */
import type { Config } from "../lib/config.ts";
import { pathsOf } from "../lib/paths.ts";
import type { Platform } from "../lib/platform.ts";
import type { ScopeFiles } from "../lib/real_path.ts";

/** A name's content: a folder, a file, a link, or a folder that may not be entered. */
export type Tree = { [name: string]: Tree | "file" | { link: string } };

/** How the file system behaves. */
export interface FakeOptions {
  os: Platform["os"];
  /** Roots of the system (`/`, `C:\`, `\\srv\share\`) with what they hold. */
  roots: Record<string, Tree>;
  /** Names are found whatever their case. */
  ignoreCase?: boolean;
  /** Roots whose real path is another: a mapped drive. */
  mapped?: Record<string, string>;
}

/** A file system that answers from `options.roots`. */
export function fakeFiles(options: FakeOptions): ScopeFiles {
  const paths = pathsOf(options.os);
  const enoent = (path: string) =>
    new Deno.errors.NotFound(`No such file or directory (os error 2): ${path}`);
  const same = (a: string, b: string) =>
    options.ignoreCase ? a.toLowerCase() === b.toLowerCase() : a === b;

  function find(
    path: string,
    followLast: boolean,
    depth = 0,
  ): { real: string; node: Tree | "file" | { link: string } } {
    if (depth > 40) throw new Deno.errors.FilesystemLoop("Too many links");
    let root = paths.rootOf(path);
    const parts = paths.components(path);
    root = options.mapped?.[root] ?? root;
    let node: Tree | "file" | { link: string } | undefined =
      options.roots[root];
    let real = root;
    if (node === undefined) throw enoent(path);
    for (const [index, part] of parts.entries()) {
      if (node === "file") {
        throw new Deno.errors.NotADirectory(`Not a directory: ${path}`);
      }
      const tree: Tree = node as Tree;
      const name = Object.keys(tree).find((key) => same(key, part));
      if (name === undefined) throw enoent(path);
      node = tree[name]!;
      if (isLink(node) && (followLast || index < parts.length - 1)) {
        const target = paths.resolve(real, node.link)!;
        const whole = parts.slice(index + 1).reduce(
          (at, next) => paths.join(at, next),
          target,
        );
        return find(whole, followLast, depth + 1);
      }
      real = paths.join(real, name);
    }
    return { real, node };
  }

  return {
    realPath: (path) => attempt(() => find(path, true).real),
    lstat: (path) =>
      attempt(() => {
        const { node } = find(path, false);
        return {
          isFile: node === "file",
          isSymlink: isLink(node),
          isDirectory: node !== "file" && !isLink(node),
        } as Deno.FileInfo;
      }),
    readLink: (path) =>
      attempt(() => {
        const { node } = find(path, false);
        if (!isLink(node)) throw new Error("Invalid argument");
        return node.link;
      }),
    async *readNames(path) {
      await Promise.resolve();
      const { node } = find(path, true);
      yield* Object.keys(node);
    },
  };
}

/** The facts of a machine, overridden where a test cares. */
export function fakePlatform(
  os: Platform["os"],
  facts: Partial<Omit<Platform, "os" | "env">> & {
    variables?: Record<string, string>;
  } = {},
): Platform {
  const usual = {
    linux: { home: "/home/ann", temp: "/tmp", cwd: "/w/a" },
    darwin: { home: "/Users/ann", temp: "/private/tmp", cwd: "/Users/ann/w" },
    windows: {
      home: "C:\\Users\\Ann",
      temp: "C:\\Users\\Ann\\AppData\\Local\\Temp",
      cwd: "C:\\w",
    },
  }[os];
  const { variables = {}, ...rest } = facts;
  return {
    os,
    ...usual,
    execPath: os === "windows"
      ? "C:\\tools\\rousseau.exe"
      : "/opt/rousseau/rousseau",
    uid: os === "windows" ? undefined : 1000,
    ...rest,
    env: (name) => variables[name] || undefined,
  };
}

/** A configuration of defaults, overridden where a test cares. */
export function fakeConfig(settings: Partial<Config> = {}): Config {
  const defaults = {
    mode: "workspace",
    roots: [],
    read: [],
    env: [],
    scope: { denyRead: [], denyWrite: [] },
    limits: { answerChars: 20_000 },
    expose: [],
    exclude: [],
    bash: { timeout: undefined, envPassthrough: [], loginPath: true },
    state: { path: undefined },
    record: "full",
    sessions: { visible: "project" },
    log: { level: "warn", format: "text" },
    drain: 10,
  } satisfies Config;
  return { ...defaults, ...settings };
}

function isLink(node: unknown): node is { link: string } {
  return typeof node === "object" && node !== null &&
    typeof (node as { link?: unknown }).link === "string";
}

async function attempt<T>(find: () => T): Promise<T> {
  await Promise.resolve();
  return find();
}
