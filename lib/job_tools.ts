/**
 * What the tools `bash_output` and `bash_kill` do.
 *
 * @module
 */
import { MAX_WAIT_S } from "./bash_schema.ts";
import type { BASH_KILL_INPUT, BASH_OUTPUT_INPUT } from "./bash_schema.ts";
import {
  figures,
  NO_OUTPUT,
  noteRoom,
  stateText,
  textNotes,
} from "./bash_report.ts";
import { bashBudget } from "./bash_run.ts";
import type { CommandContext, CommandOutput, FromSchema } from "./command.ts";
import type { Execution } from "./execution.ts";
import { Jobs } from "./jobs.ts";
import { answer } from "./tool.ts";
import type { ToolContext } from "./tool.ts";

/** Handler of `bash_output`. */
export async function runBashOutput(
  args: FromSchema<typeof BASH_OUTPUT_INPUT>,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const job = Jobs.of(ctx).find(args.job, "bash_output");
  const { output } = job.execution;
  const since = args.since < 0
    ? Math.max(0, output.total + args.since)
    : args.since;
  if (args.wait) await freshOutput(job.execution, since, args.wait, ctx);
  // Taken before the output: when it says ended, everything is there.
  const { outcome, ageMs } = job.execution;
  const limit = bashBudget(ctx);
  const piece = await output.read(since, limit - noteRoom(limit));
  const more = piece.next < output.total;
  const notes = [
    `job ${job.id} ${stateText(outcome, ageMs, job.timeout)}${
      outcome && !more ? "" : `; next: bash_output ${
        JSON.stringify({
          job: job.id,
          since: piece.next,
          ...(more ? {} : { wait: MAX_WAIT_S }),
        })
      }`
    }`,
    ...(piece.from > since
      ? [`${piece.from - since} bytes before this are no longer kept`]
      : []),
    ...(more ? [`${output.total - piece.next} bytes follow`] : []),
    ...textNotes(piece),
    ...(more ? [] : outcome?.remarks ?? []),
  ];
  return answer(piece.text || (since > 0 ? "(no new output)" : NO_OUTPUT), {
    notes,
    meta: {
      ...figures({
        outcome,
        ageMs,
        job: job.id,
        bytes: output.total,
        sandbox: Jobs.of(ctx).confinement.layer,
      }),
      since: piece.from,
      next: piece.next,
    },
  });
}

/** Handler of `bash_kill`. */
export async function runBashKill(
  args: FromSchema<typeof BASH_KILL_INPUT>,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const { id, execution, timeout } = Jobs.of(ctx).find(
    args.job,
    "bash_kill",
  );
  const before = execution.outcome;
  const outcome = before ?? await execution.end("killed");
  const { ageMs, output } = execution;
  return answer(
    before
      ? `job ${id} had ${stateText(before, ageMs, timeout)}`
      : `killed job ${id}`,
    {
      notes: outcome.remarks ?? [],
      meta: figures({
        outcome,
        ageMs,
        job: id,
        bytes: output.total,
        sandbox: Jobs.of(ctx).confinement.layer,
      }),
    },
  );
}

/** Waits until there is output beyond `since`, or the job ends; then a moment more, so that a burst comes whole. */
async function freshOutput(
  { output, done }: Execution,
  since: number,
  seconds: number,
  ctx: Pick<CommandContext, "signal">,
): Promise<void> {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(ctx.signal.reason);
  const timer = setTimeout(resolve, seconds * 1000);
  let late = false;
  over.then(() => late = true, () => late = true);
  ctx.signal.addEventListener("abort", onAbort);
  let burst: ReturnType<typeof setTimeout> | undefined;
  try {
    ctx.signal.throwIfAborted();
    while (!late && !output.ended && output.total <= since) {
      await Promise.race([output.news(), done, over]);
    }
    if (output.ended || late) return;
    burst = setTimeout(resolve, BURST_MS);
    await Promise.race([done, over]);
  } finally {
    ctx.signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
    clearTimeout(burst);
  }
}

/** Milliseconds that new output may go on arriving before it is answered. */
const BURST_MS = 100;
