/**
 * Real paths in the spelling that this process may open.
 *
 * @module
 */
import { isWithin, relativeTo } from "./paths.ts";
import type { Paths } from "./paths.ts";
import type { Platform } from "./platform.ts";
import type { ScopeFiles } from "./real_path.ts";

/**
 * Real paths as this process may use them. Deno compares a path with its grants as text: where a folder is granted
 * through a link, only the spelling through that link can be opened.
 */
export class Spelling {
  readonly #files: ScopeFiles;
  readonly #paths: Paths;
  readonly #os: Platform["os"];
  readonly #pairs: { real: string; granted: string }[] = [];

  /** `os` decides on aliases that the system itself has. */
  constructor(files: ScopeFiles, paths: Paths, os: Platform["os"]) {
    this.#files = files;
    this.#paths = paths;
    this.#os = os;
  }

  /** The real path of a folder, or its own spelling where it does not exist or only that is granted. */
  async folder(path: string): Promise<string> {
    let real: string;
    try {
      real = await this.#files.realPath(path);
    } catch {
      return path;
    }
    if (real === path) return real;
    try {
      await this.#files.lstat(real);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) return real;
      this.#pairs.push({ real, granted: path });
      return path;
    }
    return real;
  }

  /** A real path in the spelling that is granted. */
  of(path: string): string {
    // macOS shows the data volume under a second name.
    const real = this.#os === "darwin"
      ? path.replace(/^\/System\/Volumes\/Data(?=\/)/, "")
      : path;
    for (const pair of this.#pairs) {
      if (!isWithin(this.#paths, pair.real, real)) continue;
      const below = relativeTo(this.#paths, pair.real, real);
      return below === ""
        ? pair.granted
        : this.#paths.join(pair.granted, below);
    }
    return real;
  }
}
