/**
 * A prompt: a value from which a host makes a command for its person (`prompts/list`, `prompts/get`).
 *
 * @module
 */
import type { CommandContext } from "./command.ts";
import type { ContentBlock } from "./mcp.ts";

/** One argument of a prompt. Over MCP every value is a string. */
export interface PromptArgument {
  /** The name that the host shows. */
  name: string;
  /** A name for people (2025-06-18). */
  title?: string;
  /** What the value is for. */
  description?: string;
  /** Whether the prompt cannot do without. */
  required?: boolean;
  /** Values that begin like `value`, best first; `given` holds the arguments that are known by then. */
  complete?(
    value: string,
    given: Readonly<Record<string, string>>,
    ctx: CommandContext,
  ): string[] | Promise<string[]>;
}

/** One message that the host puts into the conversation. */
export interface PromptMessage {
  /** Who is to have said it. */
  role: "user" | "assistant";
  /** What was said. */
  content: ContentBlock;
}

/** A prompt. `Ctx` is what its handler needs of the world beyond {@linkcode CommandContext}. */
export interface Prompt<Ctx extends CommandContext = CommandContext> {
  /** The name that hosts call it by. */
  name: string;
  /** A name for people (2025-06-18). */
  title?: string;
  /** One sentence for people. */
  description: string;
  /** Its arguments, in the order in which hosts ask for them. */
  arguments?: readonly PromptArgument[];
  /** The messages; a string is one of the user. */
  run(
    args: Readonly<Record<string, string>>,
    ctx: Ctx,
  ): string | PromptMessage[] | Promise<string | PromptMessage[]>;
}

/** A prompt of any context: what registries hold. */
// deno-lint-ignore no-explicit-any
export type AnyPrompt = Prompt<any>;

/** Identity with type inference. */
export function prompt<Ctx extends CommandContext = CommandContext>(
  definition: Prompt<Ctx>,
): Prompt<Ctx> {
  return definition;
}
