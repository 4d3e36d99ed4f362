/**
 * A search of many files: the first on the main thread, and when there are more, the rest shared with workers.
 *
 * @module
 */
import { type BatchResult, Search, type SearchFile } from "./search.ts";
import type { BatchAnswer, BatchRequest } from "./search_worker.ts";
import { inSlices, type SliceOptions } from "./slices.ts";

/** Files that are searched before workers are worth their start. */
export const ALONE = 3000;

/** Files that a worker is given at a time. */
export const BATCH = 100;

/** Batches that wait for or are with each worker: more than it does while the main thread looks away. */
const AHEAD = 12;

/** Batches that are under way or searched, and not yet in the answer. */
const MAX_QUEUE = 64;

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
  const clock = { end: 0 };
  const left = () => ({
    ...options,
    clock,
    limitMs: Math.max(0, deadline - performance.now()),
  });
  const { workers, alone = ALONE } = options;
  const first = new Taken(found, workers > 0 ? alone : Infinity);
  if (!await inSlices(search.run(first), left())) return false;
  if (first.ended || search.rows.full) return true;
  const pool = new Pool(workers);
  const queue: Batch[] = [];
  const workersBusy = () => {
    let waiting = 0;
    for (const batch of queue) if (!batch.result) waiting++;
    return waiting >= AHEAD * workers;
  };
  try {
    for (let more = true; more || queue.length > 0;) {
      if (more && !queue[0]?.result && queue.length < MAX_QUEUE) {
        const taken = new Taken(found, BATCH);
        const files: SearchFile[] = [];
        if (!await inSlices(collect(taken, files), left())) return false;
        more = !taken.ended;
        if (!workersBusy()) {
          queue.push(pool.search(search, files));
        } else {
          // This thread is one of those that search.
          const part = new Search(search.job, search.tools);
          if (!await inSlices(part.run(files), left())) return false;
          queue.push({ files, result: part.result() });
        }
        continue;
      }
      const batch = queue.shift()!;
      const result = batch.result ??
        await within(batch.settled, options.signal, left().limitMs);
      if (result === "late") return false;
      const last = batch.files.at(-1)?.shown ?? search.last;
      const merged = result !== "failed" && search.merge(result, last);
      // Where not all of it fits, doing it again stops at the same place as without workers.
      if (!merged && !await inSlices(search.run(batch.files), left())) {
        return false;
      }
      options.tick?.();
      if (search.rows.full) return true;
    }
    return true;
  } finally {
    pool.stop();
  }
}

/** Files that are being searched, or were. */
interface Batch {
  files: SearchFile[];
  /** Set when it is settled; until then `settled` waits for it. */
  result?: BatchResult | "failed";
  settled?: Promise<BatchResult | "failed">;
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
  settled: Promise<BatchResult | "failed"> | undefined,
  signal: AbortSignal,
  limitMs: number,
): Promise<BatchResult | "failed" | "late"> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), limitMs);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([settled ?? ("failed" as const), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Workers that share batches. Where none can be had, every batch fails, and the caller searches it itself. */
class Pool {
  readonly #workers: Worker[] = [];
  readonly #waiting = new Map<
    number,
    (result: BatchResult | "failed") => void
  >();
  readonly #stop = new SharedArrayBuffer(4);
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

  search(search: Search, files: SearchFile[]): Batch {
    if (this.#broken) return { files, result: "failed" };
    const id = this.#sent++;
    const { promise, resolve } = Promise.withResolvers<
      BatchResult | "failed"
    >();
    const batch: Batch = { files, settled: promise };
    this.#waiting.set(id, (result) => {
      batch.result = result;
      resolve(result);
    });
    const request: BatchRequest = {
      id,
      job: search.job,
      stop: this.#stop,
      batch: files,
    };
    this.#workers[id % this.#workers.length]!.postMessage(request);
    return batch;
  }

  stop(): void {
    this.#broken = true;
    Atomics.store(new Int32Array(this.#stop), 0, 1);
    for (const worker of this.#workers) worker.terminate();
    this.#workers.length = 0;
  }

  #start(): Worker {
    const worker = new Worker(
      new URL("./search_worker.ts", import.meta.url),
      { type: "module" },
    );
    worker.onmessage = ({ data }: MessageEvent<BatchAnswer>) => {
      this.#waiting.get(data.id)?.(data.result);
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
    for (const settle of this.#waiting.values()) settle("failed");
    this.#waiting.clear();
  }
}

const MODULE = new URL("./search_worker.ts", import.meta.url);
