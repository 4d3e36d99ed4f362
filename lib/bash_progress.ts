/**
 * Progress of a running command: how much it printed, and the last of it.
 *
 * @module
 */
import type { CommandContext } from "./command.ts";
import type { Execution } from "./execution.ts";

/** Milliseconds between two progress messages. */
export const PROGRESS_MS = 500;

/** Milliseconds after which a silent command reports progress all the same: hosts extend their limits with it. */
export const HEARTBEAT_MS = 10_000;

/** Characters of output in a progress message. */
const PROGRESS_CHARS = 400;

/** Tells the caller how much was printed, and the last of it. */
export class ProgressReports {
  readonly #execution: Execution;
  readonly #ctx: Pick<CommandContext, "progress">;
  readonly #timer: ReturnType<typeof setInterval>;
  #value = 0;
  #bytes = 0;
  #told = performance.now();

  /** Begins to report. */
  constructor(execution: Execution, ctx: Pick<CommandContext, "progress">) {
    this.#execution = execution;
    this.#ctx = ctx;
    this.#timer = setInterval(() => this.#tell(), PROGRESS_MS);
  }

  /** Reports nothing more. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #tell(): void {
    const { output, ageMs } = this.#execution;
    const now = performance.now();
    const news = output.total > this.#bytes;
    if (!news && now - this.#told < HEARTBEAT_MS) return;
    this.#told = now;
    this.#bytes = output.total;
    // Progress has to rise, also when nothing was printed.
    this.#value = Math.max(this.#value + 1, output.total);
    this.#ctx.progress(
      this.#value,
      undefined,
      news
        ? output.last(PROGRESS_CHARS).trimEnd()
        : `running for ${Math.round(ageMs / 1000)} s`,
    );
  }
}
