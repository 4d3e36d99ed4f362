/**
 * Searches a large session database in a worker, which ends when it has not been needed for a while.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import type { Match, Visible } from "./session_search.ts";
import type { SearchAnswer, SearchRequest } from "./session_worker.ts";

/** Milliseconds without a search after which the worker and its memory are given back. */
export const SEARCHER_IDLE = 60_000;

/** What is searched for, and where. */
export type Search = Omit<SearchRequest, "id" | "visible"> & {
  visible: Visible;
};

/** The worker, while there is one. */
export class SessionSearcher {
  readonly #idle: number;
  readonly #waiting = new Map<number, (answer: SearchAnswer) => void>();
  #worker: Worker | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sent = 0;
  #isBroken = false;

  /** Starts nothing yet. */
  constructor(idle = SEARCHER_IDLE) {
    this.#idle = idle;
  }

  /**
   * The best matches, or undefined where no worker can be had, or it failed.
   *
   * @throws {CommandError} when the query is empty, or uses FTS5's operators wrongly.
   */
  async search(search: Search): Promise<Match[] | undefined> {
    const worker = this.#start();
    if (!worker) return undefined;
    const id = this.#sent++;
    const answer = await new Promise<SearchAnswer>((resolve) => {
      this.#waiting.set(id, resolve);
      worker.postMessage({ id, ...search } satisfies SearchRequest);
    });
    this.#waiting.delete(id);
    if (this.#waiting.size === 0 && this.#worker) {
      this.#timer = setTimeout(() => this.close(), this.#idle);
      Deno.unrefTimer(this.#timer);
    }
    if ("refusal" in answer) throw new CommandError(answer.refusal);
    return "matches" in answer ? answer.matches : undefined;
  }

  /** Whether there is a worker now. */
  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** Ends the worker. Searches that wait get nothing. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const [id, settle] of this.#waiting) settle({ id, failed: true });
    this.#waiting.clear();
  }

  #start(): Worker | undefined {
    clearTimeout(this.#timer);
    if (this.#worker || this.#isBroken) return this.#worker;
    // Without it a worker would fail later, with a message on standard error that cannot be held back.
    const { state } = Deno.permissions.querySync({
      name: "read",
      path: new URL("./session_worker.ts", import.meta.url),
    });
    this.#isBroken = state !== "granted";
    if (this.#isBroken) return undefined;
    const worker = new Worker(
      new URL("./session_worker.ts", import.meta.url),
      { type: "module" },
    );
    worker.onmessage = ({ data }: MessageEvent<SearchAnswer>) =>
      this.#waiting.get(data.id)?.(data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#isBroken = true;
      this.close();
    };
    return this.#worker = worker;
  }
}
