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
  /** Called after each slice. */
  tick?(): void;
  /** Shared by pieces of work that follow one another, so that together they let others work in time. */
  clock?: SliceClock;
}

/** When the slice that is under way ends, as `performance.now()` tells time. */
export interface SliceClock {
  /** Milliseconds. */
  end: number;
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
  const { signal, limitMs, tick } = options;
  const clock = options.clock ?? { end: performance.now() + SLICE_MS };
  const end = performance.now() + limitMs;
  try {
    signal.throwIfAborted();
    while (!work.next().done) {
      const now = performance.now();
      if (now < clock.end) continue;
      if (now >= end) return false;
      tick?.();
      await breathe();
      signal.throwIfAborted();
      clock.end = performance.now() + SLICE_MS;
    }
    return true;
  } finally {
    work.return();
  }
}

/**
 * Lets everything else that is ready have its turn. It takes a timer, which sleeps for 1 to 2 ms: immediates, messages
 * and short file operations are quicker, but let no input be read, always or on a busy machine.
 */
function breathe(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
