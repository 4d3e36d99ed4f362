/**
 * What was decided on a call, kept until the call is recorded.
 *
 * @module
 */
import type { CallEnd, Decided } from "./hooks.ts";
import { RESULT_META, type ToolContext } from "./tool.ts";

/** Decisions by the signal of their call. Not a word on a call: nothing stood in its way. */
export class Decisions {
  readonly #bySignal = new WeakMap<AbortSignal, Decided>();

  /** Those of the process that a handler runs in, made at first use. */
  static of({ process }: Pick<ToolContext, "process">): Decisions {
    return process.get("decisions", () => new Decisions());
  }

  /** Keeps what was decided on a call; the last word holds. */
  note(signal: AbortSignal, decided: Decided): void {
    this.#bySignal.set(signal, decided);
  }

  /** What was decided on a call, refusals of the scope included, which its result tells. */
  on(
    { context, isValid, result }: CallEnd,
    { mode, sandbox }: { mode: string; sandbox: string | undefined },
  ): Decided {
    if (!isValid) return { decision: "none", by: "invalid arguments" };
    const figures = result?._meta?.[RESULT_META] as
      | { refused?: unknown; path?: unknown; sandbox?: unknown }
      | undefined;
    const noted = this.#bySignal.get(context.signal) ??
      { decision: "allowed", by: `mode ${mode}` };
    if (noted.decision !== "allowed") return noted;
    if (figures?.refused === true) {
      return {
        ...noted,
        decision: "denied",
        by: "the scope",
        ...(typeof figures.path === "string" ? { path: figures.path } : {}),
      };
    }
    const layer = figures?.sandbox ?? sandbox;
    return typeof layer === "string" ? { ...noted, sandbox: layer } : noted;
  }
}
