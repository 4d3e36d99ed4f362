/**
 * The operating system as a value: everything that differs between Linux, macOS and Windows is decided here, from
 * facts that are passed in, so that each platform's answer can be tested anywhere.
 *
 * @module
 */
import { pathsOf } from "./paths.ts";

/** What the process was started with. `main.ts` makes the real one; tests make others. */
export interface Platform {
  /** The operating system, as `Deno.build.os` names it; other Unixes count as Linux. */
  os: "linux" | "darwin" | "windows";
  /** An environment variable, or undefined when unset, empty or not permitted. */
  env(name: string): string | undefined;
  /** The user's home, when known. */
  home: string | undefined;
  /** The folder for temporary files, absolute. */
  temp: string;
  /** The working directory, absolute; undefined when it no longer exists or may not be read. */
  cwd: string | undefined;
  /** The running executable, absolute; undefined when it may not be asked. */
  execPath: string | undefined;
  /** The user id; undefined on Windows or when it may not be asked. */
  uid: number | undefined;
  /** The names of all variables that may be read; undefined: those of the process. */
  envNames?(): string[];
  /** Gives up Deno's permissions of these kinds for good. The real machine alone does: others share their process. */
  surrender?(kinds: readonly Surrendered[]): void;
  /** Where the administrator's policy is looked for; default {@linkcode machinePolicyFile}. Tests alone have another. */
  machinePolicy?: MachineFile;
}

/** A kind of Deno's permissions that a server may come to need no more. */
export type Surrendered = "env" | "net" | "run" | "sys" | "write";

/** A file that only one user may change. */
export interface MachineFile {
  /** Absolute. */
  path: string;
  /** The user's id. */
  owner: number;
}

/** Folder under which rousseau keeps its sessions, undefined when no home is known. */
export function dataFolder(platform: Platform): string | undefined {
  return ownFolder(platform, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA");
}

/** Folder that holds the user's `config.yaml`, undefined when no home is known. */
export function configFolder(platform: Platform): string | undefined {
  return ownFolder(platform, "XDG_CONFIG_HOME", ".config", "APPDATA");
}

/** Folder for what can be made again, such as package managers' caches; undefined when no home is known. */
export function cacheFolder(platform: Platform): string | undefined {
  return ownFolder(platform, "XDG_CACHE_HOME", ".cache", "LOCALAPPDATA");
}

/**
 * Folder for what rousseau keeps beside its database: the database's own, or undefined when that is in memory or no
 * home is known. `statePath` is the configured path of the database.
 */
export function stateFolder(
  platform: Platform,
  statePath: string | undefined,
): string | undefined {
  if (statePath === undefined) return dataFolder(platform);
  if (statePath === ":memory:") return undefined;
  const path = fromUser(platform, statePath);
  return path === undefined ? undefined : pathsOf(platform.os).dirname(path);
}

/** The administrator's policy, which bounds flags, environment and files. Fixed: no variable may move it. */
export function machinePolicyFile(platform: Platform): MachineFile {
  if (platform.machinePolicy) return platform.machinePolicy;
  const owner = 0;
  switch (platform.os) {
    case "linux":
      return { path: "/etc/rousseau/policy.yaml", owner };
    case "darwin": {
      const folder = "/Library/Application Support/rousseau";
      return { path: `${folder}/policy.yaml`, owner };
    }
    case "windows":
      return { path: "C:\\ProgramData\\rousseau\\policy.yaml", owner };
  }
}

/**
 * A path as a person writes it in a flag or a file, made absolute: `~` is the home, a relative path starts at the
 * working directory. Undefined where that is not known.
 */
export function fromUser(platform: Platform, path: string): string | undefined {
  const paths = pathsOf(platform.os);
  const expanded = expandHome(platform, path);
  if (paths.isAbsolute(expanded)) return paths.resolve("", expanded);
  return platform.cwd === undefined
    ? undefined
    : paths.resolve(platform.cwd, expanded);
}

/** `~` and `~/x` with the home in place of the tilde; anything else as it is. */
export function expandHome(
  platform: Pick<Platform, "os" | "home">,
  path: string,
): string {
  if (platform.home === undefined || !/^~($|[/\\])/.test(path)) return path;
  if (path.startsWith("~\\") && platform.os !== "windows") return path;
  return path.length <= 2
    ? platform.home
    : pathsOf(platform.os).join(platform.home, path.slice(2));
}

function ownFolder(
  platform: Platform,
  xdg: string,
  below: string,
  windows: string,
): string | undefined {
  const paths = pathsOf(platform.os);
  const base = platform.env(xdg);
  if (base !== undefined && paths.isAbsolute(base)) {
    return paths.resolve(base, "rousseau");
  }
  if (platform.os === "windows") {
    const folder = platform.env(windows);
    if (folder !== undefined && paths.isAbsolute(folder)) {
      return paths.resolve(folder, "rousseau");
    }
  }
  if (platform.home === undefined) return undefined;
  const under = platform.os === "linux"
    ? below
    : platform.os === "darwin"
    ? below === ".cache" ? "Library/Caches" : "Library/Application Support"
    : windows === "APPDATA"
    ? "AppData\\Roaming"
    : "AppData\\Local";
  return paths.resolve(platform.home, `${under}/rousseau`);
}
