/**
 * Which tools a process offers, and why not the others.
 *
 * @module
 */
import type { Config } from "./config.ts";
import type { CustomTool } from "./custom_tool.ts";
import { UsageError } from "./failure.ts";
import {
  inWords,
  type MayDo,
  mayDoNow,
  type Obstacle,
  remembered,
  storeObstacle,
} from "./grants.ts";
import { didYouMean } from "./nearest.ts";
import type { Platform } from "./platform.ts";
import { TOOL_NAMES, type ToolName } from "./tool_names.ts";

/** A tool that is not offered, and why. */
export interface Withheld {
  /** The tool's name. */
  name: ToolName;
  /** What keeps it, and what would change that. */
  reason: string;
  /** Whether the operator did not ask for it; then nobody needs to be told. */
  unasked: boolean;
}

/** The tools that nobody left out and that are not offered all the same, by why: `read, grep (Deno may …)`. */
export function missingTools({ withheld }: Selection): string[] {
  const byReason = Map.groupBy(
    withheld.filter(({ unasked }) => !unasked),
    ({ reason }) => reason,
  );
  return [...byReason].map(([reason, tools]) =>
    `${tools.map(({ name }) => name).join(", ")} (${reason})`
  );
}

/** The tools that are offered, and those that are not. */
export interface Selection {
  /** In the order in which they came. */
  offered: ToolName[];
  /** The rest. */
  withheld: Withheld[];
  /** What keeps this process from the store of sessions; undefined when nothing does. */
  storeless: Obstacle | undefined;
}

/** What decides on the tools of a process; a world has it all. */
export interface Surroundings {
  /** The settings in force. */
  config: Config;
  /** Where the tools work. */
  roots: readonly string[];
  /** Where the store of sessions is. */
  platform: Platform;
}

/**
 * Picks by `expose` and `exclude`, by mode, and by Deno's permissions: a tool is offered when what it needs is
 * granted for at least one root.
 *
 * @throws {UsageError} for a name that is neither a tool nor a group.
 */
export function selectTools(
  tools: readonly ToolName[],
  { config, roots, platform }: Surroundings,
  mayDo: MayDo = remembered(mayDoNow),
): Selection {
  const { asked, project, excluded } = picked(config);
  const storeless = storeObstacle(platform, config.state.path, mayDo);
  const selection: Selection = { offered: [], withheld: [], storeless };
  for (const name of tools) {
    const unasked = !asked.has(name) || excluded.has(name) ||
      project?.has(name) === false ||
      (name.startsWith("rousseau_") && config.sessions.visible === "none");
    const reason = unasked
      ? "left out by --tools, --exclude or --sessions"
      : modeRefusal(name, config) ??
        permissionRefusal(name, roots, mayDo) ??
        (name.startsWith("rousseau_") && storeless !== undefined
          ? `session store: ${inWords(storeless)}`
          : undefined);
    if (reason === undefined) selection.offered.push(name);
    else selection.withheld.push({ name, reason, unasked });
  }
  return selection;
}

/** The tools without code that nobody left out, and what keeps all of them; undefined when nothing does. */
export interface CustomSelection {
  /** In the order of the configuration. */
  asked: readonly CustomTool[];
  /** Why none is offered. */
  reason: string | undefined;
}

/** The same for the tools without code. The group `custom` is all of them. */
export function selectCustom(
  config: Config,
  mayDo: MayDo = mayDoNow,
): CustomSelection {
  const { asked, project, excluded } = picked(config);
  return {
    asked: (config.customTools ?? []).filter(({ name }) =>
      asked.has(name) && !excluded.has(name) && project?.has(name) !== false
    ),
    // Like bash, they are programs that nothing but a sandbox holds.
    reason: modeRefusal("bash", config) ??
      permissionRefusal("bash", [], mayDo),
  };
}

/** What a process offers. */
export interface Offer {
  /** The built-in tools. */
  selection: Selection;
  /** Tools without code. */
  custom: CustomSelection;
  /** Whether recorded sessions are resources and prompts, too. */
  sessions: boolean;
}

/** All that a process offers, where no part of it was asked for. */
export function wholeOffer(surroundings: Surroundings): Offer {
  return {
    selection: selectTools(TOOL_NAMES, surroundings),
    custom: selectCustom(surroundings.config),
    sessions: surroundings.config.sessions.visible !== "none",
  };
}

function picked(config: Config) {
  const custom = (config.customTools ?? []).map(({ name }) => name);
  return {
    asked: namesIn(config.expose, "--tools", custom),
    project: config.projectExpose &&
      namesIn(config.projectExpose, "expose in the project's file", custom),
    excluded: namesIn(config.exclude, "--exclude", custom),
  };
}

/** Why a mode does without a tool; undefined when it does not. */
export function modeRefusal(
  name: string,
  { mode, sandbox }: Pick<Config, "mode" | "sandbox">,
): string | undefined {
  if (mode !== "read-only") return undefined;
  // A sandbox that is required keeps commands to the mode; one that may be missing does not.
  if (SHELL.has(name) && sandbox?.mode === "require") return undefined;
  return WRITING.has(name) || SHELL.has(name)
    ? "mode read-only has no tool that could write (--mode workspace has)"
    : undefined;
}

const READING = new Set(["read", "grep"]);
const WRITING = new Set(["write", "edit", "rousseau_undo"]);
const SHELL = new Set(["bash", "bash_output", "bash_kill"]);
const isSessions = (name: string) =>
  name.startsWith("rousseau_") && !WRITING.has(name);

const GROUPS: ReadonlyMap<string, (name: string) => boolean> = new Map<
  string,
  (name: string) => boolean
>([
  ["all", () => true],
  ["files", (name) => READING.has(name) || WRITING.has(name)],
  ["shell", (name) => SHELL.has(name)],
  ["sessions", isSessions],
  // A command that outlasts its call goes on as a job: bash is of little use without the other two.
  ["bash", (name) => SHELL.has(name)],
]);

function namesIn(
  words: readonly string[],
  source: string,
  custom: readonly string[],
): Set<string> {
  const all: readonly string[] = [...TOOL_NAMES, ...custom];
  return new Set(words.flatMap((word) => {
    if (word === "custom") return custom;
    const group = GROUPS.get(word);
    if (group) return all.filter(group);
    if (all.includes(word)) return [word];
    const known = [...GROUPS.keys(), ...all];
    throw new UsageError(
      `${source}: unknown tool or group "${word}"${
        didYouMean(word, known) ||
        `; there are ${[...new Set(known)].join(", ")}`
      }`,
    );
  }));
}

function permissionRefusal(
  name: string,
  roots: readonly string[],
  mayDo: MayDo,
): string | undefined {
  const mayTouch = (kind: "read" | "write") =>
    mayDo({ name: kind }) ||
    roots.some((path) => mayDo({ name: kind, path }));
  const where = roots[0] === undefined ? "" : `=${roots[0]}`;
  if (SHELL.has(name)) {
    return mayDo({ name: "run" }) ||
        ["sh", "/bin/sh", "bash", "/bin/bash"].some((command) =>
          mayDo({ name: "run", command })
        )
      ? undefined
      : "Deno may start no program (--allow-run)";
  }
  if (!READING.has(name) && !WRITING.has(name)) return undefined;
  if (!mayTouch("read")) return `Deno may read no root (--allow-read${where})`;
  return WRITING.has(name) && !mayTouch("write")
    ? `Deno may write to no root (--allow-write${where})`
    : undefined;
}
