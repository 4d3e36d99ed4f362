/**
 * The folders that every user of an operating system knows: whose home is where, what belongs to the system, where
 * toolchains keep what they downloaded. Decides from facts; looks at no disk.
 *
 * @module
 */
import { foldPath, isWithin, pathsOf } from "./paths.ts";
import type { Platform } from "./platform.ts";

/** The folder for temporary files, which tools may use; none when the environment names one that is too wide. */
export function tempFolders(platform: Platform): string[] {
  const { temp } = platform;
  return pathsOf(platform.os).isAbsolute(temp) &&
      tooWide(platform, temp) === undefined
    ? [temp]
    : [];
}

/** Folders of the system that every mode may read: programs, libraries, settings, manuals, logs. */
export function systemFolders(platform: Platform): string[] {
  switch (platform.os) {
    case "linux":
      return [...UNIX_FOLDERS, ...LINUX_FOLDERS];
    case "darwin":
      return [...UNIX_FOLDERS, ...DARWIN_FOLDERS].flatMap((folder) =>
        aliases(platform, folder)
      );
    case "windows":
      return windowsSystemFolders(platform);
  }
}

/** Folders in which package managers and toolchains keep what they downloaded, which every mode may read. */
export function toolchainFolders(platform: Platform): string[] {
  const paths = pathsOf(platform.os);
  const { home } = platform;
  const found = home === undefined
    ? []
    : HOME_TOOLCHAINS.map((folder) => paths.resolve(home, folder)!);
  for (const [name, below] of TOOLCHAIN_VARIABLES) {
    const value = platform.env(name);
    // A list (GOPATH) names several.
    for (const folder of value?.split(paths.listSeparator) ?? []) {
      if (paths.isAbsolute(folder)) {
        found.push(paths.resolve(folder, below ?? ".")!);
      }
    }
  }
  return [...new Set(found)].filter((folder) =>
    tooWide(platform, folder) === undefined
  );
}

/**
 * Why a folder that nobody named as a root cannot be one, such as `the home folder`; undefined when it can. The folder
 * is absolute and normal.
 */
export function unfitRoot(
  platform: Platform,
  folder: string,
): string | undefined {
  const wide = tooWide(platform, folder);
  if (wide !== undefined) return wide;
  const paths = pathsOf(platform.os);
  const folded = foldPath(platform.os, folder);
  const fold = (path: string) => foldPath(platform.os, path);
  const same = (other: string) => fold(other) === folded;
  const inside = (other: string) => isWithin(paths, fold(other), folded);
  if (
    [platform.temp, "/tmp", "/var/tmp"].flatMap((f) => aliases(platform, f))
      .some(same)
  ) {
    return "the folder for temporary files";
  }
  if (programFolders(platform).some(inside)) {
    return "a folder of the system or of programs";
  }
  if (
    platform.execPath !== undefined && same(paths.dirname(platform.execPath))
  ) {
    return "the folder of this program";
  }
  return undefined;
}

/** The spellings of one place that differ by the system's own links: `/tmp` and `/private/tmp` on macOS. */
export function aliases(platform: Platform, path: string): string[] {
  if (platform.os !== "darwin") return [path];
  const plain = unalias(platform, path);
  return /^\/(tmp|var|etc)(\/|$)/.test(plain)
    ? [plain, `/private${plain}`]
    : [plain];
}

/** The short spelling of a path among its {@linkcode aliases}. */
export function unalias(platform: Platform, path: string): string {
  if (platform.os !== "darwin") return path;
  const visible = path.replace(/^\/System\/Volumes\/Data(?=\/|$)/, "") || "/";
  return visible.replace(/^\/private(?=\/(tmp|var|etc)(\/|$))/, "");
}

/** Patterns of homes that are not the user's own: a folder that is some user's home when it holds one name below. */
export function homesParents(platform: Platform): string[] {
  switch (platform.os) {
    case "linux":
      return ["/home", "/var/home", "/export/home"];
    case "darwin":
      return ["/Users"];
    case "windows":
      return [`${systemDrive(platform)}\\Users`];
  }
}

/** Homes beside those below {@linkcode homesParents}: the user's own and the administrator's. */
export function knownHomes(platform: Platform): string[] {
  const homes = platform.os === "linux"
    ? ["/root"]
    : platform.os === "darwin"
    ? ["/var/root", "/private/var/root"]
    : [];
  if (platform.home !== undefined) homes.unshift(platform.home);
  return [...new Set(homes)];
}

/** Why a folder is too wide for any grant that nobody asked for by name: a root of a drive, a home or above one. */
function tooWide(platform: Platform, folder: string): string | undefined {
  const paths = pathsOf(platform.os);
  const normal = paths.resolve(folder, ".");
  if (normal === undefined || paths.rootOf(normal) === normal) {
    return "the root of a file system";
  }
  const fold = (path: string) => foldPath(platform.os, unalias(platform, path));
  const folded = fold(normal);
  for (const home of knownHomes(platform)) {
    const known = paths.resolve(home, ".");
    if (known === undefined || !isWithin(paths, folded, fold(known))) continue;
    return folded === fold(known)
      ? "a home folder"
      : "a folder that holds a home folder";
  }
  for (const parent of homesParents(platform)) {
    const known = fold(parent);
    if (isWithin(paths, folded, known)) {
      return "a folder that holds home folders";
    }
    if (fold(paths.dirname(normal)) === known) return "a home folder";
  }
  return MOUNTS.some((mount) => fold(mount) === folded)
    ? "a folder that holds mounted disks"
    : undefined;
}

function programFolders(platform: Platform): string[] {
  const { home } = platform;
  const below = (names: readonly string[]) =>
    home === undefined
      ? []
      : names.map((name) => pathsOf(platform.os).resolve(home, name)!);
  switch (platform.os) {
    case "linux":
      return [
        ...UNIX_FOLDERS,
        ...LINUX_PROGRAMS,
        ...below([".config", ".local", ".cache"]),
      ];
    case "darwin":
      return [
        ...UNIX_FOLDERS,
        ...DARWIN_PROGRAMS,
        ...below(["Library", "Applications"]),
      ].flatMap((folder) => aliases(platform, folder));
    case "windows":
      return [
        ...windowsSystemFolders(platform),
        `${systemDrive(platform)}\\ProgramData`,
        ...["APPDATA", "LOCALAPPDATA"].map((name) => platform.env(name))
          .filter((folder) => folder !== undefined),
        ...below(["AppData"]),
      ];
  }
}

function windowsSystemFolders(platform: Platform): string[] {
  const drive = systemDrive(platform);
  return [
    ...new Set([
      platform.env("SystemRoot") ?? `${drive}\\Windows`,
      `${drive}\\Windows`,
      platform.env("ProgramFiles") ?? `${drive}\\Program Files`,
      platform.env("ProgramFiles(x86)") ?? `${drive}\\Program Files (x86)`,
    ]),
  ];
}

function systemDrive(platform: Platform): string {
  const drive = platform.env("SystemDrive");
  return drive !== undefined && /^[A-Za-z]:$/.test(drive) ? drive : "C:";
}

const UNIX_FOLDERS = ["/bin", "/sbin", "/etc", "/usr", "/opt", "/dev"];

const LINUX_FOLDERS = [
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/boot",
  "/nix/store",
  "/gnu/store",
  "/snap",
  "/proc",
  "/sys",
  "/run/systemd/resolve",
  "/run/resolvconf",
  "/run/current-system",
  "/var/log",
  "/var/cache",
  "/var/lib/apt",
  "/var/lib/dpkg",
  "/var/lib/flatpak",
  "/var/lib/rpm",
];

const DARWIN_FOLDERS = [
  "/System/Library",
  "/System/iOSSupport",
  "/Library",
  "/Applications",
  "/var/log",
  "/var/db/timezone",
  "/var/select",
];

const LINUX_PROGRAMS = [
  "/lib",
  "/lib32",
  "/lib64",
  "/boot",
  "/nix",
  "/gnu",
  "/snap",
  "/proc",
  "/sys",
  "/run",
  "/var/lib",
  "/var/log",
  "/var/cache",
];

const DARWIN_PROGRAMS = ["/System", "/Library", "/Applications", "/Network"];

const MOUNTS = ["/mnt", "/media", "/run/media", "/Volumes", "/cygdrive"];

const HOME_TOOLCHAINS = [
  ".cargo/registry",
  ".cargo/git",
  ".rustup/toolchains",
  "go/pkg/mod",
  ".nvm",
  ".volta/tools",
  ".fnm",
  ".bun/install",
  ".deno",
  ".cache/deno",
  ".cache/pip",
  ".cache/uv",
  ".cache/go-build",
  ".local/lib",
  ".local/share/uv",
  ".local/share/pnpm",
  ".local/share/mise/installs",
  ".asdf/installs",
  ".pyenv/versions",
  ".rbenv/versions",
  ".sdkman/candidates",
  ".m2/repository",
  ".gradle/caches",
  ".nuget/packages",
  ".npm/_cacache",
  "Library/Caches/deno",
  "Library/Caches/pip",
  "Library/pnpm",
  "AppData/Local/deno",
  "AppData/Local/pnpm",
];

/** Variables that move a toolchain's folder, and what of it may be read (the whole when nothing is named). */
const TOOLCHAIN_VARIABLES: readonly (readonly [string, string?])[] = [
  ["CARGO_HOME", "registry"],
  ["CARGO_HOME", "git"],
  ["RUSTUP_HOME", "toolchains"],
  ["GOMODCACHE"],
  ["GOPATH", "pkg/mod"],
  ["GOROOT"],
  ["NVM_DIR"],
  ["DENO_DIR"],
  ["PYENV_ROOT", "versions"],
  ["VIRTUAL_ENV"],
  ["CONDA_PREFIX"],
  ["JAVA_HOME"],
  ["GRADLE_USER_HOME", "caches"],
  ["PNPM_HOME"],
];
