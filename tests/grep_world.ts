import type { CommandOutput } from "../lib/command.ts";
import type { Scope } from "../lib/scope.ts";
import type { ToolContext } from "../lib/tool.ts";
import { ProcessState } from "../lib/tool.ts";

/** A context for `grep` with a scope that allows everything but what `denied` names. */
export function grepContext(
  root: string,
  options: {
    home?: string;
    denied?: (path: string) => boolean;
    signal?: AbortSignal;
    answerChars?: number;
    progress?: (value: number) => void;
  } = {},
): ToolContext {
  const scope: Scope = {
    mode: "workspace",
    roots: [root],
    async resolve(path) {
      const shown = path.startsWith("/") ? path : `${root}/${path}`;
      const info = await Deno.lstat(shown);
      return { real: shown, shown, info, notes: [] };
    },
    denial: (real) => options.denied?.(real) ? "denied by test" : undefined,
    describe: () => "",
  };
  return {
    signal: options.signal ?? new AbortController().signal,
    progress: (value: number) => options.progress?.(value),
    log() {},
    client: { capabilities: {} },
    ask: () => Promise.reject(new Error("nobody to ask")),
    meta: {},
    scope,
    config: { limits: { answerChars: options.answerChars ?? 20_000 } },
    platform: {
      os: "linux",
      env: () => undefined,
      home: options.home,
      temp: "/tmp",
      cwd: root,
      execPath: undefined,
      uid: undefined,
    },
    process: new ProcessState(),
  } as unknown as ToolContext;
}

/** Block 1 of an answer. */
export function rowsOf(output: CommandOutput): string {
  return blockOf(output, 0) ?? "";
}

/** Block 2 of an answer, if there is one. */
export function noteOf(output: CommandOutput): string | undefined {
  return blockOf(output, 1);
}

function blockOf(output: CommandOutput, index: number): string | undefined {
  if (typeof output === "string") return index === 0 ? output : undefined;
  const content = Array.isArray(output) ? output : output.content;
  if (typeof content === "string") return index === 0 ? content : undefined;
  const block = content[index];
  return block?.type === "text" ? block.text : undefined;
}
