/**
 * What this process may touch: every path that a tool uses is resolved and decided here, and nowhere else.
 *
 * @module
 */
import type { Mode } from "./config.ts";

/** What is to be done with a path. `search` walks a folder without reading one file by name. */
export type Access = "read" | "write" | "search";

/** A path that the scope has allowed. */
export interface Resolved {
  /** Absolute, with every link resolved: the path to open. */
  real: string;
  /** Absolute as the caller meant it, for answers. */
  shown: string;
  /** What is there now (`lstat` of `real`), or undefined when nothing is. */
  info: Deno.FileInfo | undefined;
  /**
   * The true path, when `real` is spelled through a link because only that spelling is granted to the process. For
   * {@linkcode file://./files.ts}; everyone else uses `real`.
   */
  canonical?: string;
  /** Set when another spelling of the name was taken (Unicode folding) or a relative path was completed. */
  notes: readonly string[];
}

/** The decision on paths. One per process; it never widens after start. */
export interface Scope {
  readonly mode: Mode;
  /** Real paths of the roots, first is where relative paths start. */
  readonly roots: readonly string[];
  /**
   * Resolves `path` component by component and decides.
   *
   * @throws {CommandError} with the text for the model: which rule refused, and the flag that would allow it; or
   * what is wrong with the path; or for `read` of a missing one the nearest existing names.
   */
  resolve(path: string, access: Access): Promise<Resolved>;
  /** Decides on a real path found by walking from a resolved folder (no link in it). Undefined: allowed. */
  denial(real: string, access: Access): string | undefined;
  /** For instructions and `doctor`: the rules in one or two sentences. */
  describe(): string;
}
