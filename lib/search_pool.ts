/**
 * A search of many files: the first on the main thread, and when there are more, the rest in workers.
 *
 * @module
 */
import type { BatchResult, Search, SearchFile } from "./search.ts";
import type { BatchAnswer, BatchRequest } from "./search_worker.ts";
import { inSlices, type SliceOptions } from "./slices.ts";

/** Files that are searched before workers are worth their start. */
export const ALONE = 3000;

/** Files that a worker is given at a time. */
export const BATCH = 100;

/** The most workers of one search. */
export const MAX_WORKERS = 4;

/** How a search is spread. */
export interface PoolOptions extends SliceOptions {
  /** How many workers there may be; 0: none. */
  workers: number;
  /** Files that are searched before workers start; default {@linkcode ALONE}. */
  alone?: number;
}

/**
 * Searches all files that `found` gives, in their order.
 *
 * @returns False when the time was up before the end.
 * @throws The signal's reason when it aborts.
 */
export async function searchAll(
  search: Search,
  found: Iterator<SearchFile | undefined>,
  options: PoolOptions,
): Promise<boolean> {
  const deadline = performance.now() + options.limitMs;
  const left = () => ({
    ...options,
    limitMs: Math.max(0, deadline - performance.now()),
  });
  const { workers, alone = ALONE } = options;
  const first = new Taken(found, workers > 0 ? alone : Infinity);
  if (!await inSlices(search.run(first), left())) return false;
  if (first.ended || search.rows.full) return true;
  const pool = new Pool(workers);
  const queue: { batch: SearchFile[]; result: Promise<BatchResult> }[] = [];
  try {
    for (let more = true; more || queue.length > 0;) {
      if (more && queue.length < 3 * workers) {
        const taken = new Taken(found, BATCH);
        const batch: SearchFile[] = [];
        if (!await inSlices(collect(taken, batch), left())) return false;
        more = !taken.ended;
        if (batch.length > 0) {
          queue.push({ batch, result: pool.search(search, batch) });
        }
        continue;
      }
      const { batch, result } = queue.shift()!;
      const settled = await within(result, options.signal, left().limitMs);
      if (settled === "late") return false;
      const last = batch.at(-1)?.shown ?? search.last;
      const merged = settled !== "failed" && search.merge(settled, last);
      // Where not all of it fits, doing it again stops at the same place as without workers.
      if (!merged && !await inSlices(search.run(batch), left())) return false;
      options.tick?.();
      if (search.rows.full) return true;
    }
    return true;
  } finally {
    pool.stop();
  }
}

/** So many files of an iterator, which is left open for the rest. */
class Taken implements Iterable<SearchFile | undefined> {
  readonly #from: Iterator<SearchFile | undefined>;
  #files: number;
  /** There are no more. */
  ended = false;

  constructor(from: Iterator<SearchFile | undefined>, files: number) {
    this.#from = from;
    this.#files = files;
  }

  [Symbol.iterator](): Iterator<SearchFile | undefined> {
    return { next: () => this.#next() };
  }

  #next(): IteratorResult<SearchFile | undefined> {
    if (this.#files <= 0) return { done: true, value: undefined };
    const next = this.#from.next();
    if (next.done) this.ended = true;
    else if (next.value) this.#files--;
    return next;
  }
}

function* collect(
  from: Iterable<SearchFile | undefined>,
  into: SearchFile[],
): Generator<undefined, void, void> {
  for (const file of from) {
    if (file) into.push(file);
    yield undefined;
  }
}

/** Waits for a batch no longer than there is time, and not when nobody wants it any more. */
async function within(
  result: Promise<BatchResult>,
  signal: AbortSignal,
  limitMs: number,
): Promise<BatchResult | "failed" | "late"> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), limitMs);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([
      result.catch(() => "failed" as const),
      promise,
    ]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Workers that share batches. Where none can be had, every batch fails, and the caller searches it itself. */
class Pool {
  readonly #workers: Worker[] = [];
  readonly #waiting = new Map<number, PromiseWithResolvers<BatchResult>>();
  #sent = 0;
  #broken = false;

  constructor(workers: number) {
    // Without it a worker would fail later, with a message on standard error that cannot be held back.
    const { state } = Deno.permissions.querySync({
      name: "read",
      path: MODULE,
    });
    if (state !== "granted") this.#broken = true;
    try {
      for (let i = 0; i < workers && !this.#broken; i++) {
        this.#workers.push(this.#start());
      }
    } catch {
      this.#fail();
    }
  }

  search(search: Search, batch: SearchFile[]): Promise<BatchResult> {
    const waiting = Promise.withResolvers<BatchResult>();
    waiting.promise.catch(() => {}); // it may fail before anyone asks
    if (this.#broken) {
      waiting.reject(new Error("no workers"));
    } else {
      const id = this.#sent++;
      this.#waiting.set(id, waiting);
      const request: BatchRequest = { id, job: search.job, batch };
      this.#workers[id % this.#workers.length]!.postMessage(request);
    }
    return waiting.promise;
  }

  stop(): void {
    this.#broken = true;
    for (const worker of this.#workers) worker.terminate();
    this.#workers.length = 0;
  }

  #start(): Worker {
    const worker = new Worker(
      new URL("./search_worker.ts", import.meta.url),
      { type: "module" },
    );
    worker.onmessage = ({ data }: MessageEvent<BatchAnswer>) => {
      this.#waiting.get(data.id)?.resolve(data.result);
      this.#waiting.delete(data.id);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#fail();
    };
    return worker;
  }

  #fail(): void {
    this.stop();
    for (const waiting of this.#waiting.values()) {
      waiting.reject(new Error("no workers"));
    }
    this.#waiting.clear();
  }
}

const MODULE = new URL("./search_worker.ts", import.meta.url);
