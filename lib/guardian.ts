/**
 * The last resort against orphans: a small `sh` that knows which process groups are ours and ends them when this
 * process is gone, however it went. A signal that cannot be caught (`kill -9`, a crash) leaves nobody else to do it.
 *
 * @module
 */

/**
 * The variable that tells commands of one process from those of others, on Linux: what made a session of its own has
 * left the group, and is found by this.
 */
export const MARK_VARIABLE = "ROUSSEAU_COMMANDS_OF";

/** One per process, started with the first command; ends by itself with us. Not on Windows. */
export class Guardian {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    child.unref();
  }

  /**
   * Starts it.
   *
   * @param program a POSIX shell.
   * @param mark the value of {@linkcode MARK_VARIABLE} in commands: letters and digits.
   * @returns undefined where it cannot be started; the rest works without.
   */
  static start(program: string, mark: string): Guardian | undefined {
    try {
      return new Guardian(
        new Deno.Command(program, {
          args: ["-c", SCRIPT, "rousseau-guardian", `${MARK_VARIABLE}=${mark}`],
          clearEnv: true,
          env: { PATH: "/usr/bin:/bin" },
          cwd: "/",
          stdin: "piped",
          stdout: "null",
          stderr: "null",
          detached: true,
        }).spawn(),
      );
    } catch {
      return undefined;
    }
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid;
  }

  /** Puts a process group under guard. */
  add(group: number): void {
    this.#send(`+ ${group}`);
  }

  /** Takes a group that has ended off the list, so that its number may be used by others. */
  remove(group: number): void {
    this.#send(`- ${group}`);
  }

  /** Names a private folder to remove with us. */
  folder(path: string): void {
    if (!path.includes("\n")) this.#send(`d ${path}`);
  }

  /** Ends it, and with it whatever is still on the list. */
  async close(): Promise<void> {
    this.#child.ref();
    await this.#writer.close().catch(() => {});
    await this.#child.status;
  }

  #send(line: string): void {
    this.#writer.write(this.#encoder.encode(`${line}\n`)).catch(() => {});
  }
}

/**
 * Reads `+ GROUP`, `- GROUP` and `d FOLDER` until the other end of the pipe is closed. What has the mark is looked for
 * again, as it may have started more meanwhile.
 */
const SCRIPT = `trap '' HUP INT TERM
g=' '
d=
while read -r op id; do
  case $op in
    +) g="$g$id " ;;
    -) case $g in *" $id "*) g="\${g%%" $id "*} \${g#*" $id "}" ;; esac ;;
    d) d=$id ;;
  esac
done
for id in $g; do kill -9 "-$id" 2>/dev/null; done
for round in 1 2 3; do for f in $(grep -l -e "$1" /proc/[0-9]*/environ 2>/dev/null); do
  f=\${f#/proc/}
  kill -9 "\${f%/*}" 2>/dev/null
done; done
[ -z "$d" ] || rm -rf "$d"`;
