/**
 * Errors that no call waits for.
 *
 * @module
 */
import type { Logger } from "./log.ts";

/**
 * Logs what would end the process otherwise: a mistake that one call leaves behind, such as a promise that nobody awaits,
 * must not end the server of all others. The function returned stops that.
 */
export function catchStray(logger: Logger | undefined): () => void {
  if (typeof globalThis.addEventListener !== "function") {
    return catchOnNode(logger);
  }
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    logger?.error("rejection.unhandled", { error: textOf(event.reason) });
  };
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    logger?.error("error.uncaught", { error: textOf(event.error) });
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  return () => {
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
  };
}

/** Node has no events for this on the global object. */
function catchOnNode(logger: Logger | undefined): () => void {
  const { process } = globalThis as unknown as { process?: NodeEvents };
  const onRejection = (reason: unknown) =>
    logger?.error("rejection.unhandled", { error: textOf(reason) });
  const onError = (error: unknown) =>
    logger?.error("error.uncaught", { error: textOf(error) });
  process?.on("unhandledRejection", onRejection);
  process?.on("uncaughtException", onError);
  return () => {
    process?.off("unhandledRejection", onRejection);
    process?.off("uncaughtException", onError);
  };
}

/** The part of Node's `process` that tells of errors. */
interface NodeEvents {
  on(name: string, handler: (error: unknown) => void): void;
  off(name: string, handler: (error: unknown) => void): void;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? `${error}` : `${error}`;
}
