/**
 * The operating system as a value: everything that differs between Linux, macOS and Windows is decided here, from
 * facts that are passed in, so that each platform's answer can be tested anywhere.
 *
 * @module
 */

/** What the process was started with. `main.ts` makes the real one; tests make others. */
export interface Platform {
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
}
