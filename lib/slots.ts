/**
 * A bound on how much goes on at once: whoever finds no free place waits in line.
 *
 * @module
 */

/** A fixed number of places, given in the order of asking. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** All places are free. @param size places in all. */
  constructor(size: number) {
    this.#free = size;
  }

  /**
   * Waits for a place.
   *
   * @returns gives the place back, at most once; undefined when none came free within `ms`.
   * @throws {unknown} the signal's reason when it is aborted first.
   */
  async take(
    signal: AbortSignal,
    ms: number,
  ): Promise<(() => void) | undefined> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else if (!await this.#wait(signal, ms)) return undefined;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const [next] = this.#waiting;
      if (next) next();
      else this.#free++;
    };
  }

  #wait(signal: AbortSignal, ms: number): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const settle = (finish: () => void) => {
      this.#waiting.delete(onPlace);
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
      finish();
    };
    const onPlace = () => settle(() => resolve(true));
    const onAbort = () => settle(() => reject(signal.reason));
    const timer = setTimeout(() => settle(() => resolve(false)), ms);
    signal.addEventListener("abort", onAbort);
    this.#waiting.add(onPlace);
    return promise;
  }
}
