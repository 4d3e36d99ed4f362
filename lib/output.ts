/**
 * The output of a command in bounded memory: its beginning, its end, its size, and the whole in a file once it is long.
 *
 * @module
 */
import type { OutputFile, OutputFiles } from "./output_files.ts";
import {
  clean,
  completeLength,
  continuationBytes,
  fitHead,
  fitTail,
} from "./output_text.ts";
import type { CleanText } from "./output_text.ts";

/** What {@linkcode Output.show} gives. */
export interface Shown extends CleanText {
  /** Bytes left out in the middle. */
  dropped: number;
}

/** Bytes of one command's output that are kept in its file. */
export const FILE_BYTES = 64 * 1024 * 1024;

/** Share of a shortened text that shows the beginning of the output; the end is worth more. */
export const HEAD_SHARE = 0.4;

/** A piece of the output and where the next begins. Offsets count bytes from the start of the output. */
export interface Piece extends CleanText {
  /** Offset of the first byte shown. */
  from: number;
  /** Offset of the first byte not shown. */
  next: number;
}

/** Collects output. `write` is called by one reader at a time per stream and may be awaited for back-pressure. */
export class Output {
  readonly #headMax: number;
  readonly #tailMax: number;
  readonly #fileMax: number;
  readonly #files: OutputFiles | undefined;
  #head = new Uint8Array(0);
  #headLength = 0;
  /** The byte at offset `o` beyond the head is at `(o - headMax) % tailMax`. */
  #tail: Uint8Array | undefined;
  #total = 0;
  #spool: OutputFile | undefined;
  #path: string | undefined;
  #saved = 0;
  #saving: Promise<void> = Promise.resolve();
  #failed = false;
  #ended = false;
  #news = Promise.withResolvers<void>();

  /**
   * Holds nothing yet.
   *
   * @param budget characters of an answer: output of that many always stays whole in memory.
   * @param files where long output is kept; without it nothing is kept beyond memory.
   */
  constructor(budget: number, files?: OutputFiles, fileMax = FILE_BYTES) {
    // One UTF-16 unit is at most three bytes of UTF-8.
    this.#headMax = 3 * budget;
    this.#tailMax = 2 * budget;
    this.#fileMax = fileMax;
    this.#files = files;
  }

  /** Bytes written so far. */
  get total(): number {
    return this.#total;
  }

  /** The file that holds the output, when there is one. */
  get path(): string | undefined {
    return this.#path;
  }

  /** Bytes from the beginning that the file holds. */
  get saved(): number {
    return this.#saved;
  }

  /** Whether {@linkcode end} was called. */
  get ended(): boolean {
    return this.#ended;
  }

  /**
   * Adds a chunk. Resolves when it is kept: in memory at once, in the file when there is one. Until then its buffer is
   * in use. Never rejects.
   */
  async write(chunk: Uint8Array): Promise<void> {
    const room = this.#headMax - this.#headLength;
    const first = room > 0 ? chunk.subarray(0, room) : EMPTY;
    const rest = chunk.subarray(first.length);
    if (first.length > 0) this.#appendHead(first);
    if (rest.length > 0) this.#appendTail(rest);
    this.#total += chunk.length;
    this.#announce();
    if (rest.length > 0) await this.#save(rest);
  }

  /** Says that nothing more will be written, and closes the file. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#saving;
    this.#closeFile();
    this.#announce();
  }

  /** Resolves at the next write or at the end. */
  news(): Promise<void> {
    return this.#ended ? Promise.resolve() : this.#news.promise;
  }

  /**
   * Puts output that is still whole in memory into a file as well.
   *
   * @returns the file's path, or undefined when none can be made.
   */
  async keep(): Promise<string | undefined> {
    if (this.#path === undefined) await this.#save(EMPTY);
    if (this.#ended) this.#closeFile();
    return this.#path;
  }

  /**
   * The whole output when it fits into `budget` UTF-16 units, else its beginning and end with a line between them
   * that says how many bytes are left out.
   */
  show(budget: number, headShare = HEAD_SHARE): Shown {
    if (this.#total <= this.#headMax) {
      const whole = clean(this.#slice(0, this.#total));
      if (whole.text.length <= budget) return { ...whole, dropped: 0 };
    }
    const room = Math.max(0, budget - MARKER_ROOM);
    const head = this.#slice(0, this.#headLength);
    const headBytes = fitHead(head, Math.floor(room * headShare));
    const tail = this.#slice(
      Math.max(headBytes, this.#total - this.#tailMax),
      this.#total,
    );
    const tailBytes = fitTail(tail, room - Math.floor(room * headShare));
    const dropped = this.#total - headBytes - tailBytes;
    const start = clean(head.subarray(0, headBytes));
    const end = clean(tail.subarray(tail.length - tailBytes));
    return {
      text: dropped === 0
        ? start.text + end.text
        : `${withNewline(start.text)}${marker(dropped)}\n${end.text}`,
      dropped,
      escaped: start.escaped + end.escaped,
      invalid: start.invalid || end.invalid,
    };
  }

  /**
   * Output from the byte offset `since` (negative: from the end) within `budget` UTF-16 units. An offset whose bytes
   * are no longer kept moves forward to the first one that is.
   */
  async read(since: number, budget: number): Promise<Piece> {
    const total = this.#total;
    const start = since < 0 ? Math.max(0, total + since) : since;
    let { from, bytes } = await this.#bytes(Math.min(start, total), 3 * budget);
    const skip = since === 0 ? 0 : continuationBytes(bytes);
    from += skip;
    bytes = bytes.subarray(skip);
    const atEnd = this.#ended && from + bytes.length >= this.#total;
    if (!atEnd) bytes = bytes.subarray(0, completeLength(bytes));
    const length = fitHead(bytes, budget);
    return {
      ...clean(bytes.subarray(0, length)),
      from,
      next: from + length,
    };
  }

  /** The end of what was written so far, as one short text: what a person would see on the last lines. */
  last(chars: number): string {
    const bytes = this.#slice(
      Math.max(0, this.#total - Math.min(this.#tailMax, 4 * chars)),
      this.#total,
    );
    return clean(bytes.subarray(bytes.length - fitTail(bytes, chars))).text;
  }

  #appendHead(bytes: Uint8Array): void {
    const length = this.#headLength + bytes.length;
    if (length > this.#head.length) {
      const grown = new Uint8Array(
        Math.min(this.#headMax, Math.max(4096, 2 * this.#head.length, length)),
      );
      grown.set(this.#head.subarray(0, this.#headLength));
      this.#head = grown;
    }
    this.#head.set(bytes, this.#headLength);
    this.#headLength = length;
  }

  #appendTail(bytes: Uint8Array): void {
    const tail = this.#tail ??= new Uint8Array(this.#tailMax);
    const end = Math.max(this.#total, this.#headMax) + bytes.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - tail.length));
    const at = (end - kept.length - this.#headMax) % tail.length;
    const first = kept.subarray(0, tail.length - at);
    tail.set(first, at);
    tail.set(kept.subarray(first.length), 0);
  }

  /** Bytes of memory from `from` to `to`; the range lies in the head, in the tail, or across their seam. */
  #slice(from: number, to: number): Uint8Array {
    if (to <= this.#headLength) return this.#head.subarray(from, to);
    const out = new Uint8Array(to - from);
    let at = 0;
    if (from < this.#headLength) {
      const part = this.#head.subarray(from, this.#headLength);
      out.set(part);
      at = part.length;
    }
    const tail = this.#tail!;
    let position = (from + at - this.#headMax) % tail.length;
    while (at < out.length) {
      const part = tail.subarray(
        position,
        Math.min(tail.length, position + out.length - at),
      );
      out.set(part, at);
      at += part.length;
      position = 0;
    }
    return out;
  }

  async #bytes(
    from: number,
    max: number,
  ): Promise<{ from: number; bytes: Uint8Array }> {
    if (from < this.#headLength && this.#total <= this.#headMax) {
      return {
        from,
        bytes: this.#slice(from, Math.min(this.#total, from + max)),
      };
    }
    const tailStart = Math.max(0, this.#total - this.#tailMax);
    if (from < this.#saved && from < tailStart) {
      const bytes = await this.#fromFile(
        from,
        Math.min(max, this.#saved - from),
      );
      if (bytes) return { from, bytes };
    }
    if (from < this.#headLength) {
      const to = Math.min(this.#headLength, from + max);
      return { from, bytes: this.#slice(from, to) };
    }
    const start = Math.max(from, this.#total - this.#tailMax);
    return {
      from: start,
      bytes: this.#slice(start, Math.min(this.#total, start + max)),
    };
  }

  async #fromFile(
    from: number,
    length: number,
  ): Promise<Uint8Array | undefined> {
    try {
      using file = await Deno.open(this.#path!, { read: true });
      await file.seek(from, Deno.SeekMode.Start);
      const bytes = new Uint8Array(length);
      let at = 0;
      while (at < length) {
        const n = await file.read(bytes.subarray(at));
        if (n === null) break;
        at += n;
      }
      return at > 0 ? bytes.subarray(0, at) : undefined;
    } catch {
      return undefined;
    }
  }

  #save(rest: Uint8Array): Promise<void> {
    this.#saving = this.#saving.then(() => this.#saveNow(rest));
    return this.#saving;
  }

  async #saveNow(rest: Uint8Array): Promise<void> {
    if (this.#failed || !this.#files) return;
    try {
      if (this.#path === undefined) {
        this.#spool = await this.#files.create();
        this.#path = this.#spool.path;
      }
      if (this.#saved < this.#headLength) {
        await this.#append(this.#head.subarray(this.#saved, this.#headLength));
      }
      await this.#append(rest);
    } catch {
      // A full or forbidden disk must not stop the command: what is in memory is still answered.
      this.#failed = true;
      this.#closeFile();
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const room = this.#fileMax - this.#saved;
    let left = bytes.subarray(0, Math.max(0, room));
    while (left.length > 0 && this.#spool) {
      const n = await this.#spool.file.write(left);
      this.#saved += n;
      left = left.subarray(n);
    }
  }

  #closeFile(): void {
    if (!this.#spool) return;
    this.#spool.file.close();
    this.#files?.finished(this.#spool.path);
    this.#spool = undefined;
  }

  #announce(): void {
    this.#news.resolve();
    if (!this.#ended) this.#news = Promise.withResolvers<void>();
  }
}

/** The line that stands for what was left out. */
function marker(dropped: number): string {
  return `[output truncated: ${dropped} bytes dropped]`;
}

/** Units that the marker and its line ends may take. */
const MARKER_ROOM = 64;

const EMPTY = new Uint8Array(0);

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
