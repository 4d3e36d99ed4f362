/** A context for `grep` without a server, and trees to search. */
import {
  CommandError,
  type CommandOutput,
  toToolResult,
} from "../lib/command.ts";
import { grep, searchWithin, TIME_LIMIT_MS } from "../lib/grep.ts";
import type { JsonObject } from "../lib/mcp.ts";
import { prepareInput } from "../lib/schema.ts";
import type { Scope } from "../lib/scope.ts";
import { ProcessState, RESULT_META, type ToolContext } from "../lib/tool.ts";

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
  const block = toToolResult(output).content[index];
  return block?.type === "text" ? block.text : undefined;
}

/** An answer of `grep` taken apart. */
export interface GrepAnswer {
  text: string;
  note: string;
  isError: boolean;
  meta: JsonObject;
}

/** Calls `grep` as the server does: validated, with failures as answers. */
export async function callGrep(
  args: JsonObject,
  context: ToolContext,
  limitMs = TIME_LIMIT_MS,
): Promise<GrepAnswer> {
  try {
    const { value, error } = prepareInput(grep.input!, args);
    if (error !== undefined) throw new CommandError(`grep: ${error}`);
    const output = await searchWithin(
      value as Parameters<typeof searchWithin>[0],
      context,
      limitMs,
    );
    const { _meta } = toToolResult(output);
    return {
      text: rowsOf(output),
      note: noteOf(output) ?? "",
      isError: false,
      meta: (_meta?.[RESULT_META] ?? {}) as JsonObject,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return {
      text: error.message,
      note: error.notes.join("\n"),
      isError: true,
      meta: error.meta ?? {},
    };
  }
}

/** A folder of files, gone at the end of the test. */
export class GrepTree implements AsyncDisposable {
  /** Real path of the folder. */
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** Makes the files, by path from the folder; a path that ends in `/` is an empty folder. */
  static async make(
    files: Record<string, string | Uint8Array>,
  ): Promise<GrepTree> {
    const root = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "rousseau-test-" }),
    );
    const tree = new GrepTree(root);
    for (const [name, content] of Object.entries(files)) {
      await tree.put(name, content);
    }
    return tree;
  }

  /** Adds a file. */
  async put(name: string, content: string | Uint8Array): Promise<string> {
    const path = `${this.root}/${name}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    await Deno.mkdir(folder, { recursive: true });
    if (name.endsWith("/")) return path;
    await Deno.writeFile(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    return path;
  }

  /** Calls `grep` with the folder as the root. */
  grep(
    args: JsonObject,
    options: Parameters<typeof grepContext>[1] & { limitMs?: number } = {},
  ): Promise<GrepAnswer> {
    return callGrep(args, grepContext(this.root, options), options.limitMs);
  }

  /** The rows of an answer, with paths from the folder. */
  async rows(args: JsonObject): Promise<string[]> {
    const { text, isError } = await this.grep(args);
    if (isError) throw new Error(text);
    return text.split("\n").map((row) =>
      row.startsWith(`${this.root}/`) ? row.slice(this.root.length + 1) : row
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}
