/**
 * Recorded sessions as prompts: `resume_session` puts a transcript before the model, to carry on from.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { type Prompt, prompt } from "./prompt.ts";
import { completeSessionIds } from "./session_resources.ts";
import { sessionNamed, storeOf } from "./session_tools.ts";
import { answerBudget, type ToolContext } from "./tool.ts";
import { plain } from "./transcript.ts";

/** What stands before the transcript. */
export const RESUME_TEXT =
  "Carry on with the work of the recorded session below. First say in a few lines where it stood and what is left, and look at the files as they are now before you change anything.";

/** The prompt `resume_session`. */
export const resumeSession: Prompt<ToolContext> = prompt<ToolContext>({
  name: "resume_session",
  title: "Resume a recorded session",
  description:
    "Puts the transcript of a recorded session before the model, to carry on from.",
  arguments: [{
    name: "id",
    title: "Session",
    description: "Session id, or its beginning.",
    required: true,
    complete: (value, _given, ctx) =>
      completeSessionIds(storeOf(ctx as ToolContext), value),
  }],
  async run({ id = "" }, ctx) {
    const store = storeOf(ctx);
    const session = await sessionNamed(store, id);
    const limit = answerBudget(ctx.config, undefined);
    const text = await store.read(
      session.id,
      0,
      (found, messages) => plain(found, messages, limit),
    );
    if (text === undefined) throw new CommandError("state: session not found");
    return `${RESUME_TEXT}\n\n${text}`;
  },
});
