/**
 * The scope of one call with the rules on paths in it, and the words of refusals by rules.
 *
 * @module
 */
import type { CommandError } from "./command.ts";
import { isWithin, pathsOf } from "./paths.ts";
import type { Policy, Verdict } from "./policy.ts";
import type { Access, Resolved, Scope } from "./scope.ts";
import { failure, type ToolContext } from "./tool.ts";

/** What the rules say of one call. */
export interface Ruling {
  /** The tool's name. */
  tool: string;
  /** The rules. */
  policy: Policy;
  /** What the person has allowed: whatever one rule is about, below a path where the call names one. */
  approved: { by: string; path: string | undefined } | undefined;
  /** Told of a path that the tool named and may not use. */
  refused: (verdict: Verdict, path: string) => void;
}

/** The scope with the rules on paths in it: whatever a tool comes upon is held to them. */
export class RuledScope implements Scope {
  readonly #ctx: ToolContext;
  readonly #ruling: Ruling;

  /** The scope of `ctx`, narrowed. */
  constructor(ctx: ToolContext, ruling: Ruling) {
    this.#ctx = ctx;
    this.#ruling = ruling;
  }

  get mode(): Scope["mode"] {
    return this.#ctx.scope.mode;
  }

  get roots(): readonly string[] {
    return this.#ctx.scope.roots;
  }

  async resolve(path: string, access: Access): Promise<Resolved> {
    const resolved = await this.#ctx.scope.resolve(path, access);
    const { real } = resolved;
    const verdict = this.#closing(real);
    if (verdict) {
      this.#ruling.refused(verdict, real);
      throw refusal(this.#text(real, verdict));
    }
    return resolved;
  }

  denial(real: string, access: Access): string | undefined {
    const denied = this.#ctx.scope.denial(real, access);
    if (denied !== undefined) return denied;
    const verdict = this.#closing(real);
    return verdict && this.#text(real, verdict);
  }

  describe(): string {
    return this.#ctx.scope.describe();
  }

  /** The verdict that closes a path to this tool, unless the person has opened it. */
  #closing(path: string): Verdict | undefined {
    const { tool, policy, approved } = this.#ruling;
    const verdict = policy.decide({ tool, path });
    const { effect, by } = verdict;
    if (effect === "allow") return undefined;
    const isApproved = effect === "ask" && approved?.by === by &&
      (approved.path === undefined ||
        isWithin(pathsOf(this.#ctx.platform.os), approved.path, path));
    return isApproved ? undefined : verdict;
  }

  #text(real: string, verdict: Verdict): string {
    return verdict.effect === "ask"
      ? `${real} is closed until the person is asked, by ${
        named(verdict)
      }: name it in the call, so that it can be`
      : `${real} is closed by ${named(verdict)}`;
  }
}

/** A rule by its name, with its reason; one on commands with what it is not. */
export function named({ by, reason, isAboutCommand }: Verdict): string {
  const why = reason === undefined ? by : `${by} (${reason})`;
  return isAboutCommand
    ? `${why}, which guards against accidents and is no wall`
    : why;
}

/** A refusal by a rule. */
export function refusal(text: string): CommandError {
  return failure(
    `${text}. Only the person can change that; do not look for another way to the same end`,
    { meta: { refused: true } },
  );
}
