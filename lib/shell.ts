/**
 * Which shell runs a command and how it is called, on each platform; and what PATH the login shell would have.
 *
 * @module
 */
import type { Platform } from "./platform.ts";

/** Bytes of one command; Linux takes at most 131,072 in one argument. */
export const MAX_COMMAND_BYTES = 120_000;

/** Milliseconds that the login shell may take to tell its PATH. */
export const LOGIN_PATH_MS = 2_000;

/** A shell that was chosen for this process. */
export interface Shell {
  /** How it is called: `posix` is a `sh` that becomes bash where there is one. */
  kind: "posix" | "git-bash" | "powershell";
  /** For descriptions: where commands run. */
  name: string;
  /** The program to start. */
  program: string;
}

/** A program with its arguments. */
export interface Invocation {
  /** Absolute, or a name to look up. */
  program: string;
  /** One string an argument. */
  args: readonly string[];
  /** Standard error comes in its own pipe: the shell has no way to join the two in order. */
  twoPipes: boolean;
}

/**
 * The shell for a platform. On Windows, whose `bash.exe` in the system folder is another operating system, Git's bash
 * is looked for where its installers put it, then PowerShell. Elsewhere `sh` starts bash, or runs the command itself
 * where there is none.
 *
 * @param exists says whether a program is there; asked on Windows only.
 * @param permitted says whether this process may start a program.
 */
export function chooseShell(
  platform: Platform,
  exists: (path: string) => boolean = isFile,
  permitted: (program: string) => boolean = mayRun,
): Shell {
  if (platform.os !== "windows") {
    const program = ["/bin/sh", "sh", "/bin/bash", "bash"].find(permitted);
    return { kind: "posix", name: "bash", program: program ?? "/bin/sh" };
  }
  const bash = gitBashCandidates(platform).find(exists);
  if (bash) return { kind: "git-bash", name: "Git Bash", program: bash };
  const root = platform.env("SystemRoot") ?? "C:\\Windows";
  const programs = platform.env("ProgramFiles") ?? "C:\\Program Files";
  const pwsh = `${programs}\\PowerShell\\7\\pwsh.exe`;
  return {
    kind: "powershell",
    name: "PowerShell",
    program: exists(pwsh)
      ? pwsh
      : `${root}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
  };
}

/**
 * The program and arguments that run `command`. The command is one argument from here to the shell, never part of a
 * line that something else takes apart.
 */
export function invocation(shell: Shell, command: string): Invocation {
  switch (shell.kind) {
    case "posix":
      return {
        program: shell.program,
        args: ["-c", LAUNCHER, "sh", command],
        twoPipes: false,
      };
    case "git-bash":
      return {
        program: shell.program,
        args: ["-c", 'exec "$BASH" -c "$1" bash 2>&1', "bash", command],
        twoPipes: false,
      };
    case "powershell":
      return {
        program: shell.program,
        args: [
          "-NoLogo",
          "-NoProfile",
          "-NonInteractive",
          "-ExecutionPolicy",
          "Bypass",
          "-EncodedCommand",
          utf16Base64(`${POWERSHELL_BEFORE}${command}${POWERSHELL_AFTER}`),
        ],
        twoPipes: true,
      };
  }
}

/**
 * How a program is started without a shell reading anything of it: where there is a `sh` it only joins the two outputs
 * in order and becomes the program.
 */
export function programInvocation(
  shell: Shell,
  argv: readonly string[],
): Invocation {
  return shell.kind === "posix"
    ? {
      program: shell.program,
      args: ["-c", PROGRAM_LAUNCHER, "sh", ...argv],
      twoPipes: false,
    }
    : { program: argv[0]!, args: argv.slice(1), twoPipes: true };
}

/** The program that ends a process and all its descendants on Windows. */
export function killTree(pid: number): { program: string; args: string[] } {
  return { program: "taskkill", args: ["/PID", String(pid), "/T", "/F"] };
}

/**
 * Asks the user's login shell for its PATH.
 *
 * @param run starts a program and gives its standard output; rejects when it takes longer than the signal allows.
 * @returns undefined when there is no shell to ask, or it gives no answer in time.
 */
export async function loginPath(
  platform: Platform,
  run: (
    program: string,
    args: string[],
    signal: AbortSignal,
  ) => Promise<string>,
): Promise<string | undefined> {
  const shell = platform.env("SHELL") ??
    (platform.os === "darwin" ? "/bin/zsh" : undefined);
  if (platform.os === "windows" || !shell?.startsWith("/")) return undefined;
  try {
    const output = await run(
      shell,
      ["-lc", `printf '%s' ${LOGIN_MARK} "$PATH" ${LOGIN_MARK}`],
      AbortSignal.timeout(LOGIN_PATH_MS),
    );
    // A start-up file may print things of its own.
    const path = output.split(LOGIN_MARK)[1];
    return path?.startsWith("/") && !path.includes("\n") ? path : undefined;
  } catch {
    return undefined;
  }
}

const LOGIN_MARK = "__rousseau_path__";

/**
 * Closes what was inherited beyond descriptor 2, joins standard error to standard output (so that even a syntax error
 * comes in order), and becomes the shell: the process that runs the command is the one we wait for. Shells other than
 * bash close only descriptors of one digit, hence the second round.
 */
const LAUNCHER = `for _rousseau_f in /dev/fd/*; do
  case \${_rousseau_f##*/} in
    [012] | "*") ;;
    [3-9]) eval "exec \${_rousseau_f##*/}>&-" ;;
    *) _rousseau_more=1 ;;
  esac
done
for _rousseau_f in bash /bin/bash /usr/bin/bash /usr/local/bin/bash /run/current-system/sw/bin/bash /bin/sh; do
  if command -v "$_rousseau_f" >/dev/null 2>&1; then break; fi
done
[ "$_rousseau_f" != /bin/sh ] || exec /bin/sh -c "$1" sh 2>&1
[ "$_rousseau_more" ] || exec "$_rousseau_f" -c "$1" bash 2>&1
exec "$_rousseau_f" -c 'for _rousseau_f in /dev/fd/*; do
  _rousseau_f=\${_rousseau_f##*/}
  [ "$_rousseau_f" -gt 2 ] && eval "exec $_rousseau_f>&-"
done 2>/dev/null
exec "$BASH" -c "$1" bash 2>&1' bash "$1"`;

/** Closes what was left open to us, too. */
const PROGRAM_LAUNCHER = `for _rousseau_f in 3 4 5 6 7 8 9; do
  eval "exec $_rousseau_f>&-"
done
unset _rousseau_f
exec "$@" 2>&1`;

const POWERSHELL_BEFORE =
  "[Console]::OutputEncoding=[Text.Encoding]::UTF8;$ProgressPreference='SilentlyContinue'\n";

/** Without this the exit code of a program that the command ran would become 0 or 1. */
const POWERSHELL_AFTER =
  "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }";

function gitBashCandidates(platform: Platform): string[] {
  const fixed = [
    ["ProgramFiles", "Git"],
    ["ProgramW6432", "Git"],
    ["ProgramFiles(x86)", "Git"],
    ["LOCALAPPDATA", "Programs\\Git"],
  ].flatMap(([name, folder]) => {
    const base = platform.env(name!);
    return base === undefined ? [] : [`${base}\\${folder}\\bin\\bash.exe`];
  });
  // Git puts its `cmd` folder into PATH; bash lies beside it.
  const path = platform.env("PATH") ?? platform.env("Path") ?? "";
  const beside = path.split(";").flatMap((folder) => {
    const git = /^(.*\\Git)\\cmd\\?$/i.exec(folder)?.[1];
    return git === undefined ? [] : [`${git}\\bin\\bash.exe`];
  });
  return [...fixed, ...beside];
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function mayRun(program: string): boolean {
  return Deno.permissions.querySync({ name: "run", command: program }).state ===
    "granted";
}

function utf16Base64(text: string): string {
  let bytes = "";
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes += String.fromCharCode(unit & 0xff, unit >> 8);
  }
  return btoa(bytes);
}
