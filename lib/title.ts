/**
 * The title of a session, made from what was done in it. Pure.
 *
 * @module
 */
import { clipChars, clipTail } from "./clip.ts";
import type { JsonObject } from "./mcp.ts";

/** UTF-16 units of a session's title. */
export const TITLE_CHARS = 80;

/** How many files and commands a session's title is made from. */
export const TITLE_FACTS = 4;

/** Something that was done, for the session's title. */
export interface Fact {
  /** What kind of thing it is. */
  kind: "title" | "said" | "edit" | "bash" | "grep" | "read" | "tool";
  /** The words for the title. */
  what: string;
}

/** Facts by kind: the first {@linkcode TITLE_FACTS} of each, and whether there were more. */
export type Facts = {
  [K in Fact["kind"]]?: { first: string[]; more: boolean };
};

/** Adds `fact` to what is known of a session. */
export function addFact(facts: Facts, fact: Fact): void {
  const known = facts[fact.kind] ??= { first: [], more: false };
  if (known.first.includes(fact.what)) return;
  if (known.first.length < TITLE_FACTS) known.first.push(fact.what);
  else known.more = true;
}

/** What a person asked for, as a fact: its first line. */
export function saidFact(text: string): Fact | undefined {
  return fact("said", text, TITLE_CHARS);
}

/**
 * A title made from what was done: `edit lib/a.ts, lib/b.ts; bash: deno test`. Where the conversation has a title of
 * its own it is that, and where it is known what the person asked for, the first of it.
 */
export function titleOf(facts: Facts): string {
  const own = facts.title?.first.at(-1) ?? facts.said?.first[0];
  if (own !== undefined) return own;
  const parts: string[] = [];
  if (facts.edit) parts.push(`edit ${listed(facts.edit, ", ")}`);
  if (facts.bash) parts.push(`bash: ${listed(facts.bash, " · ")}`);
  if (facts.grep && parts.length < 2) {
    parts.push(`grep ${listed(facts.grep, ", ")}`);
  }
  if (facts.read && parts.length < 2) {
    parts.push(`read ${listed(facts.read, ", ")}`);
  }
  if (facts.tool && parts.length === 0) parts.push(listed(facts.tool, ", "));
  const title = parts.join("; ");
  return title.length <= TITLE_CHARS
    ? title
    : `${clipChars(title, TITLE_CHARS - 1)}…`;
}

/** What a call says about its session, or undefined. Files below one of `roots` are named from there. */
export function factOf(
  tool: string,
  args: JsonObject,
  roots: readonly string[],
): Fact | undefined {
  const text = (name: string) => {
    const value = args[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  switch (tool) {
    case "write":
    case "edit":
      return fact("edit", fromRoot(text("path"), roots), 60);
    case "read":
      return fact("read", fromRoot(text("path"), roots), 60);
    case "grep":
      return fact("grep", text("pattern"), 30);
    case "bash":
      return fact("bash", text("command"), 40);
    default:
      return tool.startsWith("rousseau_") || tool.startsWith("bash_")
        ? undefined
        : { kind: "tool", what: clipChars(tool, 40) };
  }
}

/** A path without the root that it lies in. */
function fromRoot(
  path: string | undefined,
  roots: readonly string[],
): string | undefined {
  const root = roots.find((root) =>
    path?.startsWith(root) && /[/\\]/.test(path[root.length] ?? "")
  );
  return root === undefined ? path : path?.slice(root.length + 1);
}

/** A fact on one line; of a long path the end is what tells, of anything else the beginning. */
function fact(
  kind: Fact["kind"],
  what: string | undefined,
  max: number,
): Fact | undefined {
  const line = what?.trim().split("\n", 1)[0]?.trim();
  if (!line) return undefined;
  if (line.length <= max) return { kind, what: line };
  return {
    kind,
    what: kind === "edit" || kind === "read"
      ? `…${clipTail(line, max - 1).text}`
      : `${clipChars(line, max - 1)}…`,
  };
}

function listed(
  facts: { first: string[]; more: boolean },
  separator: string,
): string {
  return facts.first.join(separator) + (facts.more ? `${separator}…` : "");
}
