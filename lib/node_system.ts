/**
 * The process of Node, as a value that `run` and `serveStdio` take.
 *
 * @module
 */
import type { EndSignal, StdioSystem } from "./stdio.ts";
import { ExitCode, Stop, type System } from "./system.ts";

/** The part of Node's `process` that {@linkcode nodeSystem} reads. */
export interface NodeProcess {
  /** Standard input. */
  stdin: AsyncIterable<Uint8Array> & { isTTY?: boolean };
  /** Standard output. */
  stdout: NodeOutput;
  /** Standard error. */
  stderr: NodeOutput;
  /** The environment. */
  env: Record<string, string | undefined>;
  /** The operating system, as Node names it. */
  platform: string;
  /** Listens for a signal. */
  on(signal: EndSignal, handler: () => void): unknown;
  /** Stops listening. */
  off(signal: EndSignal, handler: () => void): unknown;
  /** Ends the process. */
  exit(code: number): unknown;
}

/** A stream that Node writes to. */
export interface NodeOutput {
  /** Whether it is a terminal. */
  isTTY?: boolean;
  /** Its width. */
  columns?: number;
  /** Writes, and calls back when written. */
  write(bytes: Uint8Array, done: (error?: Error | null) => void): boolean;
}

/** A process for `run` and for `serveStdio`. */
export type NodeSystem = System & StdioSystem;

/** The real process, from Node's `process`: `run(root, process.argv.slice(2), nodeSystem(process))`. */
export function nodeSystem(process: NodeProcess): NodeSystem {
  const controller = new AbortController();
  const onSignal = (handler: (signal: EndSignal) => void) => {
    const interrupted = () => handler("SIGINT");
    const terminated = () => handler("SIGTERM");
    process.on("SIGINT", interrupted);
    process.on("SIGTERM", terminated);
    return () => {
      process.off("SIGINT", interrupted);
      process.off("SIGTERM", terminated);
    };
  };
  onSignal((signal) =>
    controller.abort(
      new Stop(
        signal === "SIGINT" ? ExitCode.interrupted : ExitCode.terminated,
      ),
    )
  );
  const { stdin, stdout, stderr } = process;
  return {
    stdin: readableFrom(stdin),
    stdout: new WritableStream({ write: (bytes) => written(stdout, bytes) }),
    stderr: { write: (bytes) => written(stderr, bytes) },
    stdinIsTerminal: stdin.isTTY === true,
    stderrIsTerminal: stderr.isTTY === true,
    columns: stdout.isTTY ? stdout.columns ?? 80 : undefined,
    env: (name) => process.env[name],
    pathSeparator: process.platform === "win32" ? ";" : ":",
    signal: controller.signal,
    onSignal,
    exit: (code) => void process.exit(code),
  };
}

function readableFrom(
  source: AsyncIterable<Uint8Array>,
): ReadableStream<Uint8Array> {
  // Node starts to read at the first call of `next`, and not before anybody asks.
  let chunks: AsyncIterator<Uint8Array> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      chunks ??= source[Symbol.asyncIterator]();
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    async cancel() {
      await chunks?.return?.();
    },
  }, { highWaterMark: 0 });
}

function written(output: NodeOutput, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(bytes, (error) => error ? reject(error) : resolve());
  });
}
