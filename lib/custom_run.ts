/**
 * Runs the program of a tool without code: where commands of `bash` run, in the same sandbox, and ended like them.
 *
 * @module
 */
import { report } from "./bash_report.ts";
import {
  type AnyCommand,
  command,
  CommandError,
  type CommandOutput,
  type InputSchema,
} from "./command.ts";
import {
  argumentVariable,
  type CustomTool,
  placeholder,
} from "./custom_tool.ts";
import { Jobs } from "./jobs.ts";
import {
  answer,
  ERROR_CHARS,
  MAX_ANSWER_CHARS,
  prefixed,
  type ToolContext,
} from "./tool.ts";

/** Bytes of one argument as a variable or as an item of `argv`; Linux takes at most 131,072. */
export const MAX_ARGUMENT_BYTES = 120_000;

/** Characters kept free for notes and for how it failed. */
const ROOM = 500;

/** The tool as a command. */
export function customCommand(tool: CustomTool): AnyCommand {
  return command<InputSchema, ToolContext>({
    name: tool.name,
    summary: tool.description,
    description: tool.description,
    input: tool.input,
    tool: { name: tool.name },
    run: async (args, ctx) =>
      await runCustom(tool, args as Record<string, unknown>, ctx),
  });
}

async function runCustom(
  tool: CustomTool,
  args: Record<string, unknown>,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const { name, timeout } = tool;
  if (
    ctx.scope.mode === "read-only" && ctx.config.sandbox?.mode !== "require"
  ) {
    throw new CommandError(
      `${name}: refused in mode read-only: nothing here keeps a program from writing; start rousseau with --mode workspace to allow it`,
    );
  }
  const jobs = Jobs.of(ctx);
  const cwd = await folderOf(tool, jobs, ctx);
  const execution = await jobs.start({
    command: name,
    argv: argvOf(tool, args),
    input: JSON.stringify(args),
    tool: name,
    cwd,
    scope: ctx.scope,
    env: {
      ...(ctx.platform.os === "windows" ? {} : { PWD: cwd }),
      ...tool.env,
      ...variablesOf(tool, args),
    },
    timeoutMs: timeout * 1000,
    budget: Math.min(ctx.config.limits.answerChars, MAX_ANSWER_CHARS),
    signal: ctx.signal,
    patienceMs: jobs.jobAfterMs,
  });
  const onAbort = () => void execution.end("cancelled").catch(() => {});
  ctx.signal.addEventListener("abort", onAbort);
  if (ctx.signal.aborted) onAbort();
  const outcome = await execution.done;
  ctx.signal.removeEventListener("abort", onAbort);
  if (outcome.reason === "cancelled") throw ctx.signal.reason;
  const failed = outcome.code !== 0 || outcome.reason !== undefined;
  const limit = Math.min(
    ctx.config.limits.answerChars,
    failed ? ERROR_CHARS : MAX_ANSWER_CHARS,
  );
  const shown = execution.output.show(limit - ROOM);
  const { confinement } = jobs;
  const told = report({
    tool: name,
    shown,
    bytes: execution.output.total,
    outcome,
    ageMs: execution.ageMs,
    timeout,
    sandbox: confinement.layer,
    more: [
      ...confinement.tell(ctx.logger),
      ...(failed ? confinement.hints(name, shown.text) : []),
    ],
  });
  if (!failed && tool.output === "json") {
    if (shown.dropped > 0) {
      throw new CommandError(
        `${name}: printed ${execution.output.total} bytes of JSON, which do not fit in an answer`,
      );
    }
    try {
      JSON.parse(shown.text);
    } catch {
      throw new CommandError(
        `${name}: should print JSON and printed ${
          JSON.stringify(shown.text.slice(0, 200))
        }`,
      );
    }
  }
  return answer(told.text, told);
}

async function folderOf(
  { name, cwd }: CustomTool,
  jobs: Jobs,
  ctx: ToolContext,
): Promise<string> {
  if (cwd === undefined) {
    return ctx.scope.roots[0] ?? await jobs.folder().catch(() => "/");
  }
  const { info, real } = await ctx.scope.resolve(cwd, "search").catch(
    (error) => {
      throw prefixed(name, error);
    },
  );
  if (!info?.isDirectory) {
    throw new CommandError(`${name}: cwd ${cwd}: not a directory`);
  }
  return real;
}

/**
 * The program and its arguments. A value that would be taken for an option is refused, unless `--` stands before it.
 *
 * @throws {CommandError}
 */
function argvOf(
  { name: tool, argv }: CustomTool,
  args: Record<string, unknown>,
): string[] {
  const made: string[] = [];
  let onlyOperands = false;
  for (const item of argv) {
    const name = placeholder(item);
    if (name === undefined) {
      if (item === "--") onlyOperands = true;
      made.push(item);
      continue;
    }
    if (!Object.hasOwn(args, name)) continue;
    const value = args[name];
    for (const one of Array.isArray(value) ? value : [value]) {
      const text = textOf(one);
      checkText(tool, name, text);
      if (text.startsWith("-") && !onlyOperands) {
        throw new CommandError(
          `${tool}: ${name}: begins with "-" and would be taken for an option; for a file write ./ before it`,
        );
      }
      made.push(text);
    }
  }
  return made;
}

function variablesOf(
  { name: tool }: CustomTool,
  args: Record<string, unknown>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const text = textOf(value);
      checkText(tool, name, text);
      return [argumentVariable(name), text];
    }),
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function checkText(tool: string, name: string, text: string): void {
  if (text.includes("\0")) {
    throw new CommandError(`${tool}: ${name}: has a NUL byte`);
  }
  if (new TextEncoder().encode(text).length > MAX_ARGUMENT_BYTES) {
    throw new CommandError(
      `${tool}: ${name}: has more than ${MAX_ARGUMENT_BYTES} bytes`,
    );
  }
}
