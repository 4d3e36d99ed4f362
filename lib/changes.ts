/**
 * What changes behind a server's back, told to whoever listens.
 *
 * @module
 */

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
