/**
 * `rousseau undo`: what a session's `write` and `edit` changed, shown as a difference and put back.
 *
 * What changed since, by other hands, is never touched unless forced; and an undo is itself a step that can be undone.
 *
 * @module
 */
import { readWhole, withFile } from "./change.ts";
import { CHECKPOINT_BYTES } from "./checkpoint.ts";
import { contentOf, sha256, type Step, stepsOf } from "./checkpoints.ts";
import { type Command, command, CommandError } from "./command.ts";
import { unifiedDiff } from "./diff.ts";
import { decodeExact, showExact } from "./encoding.ts";
import { replaceFile, versionOf } from "./files.ts";
import { fromUser } from "./platform.ts";
import type { Resolved } from "./scope.ts";
import { sessionNamed, storeOf } from "./session_tools.ts";
import type { SessionStore } from "./store.ts";
import { answer, osError, type ToolContext } from "./tool.ts";

/** The arguments of `undo`. */
export const undoInput = {
  type: "object",
  properties: {
    session: {
      type: "string",
      description:
        "A session's id, or the beginning of one; default the one that last changed a file.",
    },
    step: {
      type: "integer",
      minimum: 1,
      description: "Only this step, as the answers of write and edit name it.",
    },
    file: { type: "string", description: "Only this file." },
    dry_run: {
      type: "boolean",
      default: false,
      description: "Only show what would be put back.",
    },
    force: {
      type: "boolean",
      default: false,
      description: "Also where the file was changed since.",
    },
  },
  additionalProperties: false,
} as const;

/** What is to become of one file. */
export interface Plan {
  /** Real path. */
  path: string;
  /** Content to put back, by its hash; null: the file was not there. */
  before: string | null;
  /** The mode to give it; null: as it is. */
  mode: number | null;
  /** Content that has to be there now; null: none. */
  expected: string | null;
  /** Later steps of the session on the same file that stand in the way. */
  later: number[];
}

/** The command `undo`. */
export const undoCommand: Command<typeof undoInput, ToolContext> = command({
  name: "undo",
  summary: "Put back what write and edit changed in a session",
  description:
    "Puts files back as they were before a session's write and edit calls, after showing the difference; refuses where a file was changed since. What bash changed is not known and not touched.",
  input: undoInput,
  positionals: ["session"],
  examples: [
    "rousseau undo --dry-run",
    "rousseau undo 1a2b3c4d --file src/main.ts",
  ],
  async run(args, ctx) {
    const store = storeOf(ctx);
    const { n, steps } = await stepsToUndo(store, args.session);
    const file = args.file === undefined
      ? undefined
      : fromUser(ctx.platform, args.file) ?? args.file;
    const real = file === undefined
      ? undefined
      : (await ctx.scope.resolve(file, "write")).real;
    const plans = planUndo(steps, { step: args.step, file: real });
    if (plans.length === 0) {
      throw new CommandError(
        args.step === undefined
          ? "undo: this session did not change that file"
          : `undo: this session has no step ${args.step}`,
      );
    }
    const undo = new Undo(ctx, store, n);
    if (!args.force) await undo.refuseConflicts(plans);
    const done: string[] = [];
    for (const plan of plans) done.push(await undo.apply(plan, args));
    return answer(done.join("\n"), { meta: { files: plans.length } });
  },
});

/** What is to be put back: a step's file, or every file as it was before the session's first step on it. */
export function planUndo(
  steps: readonly Step[],
  only: { step?: number | undefined; file?: string | undefined },
): Plan[] {
  const byPath = Map.groupBy(steps, ({ path }) => path);
  const plans: Plan[] = [];
  for (const [path, chain] of byPath) {
    if (only.file !== undefined && path !== only.file) continue;
    const from = only.step === undefined
      ? 0
      : chain.findIndex(({ step }) => step === only.step);
    const first = chain[from];
    const last = only.step === undefined ? chain.at(-1) : first;
    if (!first || !last) continue;
    plans.push({
      path,
      before: first.before,
      mode: first.mode,
      expected: last.after,
      later: only.step === undefined
        ? []
        : chain.slice(from + 1).map(({ step }) => step),
    });
  }
  return plans;
}

/** The steps of the session that is named, or of the one that last changed a file. */
async function stepsToUndo(
  store: SessionStore,
  named: string | undefined,
): Promise<{ n: number; steps: Step[] }> {
  const id = named === undefined
    ? undefined
    : (await sessionNamed(store, named)).id;
  const found = await store.query((db, { numbers, values }) => {
    const row = db.get<{ n: number }>(
      `SELECT session AS n FROM steps JOIN sessions s ON s.n = session WHERE ${
        numbers === undefined ? "true" : `s.n IN (${numbers})`
      } ${id === undefined ? "" : "AND s.id = ?"}
       ORDER BY steps.created_at DESC, session DESC, step DESC LIMIT 1`,
      ...values,
      ...(id === undefined ? [] : [id]),
    );
    return row && { n: row.n, steps: stepsOf(db, row.n) };
  });
  if (!found) {
    throw new CommandError(
      id === undefined
        ? "undo: no session of this project changed a file"
        : "undo: this session changed no file",
    );
  }
  return found;
}

/** The files of one undo. */
class Undo {
  readonly #ctx: ToolContext;
  readonly #store: SessionStore;
  readonly #n: number;

  constructor(ctx: ToolContext, store: SessionStore, n: number) {
    this.#ctx = ctx;
    this.#store = store;
    this.#n = n;
  }

  /**
   * Looks at all files before the first is touched.
   *
   * @throws {CommandError} that names each file in the way.
   */
  async refuseConflicts(plans: readonly Plan[]): Promise<void> {
    const conflicts: string[] = [];
    for (const plan of plans) {
      const target = await this.#ctx.scope.resolve(plan.path, "write");
      const conflict = await conflictOf(plan, await contentAt(target));
      if (conflict) conflicts.push(conflict);
    }
    if (conflicts.length > 0) {
      throw new CommandError(
        `undo: nothing was put back:\n${
          conflicts.join("\n")
        }\n--force does it all the same`,
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
  if (hash === plan.expected || hash === plan.before) return undefined;
  return now
    ? `${plan.path}: changed since`
    : `${plan.path}: is not there any more`;
}

async function put(
  target: Resolved,
  bytes: Uint8Array | null,
  now: Content | undefined,
  mode: number | null,
): Promise<void> {
  if (bytes === null) {
    await Deno.remove(target.real);
    return;
  }
  await replaceFile(target, bytes, {
    expect: now ? versionOf(now.info) : null,
    ...(now ? { expectBytes: now.bytes } : {}),
  });
  const wanted = mode === null ? null : mode & 0o7777;
  if (wanted !== null && wanted !== ((now?.info.mode ?? -1) & 0o7777)) {
    await Deno.chmod(target.real, wanted);
  }
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
