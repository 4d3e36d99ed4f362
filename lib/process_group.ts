/**
 * A child process that leads a group of its own, so that it can be ended with everything it started.
 *
 * Linux and macOS: the child is made leader of a new session, and signals go to the whole group. Windows: no groups;
 * `taskkill /T` walks the tree.
 *
 * @module
 */
import { killTree } from "./shell.ts";
import type { Platform } from "./platform.ts";
import { MAX_REPORT_BYTES, readReport } from "./warden.ts";

/** Milliseconds between TERM and KILL. */
export const KILL_AFTER_MS = 2_000;

/** Milliseconds after which a group that still seems to exist is listed, which costs a process. */
const FIRST_LIST_MS = 15;

/** What to start, where, and with which environment (nothing else is inherited). */
export interface Launch {
  /** Absolute, or a name to look up. */
  program: string;
  /** One string an argument. */
  args: readonly string[];
  /** The folder to run in. */
  cwd: string;
  /** Its whole environment. */
  env: Readonly<Record<string, string>>;
  /** The program is a sandbox that runs another one in a group of its own, on Linux under the warden. */
  sandboxed?: boolean;
  /** Take standard error in a pipe of its own; otherwise it is closed to us. */
  twoPipes: boolean;
  /** What it reads on standard input; undefined: nothing. */
  input?: string | undefined;
}

/** How the leader ended: its exit code, or the signal that ended it. */
export interface Status {
  /** Undefined when a signal ended it. */
  code: number | undefined;
  /** Such as `SIGKILL`. */
  signal: string | undefined;
  /** Programs that a sandbox ended with the leader. */
  leftovers?: readonly string[];
  /** Names of what was written to a sandbox's temporary home. */
  lost?: readonly string[];
  /** What the sandbox said when it could not start the program. */
  fault?: string | undefined;
}

/** A running or ended child with its group. */
export class ProcessGroup {
  readonly #child: Deno.ChildProcess;
  readonly #os: Platform["os"];
  /** The leader's end. Members of the group may live on. */
  readonly status: Promise<Status>;
  /** Standard output, and standard error where it has its own pipe. */
  readonly streams: readonly ReadableStream<Uint8Array>[];
  readonly #sandboxed: boolean;
  #leaderEnded = false;
  #ending: Promise<boolean> | undefined;

  /** Starts it. @throws {Error} what the operating system says when the program cannot be started. */
  constructor(launch: Launch, os: Platform["os"]) {
    this.#os = os;
    this.#sandboxed = launch.sandboxed ?? false;
    const warden = this.#sandboxed && os === "linux";
    this.#child = new Deno.Command(launch.program, {
      args: [...launch.args],
      cwd: launch.cwd,
      clearEnv: true,
      env: { ...launch.env },
      stdin: launch.input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: launch.twoPipes || warden ? "piped" : "null",
      // On Windows a detached process has no console, and every console program it starts would open a window.
      detached: os !== "windows",
    }).spawn();
    if (launch.input !== undefined) {
      const bytes = new TextEncoder().encode(launch.input);
      // Who does not read it need not.
      ReadableStream.from([bytes]).pipeTo(this.#child.stdin).catch(() => {});
    }
    this.streams = launch.twoPipes
      ? [this.#child.stdout, this.#child.stderr]
      : [this.#child.stdout];
    const report = warden ? reportText(this.#child.stderr) : undefined;
    this.status = this.#child.status.then(async ({ code, signal }) => {
      this.#leaderEnded = true;
      if (signal !== null) return { code: undefined, signal };
      return report === undefined
        ? { code, signal: undefined }
        : readReport(await report, code);
    });
  }

  /** The leader's process id, which is the group's number. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Sends a signal to every member. @returns whether there was any. */
  async signal(name: "SIGTERM" | "SIGKILL"): Promise<boolean> {
    if (this.#os === "windows") {
      return !this.#leaderEnded && await taskkill(this.pid);
    }
    // The sandbox would end at once, and the command with it, before the command could end in its own way.
    if (
      this.#sandboxed && name === "SIGTERM" && this.#os === "linux" &&
      await shellOutput(TERM_INSIDE, String(this.pid)) === "sent\n"
    ) return true;
    try {
      Deno.kill(-this.pid, name);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) {
        return await killByShell(this.pid, name.slice(3));
      }
      return error instanceof Deno.errors.PermissionDenied;
    }
  }

  /**
   * Whether any member is left, as far as can be told: ended members that nobody has reaped count, see
   * {@linkcode members}. On Windows only the leader counts.
   */
  async exists(): Promise<boolean> {
    if (this.#os === "windows") return !this.#leaderEnded;
    try {
      nodeProcess().kill(-this.pid, 0);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) {
        return await killByShell(this.pid, "0");
      }
      return (error as { code?: string }).code === "EPERM";
    }
  }

  /** Names of the programs that still run in the group; undefined when they cannot be listed. */
  async members(): Promise<string[] | undefined> {
    if (this.#os === "windows") return undefined;
    const output = await shellOutput(
      this.#os === "linux" ? LIST_PROC : LIST_PS,
      String(this.pid),
    );
    return output?.split("\n").filter((name) => name !== "");
  }

  /** Resolves when no member runs any more, at the latest after `ms`. @returns whether that is so. */
  async gone(ms: number): Promise<boolean> {
    const started = performance.now();
    let listAfter = Math.min(ms, FIRST_LIST_MS);
    for (let pause = 2;; pause = Math.min(25, pause * 2)) {
      if (!await this.exists()) return true;
      const waited = performance.now() - started;
      if (waited >= listAfter) {
        // Where the first process reaps orphans late or never (a container), ended members stay in the table.
        if (this.#leaderEnded && (await this.members())?.length === 0) {
          return true;
        }
        if (waited >= ms) return false;
        listAfter = Math.min(ms, 8 * waited);
      }
      await sleep(pause);
    }
  }

  /**
   * Ends the whole group: TERM, and KILL for what is left after {@linkcode KILL_AFTER_MS}.
   *
   * @returns whether nothing is left.
   */
  end(): Promise<boolean> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<boolean> {
    await this.signal("SIGTERM");
    if (await this.gone(KILL_AFTER_MS)) return true;
    await this.signal("SIGKILL");
    return await this.gone(1_000);
  }
}

/** All of the warden's report, once nobody can add to it. */
async function reportText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of stream) {
      if (text.length < MAX_REPORT_BYTES) {
        text += decoder.decode(chunk, { stream: true });
      }
    }
  } catch {
    // A pipe that breaks has ended.
  }
  return text.slice(0, MAX_REPORT_BYTES);
}

/** Resolves after `ms`. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Under `--allow-run=sh` a group may not be signalled directly. */
async function killByShell(group: number, signal: string): Promise<boolean> {
  return await shellOutput(
    'kill -s "$2" -- "-$1" 2>/dev/null && echo sent',
    String(group),
    signal,
  ) === "sent\n";
}

async function taskkill(pid: number): Promise<boolean> {
  const { program, args } = killTree(pid);
  try {
    const { success } = await new Deno.Command(program, {
      args,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}

async function shellOutput(
  script: string,
  ...args: string[]
): Promise<string | undefined> {
  for (const program of ["/bin/sh", "sh", "bash"]) {
    try {
      const { stdout } = await new Deno.Command(program, {
        args: ["-c", script, "sh", ...args],
        clearEnv: true,
        env: { PATH: "/usr/bin:/bin" },
        cwd: "/",
        stdin: "null",
        stdout: "piped",
        stderr: "null",
      }).output();
      return new TextDecoder().decode(stdout);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) return undefined;
    }
  }
  return undefined;
}

/** Names of the live members of group $1, from `/proc/PID/stat`: `PID (NAME) STATE PARENT GROUP …`. */
const LIST_PROC = `for s in /proc/[0-9]*/stat; do
  read -r line <"$s" || continue
  name=\${line#*\\(}
  set -- "$1" \${line##*\\) }
  [ "$4" = "$1" ] || continue
  case $2 in Z | X) ;; *) printf '%s\\n' "\${name%\\)*}" ;; esac
done`;

/** TERM for the group that the child of process $1 leads: the first process inside the sandbox. */
const TERM_INSIDE = `read -r child rest <"/proc/$1/task/$1/children"
[ -n "$child" ] && kill -s TERM -- "-$child" 2>/dev/null && echo sent`;

const LIST_PS = `ps -axo pgid=,stat=,comm= | while read -r group state name; do
  [ "$group" = "$1" ] || continue
  case $state in Z*) ;; *) printf '%s\\n' "\${name##*/}" ;; esac
done`;

/**
 * Node's `process`, which can ask whether a group exists. Taken from the global scope when it is needed: an import of
 * `node:process` is carried out when a bundle starts, and costs 8 ms.
 */
function nodeProcess(): { kill(pid: number, signal: number): boolean } {
  return (globalThis as unknown as {
    process: { kill(pid: number, signal: number): boolean };
  }).process;
}
