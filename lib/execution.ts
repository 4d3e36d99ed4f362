/**
 * One command from its start until nothing of it is left: its output collected, its time limited, its group ended.
 *
 *     leader starts ─ output ─ leader ends ─ drain ─ what is left in the group is ended ─ done
 *                                  ▲
 *          end(): timeout, cancel, kill, shutdown
 *
 * @module
 */
import { FILE_BYTES } from "./output.ts";
import type { Output } from "./output.ts";
import { sleep } from "./process_group.ts";
import type { ProcessGroup, Status } from "./process_group.ts";

/** Milliseconds without output after which an ended command's pipe, held open by another process, is let go. */
export const DRAIN_QUIET_MS = 100;

/** Milliseconds that an ended command's pipe is read at most. */
export const DRAIN_MAX_MS = 1_000;

/** Milliseconds that what the command started may take to end by itself after it, draining included. */
export const LINGER_MS = 100;

/** Bytes read at once: what a pipe holds on Linux. */
const READ_BYTES = 1 << 16;

/** Bytes after which reading lets other work of the process go first. */
const YIELD_BYTES = 1 << 18;

/** Milliseconds of rest at each of these once output is beyond what is kept, so that `yes` cannot hold a core of ours. */
const FLOOD_REST_MS = 4;

/** Names in the remark on what was written to a temporary home. */
const LOST_NAMES = 5;

/** Why a command was ended from outside. */
export type EndReason = "timeout" | "cancelled" | "killed" | "shutdown";

/** How a command ended. */
export interface Outcome extends Pick<Status, "code" | "signal"> {
  /** Undefined when it ended by itself. */
  reason: EndReason | undefined;
  /** Milliseconds from start to the leader's end. */
  durationMs: number;
  /** Programs that were still running in its group, and were killed. */
  leftovers: readonly string[];
  /** What was found when it had ended, a sentence each. */
  remarks?: readonly string[];
}

/** A command that was started. */
export class Execution {
  /** What it printed. */
  readonly output: Output;
  /** Resolves when the command has ended and its group with it. */
  readonly done: Promise<Outcome>;
  readonly #group: ProcessGroup;
  readonly #started = performance.now();
  readonly #readers: ReadableStreamBYOBReader[] = [];
  readonly #unkillable = Promise.withResolvers<Status>();
  readonly #review: (() => Promise<readonly string[]>) | undefined;
  #reason: EndReason | undefined;
  #outcome: Outcome | undefined;

  /**
   * Begins to read the output of a started group.
   *
   * @param timeoutMs after which it is ended; undefined: never.
   * @param review looks at what it left, once nothing of it runs any more.
   */
  constructor(
    group: ProcessGroup,
    output: Output,
    timeoutMs: number | undefined,
    review?: () => Promise<readonly string[]>,
  ) {
    this.#group = group;
    this.#review = review;
    this.output = output;
    this.done = this.#run(timeoutMs);
  }

  /** Process id of the leader, and number of the group. */
  get pid(): number {
    return this.#group.pid;
  }

  /** How it ended, once it has. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** Milliseconds that it has been running, or ran. */
  get ageMs(): number {
    return this.#outcome?.durationMs ?? performance.now() - this.#started;
  }

  /** Ends it with its whole group: TERM, then KILL. The first reason given stays. */
  async end(reason: EndReason): Promise<Outcome> {
    if (!this.#outcome) {
      this.#reason ??= reason;
      if (!await this.#group.end()) this.#giveUp();
    }
    return await this.done;
  }

  /** Kills the whole group at once. */
  async kill(): Promise<Outcome> {
    if (!this.#outcome) {
      this.#reason ??= "shutdown";
      await this.#group.signal("SIGKILL");
      if (!await this.#group.gone(1_000)) this.#giveUp();
    }
    return await this.done;
  }

  async #run(timeoutMs: number | undefined): Promise<Outcome> {
    const timer = timeoutMs === undefined
      ? undefined
      : setTimeout(() => this.end("timeout").catch(() => {}), timeoutMs);
    const pumps = Promise.all(
      this.#group.streams.map((stream) => this.#pump(stream)),
    );
    const status = await Promise.race([
      this.#group.status,
      this.#unkillable.promise,
    ]);
    clearTimeout(timer);
    const ended = performance.now();
    const durationMs = ended - this.#started;
    await this.#drain(pumps);
    const leftovers = await this.#sweep(performance.now() - ended);
    await this.output.end();
    const { code, signal, leftovers: inside = [] } = status;
    const remarks = [
      ...sandboxRemarks(status),
      ...await this.#review?.().catch(() => []) ?? [],
    ];
    this.#outcome = {
      code,
      signal,
      reason: this.#reason,
      durationMs,
      leftovers: this.#reason === undefined
        ? [...inside, ...leftovers]
        : leftovers,
      ...(remarks.length === 0 ? {} : { remarks }),
    };
    return this.#outcome;
  }

  async #pump(stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader({ mode: "byob" });
    this.#readers.push(reader);
    // One buffer goes back and forth: a new one for each chunk would leave the collector megabytes behind.
    let buffer = new Uint8Array(READ_BYTES);
    let unyielded = 0;
    for (;;) {
      // A pipe that breaks has ended.
      const { value, done } = await reader.read(buffer).catch(() => ENDED);
      if (done || !value) return;
      await this.output.write(value);
      buffer = new Uint8Array(value.buffer);
      unyielded += value.length;
      if (unyielded >= YIELD_BYTES) {
        unyielded = 0;
        await sleep(this.output.total > FILE_BYTES ? FLOOD_REST_MS : 0);
      }
    }
  }

  /** Reads what is still in the pipe, but does not wait for other processes that hold it open. */
  async #drain(pumps: Promise<unknown>): Promise<void> {
    const deadline = performance.now() + DRAIN_MAX_MS;
    for (;;) {
      const before = this.output.total;
      if (await within(pumps, DRAIN_QUIET_MS)) return;
      const quiet = this.output.total === before;
      if (quiet || performance.now() >= deadline) break;
    }
    for (const reader of this.#readers) await reader.cancel().catch(() => {});
    await pumps;
  }

  /** Ends what is left of the group. @returns the names of what was running, if nobody had asked for its end. */
  async #sweep(drainedMs: number): Promise<readonly string[]> {
    if (this.#reason !== undefined) {
      await this.#group.end();
      return [];
    }
    if (await this.#group.gone(Math.max(0, LINGER_MS - drainedMs))) return [];
    const names = await this.#group.members() ?? ["a process"];
    await this.#group.end();
    return names;
  }

  #giveUp(): void {
    this.#unkillable.resolve({ code: undefined, signal: undefined });
  }
}

function sandboxRemarks({ fault, lost = [] }: Status): string[] {
  const remarks: string[] = [];
  if (fault !== undefined) {
    remarks.push(`the sandbox did not start it: ${fault}`);
  }
  if (lost.length > 0) {
    const more = lost.length > LOST_NAMES ? ", …" : "";
    const names = lost.slice(0, LOST_NAMES).map((name) => `~/${name}`);
    remarks.push(
      `not kept: ${
        names.join(", ")
      }${more}: the home inside the sandbox is a temporary one, gone with its command; write into a root, or the person adds a folder with sandbox_writable in the configuration file`,
    );
  }
  return remarks;
}

/** Waits for a promise for `ms` at most. @returns whether it was settled by then. */
export async function within(
  promise: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

const ENDED = { value: undefined, done: true } as const;
