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
import { knownOptions } from "./command_line.ts";
import { childNamed, loadCommand, type Option, optionsOf } from "./tree.ts";

/** Shells that a script is made for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** A shell in {@linkcode SHELLS}. */
export type ShellName = typeof SHELLS[number];

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
    properties: { shell: { enum: SHELLS, description: "Which shell." } },
    required: ["shell"],
    additionalProperties: false,
  },
  positionals: ["shell"],
  run: ({ shell }, ctx) => {
    const name = ctx.terminal?.root.name;
    if (name === undefined) {
      throw new CommandError("completions: only runs on a command line");
    }
    return completionScript(shell as ShellName, name);
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

/** What the last of `words` may become; empty where a file name or free text belongs. */
export async function candidates(
  root: AnyCommand,
  words: readonly string[],
): Promise<Candidate[]> {
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

/** The script for a shell. */
export function completionScript(shell: ShellName, name: string): string {
  const id = name.replace(/\W/g, "_");
  switch (shell) {
    case "bash":
      return `_${id}() {
  local IFS=$'\\n' i=1 word before= line cur="\${COMP_WORDS[COMP_CWORD]}"
  local -a words=()
  # Bash breaks words at "=": put them together again.
  for ((; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ \${#words[@]} -gt 0 && ( $word == "=" || $before == "=" ) ]]; then
      words[\${#words[@]}-1]+="$word"
    else
      words+=("$word")
    fi
    before="$word"
  done
  local whole="\${words[\${#words[@]}-1]}"
  local cut="\${whole%"$cur"}"
  [[ $cur == "=" ]] && cut="$whole"
  COMPREPLY=()
  while read -r line; do
    line="\${line%%$'\\t'*}"
    [[ -n $line ]] && COMPREPLY+=("\${line#"$cut"}")
  done < <("\${COMP_WORDS[0]}" complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _${id} ${name}
`;
    case "zsh":
      return `#compdef ${name}
_${id}() {
  local -a found
  local line
  while IFS= read -r line; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then
    _describe -t words '${name}' found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" == "_${id}" ]]; then _${id} "$@"; else compdef _${id} ${name}; fi
`;
    case "fish":
      return `function __fish_${id}
  set -l words (commandline -opc) (commandline -ct)
  command $words[1] complete -- $words[2..] 2>/dev/null
end
complete -c ${name} -a '(__fish_${id})'
`;
    case "powershell":
      return `# Untested.
Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '' }
  & ${name} complete -- @words 2>$null | ForEach-Object {
    $word, $about = $_ -split "\`t", 2
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
  }
}
`;
  }
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
