/**
 * What a path may be as text, before anything is looked at.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import type { Paths } from "./paths.ts";

/** Bytes of a path at most, as on Linux. */
export const MAX_PATH_BYTES = 4096;

/** Bytes of one component at most, as on every usual file system. */
export const MAX_NAME_BYTES = 255;

function byteLength(text: string): number {
  return text.length * 3 <= MAX_NAME_BYTES
    ? text.length
    : encoder.encode(text).byteLength;
}

/**
 * Refuses what no file system can hold.
 *
 * @throws {CommandError} for an empty path, a NUL, half a character, or too many bytes.
 */
export function refuseMalformed(path: string): void {
  if (path === "") throw new CommandError("path is required");
  if (path.includes("\0")) {
    throw new CommandError(
      `path ${
        clipped(JSON.stringify(path))
      } holds a NUL character, which no file name can. Give it without`,
    );
  }
  if (!path.isWellFormed()) {
    throw new CommandError(
      "path holds half of a character pair (a lone surrogate), which no file name can. Give it without",
    );
  }
  if (encoder.encode(path).byteLength > MAX_PATH_BYTES) {
    throw new CommandError(
      `open ${
        clipped(path)
      }: file name too long (at most ${MAX_PATH_BYTES} bytes a path)`,
    );
  }
}

function clipped(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 120).toWellFormed()}…`;
}

/**
 * Refuses components that cannot be the name of a file.
 *
 * @throws {CommandError} for a name of too many bytes, and for what Windows reads as something else.
 */
export function refuseBadNames(paths: Paths, path: string): void {
  for (const name of paths.components(path)) {
    if (byteLength(name) > MAX_NAME_BYTES) {
      throw new CommandError(
        `open ${
          clipped(path)
        }: file name too long (at most ${MAX_NAME_BYTES} bytes a name)`,
      );
    }
    const bad = paths.badName(name);
    if (bad !== undefined) {
      throw new CommandError(
        `open ${path}: ${JSON.stringify(name)} cannot be a file's name: ${bad}`,
      );
    }
  }
}

const encoder = new TextEncoder();
