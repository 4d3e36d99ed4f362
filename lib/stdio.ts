/**
 * A server over the standard streams of a process: what ends it, in which order, and with which exit code.
 *
 * @module
 */
import type { Logger } from "./log.ts";
import type { McpServer } from "./server.ts";
import { catchStray } from "./stray.ts";

/** Milliseconds between asking what the calls started to end, and ending it, after a signal. */
export const KILL_AFTER_MS = 150;

/** Milliseconds within which the process is gone after a signal; a host kills it 460 ms after its first one. */
export const EXIT_WITHIN_MS = 300;

/** The signals that end the server. */
export type EndSignal = "SIGINT" | "SIGTERM";

/** Exit codes after a signal, as shells have them. */
export const SIGNAL_EXIT_CODES: Readonly<Record<EndSignal, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
};

/** The process, as far as this module uses it. `main.ts` passes the real one. */
export interface StdioSystem {
  /** Where the client's lines come from. */
  stdin: ReadableStream<Uint8Array>;
  /** Where the answers go, and nothing else. */
  stdout: WritableStream<Uint8Array>;
  /** Calls `handler` at each signal that ends a server; the function returned stops that. */
  onSignal(handler: (signal: EndSignal) => void): () => void;
  /** Ends the process with that code. */
  exit(code: number): void;
}

/** What lives beside the server and must not outlive it. */
export interface StdioHooks {
  /** Asks every process that calls have started to end (TERM). Returns at once. */
  terminate?(): void;
  /** Writes what is recorded but not yet stored. */
  commit?(): Promise<void>;
  /** Ends what is left of those processes (KILL). */
  kill?(): Promise<void> | void;
}

/** How the standard streams are served. */
export interface StdioOptions {
  /** What is to be ended with the server. */
  hooks?: StdioHooks;
  /** Milliseconds that requests in flight have to finish after the end of input. */
  drain?: number;
  /** Gives the server what `initialize` does not need. */
  complete?(): Promise<void>;
  /** See {@linkcode ServeOptions}. */
  greeted?: boolean;
  /** The operator's log. */
  logger?: Logger;
}

/**
 * Serves until the input ends or the output is closed, and resolves then, with nothing left running. After a signal
 * it calls `system.exit` within {@linkcode EXIT_WITHIN_MS}: 130 after SIGINT, 143 after SIGTERM.
 *
 * @example A process, here one made for the example; on Node `nodeSystem(process)` is the real one
 * ```ts
 * import { serveStdio } from "./stdio.ts";
 * import { McpServer } from "./server.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const server = new McpServer({ name: "example", version: "1.0.0" });
 * let answer = "";
 * await serveStdio(server, {
 *   stdin: new Blob(['{"jsonrpc":"2.0","id":1,"method":"ping"}\n']).stream(),
 *   stdout: new WritableStream({
 *     write: (bytes) => void (answer += new TextDecoder().decode(bytes)),
 *   }),
 *   onSignal: () => () => {},
 *   exit() {},
 * });
 * assertEquals(answer, '{"jsonrpc":"2.0","id":1,"result":{}}\n');
 * ```
 */
export async function serveStdio(
  server: McpServer,
  system: StdioSystem,
  options: StdioOptions = {},
): Promise<void> {
  const { hooks = {}, drain, complete, greeted = false, logger } = options;
  const ending = new AbortController();
  let signalled: Promise<void> | undefined;
  const stopCatching = catchStray(logger);
  const stopListening = system.onSignal((signal) => {
    // A host sends SIGINT and soon after SIGTERM; the first one decides.
    signalled ??= endBySignal(signal);
  });
  const endBySignal = async (signal: EndSignal) => {
    const startedAt = performance.now();
    const late = delay(EXIT_WITHIN_MS);
    tryHook("terminate", () => hooks.terminate?.());
    ending.abort();
    const killed = delay(KILL_AFTER_MS).promise.then(() =>
      tryHook("kill", () => hooks.kill?.())
    );
    await Promise.race([
      Promise.all([tryHook("commit", () => hooks.commit?.()), killed]),
      late.promise,
    ]);
    late.cancel();
    logger?.info("server.signalled", {
      signal,
      ms: Math.round(performance.now() - startedAt),
    });
    system.exit(SIGNAL_EXIT_CODES[signal]);
  };
  const tryHook = async (
    name: string,
    hook: () => Promise<void> | void | undefined,
  ) => {
    try {
      await hook();
    } catch (error) {
      logger?.error(`${name}.failed`, { error: `${error}` });
    }
  };
  await server.serve(system.stdin, system.stdout, {
    signal: ending.signal,
    ...(drain === undefined ? {} : { drain }),
    ...(complete === undefined ? {} : { complete }),
    greeted,
  });
  if (!signalled) {
    await tryHook("kill", () => hooks.kill?.());
    await tryHook("commit", () => hooks.commit?.());
  }
  // A signal that came meanwhile goes its way to the exit.
  await signalled;
  stopListening();
  stopCatching();
}

function delay(ms: number): { promise: Promise<void>; cancel(): void } {
  let timer: ReturnType<typeof setTimeout>;
  const promise = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { promise, cancel: () => clearTimeout(timer) };
}
