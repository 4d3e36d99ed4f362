/**
 * The administrator's policy: a file that bounds what flags, variables and other files may set. Loaded only where there
 * is one.
 *
 * @module
 */
import { UsageError } from "./command.ts";
import { narrow, pathsOf } from "./paths.ts";
import { fromUser, type MachineFile, type Platform } from "./platform.ts";
import { reasonOf } from "./reason.ts";
import { POLICY_KEY } from "./settings.ts";
import { settingsFrom } from "./settings_text.ts";

/** Bytes of the file; a longer one is refused. */
export const MAX_POLICY_BYTES = 262_144;

/** What the keys of the file bound, and how. */
export const MACHINE_KEYS = {
  /** Words from the narrowest to the widest; the file's is the widest that is left. */
  atMost: {
    mode: ["read-only", "workspace", "open", "full"],
    allow_net: [false, true],
    "sessions.visible": ["none", "project", "all"],
  },
  /** Words from the loosest to the strictest; the file's is the loosest that is left. */
  atLeast: {
    sandbox: ["off", "auto", "require"],
    record: ["off", "calls", "full"],
  },
  /** Folders in which those that are set have to lie. */
  folders: ["roots", "read", "sandbox_writable"],
  /** Names, or `PREFIX*`, of which those that are set have to be. */
  names: ["env", "bash.env_passthrough"],
  /** Entries that are added. */
  added: ["scope.deny_read", "scope.deny_write", "exclude"],
} as const;

/** Folders that bound others, by key; a key that is missing bounds nothing. */
export type Within = Partial<
  Record<typeof MACHINE_KEYS.folders[number], readonly string[]>
>;

/** The part of the settings that names folders. */
export interface Bounded {
  /** Further folders that may be read. */
  read: readonly string[];
  /** Further folders that commands may write. */
  sandbox?: { writable: readonly string[] };
  /** The policy. */
  machine?: { path: string; within: Within };
}

/** What the settings are without a word on them. */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["mode", "workspace"],
  ["allow_net", false],
  ["sessions.visible", "project"],
  ["sandbox", "auto"],
  ["record", "full"],
]);

/** With these, wider modes would reach what the file closes. */
const IMPLIED_MODES: readonly [key: string, mode: string][] = [
  ["read", "workspace"],
  ["roots", "open"],
  ["scope.deny_read", "open"],
  ["scope.deny_write", "open"],
];

/**
 * Reads the file, which is there: bounds by key.
 *
 * @throws {UsageError} for a file that others than the administrator can change, that cannot be read, or that holds
 * mistakes. What it bounds would else be open.
 */
export async function readMachinePolicy(
  file: MachineFile,
  platform: Platform,
): Promise<Map<string, unknown>> {
  const { path } = file;
  let text: string;
  try {
    // Whoever can change the folder can put another file there.
    refuseOthers(file, pathsOf(platform.os).dirname(path), true);
    refuseOthers(file, path, false);
    using opened = await Deno.open(path);
    const { size } = await opened.stat();
    if (size > MAX_POLICY_BYTES) {
      throw new UsageError(`is over the limit of ${MAX_POLICY_BYTES} bytes`);
    }
    text = await new Response(opened.readable).text();
  } catch (error) {
    throw unusable(
      path,
      error instanceof UsageError ? error.message : reasonOf(error),
    );
  }
  let values: Map<string, unknown>;
  try {
    values = await settingsFrom(text, path, platform);
  } catch (error) {
    throw unusable(path, (error as Error).message);
  }
  const known: readonly string[] = [
    ...Object.keys(MACHINE_KEYS.atMost),
    ...Object.keys(MACHINE_KEYS.atLeast),
    ...MACHINE_KEYS.folders,
    ...MACHINE_KEYS.names,
    ...MACHINE_KEYS.added,
    POLICY_KEY,
  ];
  const { isAbsolute } = pathsOf(platform.os);
  for (const [key, value] of [...values]) {
    const fail = (problem: string) => unusable(path, `${key}: ${problem}`);
    if (!known.includes(key)) {
      throw fail(`is nothing that it can bound; there are ${known.join(", ")}`);
    }
    const list = Array.isArray(value) ? value as string[] : [];
    if (MACHINE_KEYS.folders.some((name) => name === key)) {
      const relative = list.find((folder) => !isAbsolute(folder));
      if (relative !== undefined) {
        throw fail(`"${relative}" is not an absolute path`);
      }
      values.set(key, await Promise.all(list.map(realFolder)));
    }
    if (MACHINE_KEYS.added.some((name) => name === key)) {
      const opening = list.find((entry) => entry.startsWith("!"));
      if (opening !== undefined) throw fail(`"${opening}" would open a place`);
    }
  }
  return values;
}

/**
 * Bounds settings in place. Where somebody has set more, what is left is named in `warnings`.
 *
 * @param values settings by key; what is missing has its default.
 */
export function bound(
  values: Map<string, unknown>,
  policy: ReadonlyMap<string, unknown>,
  path: string,
  warnings: string[],
): void {
  const warn = (key: string, problem: string) => {
    warnings.push(`${key}: ${problem} by the machine's policy (${path})`);
  };
  const caps = new Map(policy);
  for (const [key, mode] of IMPLIED_MODES) {
    if (!policy.has(key)) continue;
    const words: readonly unknown[] = MACHINE_KEYS.atMost.mode;
    const given = words.indexOf(caps.get("mode") ?? "full");
    caps.set("mode", words[Math.min(given, words.indexOf(mode))]);
  }
  const limit = (key: string, words: readonly unknown[], strict: 1 | -1) => {
    const cap = caps.get(key);
    if (cap === undefined) return;
    const now = values.get(key) ?? DEFAULTS.get(key);
    const beyond = (words.indexOf(now) - words.indexOf(cap)) * strict;
    if (beyond >= 0) return;
    if (values.has(key)) warn(key, `${now} became ${cap}`);
    values.set(key, cap);
  };
  for (const [key, words] of Object.entries(MACHINE_KEYS.atMost)) {
    limit(key, words, -1);
  }
  for (const [key, words] of Object.entries(MACHINE_KEYS.atLeast)) {
    limit(key, words, 1);
  }
  const kept = caps.get("record");
  if (kept !== undefined && kept !== "off" && inMemory(values)) {
    values.delete("state.path");
    warn("state.path", ":memory: was passed over");
  }
  for (const key of MACHINE_KEYS.names) {
    const allowed = policy.get(key) as string[] | undefined;
    const asked = values.get(key) as string[] | undefined;
    if (!allowed || !asked) continue;
    const [left, refused] = parted(asked, (name) => covers(allowed, name));
    if (refused.length > 0) warn(key, `${refused.join(", ")} passed over`);
    values.set(key, left);
  }
  for (const key of MACHINE_KEYS.added) {
    const more = policy.get(key) as string[] | undefined;
    const own = values.get(key) as string[] | undefined;
    if (more) values.set(key, [...own ?? [], ...more]);
  }
}

/** The settings without the folders that lie elsewhere than the administrator has it. Roots are looked at where they are found. */
export async function withoutStrays<C extends Bounded>(
  config: C,
  platform: Platform,
  warnings: string[],
): Promise<C> {
  const { machine, sandbox } = config;
  if (!machine) return config;
  const keep = async (
    key: "read" | "sandbox_writable",
    folders: readonly string[],
  ) => {
    const allowed = machine.within[key];
    if (!allowed) return folders;
    const kept: string[] = [];
    for (const folder of folders) {
      const real = await realFolder(fromUser(platform, folder) ?? folder);
      if (narrow(platform.os, allowed, [real]).includes(real)) kept.push(real);
      else {
        warnings.push(
          `${key}: ${folder} lies outside what the machine's policy (${machine.path}) allows; passed over`,
        );
      }
    }
    return kept;
  };
  return Object.freeze({
    ...config,
    read: await keep("read", config.read),
    ...(sandbox
      ? {
        sandbox: {
          ...sandbox,
          writable: await keep("sandbox_writable", sandbox.writable),
        },
      }
      : {}),
  });
}

async function realFolder(path: string): Promise<string> {
  return await Deno.realPath(path).catch(() => path);
}

/** The folders of the file that bound others. */
export function withinOf(policy: ReadonlyMap<string, unknown>): Within {
  return Object.fromEntries(
    MACHINE_KEYS.folders.flatMap((key) =>
      policy.has(key) ? [[key, policy.get(key)]] : []
    ),
  );
}

/** Refuses what others than the administrator can change. Windows has no such owner: there nothing is looked at. */
function refuseOthers(
  { owner }: MachineFile,
  path: string,
  isFolder: boolean,
): void {
  const { isFile, isDirectory, uid, mode } = Deno.lstatSync(path);
  if (!(isFolder ? isDirectory : isFile)) {
    throw new UsageError(
      `${path} is not a plain ${isFolder ? "folder" : "file"}`,
    );
  }
  if (uid !== null && uid !== owner) {
    throw new UsageError(
      `${path} belongs to user ${uid}, and has to belong to ${
        owner === 0 ? "root" : `user ${owner}`
      }: chown it`,
    );
  }
  if (mode !== null && uid !== null && (mode & 0o022) !== 0) {
    throw new UsageError(
      `others may write to ${path}: take that from them with chmod go-w`,
    );
  }
}

function unusable(path: string, problem: string): UsageError {
  return new UsageError(
    `the machine's policy ${path} cannot be used, and nothing runs without it: ${problem}`,
  );
}

function inMemory(values: ReadonlyMap<string, unknown>): boolean {
  return values.get("state.path") === ":memory:";
}

/** Whether every name that an entry may stand for is among those allowed. */
function covers(allowed: readonly string[], name: string): boolean {
  return allowed.some((entry) =>
    entry === name ||
    (entry.endsWith("*") && name.startsWith(entry.slice(0, -1)))
  );
}

function parted<T>(
  items: readonly T[],
  test: (item: T) => boolean,
): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
