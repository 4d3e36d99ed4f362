/**
 * The lines of a file from an offset on, in constant memory, however long the file and its lines are.
 *
 * @module
 */

/** Bytes of a line that is read; longer ones are skipped. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Bytes read at a time. */
export const READ_BYTES = 256 * 1024;

/** A line, and where the next one begins. */
export interface Line {
  /** The line without its end; undefined when it is too long. */
  text: string | undefined;
  /** Offset of what follows it. */
  end: number;
  /** False for a last line that nothing ends: it may be torn. */
  isWhole: boolean;
}

/** Reads from `offset` to the end. Bytes that are not UTF-8 become U+FFFD; a byte-order mark at the start is dropped. */
export async function* linesFrom(
  file: Deno.FsFile,
  offset: number,
): AsyncGenerator<Line> {
  await file.seek(offset, Deno.SeekMode.Start);
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(READ_BYTES);
  let parts: Uint8Array[] = [];
  let size = 0;
  let at = offset;
  const take = (end: number, isWhole: boolean): Line => {
    const text = size > MAX_LINE_BYTES
      ? undefined
      : joined(parts, size, decoder);
    parts = [];
    size = 0;
    return { text, end, isWhole };
  };
  while (true) {
    const count = await file.read(buffer);
    if (count === null) break;
    let from = 0;
    while (from < count) {
      const feed = buffer.subarray(0, count).indexOf(10, from);
      const to = feed < 0 ? count : feed;
      size += to - from;
      if (size <= MAX_LINE_BYTES) parts.push(buffer.slice(from, to));
      else parts = [];
      if (feed < 0) break;
      yield take(at + feed + 1, true);
      from = feed + 1;
    }
    at += count;
  }
  if (size > 0) yield take(at, false);
}

function joined(
  parts: readonly Uint8Array[],
  size: number,
  decoder: TextDecoder,
): string {
  if (parts.length === 1) return decoder.decode(parts[0]);
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return decoder.decode(all);
}
