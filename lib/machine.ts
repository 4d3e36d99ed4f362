/**
 * The real machine, as far as Deno's permissions let it be seen. Nothing here asks for more than is granted.
 *
 * @module
 */
import type { Launch } from "./host_config.ts";
import type { Platform } from "./platform.ts";

/** The surroundings of this process. */
export async function realPlatform(): Promise<Platform> {
  const { os } = Deno.build;
  const isWindows = os === "windows";
  const { env, envNames, keep } = environment(isWindows);
  const home = env(isWindows ? "USERPROFILE" : "HOME") ?? await accountHome();
  return {
    os: isWindows ? "windows" : os === "darwin" ? "darwin" : "linux",
    env,
    envNames,
    surrender(kinds) {
      for (const name of kinds) {
        if (name === "env" && !keep()) continue;
        attempt(() => Deno.permissions.revokeSync({ name }));
      }
    },
    home,
    temp: isWindows
      ? env("TEMP") ?? env("TMP") ?? "C:\\Windows\\Temp"
      : env("TMPDIR") ?? "/tmp",
    cwd: attempt(() => Deno.cwd()),
    execPath: attempt(() => Deno.execPath()),
    uid: isWindows || !granted({ name: "sys", kind: "uid" })
      ? undefined
      : attempt(() => Deno.uid() ?? undefined),
  };
}

/** How this program is started again: the executable, or Deno with `main`'s path and the task's flags. */
export function launchOf(platform: Platform, main: string): Launch {
  const command = platform.execPath ?? "rousseau";
  return Deno.build.standalone
    ? { command, args: [] }
    : { command, args: ["run", ...RUN_FLAGS, main] };
}

/**
 * The flags of the `mcp` task, but for its `--unstable-lazy-dynamic-imports`: with that, modules loaded later need to be
 * readable, and whoever narrows `--allow-read` in a host's block would have a server that stops after its first answer.
 */
export const RUN_FLAGS: readonly string[] = [
  "--no-prompt",
  "--no-remote",
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-run",
  "--allow-sys=uid,homedir",
  "--v8-flags=--enable-experimental-regexp-engine-on-excessive-backtracks",
];

/**
 * Variables that may be read; the others, unset ones and empty ones are undefined. `keep` reads all of them, so that the
 * permission is needed no more; false where it cannot.
 */
function environment(
  isWindows: boolean,
): { env: Platform["env"]; envNames(): string[]; keep(): boolean } {
  const whole = granted({ name: "env" });
  const key = (name: string) => isWindows ? name.toUpperCase() : name;
  let kept: { names: string[]; values: Map<string, string> } | undefined;
  return {
    env(name) {
      if (kept) return kept.values.get(key(name)) || undefined;
      return whole || granted({ name: "env", variable: name })
        ? attempt(() => Deno.env.get(name)) || undefined
        : undefined;
    },
    envNames: () =>
      kept?.names ?? attempt(() => Object.keys(Deno.env.toObject())) ?? [],
    keep() {
      // Of variables that are granted one by one nobody knows the names.
      const all = whole ? attempt(() => Deno.env.toObject()) : undefined;
      if (!all) return false;
      kept = {
        names: Object.keys(all),
        values: new Map(
          Object.entries(all).map(([name, value]) => [key(name), value]),
        ),
      };
      return true;
    },
  };
}

/** The home that the system's account has, for hosts that start servers without `HOME`. */
async function accountHome(): Promise<string | undefined> {
  if (!granted({ name: "sys", kind: "homedir" })) return undefined;
  const { homedir } = await import("node:os");
  return attempt(homedir) || undefined;
}

function granted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
