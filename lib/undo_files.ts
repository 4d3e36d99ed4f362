/**
 * Putting files back as they were, one at a time, unless somebody else changed them since.
 *
 * @module
 */
import { readWhole, withFile } from "./change.ts";
import { CHECKPOINT_BYTES } from "./checkpoint.ts";
import { contentOf, sha256 } from "./checkpoints.ts";
import { CommandError } from "./command.ts";
import { unifiedDiff } from "./diff.ts";
import { decodeExact, showExact } from "./encoding.ts";
import { replaceFile, type Version, versionOf } from "./files.ts";
import type { Resolved } from "./scope.ts";
import type { SessionStore } from "./store.ts";
import { osError, type ToolContext } from "./tool.ts";
import { permissions, type Plan } from "./undo_plan.ts";

/** The files of one undo. */
export class Undo {
  readonly #ctx: ToolContext;
  readonly #store: SessionStore;
  readonly #n: number;

  /** For steps of the session with number `n` in the file. */
  constructor(ctx: ToolContext, store: SessionStore, n: number) {
    this.#ctx = ctx;
    this.#store = store;
    this.#n = n;
  }

  /** Puts files back in order, or shows what that would change; what became of each. Stops at the first that fails. */
  async applyAll(
    plans: readonly Plan[],
    how: { dry_run: boolean; force: boolean },
  ): Promise<string[]> {
    const done: string[] = [];
    for (const plan of plans) {
      try {
        done.push(await this.apply(plan, how));
      } catch (error) {
        if (done.length === 0 || !(error instanceof CommandError)) throw error;
        throw new CommandError(
          `${error.message}\nbefore that:\n${done.map(firstLine).join("\n")}`,
          { cause: error },
        );
      }
    }
    return done;
  }

  /** What the steps changed, as a difference from what was there before them to what is there now. */
  async review(plan: Plan): Promise<string> {
    const target = await this.#ctx.scope.resolve(plan.path, "read");
    const now = await contentAt(target);
    const before = plan.before === null
      ? null
      : await contentOf((query) => this.#store.query(query), plan.before);
    const hash = now ? await sha256(now.bytes) : null;
    const what = isSame(now?.bytes ?? null, before)
      ? "as it was"
      : before === null
      ? "new"
      : now === undefined
      ? "removed"
      : "changed";
    const since = hash === plan.expected || hash === plan.before
      ? ""
      : ", also by others since";
    const head = `${target.shown}: ${what}${since}`;
    return what === "as it was"
      ? head
      : `${head}\n${await difference(before, now?.bytes ?? null)}`;
  }

  /**
   * Looks at all files before the first is touched. `hint` is said after what is in the way.
   *
   * @throws {CommandError} that names each file in the way.
   */
  async refuseConflicts(plans: readonly Plan[], hint: string): Promise<void> {
    const conflicts: string[] = [];
    for (const plan of plans) {
      const target = await this.#ctx.scope.resolve(plan.path, "write");
      const conflict = await conflictOf(plan, await contentAt(target));
      if (conflict) conflicts.push(conflict);
    }
    if (conflicts.length > 0) {
      throw new CommandError(
        `undo: nothing was put back:\n${conflicts.join("\n")}${hint}`,
      );
    }
  }

  /** Puts one file back, or shows what that would change. */
  async apply(
    plan: Plan,
    { dry_run: isDry, force }: { dry_run: boolean; force: boolean },
  ): Promise<string> {
    return await withFile("undo", plan.path, this.#ctx, async (target) => {
      const now = await contentAt(target);
      const conflict = await conflictOf(plan, now);
      if (conflict && !force) throw new CommandError(`undo: ${conflict}`);
      const before = plan.before === null
        ? null
        : await contentOf((query) => this.#store.query(query), plan.before);
      if (isSame(now?.bytes ?? null, before)) {
        return `${target.shown}: as it was`;
      }
      const diff = await difference(now?.bytes ?? null, before);
      const what = before === null
        ? ["removed", "would be removed"]
        : ["put back", "would be put back"];
      const head = `${target.shown}: ${what[isDry ? 1 : 0]}`;
      if (isDry) return `${head}\n${diff}`;
      const kept = await this.#store.checkpoints.keepIn(this.#n, {
        path: target.real,
        tool: "undo",
        before: now?.bytes ?? null,
        mode: now?.info.mode ?? null,
        after: before,
      });
      try {
        await put(target, before, now, plan.mode);
      } catch (error) {
        if (kept.step !== undefined) await kept.forget();
        throw osError("undo", error, "write", target.shown);
      }
      return `${head}${
        kept.step === undefined ? "" : ` (undo: step ${kept.step})`
      }\n${diff}`;
    });
  }
}

interface Content {
  bytes: Uint8Array;
  info: Deno.FileInfo;
}

async function contentAt(target: Resolved): Promise<Content | undefined> {
  return target.info
    ? await readWhole("undo", target, CHECKPOINT_BYTES * 2)
    : undefined;
}

/** Why a file cannot be put back, or undefined. */
async function conflictOf(
  plan: Plan,
  now: Content | undefined,
): Promise<string | undefined> {
  if (plan.later.length > 0) {
    return `${plan.path}: changed again in step ${
      plan.later.join(", ")
    }; undo that first, or all of it with --file`;
  }
  const hash = now ? await sha256(now.bytes) : null;
  if (hash === plan.before) return undefined;
  if (hash !== plan.expected) {
    return now
      ? `${plan.path}: changed since`
      : `${plan.path}: is not there any more`;
  }
  if (plan.gap !== undefined) {
    return `${plan.path}: changed by others before step ${plan.gap}; undo later steps one at a time`;
  }
  const mode = now?.info.mode ?? null;
  return mode !== null && plan.expectedMode !== null &&
      permissions(mode) !== permissions(plan.expectedMode)
    ? `${plan.path}: its mode changed since, to ${
      permissions(mode).toString(8)
    }`
    : undefined;
}

async function put(
  target: Resolved,
  bytes: Uint8Array | null,
  now: Content | undefined,
  mode: number | null,
): Promise<void> {
  const expect = now ? versionOf(now.info) : null;
  if (bytes === null) {
    const there = versionOf(await Deno.lstat(target.real));
    if (!isSameVersion(there, expect)) {
      throw new CommandError(`${target.shown}: changed meanwhile`);
    }
    await Deno.remove(target.real);
    return;
  }
  await replaceFile(target, bytes, {
    expect,
    ...(now ? { expectBytes: now.bytes } : {}),
    ...(mode === null ? {} : { mode: mode & 0o7777 }),
  });
}

function isSameVersion(a: Version, b: Version | null): boolean {
  return b !== null && a.dev === b.dev && a.ino === b.ino &&
    a.size === b.size && a.mtime === b.mtime;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

async function difference(
  now: Uint8Array | null,
  then: Uint8Array | null,
): Promise<string> {
  const [old, next] = [now ?? NOTHING, then ?? NOTHING];
  if (old.includes(0) || next.includes(0)) {
    return `(binary: ${old.length} bytes become ${next.length})`;
  }
  const { text: oldText, encoding } = decodeExact(old);
  const { text: newText } = decodeExact(next);
  const { text, left } = await unifiedDiff(
    oldText,
    newText,
    [{
      oldStart: 0,
      oldEnd: oldText.length,
      newStart: 0,
      newEnd: newText.length,
    }],
    (line) => showExact(line, encoding),
  );
  return text.trimEnd() + (left ? `\n… ${left}` : "");
}

const NOTHING = new Uint8Array();
