/**
 * Settings in files: the operator's, and the one that comes with a project.
 *
 * @module
 */
import { UsageError } from "./failure.ts";
import { pathsOf } from "./paths.ts";
import { configFolder, fromUser, type Platform } from "./platform.ts";

/** Characters of the project's file; a longer one is refused. */
export const MAX_PROJECT_FILE_CHARS = 65_536;

/** What reading a file needs. */
export interface FileSources {
  /** The process's surroundings. */
  platform: Platform;
  /** Reads a file; tests put another in. */
  readTextFile?: (path: string) => Promise<string>;
}

/**
 * The configuration file: the one `named`, else the user's, where there is one.
 *
 * @throws {UsageError} when a named one cannot be read, and for mistakes in it.
 */
export async function readSettingsFile(
  named: unknown,
  {
    platform,
    // A named one may be a pipe that somebody has yet to fill.
    readTextFile = named === undefined ? readAtStart : Deno.readTextFile,
  }: FileSources,
  warnings: string[],
): Promise<{ path: string; values: Map<string, unknown> } | undefined> {
  const folder = configFolder(platform);
  const path = typeof named === "string"
    ? fromUser(platform, named) ?? named
    : folder === undefined
    ? undefined
    : pathsOf(platform.os).join(folder, "config.yaml");
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = await readTextFile(path);
  } catch (error) {
    if (named === undefined) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      if (error instanceof Deno.errors.NotADirectory) return undefined;
      if (error instanceof Deno.errors.NotCapable) {
        // Whether there is one cannot be told; the permissions given are what the operator chose.
        warnings.push(`${path}: may not be read by this process; passed over`);
        return undefined;
      }
    }
    throw new UsageError(
      `cannot read the configuration: ${await reading(error, path)}`,
    );
  }
  // Loaded where there is a file: hosts time the start.
  const { settingsFrom } = await import("./settings_text.ts");
  return { path, values: await settingsFrom(text, path, platform) };
}

/**
 * The text of a project's file, undefined when there is none. It comes with the project, whoever wrote that: only a
 * plain, small file is read.
 *
 * @throws {UsageError} when there is one and it cannot be read.
 */
export async function readProjectFile(
  path: string,
  readTextFile: (path: string) => Promise<string> = readPlainFile,
): Promise<string | undefined> {
  let text: string;
  try {
    text = await readTextFile(path);
  } catch (error) {
    if (
      error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory ||
      error instanceof Deno.errors.NotCapable
    ) return undefined;
    throw new UsageError(
      `cannot read the project's settings: ${await reading(error, path)}`,
    );
  }
  if (text.length > MAX_PROJECT_FILE_CHARS) {
    throw new UsageError(
      `${path}: has ${text.length} characters, over the limit of ${MAX_PROJECT_FILE_CHARS}`,
    );
  }
  return text;
}

/** A file's text at once: nothing else is under way, and a trip to another thread takes longer. */
// deno-lint-ignore require-await -- what it throws is to reject
async function readAtStart(path: string): Promise<string> {
  return Deno.readTextFileSync(path);
}

async function readPlainFile(path: string): Promise<string> {
  const info = Deno.lstatSync(path);
  if (!info.isFile) throw new Error("is not a plain file");
  if (info.size > MAX_PROJECT_FILE_CHARS * 4) throw new Error("is too large");
  return await readAtStart(path);
}

async function reading(error: unknown, path: string): Promise<string> {
  const { reasonOf } = await import("./reason.ts");
  const reason = reasonOf(error);
  return reason.includes(path) ? reason : `${path}: ${reason}`;
}
