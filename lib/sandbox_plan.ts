/**
 * What a sandboxed command may see and change, worked out from the scope: the same policy that the file tools follow,
 * in a form that each platform's sandbox can be told.
 *
 * @module
 */
import {
  HOME_READ,
  NAMES_READ,
  NAMES_WRITE,
  PAIRS_WRITE,
} from "./deny_rules.ts";
import type { DiskView } from "./disk_view.ts";
import { homesParents } from "./folders.ts";
import { isWithin, pathsOf } from "./paths.ts";
import type { Paths } from "./paths.ts";
import type { Platform } from "./platform.ts";
import type { ProcessScope } from "./scope.ts";

/** What a plan is made from. */
export interface PlanOptions {
  /** The facts of the machine. */
  platform: Platform;
  /** The scope whose policy the sandbox follows. */
  scope: ProcessScope;
  /** Looks at paths. */
  disk: Pick<DiskView, "look" | "list">;
  /** Further folders that commands may write (`sandbox_writable`), absolute. */
  writable: readonly string[];
  /** A folder of this process that is `/tmp` inside, absolute; undefined: a new one for every command. */
  temp: string | undefined;
  /** The folder for package managers' caches that are kept, absolute; undefined: none are. */
  caches: string | undefined;
  /** Folders on the PATH of commands. */
  path: readonly string[];
}

/** The policy of one process's sandbox. Paths are absolute; what does not exist is left out. */
export interface SandboxPlan {
  /** `listed`: nothing is there but what is named below. `whole`: everything is there to be read, minus `hidden`. */
  world: "listed" | "whole";
  /** Folders and files to be read. */
  readable: string[];
  /** Folders to be written. */
  writable: string[];
  /** What is to be masked inside those. */
  hidden: { path: string; folder: boolean }[];
  /** What may be read but not written inside writable folders. */
  frozen: string[];
  /** Links that lead to the system's folders, such as `/bin`. */
  links: { path: string; target: string }[];
  /** The user's home: an empty, writable folder inside, where nothing else is said. */
  home: string | undefined;
  /** A folder that is `/tmp` inside. */
  temp: string | undefined;
  /** Variables that send package managers to their own caches, and programs to the temporary folder. */
  variables: Record<string, string>;
  /** Folders of sockets that are masked where the whole world is shown. */
  sockets: string[];
}

/** Makes the plan. Looks at the disk once; what appears later inside a root is not masked. */
export async function planSandbox(options: PlanOptions): Promise<SandboxPlan> {
  const { platform, scope, disk } = options;
  await scope.ready();
  const { mode } = scope;
  const paths = pathsOf(platform.os);
  const roots = mode === "full" ? ["/"] : scope.roots;
  const caches = options.caches === undefined
    ? { folders: [], variables: {} }
    : cacheFolders(options.caches);
  const writable = [
    ...(mode === "read-only" ? [] : roots),
    ...options.writable,
    ...caches.folders,
  ];
  const wanted = [
    ...(mode === "read-only" ? roots : []),
    ...scope.readable.filter((path) =>
      !KERNEL.includes(path) &&
      // Bubblewrap's are others; the system's would lie on top of them, read-only.
      !(platform.os === "linux" && TEMPORARY.includes(path))
    ),
    ...KERNEL_FACTS,
    ...homeTools(options),
  ];
  const links: SandboxPlan["links"] = [];
  const readable: string[] = [];
  await Promise.all([...new Set(wanted)].map(async (path) => {
    const found = await disk.look(path);
    if (found === undefined) return;
    if (typeof found === "object") links.push({ path, target: found.link });
    else if (!covered(paths, writable, path)) readable.push(path);
  }));
  return {
    world: mode === "open" || mode === "full" ? "whole" : "listed",
    readable: readable.sort(),
    writable,
    hidden: await hiddenPlaces(options, [...readable, ...writable]),
    frozen: await frozenPlaces(options, writable),
    links: links.sort((a, b) => a.path < b.path ? -1 : 1),
    home: platform.home,
    temp: options.temp,
    variables: { ...caches.variables, TMPDIR: "/tmp" },
    sockets: await existingFolders(options, socketFolders(platform)),
  };
}

/** Folders of sockets: a way out of every network namespace. */
export function socketFolders(platform: Platform): string[] {
  const found = ["/run", "/var/run", "/tmp/.X11-unix"];
  const paths = pathsOf(platform.os);
  const runtime = platform.env("XDG_RUNTIME_DIR");
  if (runtime !== undefined) found.push(runtime);
  const agent = platform.env("SSH_AUTH_SOCK");
  if (agent !== undefined) found.push(paths.dirname(agent));
  const bus = /(?:^|;|,)unix:path=([^,;]+)/.exec(
    platform.env("DBUS_SESSION_BUS_ADDRESS") ?? "",
  )?.[1];
  if (bus !== undefined) found.push(paths.dirname(bus));
  return [...new Set(found)].filter((folder) =>
    paths.isAbsolute(folder) && folder !== "/"
  );
}

/** Real folders outside of `/tmp`, which is another one inside anyway. */
async function existingFolders(
  { disk, platform }: PlanOptions,
  folders: readonly string[],
): Promise<string[]> {
  const paths = pathsOf(platform.os);
  const found = await Promise.all(
    folders.map(async (path) => await disk.look(path) === "folder" ? path : ""),
  );
  return found.filter((path) =>
    path !== "" && !isWithin(paths, "/tmp", path) &&
    // Inside a masked folder there is nothing to put a mask on.
    !found.some((other) =>
      other !== "" && other !== path && isWithin(paths, other, path)
    )
  );
}

/** Kernel file systems are made anew inside, not shown. */
const KERNEL = ["/proc", "/sys", "/dev"];

/** Folders for temporary files that are made anew inside. */
const TEMPORARY = ["/tmp", "/var/tmp"];

const KERNEL_FACTS = ["/sys/devices/system/cpu", "/sys/fs/cgroup"];

/** Programs that people keep in their home, beside what the scope lists: read-only, where they exist. */
const HOME_TOOLS = [
  ".pyenv",
  ".rbenv",
  ".nodenv",
  ".nvm",
  ".volta",
  ".fnm",
  ".asdf",
  ".bun",
  ".deno",
  ".sdkman",
  ".rustup",
  ".cargo/bin",
  ".cargo/env",
  ".dotnet",
  ".jenv",
  ".nix-profile",
  ".local/bin",
  ".local/pipx",
  ".local/share/pipx",
  ".local/share/mise",
  ".local/share/fnm",
  ".npm-global",
  "go/bin",
  "bin",
  "miniconda3",
  "anaconda3",
  ".gitconfig",
  ".config/git/config",
  ".config/git/ignore",
  ".config/git/attributes",
];

function homeTools({ platform, path }: PlanOptions): string[] {
  const { home } = platform;
  const paths = pathsOf(platform.os);
  const named = home === undefined
    ? []
    : HOME_TOOLS.map((name) => paths.join(home, name));
  // A folder on the PATH is shown, but never a whole home for the sake of one.
  const programs = path.filter((folder) =>
    paths.isAbsolute(folder) &&
    (home === undefined || !isWithin(paths, folder, home))
  );
  return [...named, ...programs];
}

/** Package managers' caches: where, and the variables that say so. */
function cacheFolders(
  base: string,
): { folders: string[]; variables: Record<string, string> } {
  return {
    folders: [base],
    variables: {
      XDG_CACHE_HOME: base,
      npm_config_cache: `${base}/npm`,
      YARN_CACHE_FOLDER: `${base}/yarn`,
      PIP_CACHE_DIR: `${base}/pip`,
      UV_CACHE_DIR: `${base}/uv`,
      CARGO_HOME: `${base}/cargo`,
      GOMODCACHE: `${base}/go-mod`,
      GOCACHE: `${base}/go-build`,
      DENO_DIR: `${base}/deno`,
    },
  };
}

async function hiddenPlaces(
  options: PlanOptions,
  shown: readonly string[],
): Promise<SandboxPlan["hidden"]> {
  const { platform, scope, disk } = options;
  const paths = pathsOf(platform.os);
  const whole = scope.mode === "open" || scope.mode === "full";
  const closed = scope.closed.filter(({ rule }) => !rule.writeOnly);
  const places = new Set(closed.map(({ path }) => path));
  if (scope.mode === "open") {
    for (const home of await otherHomes(options)) {
      for (const name of Object.values(HOME_READ).flat()) {
        places.add(paths.join(home, name));
      }
    }
  }
  if (scope.mode !== "full") {
    for (const root of scope.roots) {
      for (const name of Object.values(NAMES_READ).flat()) {
        places.add(paths.join(root, name));
      }
    }
  }
  const hidden: SandboxPlan["hidden"] = [];
  await Promise.all([...places].map(async (path) => {
    if (!whole && !covered(paths, shown, path)) return;
    const found = await disk.look(path);
    if (found === undefined || typeof found === "object") return;
    hidden.push({ path, folder: found === "folder" });
  }));
  // What lies in a masked folder needs no mask of its own, and would have nothing to be put on.
  return hidden
    .filter(({ path }) =>
      !hidden.some((other) =>
        other.path !== path && isWithin(paths, other.path, path)
      )
    )
    .sort((a, b) => a.path < b.path ? -1 : 1);
}

async function frozenPlaces(
  options: PlanOptions,
  writable: readonly string[],
): Promise<string[]> {
  const { platform, scope, disk } = options;
  const paths = pathsOf(platform.os);
  const places = new Set<string>();
  for (const { path, rule } of scope.closed) {
    if (rule.writeOnly && covered(paths, writable, path)) places.add(path);
  }
  if (scope.mode !== "full") {
    const names = [
      ...Object.values(NAMES_WRITE).flat(),
      ...Object.values(PAIRS_WRITE).flat()
        // Git must be able to change its own; what it changes is looked at afterwards.
        .filter((name) => !name.startsWith(".git/")),
    ];
    for (const root of scope.roots) {
      for (const name of names) places.add(paths.join(root, name));
    }
  }
  const frozen: string[] = [];
  await Promise.all([...places].map(async (path) => {
    const found = await disk.look(path);
    if (found === "file" || found === "folder") frozen.push(path);
  }));
  return frozen.sort();
}

async function otherHomes(
  { platform, disk }: PlanOptions,
): Promise<string[]> {
  const paths = pathsOf(platform.os);
  const found: string[] = platform.os === "linux" ? ["/root"] : [];
  for (const parent of homesParents(platform)) {
    for (const name of await disk.list(parent)) {
      found.push(paths.join(parent, name));
    }
  }
  return found.filter((home) => home !== platform.home);
}

function covered(
  paths: Paths,
  folders: readonly string[],
  path: string,
): boolean {
  return folders.some((folder) => isWithin(paths, folder, path));
}
