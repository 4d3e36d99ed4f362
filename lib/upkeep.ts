/**
 * Brings the store within its bounds now and then, in the background: of all processes one, once a day.
 *
 * @module
 */
import type { Logger } from "./log.ts";
import { prune, takeTurn } from "./retention.ts";
import type { Sqlite } from "./sqlite.ts";

/** Milliseconds after the first commit of a process at which the file is brought within its bounds. */
export const UPKEEP_AFTER = 60_000;

/** Milliseconds between two times that some process does so. */
export const UPKEEP_EVERY = 24 * 60 * 60 * 1000;

/** What an {@linkcode Upkeep} needs. */
export interface UpkeepOptions {
  /** Runs its argument in a transaction. */
  change: <T>(body: (db: Sqlite) => T) => Promise<T>;
  /** Days that a session is kept after its last call. */
  keepDays: number;
  /** Bytes that the database may have. */
  maxBytes: number;
  /** Told what was deleted. */
  logger: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** The store's upkeep by one process. */
export class Upkeep {
  readonly #options: UpkeepOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** Nothing happens before {@linkcode Upkeep.begin}. */
  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  /** Has it done in a while; the first time counts. */
  begin(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#run().catch((error) => {
        // Another process may be at it, or the store is closing; the next start tries again.
        this.#options.logger.debug("store.upkeep_failed", {
          problem: error instanceof Error ? error.message : String(error),
        });
      });
    }, UPKEEP_AFTER);
    Deno.unrefTimer(this.#timer);
  }

  /** Stops; what runs ends with its step. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { change, keepDays, maxBytes, logger, now } = this.#options;
    const time = now();
    if (!await change((db) => takeTurn(db, time, UPKEEP_EVERY))) return;
    const done = await prune(change, { now: time, keepDays, maxBytes });
    if (done.sessions > 0) logger.info("store.pruned", { ...done });
  }
}
