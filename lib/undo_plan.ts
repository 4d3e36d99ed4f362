/**
 * What an undo is to do: the steps of a session, and what becomes of each of their files.
 *
 * @module
 */
import { type Step, stepsOf } from "./checkpoints.ts";
import { CommandError } from "./command.ts";
import { sessionNamed } from "./session_tools.ts";
import type { SessionStore } from "./store.ts";

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
  /** The mode that it has to have there; null: any. */
  expectedMode: number | null;
  /** Later steps of the session on the same file that stand in the way. */
  later: number[];
  /** The step before which somebody else changed the file, between two steps that are to be undone. */
  gap: number | undefined;
}

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
      // The tools keep the mode of what they replace.
      expectedMode: last.tool === "undo" ? null : last.mode,
      gap: only.step === undefined ? gapIn(chain) : undefined,
      later: only.step === undefined
        ? []
        : chain.slice(from + 1).map(({ step }) => step),
    });
  }
  return plans;
}

/** The step that did not find what the step before it left: between them somebody else changed the file. */
function gapIn(chain: readonly Step[]): number | undefined {
  return chain.find((step, i) => {
    const earlier = chain[i - 1];
    if (!earlier) return false;
    return earlier.after !== step.before ||
      (earlier.mode !== null && step.mode !== null &&
        permissions(earlier.mode) !== permissions(step.mode) &&
        earlier.tool !== "undo");
  })?.step;
}

/** The bits of a mode that say who may do what. */
export function permissions(mode: number): number {
  return mode & 0o777;
}

/**
 * The steps of the session that is named, else of the one with number `own`, else of the one that last changed a file.
 *
 * @throws {CommandError} when there is none.
 */
export async function stepsToUndo(
  store: SessionStore,
  named: string | undefined,
  own?: number,
): Promise<{ id: string; n: number; steps: Step[] }> {
  const id = named === undefined
    ? undefined
    : (await sessionNamed(store, named)).id;
  const only = id ?? own;
  const found = await store.query((db, { numbers, values }) => {
    const row = db.get<{ id: string; n: number }>(
      `SELECT s.id, session AS n FROM steps JOIN sessions s ON s.n = session WHERE ${
        numbers === undefined ? "true" : `s.n IN (${numbers})`
      } ${
        only === undefined
          ? ""
          : id === undefined
          ? "AND s.n = ?"
          : "AND s.id = ?"
      }
       ORDER BY steps.created_at DESC, session DESC, step DESC LIMIT 1`,
      ...values,
      ...(only === undefined ? [] : [only]),
    );
    return row && { ...row, steps: stepsOf(db, row.n) };
  });
  if (found) return found;
  if (id !== undefined) {
    throw new CommandError("undo: this session changed no file");
  }
  throw new CommandError(
    own === undefined
      ? "undo: no session of this project changed a file"
      : "undo: this conversation changed no file; name a session to undo what another changed",
  );
}
