/**
 * The one owner of an output stream: lines that are ready together leave in one write.
 *
 * @module
 */

/** Unwritten characters above which {@linkcode LineWriter.room} makes its caller wait. */
export const MAX_UNWRITTEN_CHARS = 16 * 1024 * 1024;

/** Writes lines to a stream, in the order in which they are given, joined where they are ready at the same time. */
export class LineWriter {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #onClosed: () => void;
  #ready: string[] = [];
  #unwritten = 0;
  #scheduled = false;
  #writing: Promise<void> | undefined;
  #closed = false;

  /** `onClosed` is called once, when the other side has closed the stream. */
  constructor(writable: WritableStream<Uint8Array>, onClosed: () => void) {
    this.#writer = writable.getWriter();
    this.#onClosed = onClosed;
    // A peer that goes away is noticed here even while nothing is written.
    this.#writer.closed.catch(() => this.#close());
  }

  /** Writes `line` and a line feed, soon. After the stream is closed it does nothing. */
  write(line: string): void {
    if (this.#closed) return;
    this.#ready.push(line);
    this.#unwritten += line.length + 1;
    if (this.#writing || this.#scheduled) return;
    this.#scheduled = true;
    // A microtask later everything that this turn of the event loop answers stands in the list.
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#writing ??= this.#drain();
    });
  }

  /** Resolves when the peer has taken enough that more may be produced; at once in the ordinary case. */
  room(): Promise<void> | undefined {
    return this.#unwritten > MAX_UNWRITTEN_CHARS ? this.flush() : undefined;
  }

  /** Resolves when all that was given is written, or the stream is closed. */
  async flush(): Promise<void> {
    while (!this.#closed && (this.#ready.length > 0 || this.#writing)) {
      this.#writing ??= this.#drain();
      await this.#writing;
    }
  }

  /** Gives the stream back, or closes it. What was not flushed is lost. */
  async end(options: { close: boolean }): Promise<void> {
    const closed = this.#closed;
    this.#closed = true;
    try {
      if (options.close && !closed) await this.#writer.close();
    } catch {
      // The other side closed it first.
    }
    this.#writer.releaseLock();
  }

  async #drain(): Promise<void> {
    try {
      while (this.#ready.length > 0 && !this.#closed) {
        const lines = this.#ready;
        this.#ready = [];
        const text = lines.join("\n") + "\n";
        await this.#writer.write(this.#encoder.encode(text));
        this.#unwritten -= text.length;
      }
    } catch {
      this.#close();
    } finally {
      this.#writing = undefined;
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ready = [];
    this.#onClosed();
  }
}
