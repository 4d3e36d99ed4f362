/**
 * What the tool `bash` does: check, start, wait, answer.
 *
 * @module
 */
import type { BASH_INPUT } from "./bash_schema.ts";
import { ProgressReports } from "./bash_progress.ts";
import { noteRoom, report, reportLength } from "./bash_report.ts";
import type { ReportFacts } from "./bash_report.ts";
import { CommandError } from "./command.ts";
import type { CommandOutput, FromSchema } from "./command.ts";
import type { Execution } from "./execution.ts";
import { Jobs } from "./jobs.ts";
import type { Job } from "./jobs.ts";
import { MAX_COMMAND_BYTES } from "./shell.ts";
import { environmentFault } from "./shell_env.ts";
import { HEAD_SHARE, type Output, type Shown } from "./output.ts";
import {
  answer,
  byteBudget,
  ERROR_CHARS,
  MAX_ANSWER_CHARS,
  prefixed,
} from "./tool.ts";
import type { ToolContext } from "./tool.ts";

/** Milliseconds that a background command is watched, so that one that fails at once is told as failed. */
export const BACKGROUND_WATCH_MS = 300;

/** Of a failed command's output the end tells why. */
const ERROR_HEAD_SHARE = 0.15;

/** Characters of a failed command's output in which the sandbox's doing is looked for. */
const HINT_CHARS = 4_000;

/** Characters kept free for the line that says how a command failed. */
const FAILURE_ROOM = 64;

/** Where a command without a root ran, by the name that its folder has inside. */
const PRIVATE_NOTE = "this ran in the sandbox's own /tmp;";

/** Handler of `bash`. */
export async function runBash(
  args: FromSchema<typeof BASH_INPUT>,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const arrived = performance.now();
  const env = checked(args, ctx);
  const background = args.background ?? false;
  const timeout = args.timeout ??
    (background ? undefined : ctx.config.bash.timeout);
  const jobs = Jobs.of(ctx);
  const { cwd, notes: found } = await workingFolder(args.cwd, jobs, ctx);
  const execution = await jobs.start({
    command: args.command,
    cwd,
    scope: ctx.scope,
    env: { ...(ctx.platform.os === "windows" ? {} : { PWD: cwd }), ...env },
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
    budget: bashBudget(ctx),
    signal: ctx.signal,
    patienceMs: jobs.jobAfterMs,
  });
  // Inside, the private folder has another name.
  const notes = jobs.confinement.layer.startsWith("bubblewrap")
    ? found.map((note) => note.replace(`this ran in ${cwd};`, PRIVATE_NOTE))
    : found;
  // The time spent waiting for a place counts: it is the host that gives up.
  const age = performance.now() - arrived;
  const patience = background
    ? BACKGROUND_WATCH_MS
    : timeout !== undefined || ctx.terminal
    ? undefined
    : Math.max(jobs.jobAfterMs / 50, jobs.jobAfterMs - age);
  const how = await settled(
    execution,
    patience,
    ctx,
    background ? undefined : jobs,
  );
  if (how === "aborted") {
    await execution.end("cancelled");
    throw ctx.signal.reason;
  }
  const job = background || how === "late"
    ? jobs.adopt(execution, args.command, timeout)
    : undefined;
  const { command } = args;
  return await conclude({ execution, command, timeout, job, notes }, ctx);
}

/** Refuses what cannot or may not be run. @returns the call's own variables. */
function checked(
  args: FromSchema<typeof BASH_INPUT>,
  ctx: ToolContext,
): Record<string, string> {
  if (args.command.trim() === "") {
    throw new CommandError("bash: command is required");
  }
  if (args.command.includes("\0")) {
    throw new CommandError(
      "bash: command contains a NUL byte: write it as \\0 inside printf or $'…'",
    );
  }
  // A sandbox that is required keeps the mode; one that may be missing does not.
  const required = ctx.config.sandbox?.mode === "require";
  const bytes = new TextEncoder().encode(args.command).length;
  if (bytes > MAX_COMMAND_BYTES) {
    throw new CommandError(
      `bash: command has ${bytes} bytes, at most ${MAX_COMMAND_BYTES} fit: write it to a file and run that`,
    );
  }
  if (ctx.scope.mode === "read-only" && !required) {
    throw new CommandError(
      "bash: refused in mode read-only: nothing here keeps a shell from writing; start rousseau with --mode workspace to allow it",
    );
  }
  if (args.background && ctx.terminal) {
    throw new CommandError(
      "bash: background needs a server that stays, and the command line ends with the command",
    );
  }
  const env = args.env ?? {};
  const fault = environmentFault(env);
  if (fault !== undefined) throw new CommandError(`bash: ${fault}`);
  return env as Record<string, string>;
}

/** The folder to run in: the one asked for, else the first root, else a private empty one. */
async function workingFolder(
  asked: string | undefined,
  jobs: Jobs,
  ctx: ToolContext,
): Promise<{ cwd: string; notes: readonly string[] }> {
  const path = asked ?? ctx.scope.roots[0];
  if (path === undefined) {
    const cwd = await jobs.folder().catch(() => "/");
    return {
      cwd,
      notes: [
        `no root is set, so this ran in ${cwd}; pass cwd, or add "--root", "DIR" to the args in the host's configuration`,
      ],
    };
  }
  if (asked === undefined) return { cwd: path, notes: [] };
  const resolved = await ctx.scope.resolve(path, "search").catch((error) => {
    throw prefixed("bash", error);
  });
  if (!resolved.info) {
    throw new CommandError(
      `bash: cwd ${resolved.shown}: no such file or directory`,
    );
  }
  if (!resolved.info.isDirectory) {
    throw new CommandError(`bash: cwd ${resolved.shown}: not a directory`);
  }
  return { cwd: resolved.real, notes: resolved.notes };
}

/**
 * Waits for the end, the caller's abort, or `ms` if given; reports progress meanwhile. With `jobs`, waits on after `ms`
 * when these take no more: once the host has left, the command has what is left of the drain time.
 */
async function settled(
  execution: Execution,
  ms: number | undefined,
  ctx: ToolContext,
  jobs: Jobs | undefined,
): Promise<"ended" | "aborted" | "late"> {
  const { promise, resolve } = Promise.withResolvers<"aborted" | "late">();
  const onAbort = () => resolve("aborted");
  const onLate = () => (jobs?.adopting ?? true) && resolve("late");
  const timer = ms === undefined ? undefined : setTimeout(onLate, ms);
  const progress = new ProgressReports(execution, ctx);
  ctx.signal.addEventListener("abort", onAbort);
  try {
    if (ctx.signal.aborted) return "aborted";
    return await Promise.race([
      execution.done.then(() => "ended" as const),
      promise,
    ]);
  } finally {
    ctx.signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
    progress.stop();
  }
}

/** The answer to `bash`, whether the command has ended or runs on as a job. */
async function conclude(
  { execution, command, timeout, job, notes }: {
    execution: Execution;
    command: string;
    timeout: number | undefined;
    job: Job | undefined;
    notes: readonly string[];
  },
  ctx: ToolContext,
): Promise<CommandOutput> {
  const { output, outcome, ageMs } = execution;
  const { confinement } = Jobs.of(ctx);
  const failed = outcome !== undefined &&
    (outcome.code !== 0 || outcome.reason !== undefined);
  const limit = failed && !ctx.terminal
    ? Math.min(bashBudget(ctx), ERROR_CHARS)
    : bashBudget(ctx);
  const share = failed ? ERROR_HEAD_SHARE : HEAD_SHARE;
  const facts: ReportFacts = {
    shown: showWithin(output, limit - FAILURE_ROOM, share, ctx),
    bytes: output.total,
    outcome,
    ageMs,
    timeout,
    job: job?.id,
    sandbox: confinement.layer,
    more: [
      ...notes,
      ...confinement.tell(ctx.logger),
      ...(failed
        ? confinement.hints(command, output.show(HINT_CHARS).text)
        : []),
    ],
  };
  const whole = report(facts);
  if (facts.shown.dropped === 0 && reportLength(whole) <= limit) {
    return answer(whole.text, whole);
  }
  facts.shown = showWithin(output, limit - noteRoom(limit), share, ctx);
  // On the command line the file would be gone before anybody could read it.
  const path = facts.shown.dropped > 0 && !ctx.terminal
    ? await output.keep()
    : undefined;
  if (path !== undefined) {
    const readable = ctx.scope.denial(path, "read") === undefined;
    facts.file = { path, saved: output.saved, readable };
  }
  const cut = report(facts);
  return answer(cut.text, cut);
}

/** As {@linkcode Output.show}, within the bytes as well that hosts pass on. */
function showWithin(
  output: Output,
  chars: number,
  share: number,
  ctx: ToolContext,
): Shown {
  const shown = output.show(chars, share);
  if (ctx.terminal) return shown;
  const bytes = new TextEncoder().encode(shown.text).length;
  const most = byteBudget(chars, ctx);
  // Three bytes a character are the most there can be, so that no part of it is beyond.
  return bytes <= most ? shown : output.show(Math.floor(most / 3), share);
}

/** Characters of one answer. */
export function bashBudget(ctx: ToolContext): number {
  return ctx.terminal
    ? MAX_ANSWER_CHARS
    : Math.min(ctx.config.limits.answerChars, MAX_ANSWER_CHARS);
}
