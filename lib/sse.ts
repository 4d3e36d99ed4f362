/**
 * A stream of server-sent events that a client may take up again where it lost it.
 *
 * @module
 */

/** Milliseconds between the comments that keep an idle stream open. */
export const KEEP_ALIVE_MS = 15_000;

/** Events that one stream keeps for a client that comes back. */
export const MAX_KEPT_EVENTS = 256;

/** Characters that one stream keeps for a client that comes back. */
export const MAX_KEPT_CHARS = 4 * 1024 * 1024;

/** Bytes that wait for a client to read them before it is let go. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Milliseconds after which a client that lost the stream is to come back. */
export const RETRY_MS = 1_000;

/** The headers of a response that is such a stream. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

/** How a stream is kept. */
export interface EventStreamOptions {
  /** Tells streams of one session apart; part of every event's id. Without it, events have no ids. */
  id?: string;
  /** Begins with an event without data, so that the client has an id to come back with (2025-11-25). */
  primed?: boolean;
  /** Called when the client lets go of the stream before its end. */
  onGone?(): void;
}

/** A stream of events, with at most one reader at a time. */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #encoder = new TextEncoder();
  #kept: { number: number; text: string }[] = [];
  #keptChars = 0;
  #last = 0;
  /** The last event that a reader got; one that comes without an event's id gets those after it. */
  #delivered = 0;
  #sink: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #ended = false;

  /** Makes a stream that nobody reads yet. */
  constructor(options: EventStreamOptions = {}) {
    this.#options = options;
  }

  /** Whether somebody reads. */
  get isRead(): boolean {
    return this.#sink !== undefined;
  }

  /** Whether the last event has been sent. */
  get isEnded(): boolean {
    return this.#ended;
  }

  /** Sends a message, now or when a reader comes. */
  send(line: string): void {
    if (this.#ended) return;
    const number = ++this.#last;
    const text = this.#event(number, line);
    if (this.#options.id !== undefined || !this.#sink) {
      this.#kept.push({ number, text });
      this.#keptChars += text.length;
      while (
        this.#kept.length > MAX_KEPT_EVENTS || this.#keptChars > MAX_KEPT_CHARS
      ) {
        this.#keptChars -= this.#kept.shift()!.text.length;
      }
    }
    if (this.#sink) this.#delivered = number;
    this.#write(text);
  }

  /** Ends the stream. What is kept can still be read. */
  end(): void {
    this.#ended = true;
    const sink = this.#sink;
    this.#letGo();
    sink?.close();
  }

  /**
   * The events after the one of number `after` (without it, those that nobody has got), and those to come. An earlier
   * reader is let go.
   */
  read(after?: number): ReadableStream<Uint8Array> {
    const before = this.#sink;
    this.#letGo();
    before?.close();
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#sink = controller;
        if (after === undefined && this.#options.primed) {
          this.#write(`retry: ${RETRY_MS}\n${this.#event(0, "")}`);
        }
        for (const { number, text } of this.#kept) {
          if (number > (after ?? this.#delivered)) this.#write(text);
        }
        this.#delivered = this.#last;
        if (this.#ended) return this.end();
        this.#timer = setInterval(
          () => this.#write(": keep-alive\n\n"),
          KEEP_ALIVE_MS,
        );
      },
      cancel: () => {
        this.#letGo();
        if (!this.#ended) this.#options.onGone?.();
      },
    }, new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 }));
  }

  #event(number: number, data: string): string {
    const { id } = this.#options;
    return id === undefined
      ? `data: ${data}\n\n`
      : `id: ${id}.${number}\ndata: ${data}\n\n`;
  }

  #write(text: string): void {
    const sink = this.#sink;
    if (!sink) return;
    sink.enqueue(this.#encoder.encode(text));
    if ((sink.desiredSize ?? 0) > -MAX_UNREAD_BYTES) return;
    // A reader that does not read is gone.
    this.#letGo();
    sink.error(new Error("The client does not read"));
    this.#options.onGone?.();
  }

  #letGo(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#sink = undefined;
  }
}

/** The stream's id and the event's number in the `Last-Event-ID` that a client comes back with. */
export function readEventId(
  text: string,
): { stream: string; number: number } | undefined {
  const found = /^(.+)\.(\d{1,15})$/.exec(text);
  return found ? { stream: found[1]!, number: Number(found[2]) } : undefined;
}
