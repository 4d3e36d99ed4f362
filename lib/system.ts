/**
 * The process that a command runs in, as a value, and the exit codes that it ends with.
 *
 * @module
 */

/** Exit codes of the command line. */
export const ExitCode = {
  done: 0,
  failed: 1,
  usage: 2,
  interrupted: 130,
  terminated: 143,
} as const;

/** The process that a command runs in. `main.ts` makes the real one; tests make others. */
export interface System {
  /** Standard input. */
  stdin: ReadableStream<Uint8Array>;
  /** Standard output. */
  stdout: WritableStream<Uint8Array>;
  /** Standard error. Takes several writes at once and keeps their order. */
  stderr: { write(bytes: Uint8Array): Promise<void> };
  /** Whether standard input is a terminal. */
  stdinIsTerminal?: boolean;
  /** Width of standard output; undefined when it is no terminal. */
  columns?: number | undefined;
  /** An environment variable. */
  env?(name: string): string | undefined;
  /** What separates paths in a variable: `;` on Windows, else `:`. */
  pathSeparator?: string;
  /** Aborted on SIGINT and SIGTERM; a {@linkcode Stop} as its reason tells which. */
  signal?: AbortSignal;
}

/** Why a process is to stop: the exit code that follows. */
export class Stop extends Error {
  /** 130 or 143. */
  readonly exitCode: number;
  /** A reason for an abort. */
  constructor(exitCode: number) {
    super(`stopped with exit code ${exitCode}`);
    this.name = "Stop";
    this.exitCode = exitCode;
  }
}

/** The part of the `Deno` namespace that {@linkcode systemFrom} reads. */
export interface DenoLike {
  /** Standard input. */
  stdin: { readable: ReadableStream<Uint8Array>; isTerminal(): boolean };
  /** Standard output. */
  stdout: { writable: WritableStream<Uint8Array>; isTerminal(): boolean };
  /** Standard error. */
  stderr: { writable: WritableStream<Uint8Array> };
  /** The environment. */
  env: { get(name: string): string | undefined };
  /** Facts about the build. */
  build: { os: string };
  /** The terminal's size. */
  consoleSize(): { columns: number };
  /** Listens for a signal. */
  addSignalListener(signal: "SIGINT" | "SIGTERM", handler: () => void): void;
}

/**
 * The real process, from `Deno`: `run(root, Deno.args, systemFrom(Deno))`. SIGINT and SIGTERM abort its signal; a
 * variable that the process may not read counts as unset.
 */
export function systemFrom(deno: DenoLike): System {
  const controller = new AbortController();
  const isWindows = deno.build.os === "windows";
  const listen = (signal: "SIGINT" | "SIGTERM", exitCode: number) => {
    deno.addSignalListener(
      signal,
      () => controller.abort(new Stop(exitCode)),
    );
  };
  listen("SIGINT", ExitCode.interrupted);
  // Windows knows no SIGTERM.
  if (!isWindows) listen("SIGTERM", ExitCode.terminated);
  return {
    stdin: deno.stdin.readable,
    stdout: deno.stdout.writable,
    stderr: deno.stderr.writable.getWriter(),
    stdinIsTerminal: deno.stdin.isTerminal(),
    columns: columnsOf(deno),
    env: (name) => envOf(deno, name),
    pathSeparator: isWindows ? ";" : ":",
    signal: controller.signal,
  };
}

function columnsOf(deno: DenoLike): number | undefined {
  if (!deno.stdout.isTerminal()) return undefined;
  try {
    return deno.consoleSize().columns;
  } catch {
    return 80;
  }
}

function envOf(deno: DenoLike, name: string): string | undefined {
  try {
    return deno.env.get(name);
  } catch {
    return undefined;
  }
}
