/**
 * What changes behind a server's back, told to whoever listens.
 *
 * @module
 */
import type { JsonObject } from "./mcp.ts";

/** A resource whose contents changed, or the list of resources. */
export type Change =
  | { kind: "resource"; uri: string }
  | { kind: "resources" };

/** Passes changes on to those who listen at that moment. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();

  /** Calls `listener` at every change from now on, until the function returned is called. */
  listen(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Tells all listeners. */
  tell(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

/** The notification of a change for a handshake client; undefined when it did not subscribe. */
export function notificationOf(
  change: Change,
  subscribed: ReadonlySet<string>,
): { method: string; params: JsonObject } | undefined {
  if (change.kind === "resources") {
    return { method: "notifications/resources/list_changed", params: {} };
  }
  return subscribed.has(change.uri)
    ? {
      method: "notifications/resources/updated",
      params: { uri: change.uri },
    }
    : undefined;
}
