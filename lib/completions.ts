/**
 * Completion in shells: small scripts that ask the program itself what may come next, so that they never go stale.
 *
 * @module
 */
import {
  type AnyCommand,
  type Command,
  command,
  CommandError,
} from "./command.ts";
import {
  completionScript,
  type ShellName,
  SHELLS,
} from "./completion_script.ts";
import { knownOptions } from "./command_line.ts";
import {
  childNamed,
  loadCommand,
  type Option,
  optionsOf,
  withMore,
} from "./tree.ts";

/** What may stand in a place, with a few words about it. */
export interface Candidate {
  /** The word. */
  word: string;
  /** What it is. */
  about: string;
}

/** The command `completions SHELL`, which prints the script. */
export const completionsCommand: Command = command({
  name: "completions",
  summary: "Print a completion script for a shell",
  description:
    "Prints a script that completes commands, options and values. For bash put it into ~/.bashrc, for zsh into a file _NAME on the fpath, for fish into ~/.config/fish/completions. The one for PowerShell is untested.",
  input: {
    type: "object",
    properties: {
      shell: { enum: SHELLS, description: "Which shell." },
      install: {
        type: "string",
        format: "path",
        description:
          "Put the script into this file, such as ~/.bashrc, instead: into a block of its own, which is replaced the next time.",
      },
    },
    required: ["shell"],
    additionalProperties: false,
  },
  positionals: ["shell"],
  options: { install: { value: "FILE" } },
  run: async ({ shell, install }, ctx) => {
    const name = ctx.terminal?.root.name;
    if (name === undefined) {
      throw new CommandError("completions: only runs on a command line");
    }
    const script = completionScript(shell as ShellName, name);
    if (install === undefined) return script;
    await installBlock(install as string, name, script);
    return `wrote the completion of ${name} for ${shell} to ${install}`;
  },
}) as Command;

/** The hidden command that the scripts ask: the words so far, the last being the one to complete. */
export const completeCommand: Command = command({
  name: "complete",
  summary: "Print what may come next, for completion scripts",
  hidden: true,
  input: {
    type: "object",
    properties: {
      words: { type: "array", items: { type: "string" }, default: [] },
    },
    additionalProperties: false,
  },
  positionals: ["words"],
  run: async ({ words }, ctx) => {
    const root = ctx.terminal?.root;
    if (!root) throw new CommandError("complete: only runs on a command line");
    const found = await candidates(root, words as string[]);
    return found.map(({ word, about }) =>
      `${word}\t${about.replace(/\s+/g, " ")}`
    )
      .join("\n");
  },
}) as Command;

/**
 * A file's text with the block of `name` holding `script`: in place of the block that is there, else at the end.
 * Nothing outside the block changes.
 *
 * @throws {CommandError} when the marks of the block do not pair up.
 */
export function withBlock(text: string, name: string, script: string): string {
  const begin = `# >>> ${name} completion >>>`;
  const end = `# <<< ${name} completion <<<`;
  const block = `${begin}\n${script.trimEnd()}\n${end}\n`;
  const lines = text.split("\n");
  const at = (mark: string) =>
    lines.flatMap((line, i) => line.trimEnd() === mark ? [i] : []);
  const [begins, ends] = [at(begin), at(end)];
  if (begins.length === 0 && ends.length === 0) {
    return text === "" || text.endsWith("\n")
      ? `${text}${block}`
      : `${text}\n${block}`;
  }
  const [first] = begins;
  const [last] = ends;
  if (begins.length !== 1 || ends.length !== 1 || first! > last!) {
    throw new CommandError(
      `completions: the marks "${begin}" and "${end}" do not pair up; remove them and run again`,
    );
  }
  return [
    ...lines.slice(0, first),
    ...block.trimEnd().split("\n"),
    ...lines.slice(last! + 1),
  ].join("\n");
}

/** The same in the file itself, which is made when it is not there, and replaced whole. */
async function installBlock(
  path: string,
  name: string,
  script: string,
): Promise<void> {
  let text = "";
  let mode: number | undefined;
  let target = path;
  try {
    // Dotfiles are often links into a repository: what they lead to is replaced.
    target = await Deno.realPath(path);
    text = await Deno.readTextFile(target);
    mode = (await Deno.stat(target)).mode ?? undefined;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw new CommandError(`completions: ${(error as Error).message}`);
    }
  }
  const changed = withBlock(text, name, script);
  if (changed === text) return;
  const temporary = `${target}.${crypto.randomUUID()}`;
  try {
    await Deno.writeTextFile(temporary, changed, {
      createNew: true,
      mode: (mode ?? 0o644) & 0o777,
    });
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new CommandError(`completions: ${(error as Error).message}`);
  }
}

/** What the last of `words` may become; empty where a file name or free text belongs. */
export async function candidates(
  root: AnyCommand,
  words: readonly string[],
): Promise<Candidate[]> {
  root = await withMore(await loadCommand(root), words).catch(() => root);
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? "";
  const { path, positionals, pending, ended } = await walk(root, before);
  const known = knownOptions(path);
  const command = path.at(-1)!;
  const fits = ({ word }: Candidate) => word.startsWith(last);
  if (pending) return choices(pending.property, "").filter(fits);
  if (!ended && last.startsWith("--") && last.includes("=")) {
    const flag = last.slice(2, last.indexOf("="));
    const option = known.get(flag);
    return option ? choices(option.property, `--${flag}=`).filter(fits) : [];
  }
  if (!ended && last.startsWith("-")) {
    return [...known.values()]
      .filter(({ hints, isPositional }) => !hints.hidden && !isPositional)
      .map(({ flag, property }) => ({
        word: `--${flag}`,
        about: `${property.description ?? ""}`,
      }))
      .concat([{ word: "--help", about: "Show help" }])
      .filter(fits);
  }
  const children = positionals > 0 ? [] : (command.commands ?? [])
    .filter(({ hidden }) => !hidden)
    .map(({ name, summary }) => ({ word: name, about: summary }));
  const names = command.positionals ?? [];
  const option = optionsOf(command).find(({ name }) =>
    name === names[Math.min(positionals, names.length - 1)]
  );
  return [...children, ...(option ? choices(option.property, "") : [])]
    .filter(fits);
}

interface Walked {
  path: readonly AnyCommand[];
  /** Words that are no commands. */
  positionals: number;
  /** The option whose value comes next. */
  pending: Option | undefined;
  /** `--` was among the words. */
  ended: boolean;
}

/** Goes over complete words without minding mistakes in them. */
async function walk(
  root: AnyCommand,
  words: readonly string[],
): Promise<Walked> {
  const path = [await loadCommand(root)];
  let positionals = 0;
  let ended = false;
  let pending: Option | undefined;
  for (const word of words) {
    if (pending) pending = undefined;
    else if (ended) positionals++;
    else if (word === "--") ended = true;
    else if (word.startsWith("-") && word !== "-") {
      const option = word.startsWith("--")
        ? knownOptions(path).get(word.slice(2))
        : [...knownOptions(path).values()].find(({ hints }) =>
          word === `-${hints.short}`
        );
      if (option && !option.isSwitch) pending = option;
    } else {
      const child = positionals === 0
        ? childNamed(path.at(-1)!, word)
        : undefined;
      if (child) path.push(await loadCommand(child));
      else if (word !== "help" || path.length > 1) positionals++;
    }
  }
  return { path, positionals, pending, ended };
}

function choices(
  property: { readonly [keyword: string]: unknown },
  prefix: string,
): Candidate[] {
  const items = (property.items ?? {}) as { enum?: unknown };
  const values = property.enum ?? items.enum;
  return Array.isArray(values)
    ? values.map((value) => ({ word: `${prefix}${value}`, about: "" }))
    : [];
}
