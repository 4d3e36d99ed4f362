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

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? `${error}` : `${error}`;
}
