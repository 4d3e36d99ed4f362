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
  const env = environment();
  const home = env(isWindows ? "USERPROFILE" : "HOME") ?? await accountHome();
  return {
    os: isWindows ? "windows" : os === "darwin" ? "darwin" : "linux",
    env,
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

/** Variables that may be read; the others, unset ones and empty ones are undefined. */
function environment(): Platform["env"] {
  const whole = granted({ name: "env" });
  return (name) =>
    whole || granted({ name: "env", variable: name })
      ? attempt(() => Deno.env.get(name)) || undefined
      : undefined;
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
