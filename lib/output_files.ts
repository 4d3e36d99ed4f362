/**
 * The private folder in which the whole output of long commands is kept, for as long as the process lives.
 *
 * @module
 */

/** Files kept at most; the oldest finished one goes when another is made. */
export const KEPT_FILES = 20;

/** A file that takes the output of one command. */
export interface OutputFile {
  /** Absolute, every link resolved. */
  path: string;
  /** Open for writing. */
  file: Deno.FsFile;
}

/** Makes and removes the files. The folder (0700) is made with the first file. */
export class OutputFiles {
  readonly #temp: string;
  readonly #onFolder: (path: string) => void;
  #folder: Promise<string> | undefined;
  #path: string | undefined;
  #made = 0;
  /** Paths, oldest first, with whether their command still writes. */
  readonly #kept = new Map<string, boolean>();

  /** Makes nothing yet. @param temp folder for temporary files. @param onFolder told the private folder once made. */
  constructor(temp: string, onFolder: (path: string) => void = () => {}) {
    this.#temp = temp;
    this.#onFolder = onFolder;
  }

  /**
   * The private folder, made at the first call.
   *
   * @throws {Error} what the operating system said, when it cannot be made.
   */
  folder(): Promise<string> {
    this.#folder ??= this.#make();
    return this.#folder;
  }

  /** The private folder, if it was made. */
  get made(): string | undefined {
    return this.#path;
  }

  /** A new empty file with mode 0600. @throws {Error} when it cannot be made. */
  async create(): Promise<OutputFile> {
    const path = `${await this.folder()}/output-${++this.#made}.txt`;
    const file = await Deno.open(path, {
      write: true,
      createNew: true,
      mode: 0o600,
    });
    this.#kept.set(path, true);
    await this.#evict();
    return { path, file };
  }

  /** Says that nothing more is written to `path`, so that it may be removed in its turn. */
  finished(path: string): void {
    if (this.#kept.has(path)) this.#kept.set(path, false);
  }

  /** Removes the folder and all in it. */
  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    this.#kept.clear();
    this.#folder = undefined;
    this.#path = undefined;
    if (folder === undefined) return;
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }

  async #make(): Promise<string> {
    const made = await Deno.makeTempDir({
      dir: this.#temp,
      prefix: "rousseau-",
    });
    const folder = await Deno.realPath(made).catch(() => made);
    this.#path = folder;
    this.#onFolder(folder);
    return folder;
  }

  async #evict(): Promise<void> {
    for (const [path, writing] of this.#kept) {
      if (this.#kept.size <= KEPT_FILES) return;
      if (writing) continue;
      this.#kept.delete(path);
      await Deno.remove(path).catch(() => {});
    }
  }
}
