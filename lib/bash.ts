/**
 * The tools `bash`, `bash_output` and `bash_kill`: what hosts and the command line see of them. What they do is loaded
 * with the first call.
 *
 * @module
 */
import {
  BASH_INPUT,
  BASH_KILL_INPUT,
  BASH_OUTPUT_INPUT,
} from "./bash_schema.ts";
import { command } from "./command.ts";
import type { Command } from "./command.ts";
import type { Platform } from "./platform.ts";
import { chooseShell } from "./shell.ts";
import { MAX_ANSWER_CHARS } from "./tool.ts";
import type { ToolContext } from "./tool.ts";

/** The tool `bash`; its description names the shell of the platform. */
export function bashTool(
  platform: Platform,
): Command<typeof BASH_INPUT, ToolContext> {
  const { kind, name } = chooseShell(platform);
  const where = kind === "posix" ? "bash (sh where there is none)" : name;
  return command<typeof BASH_INPUT, ToolContext>({
    name: "bash",
    summary: "Run a shell command",
    description:
      `Runs a command in ${where} and returns its output, stdout and stderr in order. Use read, grep and edit for files. No input can be typed; what still runs after 45 s becomes a job for bash_output.`,
    input: BASH_INPUT,
    positionals: ["command"],
    options: {
      timeout: { value: "SECONDS" },
      cwd: { value: "DIR" },
      // --env is the root's: names of variables to pass on.
      env: { flag: "set-env" },
      // There is no server that could keep a job.
      background: { hidden: "help" },
    },
    tool: {
      name: "bash",
      title: "Run a command",
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
      _meta: BIG_AND_LOADED,
    },
    examples: ["rousseau bash 'git log --oneline | head'"],
    run: async (args, ctx) =>
      await (await import("./bash_run.ts")).runBash(args, ctx),
  });
}

/** The tool `bash_output`. */
export const bashOutput: Command<typeof BASH_OUTPUT_INPUT, ToolContext> =
  command<typeof BASH_OUTPUT_INPUT, ToolContext>({
    name: "bash_output",
    summary: "Read the output of a background job",
    description:
      "Returns a job's output from a byte offset, the next offset, and whether it still runs.",
    input: BASH_OUTPUT_INPUT,
    hidden: true,
    tool: {
      name: "bash_output",
      title: "Read a job's output",
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      _meta: { "anthropic/maxResultSizeChars": MAX_ANSWER_CHARS },
    },
    run: async (args, ctx) =>
      await (await import("./job_tools.ts")).runBashOutput(args, ctx),
  });

/** The tool `bash_kill`. */
export const bashKill: Command<typeof BASH_KILL_INPUT, ToolContext> = command<
  typeof BASH_KILL_INPUT,
  ToolContext
>({
  name: "bash_kill",
  summary: "End a background job",
  description: "Ends a job and everything it started.",
  input: BASH_KILL_INPUT,
  hidden: true,
  tool: {
    name: "bash_kill",
    title: "End a job",
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  },
  run: async (args, ctx) =>
    await (await import("./job_tools.ts")).runBashKill(args, ctx),
});

const BIG_AND_LOADED = {
  "anthropic/maxResultSizeChars": MAX_ANSWER_CHARS,
  "anthropic/alwaysLoad": true,
};
