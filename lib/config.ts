/**
 * The operator's configuration: flags, environment, file and defaults merged into one frozen value.
 *
 * @module
 */

/** What the tools may touch (design: scope). */
export type Mode = "workspace" | "open" | "read-only" | "full";

/** How much of a call the store keeps. */
export type RecordLevel = "full" | "calls" | "off";

/** Every setting, with defaults filled in. Paths are as given, not yet resolved. */
export interface Config {
  mode: Mode;
  /** Folders given by flag, environment or file; empty when none was given. */
  roots: readonly string[];
  /** Further folders that may be read. */
  read: readonly string[];
  /** Names of environment variables passed to children. */
  env: readonly string[];
  scope: { denyRead: readonly string[]; denyWrite: readonly string[] };
  /** `chars`: characters of one answer, 1,000 to 262,144. */
  limits: { answerChars: number };
  /** Groups or names of tools to list, and those to leave out. */
  expose: readonly string[];
  exclude: readonly string[];
  bash: {
    timeout: number | undefined;
    envPassthrough: readonly string[];
    loginPath: boolean;
  };
  state: { path: string | undefined };
  record: RecordLevel;
  sessions: { visible: "project" | "all" | "none" };
  log: { level: "debug" | "info" | "warn" | "error"; format: "text" | "json" };
  /** Seconds that requests may go on after the end of input. */
  drain: number;
}
