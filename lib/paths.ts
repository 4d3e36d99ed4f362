/**
 * Path text on POSIX and on Windows. Pure: nothing here looks at a disk, so each system's rules can be tested on any.
 *
 * @module
 */

/** The path rules of one operating system. */
export interface Paths {
  /** `/` or `\`. */
  readonly separator: string;
  /** Separates paths in a list such as `PATH`. */
  readonly listSeparator: string;
  /** True for a path that names one place whatever the working directory. `C:` and `C:x` do not, nor does `\x`. */
  isAbsolute(path: string): boolean;
  /**
   * `path` made absolute from `base`, `.` and `..` taken out as text, no separator at the end except on a root.
   * Undefined where the path depends on a drive's own working directory (`C:`, `C:x`) or names a device (`\\.\`).
   */
  resolve(base: string, path: string): string | undefined;
  /** The root that an absolute, normal path starts with: `/`, `C:\` or `\\server\share\`. */
  rootOf(path: string): string;
  /** The folder that holds an absolute, normal path; of a root the root itself. */
  dirname(path: string): string;
  /** The last component of an absolute, normal path; empty for a root. */
  basename(path: string): string;
  /** A child of an absolute, normal folder. `name` may hold several components. */
  join(folder: string, name: string): string;
  /** The components of an absolute, normal path below its root. */
  components(path: string): string[];
  /** What is wrong with a component as the name of a file on this system, or undefined. */
  badName(name: string): string | undefined;
}

/** Paths of Linux and macOS. */
export const posixPaths: Paths = {
  separator: "/",
  listSeparator: ":",
  isAbsolute: (path) => path.startsWith("/"),
  resolve(base, path) {
    const full = path.startsWith("/") ? path : `${base}/${path}`;
    return `/${withoutDots(full.split("/")).join("/")}`;
  },
  rootOf: () => "/",
  dirname(path) {
    const at = path.lastIndexOf("/");
    return at <= 0 ? "/" : path.slice(0, at);
  },
  basename: (path) => path.slice(path.lastIndexOf("/") + 1),
  join: (folder, name) => folder === "/" ? `/${name}` : `${folder}/${name}`,
  components: (path) => path === "/" ? [] : path.slice(1).split("/"),
  badName: () => undefined,
};

/** Paths of Windows: drives, UNC shares, either slash. */
export const windowsPaths: Paths = {
  separator: "\\",
  listSeparator: ";",
  isAbsolute(path) {
    const { root } = windowsRoot(path);
    return root !== undefined && root !== "\\";
  },
  resolve(base, path) {
    const { root, rest } = windowsRoot(path);
    if (root === undefined) {
      if (/^[A-Za-z]:/.test(path) || isDevice(path)) return undefined;
      const from = windowsRoot(base);
      if (from.root === undefined) return undefined;
      return windowsJoin(from.root, `${from.rest}\\${path}`);
    }
    if (root === "\\") {
      const from = windowsRoot(base).root;
      return from === undefined ? undefined : windowsJoin(from, rest);
    }
    return windowsJoin(root, rest);
  },
  rootOf: (path) => windowsRoot(path).root ?? path,
  dirname(path) {
    const root = windowsRoot(path).root ?? "";
    const at = path.lastIndexOf("\\");
    return at < root.length ? root : path.slice(0, at);
  },
  basename(path) {
    const root = windowsRoot(path).root ?? "";
    const at = path.lastIndexOf("\\");
    return at < root.length ? path.slice(root.length) : path.slice(at + 1);
  },
  join: (folder, name) =>
    folder.endsWith("\\") ? `${folder}${name}` : `${folder}\\${name}`,
  components(path) {
    const { rest } = windowsRoot(path);
    return rest.split("\\").filter((part) => part !== "");
  },
  badName(name) {
    if (name.includes(":")) {
      return "it names an alternate data stream";
    }
    if (/[. ]$/.test(name)) {
      return "Windows drops a dot or space at the end of a name";
    }
    if (
      /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(\.|$)/i.test(name)
    ) {
      return "it is a device name on Windows";
    }
    return undefined;
  },
};

/** The path rules of an operating system. */
export function pathsOf(os: "linux" | "darwin" | "windows"): Paths {
  return os === "windows" ? windowsPaths : posixPaths;
}

/**
 * A path in the form in which two spellings of one place are equal: case and Unicode composition are folded where the
 * system's usual file systems ignore them.
 */
export function foldPath(
  os: "linux" | "darwin" | "windows",
  path: string,
): string {
  return os === "linux" ? path : path.normalize("NFC").toLowerCase();
}

/** True when `path` is `folder` or lies below it, by whole components. Both absolute, normal and folded alike. */
export function isWithin(paths: Paths, folder: string, path: string): boolean {
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder.endsWith(paths.separator) ||
    path[folder.length] === paths.separator;
}

/** `path` below `folder`, without a leading separator; empty when they are the same. Only where {@linkcode isWithin}. */
export function relativeTo(
  paths: Paths,
  folder: string,
  path: string,
): string {
  const rest = path.slice(folder.length);
  return rest.startsWith(paths.separator) ? rest.slice(1) : rest;
}

/** Where two lists of folders overlap: of each pair that does, the inner folder. */
export function narrow(
  os: "linux" | "darwin" | "windows",
  outer: readonly string[],
  inner: readonly string[],
): string[] {
  const paths = pathsOf(os);
  const within = (folder: string, path: string) =>
    isWithin(paths, foldPath(os, folder), foldPath(os, path));
  const kept: string[] = [];
  for (const asked of inner) {
    for (const allowed of outer) {
      if (within(allowed, asked)) kept.push(asked);
      else if (within(asked, allowed)) kept.push(allowed);
    }
  }
  return [...new Set(kept)];
}

/**
 * The path of a `file:` URI, or undefined when it is none. Other hosts than `localhost` become UNC paths on Windows
 * and nothing elsewhere.
 */
export function fromFileUri(
  os: "linux" | "darwin" | "windows",
  uri: string,
): string | undefined {
  // A failing URL costs more than all that start-up does with a path.
  if (!/^\s*file:/i.test(uri)) return undefined;
  let url: URL;
  try {
    url = new URL(uri);
    if (url.protocol !== "file:") return undefined;
    const path = decodeURIComponent(url.pathname);
    if (os !== "windows") return url.hostname === "" ? path : undefined;
    if (url.hostname !== "") {
      return `\\\\${url.hostname}${path.replaceAll("/", "\\")}`;
    }
    return path.replace(/^\/+(?=[A-Za-z]:)/, "").replaceAll("/", "\\");
  } catch {
    return undefined;
  }
}

function withoutDots(parts: readonly string[]): string[] {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (part === "..") kept.pop();
    else kept.push(part);
  }
  return kept;
}

function windowsJoin(root: string, rest: string): string {
  return root + withoutDots(rest.split(/[\\/]/)).join("\\");
}

/** Splits the root off: `C:\`, `\\server\share\`, or `\` for a path on the current drive; undefined for none. */
function windowsRoot(
  path: string,
): { root: string | undefined; rest: string } {
  const verbatim = /^[\\/]{2}\?[\\/](?:UNC[\\/]|(?=[A-Za-z]:[\\/]))/i.exec(
    path,
  );
  if (verbatim) {
    const rest = path.slice(verbatim[0].length);
    return windowsRoot(
      /UNC[\\/]$/i.test(verbatim[0]) ? `\\\\${rest}` : rest,
    );
  }
  const drive = /^([A-Za-z]):[\\/]/.exec(path);
  if (drive) {
    return { root: `${drive[1]!.toUpperCase()}:\\`, rest: path.slice(3) };
  }
  const unc = /^[\\/]{2}([^\\/?.][^\\/]*)[\\/]+([^\\/]+)[\\/]*/.exec(path);
  if (unc) {
    return {
      root: `\\\\${unc[1]}\\${unc[2]}\\`,
      rest: path.slice(unc[0].length),
    };
  }
  if (/^[\\/](?![\\/])/.test(path)) return { root: "\\", rest: path.slice(1) };
  return { root: undefined, rest: path };
}

function isDevice(path: string): boolean {
  return /^[\\/]{2}/.test(path);
}
