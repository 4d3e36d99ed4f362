/**
 * Reading on while what was read cannot be answered yet, so that the end of input is noticed even then.
 *
 * @module
 */
import type { Line } from "./lines.ts";

/** Characters of lines that are held while there is no room for their answers. */
export const MAX_AHEAD_CHARS = 1024 * 1024;

/** A source of batches of lines that can be read ahead of its consumer. */
export class Ahead {
  readonly #source: AsyncIterator<Line[], void, void>;
  readonly #held: Line[][] = [];
  #heldChars = 0;
  #next: Promise<IteratorResult<Line[], void>> | undefined;
  #ended = false;

  /** Nobody else may read from `source` any more. */
  constructor(source: AsyncIterator<Line[], void, void>) {
    this.#source = source;
  }

  /** The next batch, held or still to come. @throws what the source fails with. */
  async next(): Promise<IteratorResult<Line[], void>> {
    const held = this.#held.shift();
    if (held) {
      this.#heldChars -= charsOf(held);
      return { value: held, done: false };
    }
    if (this.#ended) return { value: undefined, done: true };
    const next = this.#next ?? this.#source.next();
    this.#next = undefined;
    return await next;
  }

  /**
   * Resolves when `room` does, or when the input has ended. Up to {@linkcode MAX_AHEAD_CHARS} are read meanwhile; where
   * more than that has been said, its end is not seen before there is room.
   *
   * @throws what the source fails with.
   */
  async until(room: Promise<void>): Promise<void> {
    const there = room.then(() => undefined);
    while (!this.#ended && this.#heldChars < MAX_AHEAD_CHARS) {
      this.#next ??= this.#source.next();
      const read = await Promise.race([there, this.#next]);
      if (read === undefined) return;
      this.#next = undefined;
      if (read.done) {
        this.#ended = true;
      } else {
        this.#held.push(read.value);
        this.#heldChars += charsOf(read.value);
      }
    }
    if (!this.#ended) await room;
  }
}

function charsOf(lines: readonly Line[]): number {
  let chars = 0;
  for (const line of lines) {
    chars += typeof line === "string"
      ? line.length
      : line.head.length + line.tail.length;
  }
  return chars;
}
