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
  /** Whether standard error is a terminal, so that it can be shown how far a command is. */
  stderrIsTerminal?: boolean;
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

/** Bytes that {@linkcode Input.first} takes at most. */
export const FIRST_BYTES = 65_536;

/**
 * Standard input whose first bytes can be looked at before it is read as a stream: a stream takes longer to make than
 * the answer to those bytes.
 */
export class Input {
  readonly #source: InputSource;
  #first: Promise<Uint8Array> | undefined;
  #joined: ReadableStream<Uint8Array> | undefined;

  /** Reads nothing yet. */
  constructor(source: InputSource) {
    this.#source = source;
  }

  /** The first bytes, once they come; empty at the end. {@linkcode Input.readable} gives them again. */
  first(): Promise<Uint8Array> {
    return this.#first ??= this.#read();
  }

  /** All of it. */
  get readable(): ReadableStream<Uint8Array> {
    const first = this.#first;
    return first ? this.#joined ??= this.#join(first) : this.#source.readable;
  }

  #join(first: Promise<Uint8Array>): ReadableStream<Uint8Array> {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const value = reader
          ? (await reader.read()).value ?? NOTHING
          : await first;
        reader ??= this.#source.readable.getReader();
        if (value.length > 0) controller.enqueue(value);
        else controller.close();
      },
      cancel: (reason) => reader?.cancel(reason),
    }, { highWaterMark: 0 });
  }

  /** Whether a person types. */
  isTerminal(): boolean {
    return this.#source.isTerminal();
  }

  async #read(): Promise<Uint8Array> {
    const buffer = new Uint8Array(FIRST_BYTES);
    return buffer.subarray(0, await this.#source.read(buffer) ?? 0);
  }
}

/** The part of `Deno.stdin` that {@linkcode Input} reads. */
export interface InputSource {
  /** Everything that was not read yet. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Reads what is there, once there is something; null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Whether a person types. */
  isTerminal(): boolean;
}

const NOTHING = new Uint8Array(0);

/** The part of the `Deno` namespace that {@linkcode systemFrom} reads. */
export interface DenoLike {
  /** Standard input. */
  stdin: { readable: ReadableStream<Uint8Array>; isTerminal(): boolean };
  /** Standard output. */
  stdout: { writable: WritableStream<Uint8Array>; isTerminal(): boolean };
  /** Standard error. */
  stderr: { writable: WritableStream<Uint8Array>; isTerminal(): boolean };
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
  let stderr: WritableStreamDefaultWriter<Uint8Array> | undefined;
  return {
    // Made when they are used: hosts time the start.
    get stdin() {
      return deno.stdin.readable;
    },
    get stdout() {
      return deno.stdout.writable;
    },
    stderr: {
      write: (bytes) =>
        (stderr ??= deno.stderr.writable.getWriter()).write(bytes),
    },
    get stdinIsTerminal() {
      return deno.stdin.isTerminal();
    },
    get stderrIsTerminal() {
      return deno.stderr.isTerminal();
    },
    get columns() {
      return columnsOf(deno);
    },
    env: (name) => envOf(deno, name),
    pathSeparator: isWindows ? ";" : ":",
    signal: controller.signal,
  };
}

function columnsOf(deno: DenoLike): number | undefined {
  if (!deno.stdout.isTerminal()) return undefined;
  try {
    return deno.consoleSize().columns || 80; // a terminal may not know
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
