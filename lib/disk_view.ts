/**
 * Looking at paths for the sandbox, whose view must be whole: where this process may not read everything itself, a
 * shell looks in its place.
 *
 * @module
 */

/** What is at a path: a folder, anything else, or a link with where it leads. */
export type Found = "folder" | "file" | { link: string };

/** A view of the disk. */
export interface DiskView {
  /** What is at a path; undefined when nothing is or it may not be looked at. */
  look(path: string): Promise<Found | undefined>;
  /** Names in a folder; none when it cannot be listed. */
  list(folder: string): Promise<string[]>;
  /** A short file's text; undefined when it cannot be read. */
  text(path: string): Promise<string | undefined>;
}

/** The view of this process: its own eyes where it may read everything, a shell's otherwise. */
export function diskView(): DiskView {
  const { state } = Deno.permissions.querySync({ name: "read" });
  return state === "granted" ? OWN_EYES : new ShellView();
}

const OWN_EYES: DiskView = {
  async look(path) {
    try {
      const info = await Deno.lstat(path);
      if (info.isSymlink) return { link: await Deno.readLink(path) };
      return info.isDirectory ? "folder" : "file";
    } catch {
      return undefined;
    }
  },
  async list(folder) {
    const names: string[] = [];
    try {
      for await (const { name } of Deno.readDir(folder)) names.push(name);
    } catch {
      // What cannot be listed has no names.
    }
    return names;
  },
  // Deno keeps most of /proc from processes that do not have every permission.
  text: (path) => shell('cat -- "$1"', [path]),
};

/** A view through a shell. Paths that are asked for at the same time are one question. */
export class ShellView implements DiskView {
  #waiting: { path: string; tell: (found: Found | undefined) => void }[] = [];

  /** See {@linkcode DiskView.look}. */
  look(path: string): Promise<Found | undefined> {
    const { promise, resolve } = Promise.withResolvers<Found | undefined>();
    this.#waiting.push({ path, tell: resolve });
    if (this.#waiting.length === 1) queueMicrotask(() => this.#ask());
    return promise;
  }

  /** See {@linkcode DiskView.list}. */
  async list(folder: string): Promise<string[]> {
    const text = await shell(
      'cd -- "$1" && for n in * .[!.]* ..?*; do [ -e "$n" ] && printf "%s\\n" "$n"; done',
      [folder],
    );
    return (text ?? "").split("\n").filter((name) => name !== "");
  }

  /** See {@linkcode DiskView.text}. */
  text(path: string): Promise<string | undefined> {
    return shell('cat -- "$1"', [path]);
  }

  async #ask(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    const text = await shell(LOOK, asked.map(({ path }) => path));
    const lines = text?.split("\n") ?? [];
    asked.forEach(({ tell }, i) => tell(foundIn(lines[i] ?? "")));
  }
}

/** A line a path: `d`, `f`, `l` and where the link leads, or nothing. */
const LOOK = `for p do
  if [ -h "$p" ]; then printf 'l%s\\n' "$(readlink "$p" | head -n 1)"
  elif [ -d "$p" ]; then echo d
  elif [ -e "$p" ]; then echo f
  else echo; fi
done`;

function foundIn(line: string): Found | undefined {
  switch (line[0]) {
    case "d":
      return "folder";
    case "f":
      return "file";
    case "l":
      return { link: line.slice(1) };
    default:
      return undefined;
  }
}

async function shell(
  script: string,
  args: string[],
): Promise<string | undefined> {
  // A grant may name the shell in either way.
  for (const program of ["/bin/sh", "sh"]) {
    try {
      const { success, stdout } = await new Deno.Command(program, {
        args: ["-c", script, "sh", ...args],
        clearEnv: true,
        env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
        cwd: "/",
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).output();
      return success || stdout.length > 0
        ? new TextDecoder().decode(stdout)
        : undefined;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) return undefined;
    }
  }
  return undefined;
}
