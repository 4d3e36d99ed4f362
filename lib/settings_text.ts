/**
 * Settings as text: YAML taken apart and checked by the table of settings.
 *
 * @module
 */
import { UsageError } from "./failure.ts";
import { nearest } from "./nearest.ts";
import type { Platform } from "./platform.ts";
import {
  CUSTOM_TOOLS_KEY,
  POLICY_KEY,
  SETTINGS,
  settingValue,
} from "./settings.ts";
import { TOOL_NAMES, VERBS } from "./tool_names.ts";

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
