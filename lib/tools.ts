/**
 * The built-in tools, and which of them a process offers.
 *
 * @module
 */
import { bashKill, bashOutput, bashTool } from "./bash.ts";
import { type AnyCommand, UsageError } from "./command.ts";
import type { Config, Mode } from "./config.ts";
import { edit } from "./edit.ts";
import { grep } from "./grep.ts";
import { didYouMean } from "./nearest.ts";
import type { Platform } from "./platform.ts";
import { read } from "./read.ts";
import { sessionTools } from "./session_tools.ts";
import { write } from "./write.ts";

/** Every built-in tool, in the order in which they are listed. */
export function builtInTools(platform: Platform): AnyCommand[] {
  return [
    { ...read, verbatim: true },
    { ...write, options: { content: { stdin: true } } },
    edit,
    grep,
    { ...bashTool(platform), verbatim: true },
    bashOutput,
    bashKill,
    // On the command line `sessions` does what these do.
    ...sessionTools.map((tool) => ({ ...tool, hidden: true })),
  ];
}

/** A tool that is not offered, and why. */
export interface Withheld {
  /** The tool's name. */
  name: string;
  /** What keeps it, and what would change that. */
  reason: string;
  /** Whether the operator did not ask for it; then nobody needs to be told. */
  unasked: boolean;
}

/** The tools that are offered, and those that are not. */
export interface Selection {
  /** In the order in which they came. */
  offered: AnyCommand[];
  /** The rest. */
  withheld: Withheld[];
}

/** Asks for one of Deno's permissions without ever prompting. */
export type MayDo = (permission: Deno.PermissionDescriptor) => boolean;

/**
 * Picks by `expose` and `exclude`, by mode, and by Deno's permissions: a tool is offered when what it needs is
 * granted for at least one root.
 *
 * @throws {UsageError} for a name that is neither a tool nor a group.
 */
export function selectTools(
  tools: readonly AnyCommand[],
  config: Config,
  roots: readonly string[],
  mayDo: MayDo = mayDoNow,
): Selection {
  const asked = namesIn(config.expose, tools, "--tools");
  const project = config.projectExpose &&
    namesIn(config.projectExpose, tools, "expose in the project's file");
  const excluded = namesIn(config.exclude, tools, "--exclude");
  const selection: Selection = { offered: [], withheld: [] };
  for (const tool of tools) {
    const name = tool.tool!.name;
    const unasked = !asked.has(name) || excluded.has(name) ||
      project?.has(name) === false ||
      (isSessions(name) && config.sessions.visible === "none");
    const reason = unasked
      ? "left out by --tools, --exclude or --sessions"
      : modeRefusal(name, config.mode) ??
        permissionRefusal(name, roots, mayDo);
    if (reason === undefined) selection.offered.push(tool);
    else selection.withheld.push({ name, reason, unasked });
  }
  return selection;
}

/** Why a mode does without a tool; undefined when it does not. */
export function modeRefusal(name: string, mode: Mode): string | undefined {
  if (mode !== "read-only") return undefined;
  return WRITING.has(name) || SHELL.has(name)
    ? "mode read-only has no tool that could write (--mode workspace has)"
    : undefined;
}

const READING = new Set(["read", "grep"]);
const WRITING = new Set(["write", "edit"]);
const SHELL = new Set(["bash", "bash_output", "bash_kill"]);
const isSessions = (name: string) => name.startsWith("rousseau_");

const GROUPS: ReadonlyMap<string, (name: string) => boolean> = new Map([
  ["all", () => true],
  ["files", (name) => READING.has(name) || WRITING.has(name)],
  ["shell", (name) => SHELL.has(name)],
  ["sessions", isSessions],
  // A command that outlasts its call goes on as a job: bash is of little use without the other two.
  ["bash", (name) => SHELL.has(name)],
]);

function namesIn(
  words: readonly string[],
  tools: readonly AnyCommand[],
  source: string,
): Set<string> {
  const all = tools.map(({ tool }) => tool!.name);
  return new Set(words.flatMap((word) => {
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

function mayDoNow(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}
