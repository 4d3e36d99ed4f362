/**
 * One network namespace for all commands of a process: a server that one command starts is reached by the next, and
 * nothing else is. A small process holds it open and ends with us.
 *
 * @module
 */

/** Milliseconds that the holder may take to start. */
export const HOLDER_START_MS = 3_000;

/** A process that holds a network namespace with nothing but a loopback. */
export class NetworkHolder {
  readonly #child: Deno.ChildProcess;
  readonly #pid: number;
  #alive = true;

  private constructor(child: Deno.ChildProcess, pid: number) {
    this.#child = child;
    this.#pid = pid;
    child.status.then(() => this.#alive = false);
  }

  /** Starts it; undefined where that does not work. `bwrap` also brings the loopback up. */
  static async start(bwrap: string): Promise<NetworkHolder | undefined> {
    let child: Deno.ChildProcess;
    try {
      child = new Deno.Command(bwrap, {
        args: [
          "--unshare-user",
          "--unshare-net",
          "--die-with-parent",
          "--cap-drop",
          "ALL",
          "--dev-bind",
          "/",
          "/",
          "/bin/sh",
          "-c",
          // Ends when the pipe from us closes, however we end.
          'echo "$$"; exec cat',
        ],
        clearEnv: true,
        env: { PATH: "/usr/bin:/bin" },
        cwd: "/",
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
        detached: true,
      }).spawn();
    } catch {
      return undefined;
    }
    const reader = child.stdout.getReader();
    const timer = setTimeout(() => child.kill("SIGKILL"), HOLDER_START_MS);
    let pid = NaN;
    try {
      const { value } = await reader.read();
      pid = Number(new TextDecoder().decode(value).trim());
    } catch {
      // It ended.
    } finally {
      clearTimeout(timer);
    }
    await reader.cancel().catch(() => {});
    if (!Number.isInteger(pid) || pid <= 1) {
      await child.stdin.close().catch(() => {});
      await child.status;
      return undefined;
    }
    child.unref();
    return new NetworkHolder(child, pid);
  }

  /** Whether it still runs. */
  get alive(): boolean {
    return this.#alive;
  }

  /** What goes before a command so that it runs in the namespace. */
  enter(nsenter: string): string[] {
    return [
      nsenter,
      "--preserve-credentials",
      "-U",
      "-n",
      "-t",
      String(this.#pid),
      "--",
    ];
  }

  /** Ends it; the namespace goes with the last command in it. */
  async close(): Promise<void> {
    this.#child.ref();
    await this.#child.stdin.close().catch(() => {});
    await this.#child.status;
  }
}
