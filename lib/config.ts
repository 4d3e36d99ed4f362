/**
 * The operator's configuration: flags, environment, file and defaults merged into one frozen value.
 *
 * @module
 */

import type { CustomTool } from "./custom_tool.ts";
import type { Within } from "./machine_policy.ts";
import { pathsOf } from "./paths.ts";
import { machinePolicyFile, type Platform } from "./platform.ts";
import type { PolicyLayer, Rule } from "./rules.ts";
import {
  CUSTOM_TOOLS_KEY,
  POLICY_KEY,
  type Setting,
  SETTINGS,
  settingValue,
} from "./settings.ts";
import { readProjectFile, readSettingsFile } from "./settings_file.ts";

/** What the tools may touch, from `read-only` to `full`. */
export type Mode = "workspace" | "open" | "read-only" | "full";

/** How much of a call the store keeps. */
export type RecordLevel = "full" | "calls" | "off";

/** Every setting, with defaults filled in. Paths are as given, not yet resolved. */
export interface Config {
  /** What the tools may touch. */
  mode: Mode;
  /** Folders given by flag, environment or file; empty when none was given. */
  roots: readonly string[];
  /** Further folders that may be read. */
  read: readonly string[];
  /** Names of environment variables passed to children. */
  env: readonly string[];
  /** Places that are closed, and places that are closed for writing; with `!` before it, one that is opened. */
  scope: { denyRead: readonly string[]; denyWrite: readonly string[] };
  /** Characters of one answer, 1,000 to 262,144. */
  limits: { answerChars: number };
  /** Groups or names of tools to list. */
  expose: readonly string[];
  /** Of those, what the project's file lets through; undefined when it does not say. */
  projectExpose?: readonly string[];
  /** Groups or names of tools to leave out. */
  exclude: readonly string[];
  /** Tools without code. */
  customTools?: readonly CustomTool[];
  /** Seconds until a command is killed; variables that it gets; whether the login shell is asked for its PATH. */
  bash: {
    timeout: number | undefined;
    envPassthrough: readonly string[];
    loginPath: boolean;
  };
  /**
   * The sandbox around commands: used where it works, required, or off; whether the network is open inside; further
   * folders that commands may write, as given. Undefined: off.
   */
  sandbox?: {
    mode: "auto" | "require" | "off";
    allowNet: boolean;
    writable: readonly string[];
  };
  /** The database of recorded sessions; undefined: where the platform keeps such files. */
  state: { path: string | undefined };
  /** How much of a call is recorded. */
  record: RecordLevel;
  /** Which recorded sessions can be seen, and how long and in how many bytes they are kept (undefined: the store's own bounds). */
  sessions: {
    visible: "project" | "all" | "none";
    keepDays?: number;
    maxBytes?: number;
  };
  /** What is written to standard error, and how. */
  log: { level: "debug" | "info" | "warn" | "error"; format: "text" | "json" };
  /** Where HTTP is served; undefined: nobody said. */
  serve?: { port?: number; host?: string };
  /** Seconds that requests may go on after the end of input. */
  drain: number;
  /** Rules on calls, by the file that they stand in. */
  policy?: readonly PolicyLayer[];
  /** The administrator's policy, where there is one, and the folders that others have to lie in. */
  machine?: { path: string; within: Within };
}

/** The name of the project's file, in its first root. */
export const PROJECT_FILE = ".rousseau.yaml";

/** Where settings come from. */
export interface ConfigSources {
  /** The root's options by name, as the command line gave them. */
  flags: Record<string, unknown>;
  /** The process's surroundings. */
  platform: Platform;
  /** Reads a file; tests put another in. */
  readTextFile?: (path: string) => Promise<string>;
}

/** The settings, and how they were found. */
export interface Loaded {
  /** Every setting. */
  config: Config;
  /** The configuration file that was read, absolute. */
  file: string | undefined;
  /** What was passed over, a sentence each. */
  warnings: string[];
}

/**
 * The settings from flags, environment, file and defaults, in this order; the administrator's policy bounds them all.
 *
 * @throws {UsageError} for a file that was named and cannot be read, unknown keys, and wrong values; the text names
 * where, what, and what it should be. For a policy of the administrator's that cannot be used.
 */
export async function loadConfig(sources: ConfigSources): Promise<Loaded> {
  const { flags, platform } = sources;
  const warnings: string[] = [];
  // Both are looked for at once, and nothing is left running where one fails.
  const [machine, file] = await bothOf(
    machinePolicy(platform, warnings),
    readSettingsFile(
      flags.config ?? platform.env("ROUSSEAU_CONFIG"),
      sources,
      warnings,
    ),
  );
  const values = new Map<string, unknown>();
  for (const setting of SETTINGS) {
    const value = flagValue(setting, flags, platform) ??
      envValue(setting, platform) ?? file?.values.get(setting.key);
    if (value !== undefined) values.set(setting.key, value);
  }
  const tools = file?.values.get(CUSTOM_TOOLS_KEY);
  if (tools !== undefined) values.set(CUSTOM_TOOLS_KEY, tools);
  if (flags.no_record === true) values.set("record", "off");
  const layers = [machine?.policy, file?.values]
    .flatMap((from) => from?.get(POLICY_KEY) as PolicyLayer | undefined ?? []);
  if (layers.length > 0) values.set(POLICY_KEY, layers);
  machine?.bound(values, warnings);
  const config = configFrom(values);
  return {
    config: machine
      ? Object.freeze({ ...config, machine: machine.facts })
      : config,
    file: file?.path,
    warnings,
  };
}

/** What both promises give; where they fail, what the first throws, once neither runs any more. */
async function bothOf<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}

/** The administrator's policy: one look where there is none. */
async function machinePolicy(platform: Platform, warnings: string[]) {
  const file = machinePolicyFile(platform);
  const { path } = file;
  try {
    Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotADirectory) return undefined;
    if (error instanceof Deno.errors.NotCapable) {
      warnings.push(`${path}: may not be read by this process; passed over`);
      return undefined;
    }
    // There may be one: reading it tells what is wrong.
  }
  const { bound, readMachinePolicy, withinOf } = await import(
    "./machine_policy.ts"
  );
  const policy = await readMachinePolicy(file, platform);
  return {
    policy,
    facts: { path, within: withinOf(policy) },
    bound: (values: Map<string, unknown>, warnings: string[]) =>
      bound(values, policy, path, warnings),
  };
}

/** What a key of the project's file may do. */
const TIGHTENING: readonly string[] = [
  "mode",
  "scope.deny_read",
  "scope.deny_write",
  "expose",
  "exclude",
  POLICY_KEY,
];

/** Modes from the narrowest to the widest. */
const BY_WIDTH: readonly Mode[] = ["read-only", "workspace", "open", "full"];

/**
 * The settings as the project in `root` tightens them; the same value when it has no file. Where the file would widen
 * anything, it is passed over with a warning.
 *
 * @throws {UsageError} for a file with mistakes in it: what it meant to close would stay open.
 */
export async function tightened(
  config: Config,
  root: string,
  sources: Pick<ConfigSources, "platform" | "readTextFile">,
): Promise<Loaded> {
  const path = pathsOf(sources.platform.os).join(root, PROJECT_FILE);
  const text = await readProjectFile(path, sources.readTextFile);
  if (text === undefined) return { config, file: undefined, warnings: [] };
  const { settingsFrom } = await import("./settings_text.ts");
  const values = await settingsFrom(text, path, sources.platform);
  const warnings: string[] = [];
  for (const key of values.keys()) {
    if (TIGHTENING.includes(key)) continue;
    values.delete(key);
    warnings.push(
      `${path}: ${key} is for the operator's own file; passed over`,
    );
  }
  const closed = (key: string) =>
    (values.get(key) as string[] | undefined ?? []).filter((entry) => {
      if (!entry.startsWith("!")) return true;
      warnings.push(
        `${path}: ${key}: "${entry}" would open a place; passed over`,
      );
      return false;
    });
  let mode = config.mode;
  const asked = values.get("mode") as Mode | undefined;
  if (asked !== undefined) {
    if (BY_WIDTH.indexOf(asked) <= BY_WIDTH.indexOf(mode)) mode = asked;
    else {warnings.push(
        `${path}: mode: "${asked}" is wider than "${mode}"; passed over`,
      );}
  }
  const expose = values.get("expose") as string[] | undefined;
  const asks = values.get(POLICY_KEY) as PolicyLayer | undefined;
  const [layer, allowing] = parted(asks);
  for (const { name } of allowing) {
    warnings.push(`${name} would allow something; passed over`);
  }
  return {
    config: Object.freeze({
      ...config,
      mode,
      scope: {
        denyRead: [...config.scope.denyRead, ...closed("scope.deny_read")],
        denyWrite: [...config.scope.denyWrite, ...closed("scope.deny_write")],
      },
      ...(expose ? { projectExpose: expose } : {}),
      ...(layer ? { policy: [...config.policy ?? [], layer] } : {}),
      exclude: [
        ...config.exclude,
        ...(values.get("exclude") as string[] | undefined ?? []),
      ],
    }),
    file: path,
    warnings,
  };
}

/** The rules of a layer without those that allow, and these. */
function parted(
  layer: PolicyLayer | undefined,
): [PolicyLayer | undefined, readonly Rule[]] {
  if (!layer) return [undefined, []];
  const { allow = [], rest = [] } = Object.groupBy(
    layer.rules,
    ({ effect }) => effect === "allow" ? effect : "rest",
  );
  return [{ ...layer, rules: rest }, allow];
}

function configFrom(values: ReadonlyMap<string, unknown>): Config {
  const get = <T>(key: string, initial: T): T =>
    (values.get(key) as T | undefined) ?? initial;
  return Object.freeze<Config>({
    mode: get("mode", "workspace"),
    roots: get("roots", []),
    read: get("read", []),
    env: get("env", []),
    scope: {
      denyRead: get("scope.deny_read", []),
      denyWrite: get("scope.deny_write", []),
    },
    limits: { answerChars: get("limits.answer_chars", 20_000) },
    expose: get("expose", ["all"]),
    exclude: get("exclude", []),
    ...given(
      "customTools",
      values.get(CUSTOM_TOOLS_KEY) as CustomTool[] | undefined,
    ),
    bash: {
      timeout: get<number | undefined>("bash.timeout", undefined),
      envPassthrough: get("bash.env_passthrough", []),
      loginPath: get("bash.login_path", true),
    },
    sandbox: {
      mode: get("sandbox", "auto"),
      allowNet: get("allow_net", false),
      writable: get("sandbox_writable", []),
    },
    state: { path: get<string | undefined>("state.path", undefined) },
    record: get("record", "full"),
    sessions: {
      visible: get("sessions.visible", "project"),
      ...given(
        "keepDays",
        values.get("sessions.keep_days") as number | undefined,
      ),
      ...given(
        "maxBytes",
        values.get("sessions.max_size") as number | undefined,
      ),
    },
    log: { level: get("log.level", "warn"), format: get("log.format", "text") },
    serve: {
      ...given("port", values.get("serve.port") as number | undefined),
      ...given("host", values.get("serve.host") as string | undefined),
    },
    drain: get("drain", 10),
    ...given(
      "policy",
      values.get(POLICY_KEY) as readonly PolicyLayer[] | undefined,
    ),
  });
}

/** A property where there is a value for it, none elsewhere. */
function given<K extends string, V>(
  name: K,
  value: V | undefined,
): { [key in K]?: V } {
  return value === undefined ? {} : { [name]: value } as { [key in K]: V };
}

function flagValue(
  { option, kind }: Setting,
  flags: Record<string, unknown>,
  platform: Platform,
): unknown {
  if (option === undefined) return undefined;
  const given = flags[option];
  if (given === undefined) return undefined;
  const value = kind.of === "list" && Array.isArray(given)
    ? given.flatMap((item) => `${item}`.split(","))
    : given;
  return settingValue(
    kind,
    value,
    `--${option.replaceAll("_", "-")}`,
    platform,
  );
}

function envValue(
  { key, env, kind }: Setting,
  platform: Platform,
): unknown {
  const text = platform.env(env);
  if (text === undefined) return undefined;
  // The search for roots reads this variable itself, in more spellings; here it only outranks the file.
  if (key === "roots") return [];
  switch (kind.of) {
    case "paths":
    case "places": {
      const items = text.split(pathsOf(platform.os).listSeparator);
      return settingValue(kind, items, env, platform);
    }
    case "number": {
      const value = text.trim() === "" ? NaN : Number(text);
      const given = Number.isNaN(value) ? text : value;
      return settingValue(kind, given, env, platform);
    }
    case "switch": {
      const value = { true: true, "1": true, false: false, "0": false }[text];
      return settingValue(kind, value ?? text, env, platform);
    }
    default:
      return settingValue(kind, text, env, platform);
  }
}
