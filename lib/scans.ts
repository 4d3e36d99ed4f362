/**
 * Searches for a line that ran out of time: where they ended, so that the same call goes on from there.
 *
 * @module
 */
import type { Mark, Source } from "./seek.ts";

/** Files of which a search that ran out of time is remembered. */
export const REMEMBERED_SCANS = 32;

/** Where searches for a line ran out of time, so that the same call goes on from there. */
export class Scans {
  readonly #marks = new Map<string, Mark & { size: number; before: string }>();

  /** Where an earlier search ended, if the file still is what it was up to there. */
  async recall(
    source: Source,
    info: Deno.FileInfo,
  ): Promise<Mark | undefined> {
    const mark = this.#marks.get(fileKey(info));
    if (!mark || source.size < mark.size) return undefined;
    return await sample(source, mark.byte) === mark.before ? mark : undefined;
  }

  /** Keeps where a search ended. */
  async remember(
    source: Source,
    info: Deno.FileInfo,
    { line, byte }: Mark,
  ): Promise<void> {
    const key = fileKey(info);
    this.#marks.delete(key);
    this.#marks.set(key, {
      line,
      byte,
      size: source.size,
      before: await sample(source, byte),
    });
    if (this.#marks.size > REMEMBERED_SCANS) {
      for (const oldest of this.#marks.keys()) {
        this.#marks.delete(oldest);
        break;
      }
    }
  }
}

function fileKey(info: Deno.FileInfo): string {
  return `${info.dev}:${info.ino}:${info.birthtime?.getTime()}`;
}

/** What stands right before a byte: a log that grew still has it, a file that was rewritten hardly. */
async function sample(source: Source, byte: number): Promise<string> {
  const from = Math.max(0, byte - 256);
  return (await source.read(from, byte - from)).join();
}
