/**
 * The first program inside a sandbox of namespaces: it runs the command and reports, on the sandbox's standard error,
 * how that ended and what it left running. The command has standard output for both of its outputs, and cannot see
 * this channel.
 *
 * @module
 */
import { signalOfCode } from "./signals.ts";

/** Bytes of a report that are read. What is longer was not written by the warden alone. */
export const MAX_REPORT_BYTES = 65_536;

/** Begins the line that ends the warden's report. */
const MARK = "warden: ended with ";

/** How a command inside ended. */
export interface WardenReport {
  /** Undefined when a signal ended it, or nothing was reported. */
  code: number | undefined;
  /** Such as `SIGKILL`. */
  signal: string | undefined;
  /** Programs that were still running, and end with the sandbox. */
  leftovers: string[];
  /** What the sandbox said when it could not start the command. */
  fault: string | undefined;
}

/** The words that run `command` under the warden. */
export function underWarden(command: readonly string[]): string[] {
  return ["/bin/sh", "-c", WARDEN, "sh", ...command];
}

/**
 * What the report says.
 *
 * @param text all that came on the sandbox's standard error.
 * @param code the sandbox's exit code: the command's, or 128 and the number of the signal that ended it.
 */
export function readReport(text: string, code: number): WardenReport {
  const at = text.lastIndexOf(MARK);
  const before = (at < 0 ? text : text.slice(0, at)).trim();
  const named = signalOfCode(code);
  if (at < 0) {
    // Ended together with the command (`kill -9 0`), or never started.
    return named !== undefined && before === ""
      ? { code: undefined, signal: named, leftovers: [], fault: undefined }
      : { code, signal: undefined, leftovers: [], fault: before || undefined };
  }
  const [, ...leftovers] = text.slice(at).trimEnd().split("\n");
  // A shell says so when a signal ended what it ran, and is silent when that exits with such a code by itself.
  const signal = before === "" ? undefined : named;
  return {
    code: signal === undefined ? code : undefined,
    signal,
    leftovers,
    fault: undefined,
  };
}

/**
 * Signals to the group are the command's to answer. What it left has a tenth of a second to end by itself, as outside
 * of a sandbox; `/proc` shows the namespace's own processes.
 */
const WARDEN = `trap : HUP INT QUIT TERM USR1 USR2
"$@"
code=$?
left=
look() {
  left=
  for file in /proc/[0-9]*/stat; do
    read -r line <"$file" || continue
    name=\${line#*\\(}
    pid=\${line%% *}
    set -- \${line##*\\) }
    case $1 in Z | X) continue ;; esac
    case $pid in 1 | $$) continue ;; esac
    left="$left
\${name%\\)*}"
  done
} 2>/dev/null
look
[ -z "$left" ] || { sleep 0.1 2>/dev/null; look; }
printf '${MARK}%s%s\\n' "$code" "$left" >&2
exit "$code"`;
