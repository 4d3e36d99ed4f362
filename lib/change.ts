/**
 * What the tools that change files share: one call at a time on a file, its bytes as they are, and their replacement.
 *
 * @module
 */
import { FileLocks } from "./file_locks.ts";
import { kindOf } from "./file_operations.ts";
import { openChecked, replaceFile, versionOf } from "./files.ts";
import { stateFolder } from "./platform.ts";
import type { Resolved } from "./scope.ts";
import { fileSource } from "./seek.ts";
import { failure, osError, type ToolContext } from "./tool.ts";

/** A file's bytes, and its state when they were read. */
export interface Content {
  /** All of them. */
  bytes: Uint8Array;
  /** Its state when they were read. */
  info: Deno.FileInfo;
}

/**
 * Runs `work` on the file at `path` while no other call of any rousseau process changes it. What `path` leads to is
 * decided again once it is this call's turn.
 *
 * @throws {CommandError} in the tool's name when the scope refuses, or another process holds the file too long.
 */
export async function withFile<T>(
  tool: string,
  path: string,
  ctx: ToolContext,
  work: (target: Resolved) => Promise<T>,
): Promise<T> {
  const resolve = async () => {
    try {
      return await ctx.scope.resolve(path, "write");
    } catch (error) {
      throw osError(tool, error, "open", path);
    }
  };
  const { real } = await resolve();
  const locks = ctx.process.get(
    "file_locks",
    () => new FileLocks(stateFolder(ctx.platform, ctx.config.state.path)),
  );
  let begun = false;
  try {
    return await locks.hold(real, ctx.signal, async () => {
      begun = true;
      return await work(await resolve());
    });
  } catch (error) {
    throw begun ? error : osError(tool, error, "open", path);
  }
}

/**
 * All bytes of a regular file.
 *
 * @throws {CommandError} in the words of `prefix` when it is none, is larger than `limit` bytes, or cannot be read.
 */
export async function readWhole(
  prefix: string,
  target: Resolved,
  limit: number,
): Promise<Content> {
  const { shown } = target;
  refuseIrregular(prefix, target, "read");
  let opened: Awaited<ReturnType<typeof openChecked>>;
  try {
    opened = await openChecked(target);
  } catch (error) {
    throw osError(prefix, error, "open", shown);
  }
  using file = opened.file;
  const { info } = opened;
  if (info.size > limit) {
    throw failure(
      `${prefix}: ${shown}: ${info.size} bytes, over the ${limit} byte limit`,
      { notes: ["use bash for files of this size"] },
    );
  }
  try {
    return {
      bytes: await fileSource(file, info.size).read(0, info.size),
      info,
    };
  } catch (error) {
    throw osError(prefix, error, "read", shown);
  }
}

/** Refuses what is there and is no regular file, by saying what it is. `operation` is what a folder refuses. */
export function refuseIrregular(
  prefix: string,
  { info, shown }: Resolved,
  operation: "open" | "read",
): void {
  if (!info || info.isFile) return;
  throw failure(
    info.isDirectory
      ? `${prefix}: ${operation} ${shown}: is a directory`
      : `${prefix}: ${shown}: not a regular file: it is ${kindOf(info)}`,
  );
}

/**
 * Puts `bytes` in place of the file. Every change that a tool makes to a file goes through here, so this is where
 * what is replaced would be kept for undo, before anything else.
 *
 * @param before the file as the change was made for it; undefined where nothing was. Changed since: refused.
 * @returns notes for the answer.
 * @throws {CommandError} in the words of `prefix`.
 */
export async function putInPlace(
  prefix: string,
  target: Resolved,
  bytes: Uint8Array,
  before: Content | { info: Deno.FileInfo; bytes?: undefined } | undefined,
): Promise<readonly string[]> {
  try {
    return await replaceFile(target, bytes, {
      expect: before ? versionOf(before.info) : null,
      ...(before?.bytes ? { expectBytes: before.bytes } : {}),
    });
  } catch (error) {
    throw osError(prefix, error, "open", target.shown);
  }
}

/** Refuses text that no encoding can hold. */
export function refuseIllFormed(
  tool: string,
  name: string,
  text: string,
): void {
  if (text.isWellFormed()) return;
  throw failure(
    `${tool}: ${name} holds half a character (a lone surrogate), which no file can hold; send the whole character`,
  );
}
