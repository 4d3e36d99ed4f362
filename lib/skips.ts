/**
 * What a search leaves out: counted and named, so that an empty answer is never a false one.
 *
 * @module
 */
import { grouped } from "./tool.ts";

/** Why an entry is left out. */
export type SkipReason =
  | "hidden"
  | "ignored"
  | "binary"
  | "too large"
  | "unreadable"
  | "links"
  | "special files"
  | "out of scope";

/** Entries left out for a reason: how many, and the first few by name. */
export type SkipEntry = readonly [
  reason: SkipReason,
  count: number,
  names: readonly string[],
];

/** How many entries were left out for each reason, and the first few by name. A folder counts as one entry. */
export class Skips {
  readonly #counts = new Map<SkipReason, number>();
  readonly #names = new Map<SkipReason, string[]>();

  /** Counts an entry. */
  add(reason: SkipReason, name: string): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
    const names = this.#names.get(reason);
    if (!names) this.#names.set(reason, [name]);
    else if (names.length < NAMED) names.push(name);
  }

  /** Everything, for {@linkcode merge}. */
  entries(): SkipEntry[] {
    return [...this.#counts].map((
      [reason, count],
    ) => [reason, count, this.names(reason)]);
  }

  /** Adds what was counted elsewhere. */
  merge(entries: readonly SkipEntry[]): void {
    for (const [reason, count, names] of entries) {
      for (const name of names) this.add(reason, name);
      this.#counts.set(reason, this.count(reason) + count - names.length);
    }
  }

  /** How many entries were left out for `reason`. */
  count(reason: SkipReason): number {
    return this.#counts.get(reason) ?? 0;
  }

  /** The names that were kept for `reason`, at most three. */
  names(reason: SkipReason): readonly string[] {
    return this.#names.get(reason) ?? [];
  }

  /** Reasons and counts, for programs. */
  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}

/** `skipped: hidden 3 (.env, .github, .vscode), ignored 12 (dist, …)`, with the arguments that search them. */
export function skippedNote(skips: Skips): string | undefined {
  const parts = SKIP_ORDER.filter((reason) => skips.count(reason) > 0).map(
    (reason) => {
      const count = skips.count(reason);
      const names = skips.names(reason).map((name) =>
        name.length > 60 ? `…${name.slice(-59)}` : name
      );
      if (count > names.length) names.push("…");
      return `${reason} ${grouped(count)} (${names.join(", ")})`;
    },
  );
  if (parts.length === 0) return undefined;
  const flags = [
    ...(skips.count("hidden") > 0 ? ["hidden: true"] : []),
    ...(skips.count("ignored") > 0 ? ["no_ignore: true"] : []),
  ];
  return `skipped: ${parts.join(", ")}${
    flags.length > 0 ? `; searched with ${flags.join(" and ")}` : ""
  }`;
}

const SKIP_ORDER: readonly SkipReason[] = [
  "hidden",
  "ignored",
  "binary",
  "too large",
  "unreadable",
  "links",
  "special files",
  "out of scope",
];

/** Names kept for each reason. */
const NAMED = 3;
