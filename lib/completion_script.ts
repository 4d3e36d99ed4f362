/**
 * The completion scripts: each asks the program itself, so that it never goes stale.
 *
 * @module
 */

/** Shells that a script is made for. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** A shell in {@linkcode SHELLS}. */
export type ShellName = typeof SHELLS[number];

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
