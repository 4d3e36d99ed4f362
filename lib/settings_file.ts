/**
 * Settings in files: the operator's, and the one that comes with a project.
 *
 * @module
 */
import { UsageError } from "./command.ts";
import { nearest } from "./nearest.ts";
import { pathsOf } from "./paths.ts";
import { configFolder, fromUser, type Platform } from "./platform.ts";
import { reasonOf } from "./reason.ts";
import {
  CUSTOM_TOOLS_KEY,
  POLICY_KEY,
  SETTINGS,
  settingValue,
} from "./settings.ts";
import { TOOL_NAMES, VERBS } from "./tool_names.ts";

/** Characters of the project's file; a longer one is refused. */
export const MAX_PROJECT_FILE_CHARS = 65_536;

/** What reading a file needs. */
export interface FileSources {
  /** The process's surroundings. */
  platform: Platform;
  /** Reads a file; default `Deno.readTextFile`. */
  readTextFile?: (path: string) => Promise<string>;
}

/**
 * The configuration file: the one `named`, else the user's, where there is one.
 *
 * @throws {UsageError} when a named one cannot be read, and for mistakes in it.
 */
export async function readSettingsFile(
  named: unknown,
  { platform, readTextFile = Deno.readTextFile }: FileSources,
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
      `cannot read the configuration: ${reading(error, path)}`,
    );
  }
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
      `cannot read the project's settings: ${reading(error, path)}`,
    );
  }
  if (text.length > MAX_PROJECT_FILE_CHARS) {
    throw new UsageError(
      `${path}: has ${text.length} characters, over the limit of ${MAX_PROJECT_FILE_CHARS}`,
    );
  }
  return text;
}

async function readPlainFile(path: string): Promise<string> {
  const info = await Deno.lstat(path);
  if (!info.isFile) throw new Error("is not a plain file");
  if (info.size > MAX_PROJECT_FILE_CHARS * 4) throw new Error("is too large");
  return await Deno.readTextFile(path);
}

function reading(error: unknown, path: string): string {
  const reason = reasonOf(error);
  return reason.includes(path) ? reason : `${path}: ${reason}`;
}

/**
 * The settings in a YAML text, by key.
 *
 * @throws {UsageError} for text that is not YAML, unknown keys and wrong values.
 */
export async function settingsFrom(
  text: string,
  path: string,
  platform: Platform,
): Promise<Map<string, unknown>> {
  // @ts-types="./std_yaml.d.ts"
  const { parse } = await import("@std/yaml/parse");
  let tree: unknown;
  try {
    tree = parse(text, { schema: "core" });
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
  const values = new Map<string, unknown>();
  if (tree === null || tree === undefined) return values;
  if (typeof tree !== "object" || Array.isArray(tree)) {
    throw new UsageError(`${path}: must hold keys and values`);
  }
  const { [CUSTOM_TOOLS_KEY]: tools, [POLICY_KEY]: policy, ...settings } =
    tree as Record<string, unknown>;
  collect(settings, "");
  if (tools !== undefined && tools !== null) {
    const { customToolsFrom } = await import("./custom_tool.ts");
    values.set(
      CUSTOM_TOOLS_KEY,
      await customToolsFrom(tools, text, path, [...TOOL_NAMES, ...VERBS]),
    );
  }
  if (policy !== undefined && policy !== null) {
    const { policyFrom } = await import("./rules.ts");
    values.set(POLICY_KEY, await policyFrom(policy, path));
  }
  return values;

  function collect(node: Record<string, unknown>, prefix: string): void {
    for (const [name, value] of Object.entries(node)) {
      const key = `${prefix}${name}`;
      const setting = SETTINGS.find((candidate) => candidate.key === key);
      if (setting) {
        if (value === null || value === undefined) continue;
        const checkedValue = settingValue(
          setting.kind,
          value,
          `${path}: ${key}`,
          platform,
        );
        values.set(key, checkedValue);
      } else if (SETTINGS.some((s) => s.key.startsWith(`${key}.`))) {
        if (value === null) continue;
        if (typeof value !== "object" || Array.isArray(value)) {
          throw new UsageError(`${path}: ${key}: must hold keys and values`);
        }
        collect(value as Record<string, unknown>, `${key}.`);
      } else {
        const near = nearestKey(key, name);
        const hint = near === undefined ? "" : `; did you mean "${near}"?`;
        throw new UsageError(`${path}: unknown key "${key}"${hint}`);
      }
    }
  }
}

/** A setting by a slip in its whole key, or by its last word alone. */
function nearestKey(key: string, name: string): string | undefined {
  const keys = [
    CUSTOM_TOOLS_KEY,
    POLICY_KEY,
    ...SETTINGS.map((setting) => setting.key),
  ];
  const whole = nearest(key, keys);
  if (whole !== undefined) return whole;
  const last = (text: string) => text.split(".").at(-1)!;
  const word = nearest(name, keys.map(last));
  return keys.find((candidate) => last(candidate) === word);
}
