/**
 * Long work on the main thread, done in slices so that everything else goes on.
 *
 * @module
 */

/** How long a slice may be, in milliseconds: others wait no longer than this and one step of the work. */
export const SLICE_MS = 8;

/** How work in slices is run. */
export interface SliceOptions {
  /** Ends the work. */
  signal: AbortSignal;
  /** The work is left unfinished after so many milliseconds. */
  limitMs: number;
  /** Any path that may be looked at; see {@linkcode breathe}. */
  path: string;
  /** Called after each slice. */
  tick?(): void;
}

/**
 * Runs a generator to its end; each step should take a few milliseconds at most.
 *
 * @returns False when the time was up; the generator is closed then.
 * @throws The signal's reason when it aborts.
 */
export async function inSlices(
  work: Generator<unknown, void, void>,
  options: SliceOptions,
): Promise<boolean> {
  const { signal, limitMs, path, tick } = options;
  const end = performance.now() + limitMs;
  let sliceEnd = performance.now() + SLICE_MS;
  try {
    signal.throwIfAborted();
    while (!work.next().done) {
      const now = performance.now();
      if (now < sliceEnd) continue;
      if (now >= end) return false;
      tick?.();
      await breathe(path);
      signal.throwIfAborted();
      sliceEnd = performance.now() + SLICE_MS;
    }
    return true;
  } finally {
    work.return();
  }
}

/**
 * Lets everything else that is ready have its turn. Immediates and microtasks let no input be read, and a timer sleeps
 * for 2 ms; a few looks at a file in a row take a tenth of that, and between them the event loop goes all the way
 * around. Where `path` cannot be looked at, it is a timer.
 */
export async function breathe(path: string): Promise<void> {
  try {
    for (let turn = 0; turn < TURNS; turn++) await Deno.lstat(path);
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

const TURNS = 3;
