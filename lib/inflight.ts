/**
 * Requests that are not answered yet, and how many may be worked on at once.
 *
 * @module
 */
import { idKey } from "./rpc.ts";
import type { RequestId } from "./rpc.ts";

/** Requests that are worked on at once, over one connection; the rest wait. */
export const MAX_CONCURRENT = 256;

/** Requests that may wait for their turn. Beyond it nothing is read until there is room. */
export const MAX_WAITING = 4096;

/** The requests in flight, by id. Each ends exactly once: completed, or cancelled. */
export class InFlight<T> {
  readonly #entries = new Map<string | number | bigint, T>();
  #onIdle: (() => void)[] = [];

  /** How many there are. */
  get size(): number {
    return this.#entries.size;
  }

  /** Takes a request in. False when one of that id is in flight. */
  register(id: RequestId, entry: T): boolean {
    const key = idKey(id);
    if (this.#entries.has(key)) return false;
    this.#entries.set(key, entry);
    return true;
  }

  /** Whether a request of that id is in flight. */
  has(id: RequestId): boolean {
    return this.#entries.has(idKey(id));
  }

  /** Ends a request before it is answered. False when it had ended: then it is not to be answered. */
  complete(id: RequestId, entry: T): boolean {
    const key = idKey(id);
    return this.#entries.get(key) === entry && this.#delete(key);
  }

  /** Takes a request out so that it is never answered. Undefined when it had ended. */
  cancel(id: RequestId): T | undefined {
    const key = idKey(id);
    const entry = this.#entries.get(key);
    this.#delete(key);
    return entry;
  }

  /** The requests in flight, oldest first. */
  values(): T[] {
    return [...this.#entries.values()];
  }

  /** Whether none is in flight any more, at once or within `ms` milliseconds. */
  async idleWithin(ms: number): Promise<boolean> {
    if (this.size === 0) return true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve);
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    return this.size === 0;
  }

  #delete(key: string | number | bigint): boolean {
    const deleted = this.#entries.delete(key);
    if (deleted && this.size === 0) {
      const waiting = this.#onIdle;
      this.#onIdle = [];
      for (const resolve of waiting) resolve();
    }
    return deleted;
  }
}

/** A bounded number of places, given in the order in which they were asked for. */
export class Slots {
  readonly #limit: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();
  #onLeave: (() => void)[] = [];

  /** `limit` is the number of places. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Takes a place: at once, which is undefined, or after a wait that resolves to whether the place was got. An
   * aborted `signal` ends the wait without one.
   */
  take(signal: AbortSignal): Promise<boolean> | undefined {
    if (this.#taken < this.#limit) {
      this.#taken++;
      return undefined;
    }
    return new Promise((resolve) => {
      const got = () => {
        signal.removeEventListener("abort", left);
        resolve(true);
      };
      const left = () => {
        this.#leave(got);
        resolve(false);
      };
      this.#waiting.add(got);
      signal.addEventListener("abort", left, { once: true });
    });
  }

  /** Gives a place back: to the one that has waited longest, if any. */
  release(): void {
    for (const next of this.#waiting) {
      this.#leave(next);
      next();
      return;
    }
    this.#taken--;
  }

  /** Undefined when fewer than `most` wait; else resolves when they do. */
  room(most: number): Promise<void> | undefined {
    return this.waiting < most ? undefined : this.#fewerThan(most);
  }

  async #fewerThan(most: number): Promise<void> {
    while (this.waiting >= most) {
      await new Promise<void>((resolve) => this.#onLeave.push(resolve));
    }
  }

  #leave(next: () => void): void {
    this.#waiting.delete(next);
    const told = this.#onLeave;
    this.#onLeave = [];
    for (const resolve of told) resolve();
  }
}
