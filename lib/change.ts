/**
 * What the tools that change files share: one call at a time on a file, its bytes as they are, and their replacement.
 *
 * @module
 */
import {
  CHECKPOINT_BYTES,
  type Keeper,
  KEEPER_KEY,
  type Kept,
} from "./checkpoint.ts";
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

/** What {@linkcode putInPlace} is to do, and for whom. */
export interface InPlace {
  /** In whose words errors are told. */
  prefix: string;
  /** The tool. */
  tool: string;
  /** The file. */
  target: Resolved;
  /** What is put there. */
  bytes: Uint8Array;
  /** The file as the change was made for it; undefined where nothing was. Changed since: refused. */
  before: Content | { info: Deno.FileInfo; bytes?: undefined } | undefined;
}

/**
 * Puts bytes in place of a file. Every change that a tool makes to a file goes through here, so this is where what is
 * replaced is kept for undo, before anything else. Where that fails, the file is written all the same.
 *
 * @returns notes for the answer, the step for undo last.
 * @throws {CommandError} in the words of `prefix`.
 */
export async function putInPlace(
  { prefix, tool, target, bytes, before }: InPlace,
  ctx: ToolContext,
): Promise<readonly string[]> {
  const keeper = ctx.process.peek<Keeper>(KEEPER_KEY);
  const kept = keeper &&
    await keep(keeper, { tool, target, bytes, before }, ctx);
  try {
    const notes = await replaceFile(target, bytes, {
      expect: before ? versionOf(before.info) : null,
      ...(before?.bytes ? { expectBytes: before.bytes } : {}),
    });
    return kept === undefined ? notes : [
      ...notes,
      kept.step === undefined
        ? `undo is not available for this: ${kept.problem}`
        : `undo: step ${kept.step}`,
    ];
  } catch (error) {
    if (kept?.step !== undefined) await kept.forget();
    throw osError(prefix, error, "open", target.shown);
  }
}

/** Has the bytes that are replaced kept. */
async function keep(
  keeper: Keeper,
  { tool, target, bytes, before }: Omit<InPlace, "prefix">,
  ctx: ToolContext,
): Promise<Kept | undefined> {
  let there: Uint8Array | null = before?.bytes ?? null;
  if (before && !before.bytes) {
    if (before.info.size > CHECKPOINT_BYTES) {
      return { problem: `the file had more than ${CHECKPOINT_BYTES} bytes` };
    }
    if (ctx.scope.denial(target.real, "read") !== undefined) {
      return { problem: "the file may not be read" };
    }
    try {
      ({ bytes: there } = await readWhole(tool, target, CHECKPOINT_BYTES));
    } catch (error) {
      return { problem: error instanceof Error ? error.message : `${error}` };
    }
  }
  return await keeper.keep(ctx.signal, {
    path: target.real,
    tool,
    before: there,
    mode: before?.info.mode ?? null,
    after: bytes,
  });
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
