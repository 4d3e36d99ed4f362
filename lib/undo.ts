/**
 * `rousseau undo` and the tool `rousseau_undo`: what a session's `write` and `edit` changed, shown as a difference and
 * put back.
 *
 * What changed since, by other hands, is never touched unless forced; and an undo is itself a step that can be undone.
 *
 * @module
 */
import { clipHead } from "./clip.ts";
import {
  type Command,
  command,
  CommandError,
  type FromSchema,
} from "./command.ts";
import { fromUser } from "./platform.ts";
import { redact } from "./redact.ts";
import { storeOf } from "./session_tools.ts";
import { styledDiff, styleOf } from "./style.ts";
import { answer, answerBudget, failure, type ToolContext } from "./tool.ts";
import { Undo } from "./undo_files.ts";
import { planUndo, stepsToUndo } from "./undo_plan.ts";

/** The arguments of `undo`. */
export const undoInput = {
  type: "object",
  properties: {
    session: {
      type: "string",
      description:
        "A session's id, or the beginning of one; default the one that last changed a file.",
    },
    step: {
      type: "integer",
      minimum: 1,
      description: "Only this step, as the answers of write and edit name it.",
    },
    file: { type: "string", description: "Only this file." },
    dry_run: {
      type: "boolean",
      default: false,
      description: "Only show what would be put back.",
    },
    force: {
      type: "boolean",
      default: false,
      description: "Also where the file was changed since.",
    },
  },
  additionalProperties: false,
} as const;

/** The arguments of the tool: a model may not put back what somebody else has changed since. */
export const undoToolInput = {
  type: "object",
  properties: {
    session: {
      type: "string",
      description: "Id; default this conversation.",
    },
    step: { type: "integer", minimum: 1 },
    file: { type: "string" },
    dry_run: { type: "boolean", description: "Only show the diff." },
  },
  additionalProperties: false,
} as const;

/** The command `undo`. */
export const undoCommand: Command<typeof undoInput, ToolContext> = command({
  name: "undo",
  summary: "Put back what write and edit changed in a session",
  description:
    "Puts files back as they were before a session's write and edit calls, after showing the difference; refuses where a file was changed since. What bash changed is not known and not touched.",
  input: undoInput,
  positionals: ["session"],
  examples: [
    "rousseau undo --dry-run",
    "rousseau undo 1a2b3c4d --file src/main.ts",
  ],
  run: async (args, ctx) => {
    const { done, files } = await undo(args, ctx, undefined);
    return answer(styledDiff(done.join("\n"), styleOf(ctx)), {
      meta: { files },
    });
  },
});

/** The tool `rousseau_undo`. */
export const undoTool: Command<typeof undoToolInput, ToolContext> = command({
  name: "rousseau_undo",
  summary: "Put back what write and edit changed",
  description:
    "Put back what write and edit changed in a session, one step or one file. Refuses where somebody else changed a file since.",
  input: undoToolInput,
  tool: {
    name: "rousseau_undo",
    title: "Undo",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
  },
  async run({ dry_run: isDry = false, ...args }, ctx) {
    const store = storeOf(ctx);
    const own = store.checkpoints.sessionOf(ctx.signal);
    if (own) await store.flush();
    try {
      const { done, files } = await undo(
        { ...args, dry_run: isDry, force: false },
        ctx,
        own?.n,
      );
      const budget = answerBudget(ctx.config, undefined);
      const { text, dropped } = clipHead(redact(done.join("\n")), budget);
      return answer(text, {
        notes: dropped > 0
          ? [`${dropped} characters of differences left out`]
          : [],
        meta: { files },
      });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw failure(redact(error.message), { cause: error });
    }
  },
});

/** What a refusal says to people. */
const FORCE_HINT = "\n--force does it all the same";

/** What an undo is asked for. */
type Asked = FromSchema<typeof undoInput>;

/** Undoes steps of the named session, else of the one with number `own`, else of the one that last changed a file. */
async function undo(
  args: Asked,
  ctx: ToolContext,
  own: number | undefined,
): Promise<{ done: string[]; files: number }> {
  const store = storeOf(ctx);
  const { n, steps } = await stepsToUndo(store, args.session, own);
  const file = args.file === undefined
    ? undefined
    : fromUser(ctx.platform, args.file) ?? args.file;
  const real = file === undefined
    ? undefined
    : (await ctx.scope.resolve(file, "write")).real;
  const plans = planUndo(steps, { step: args.step, file: real });
  if (plans.length === 0) {
    throw new CommandError(
      args.step === undefined
        ? "undo: this session did not change that file"
        : `undo: this session has no step ${args.step}`,
    );
  }
  const files = new Undo(ctx, store, n);
  if (!args.force) {
    await files.refuseConflicts(plans, ctx.terminal ? FORCE_HINT : "");
  }
  return { done: await files.applyAll(plans, args), files: plans.length };
}
