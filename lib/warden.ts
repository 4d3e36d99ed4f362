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

/** Names of one kind that are kept. */
export const MAX_NAMES = 50;

/** Characters of a name that are kept. */
export const MAX_NAME_CHARS = 60;

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
  /** Names of what was added to the temporary home, and ends with the sandbox, too. */
  lost: string[];
  /** What the sandbox said when it could not start the command. */
  fault: string | undefined;
}

/**
 * The words that run `command` under the warden.
 *
 * @param home a temporary home, absolute, in which what the command adds is to be reported; undefined: there is none.
 */
export function underWarden(
  command: readonly string[],
  home: string | undefined,
): string[] {
  return ["/bin/sh", "-c", WARDEN, "sh", home ?? "", ...command];
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
    const nothing = { leftovers: [], lost: [] };
    return named !== undefined
      ? { code: undefined, signal: named, fault: undefined, ...nothing }
      : { code, signal: undefined, fault: faultIn(before), ...nothing };
  }
  const lines = text.slice(at).split("\n");
  const marked = (mark: string) =>
    lines.filter((line) => line.startsWith(mark)).slice(0, MAX_NAMES)
      .map((line) => harmless(line.slice(mark.length), MAX_NAME_CHARS));
  // A shell says so when a signal ended what it ran, and is silent when that exits with such a code by itself.
  const signal = before === "" ? undefined : named;
  return {
    code: signal === undefined ? code : undefined,
    signal,
    leftovers: marked("process "),
    lost: marked("home "),
    fault: undefined,
  };
}

/** Only the programs that make the sandbox say why it did not start. */
function faultIn(text: string): string | undefined {
  const line = /^(?:bwrap|nsenter): .+$/m.exec(text)?.[0];
  return line === undefined ? undefined : harmless(line, 200);
}

/**
 * The report ends up in notes of ours, where nobody may speak but us: names are the command's choice, and through
 * `/proc` it can write to the warden's own pipe.
 */
function harmless(text: string, max: number): string {
  return text.replace(/[^\p{L}\p{N} _.,:;+@%=~*/()'-]/gu, "?").slice(0, max)
    .toWellFormed();
}

/**
 * Signals to the group are the command's to answer. What it left has a tenth of a second to end by itself, as outside
 * of a sandbox; `/proc` shows the namespace's own processes.
 */
const WARDEN = `home=$1
shift
lines='
'
added() {
  names=$lines
  [ -n "$home" ] || return
  for file in "$home"/* "$home"/.[!.]*; do
    [ -e "$file" ] || [ -h "$file" ] || continue
    case $before in *"$lines\${file##*/}$lines"*) continue ;; esac
    names="$names\${file##*/}$lines"
  done
}
before=
added
before=$names
trap : HUP INT QUIT TERM USR1 USR2
"$@"
code=$?
look() {
  left=
  for file in /proc/[0-9]*/stat; do
    read -r line <"$file" || continue
    name=\${line#*\\(}
    pid=\${line%% *}
    set -- \${line##*\\) }
    case $1 in Z | X) continue ;; esac
    case $pid in 1 | $$) continue ;; esac
    left="\${left}process \${name%\\)*}$lines"
  done
} 2>/dev/null
look
[ -z "$left" ] || { sleep 0.1 2>/dev/null; look; }
added
printf '${MARK}%s\\n%s' "$code" "$left" >&2
while [ "$names" != "$lines" ]; do
  names=\${names#"$lines"}
  printf 'home %s\\n' "\${names%%"$lines"*}" >&2
  names=$lines\${names#*"$lines"}
done
exit "$code"`;
