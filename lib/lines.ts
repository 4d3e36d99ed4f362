/**
 * Bytes from a peer become lines of text. Every line is bounded, and a bad one is reported as an item among the
 * others, so that it can be answered and never ends the stream.
 *
 *     bytes -> LineLimiter -> TextDecoderStream -> TextLineStream -> batches of lines
 *
 * A line ends at `\n` or `\r\n` and at nothing else (U+2028 and its like are data). A byte-order mark at the start
 * and blank lines are skipped; the last line needs no newline.
 *
 * @module
 */
// @ts-types="./std_streams.d.ts"
import { TextLineStream } from "@std/streams/text-line-stream";

/** The longest line that is accepted, in bytes, its line end not counted. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Bytes kept from the start of a line that is not passed on. */
export const HEAD_BYTES = 4096;

/** Bytes kept from the end of a line that is not passed on. */
export const TAIL_BYTES = 512;

/** A line that is not passed on: why, and its two ends (not its middle), decoded as well as they can be. */
export interface BadLine {
  /** Why it is not passed on. */
  problem: "too long" | "not UTF-8" | "not text";
  /** Its first {@linkcode HEAD_BYTES}. */
  head: string;
  /** Empty when the head is the whole line. */
  tail: string;
}

/** One line without its line end, or the report of a bad one. */
export type Line = string | BadLine;

/**
 * The lines of `readable`, in batches: what arrived together is handed over together, so that the answers can leave
 * together. Ends when `readable` ends, or when `signal` is aborted, which cancels `readable`.
 *
 * @throws what `readable` fails with.
 */
export async function* readLines(
  readable: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Line[], void, void> {
  const reader = readable
    .pipeThrough(new LineLimiter())
    .pipeThrough(
      // The limiter has dealt with the byte-order mark; a second one is data.
      new TextDecoderStream("utf-8", { ignoreBOM: true }) as TransformStream<
        Uint8Array,
        string
      >,
    )
    .pipeThrough(new TextLineStream())
    .getReader();
  const stop = () => {
    reader.cancel(signal?.reason).catch(() => {});
  };
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  try {
    let batch: Line[] = [];
    while (true) {
      const { value: line, done } = await reader.read();
      if (done) break;
      if (line === BATCH_END) {
        if (batch.length > 0) yield batch;
        batch = [];
      } else if (line.charCodeAt(0) === 0) {
        batch.push(readMarker(line));
      } else if (line !== "" && !isBlank(line)) {
        batch.push(line);
      }
    }
    if (batch.length > 0) yield batch;
  } finally {
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

const LF = 0x0a;
const CR = 0x0d;

/** The line that the limiter puts after the lines of one chunk. Genuine lines that begin with NUL are re-marked. */
const BATCH_END = "\0";
const BATCH_END_BYTES = new Uint8Array([0, LF]);

const PROBLEMS = ["too long", "not UTF-8", "not text"] as const;

function isBlank(line: string): boolean {
  return line.charCodeAt(0) <= 0x20 && line.trim() === "";
}

function readMarker(line: string): BadLine {
  const [, problem, head = "", tail = ""] = line.split("\0");
  return { problem: PROBLEMS[Number(problem)] ?? "not text", head, tail };
}

/**
 * Passes whole lines on, a chunk at a time, and holds at most one incomplete line within {@linkcode MAX_LINE_BYTES}.
 * A bad line is replaced with a marker line that begins with NUL.
 */
class LineLimiter extends TransformStream<Uint8Array, Uint8Array> {
  constructor() {
    const limiter = new Limiter();
    super({
      transform(chunk, controller) {
        limiter.take(chunk, (bytes) => controller.enqueue(bytes));
      },
      flush(controller) {
        limiter.end((bytes) => controller.enqueue(bytes));
      },
    });
  }
}

type Emit = (bytes: Uint8Array) => void;

class Limiter {
  readonly #decoder = new TextDecoder("utf-8", {
    fatal: true,
    ignoreBOM: true,
  });
  #held = new Held();
  #dropped: Dropped | undefined;
  #atStart = true;

  take(chunk: Uint8Array, emit: Emit): void {
    const last = chunk.lastIndexOf(LF);
    if (last === -1) return this.#hold(chunk);
    let start = 0;
    if (this.#atStart || this.#dropped || this.#held.length > 0) {
      start = chunk.indexOf(LF) + 1;
      this.#hold(chunk.subarray(0, start));
      this.#release(emit);
    }
    const whole = chunk.subarray(start, last + 1);
    if (whole.length > 0) {
      // One look over the whole chunk is far cheaper than one over each of its lines.
      if (
        whole.length <= MAX_LINE_BYTES && !whole.includes(0) &&
        this.#isUtf8(whole)
      ) {
        emit(whole);
      } else {
        for (let from = 0; from < whole.length;) {
          const next = whole.indexOf(LF, from) + 1;
          this.#emitLine(whole.subarray(from, next), emit);
          from = next;
        }
      }
    }
    emit(BATCH_END_BYTES);
    if (last + 1 < chunk.length) this.#hold(chunk.subarray(last + 1));
  }

  end(emit: Emit): void {
    if (!this.#dropped && this.#held.length === 0) return;
    this.#hold(new Uint8Array([LF]));
    this.#release(emit);
  }

  #hold(part: Uint8Array): void {
    if (this.#dropped) return this.#dropped.add(part);
    // Two bytes more than a line may have, for its line end; which of the two it is is looked at on release.
    if (this.#held.length + part.length <= MAX_LINE_BYTES + 2) {
      return this.#held.add(part);
    }
    this.#dropped = new Dropped();
    this.#dropped.add(this.#held.bytes);
    this.#dropped.add(part);
    this.#held = new Held();
  }

  #release(emit: Emit): void {
    if (this.#dropped) {
      const { head, tail } = this.#dropped;
      emit(marker("too long", head, withoutEnd(tail).subarray(-TAIL_BYTES)));
    } else {
      this.#emitLine(this.#held.bytes, emit);
    }
    this.#held = new Held();
    this.#dropped = undefined;
    this.#atStart = false;
  }

  /** `line` ends with its line feed. */
  #emitLine(line: Uint8Array, emit: Emit): void {
    if (
      this.#atStart && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf
    ) {
      line = line.subarray(3);
    }
    const content = withoutEnd(line);
    if (content.length > MAX_LINE_BYTES) {
      emit(markLine("too long", content));
    } else if (content[0] === 0) {
      emit(markLine("not text", content));
    } else if (!this.#isUtf8(content)) {
      emit(markLine("not UTF-8", content));
    } else {
      emit(line);
    }
  }

  #isUtf8(bytes: Uint8Array): boolean {
    try {
      this.#decoder.decode(bytes);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * An incomplete line in a buffer of its own: chunks are copied, because one of a few bytes may keep 64 KiB alive,
 * and the buffer doubles, so that a line of many chunks costs linear time.
 */
class Held {
  #buffer = new Uint8Array(0);
  length = 0;

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  add(part: Uint8Array): void {
    const length = this.length + part.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(
        this.length === 0 ? length : Math.max(length, 2 * this.#buffer.length),
      );
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(part, this.length);
    this.length = length;
  }
}

/** The two ends of a line that is dropped as it streams. */
class Dropped {
  head = new Uint8Array(0);
  tail = new Uint8Array(0);

  add(part: Uint8Array): void {
    const missing = HEAD_BYTES - this.head.length;
    if (missing > 0) this.head = join(this.head, part.subarray(0, missing));
    // Two more for the line end.
    const kept = -TAIL_BYTES - 2;
    this.tail = join(this.tail, part.subarray(kept)).slice(kept);
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

function markLine(
  problem: BadLine["problem"],
  content: Uint8Array,
): Uint8Array {
  return marker(
    problem,
    content.subarray(0, HEAD_BYTES),
    content.subarray(Math.max(HEAD_BYTES, content.length - TAIL_BYTES)),
  );
}

/** A line without the line feed, and the carriage return before it, that it ends with. */
function withoutEnd(line: Uint8Array): Uint8Array {
  return line.subarray(0, line.at(-2) === CR ? -2 : -1);
}

/** `NUL problem NUL head NUL tail LF`; a NUL within the ends becomes a space. */
function marker(
  problem: BadLine["problem"],
  head: Uint8Array,
  tail: Uint8Array,
): Uint8Array {
  const code = 0x30 + PROBLEMS.indexOf(problem);
  return new Uint8Array([
    ...[0, code, 0],
    ...head.map(withoutNul),
    ...[0],
    ...tail.map(withoutNul),
    ...[LF],
  ]);
}

function withoutNul(byte: number): number {
  return byte === 0 ? 0x20 : byte;
}
