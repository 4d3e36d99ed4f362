/**
 * A command: one value from which come a command-line verb, an MCP tool or resource, and a library function.
 *
 * @module
 */
import { CommandError } from "./failure.ts";
import type { FromSchema, InputSchema } from "./from_schema.ts";
import type {
  ContentBlock,
  Implementation,
  JsonObject,
  McpLogLevel,
  Revision,
  ToolAnnotations,
  ToolResult,
} from "./mcp.ts";
import {
  isStandard,
  issuesText,
  jsonSchemaOf,
  type StandardInput,
} from "./standard_schema.ts";

export { CommandError, UsageError } from "./failure.ts";

export type {
  FromProperties,
  FromSchema,
  InputSchema,
  PropertySchema,
  Simplify,
} from "./from_schema.ts";

/** Who asked: what the client said of itself, and the revision that its request was served under. */
export interface Client extends Partial<Implementation> {
  /** The revision that its request is served under. */
  revision?: Revision;
  /** What it declared it can do. */
  capabilities: JsonObject;
}

/** A question for the person; `schema` is a flat object schema for a form (elicitation, 2025-06-18). */
export interface Question {
  /** What the person is asked. */
  message: string;
  /** The form to fill in. */
  schema?: JsonObject;
}

/** The person's answer. `content` is there when the action is `accept`. */
export interface Answer {
  /** What the person did. */
  action: "accept" | "decline" | "cancel";
  /** The form as filled in. */
  content?: JsonObject;
}

/** Present when a command runs from a shell rather than over MCP. */
export interface Terminal {
  /** Standard input. */
  stdin: ReadableStream<Uint8Array>;
  /** Standard output, raw: only a command that serves a protocol writes here itself. */
  stdout: WritableStream<Uint8Array>;
  /** One line for the person, on standard error. */
  warn(line: string): void;
  /** Width in columns; undefined when standard output is not a terminal. */
  columns: number | undefined;
  /** The values of the root's own options, by property name. */
  globals: Record<string, unknown>;
  /** The tree that is being run. */
  root: AnyCommand;
  /** The words of the command line, the program's name left out. */
  args?: readonly string[];
  /**
   * What the environment and the configuration give for the arguments of a command, by name.
   *
   * @throws {UsageError} when one of them is not of its argument's type.
   */
  fallback?(command: AnyCommand): Record<string, unknown>;
}

/** What a handler is given beside its arguments. */
export interface CommandContext {
  /** Aborted when the caller cancels, the host goes away, or the server stops. */
  signal: AbortSignal;
  /** Tells how far the work is; `value` must rise. Does nothing when the caller did not ask for progress. */
  progress(value: number, total?: number, message?: string): void;
  /** Text for standard output, before what the handler returns; over MCP a block of the result. */
  print(text: string): void;
  /** A line for standard error; over MCP a block of the result, behind what the handler returns. */
  warn(line: string): void;
  /**
   * Standard input, on a command line.
   *
   * @throws {CommandError} elsewhere: arguments are all that there is.
   */
  stdin(): ReadableStream<Uint8Array>;
  /** A log message for the client (and, at that level, for the operator's log). */
  log(level: McpLogLevel, message: string, data?: JsonObject): void;
  /** The client; on the command line `{ capabilities: {} }`. */
  client: Client;
  /**
   * Asks the person. In the handshake revisions this waits; in 2026-07-28 it ends the call and the handler runs
   * again with the answer, so effects come after asks. `key` names the question within the call.
   *
   * @throws {CommandError} when the client has no way to ask its person.
   */
  ask(key: string, question: Question): Promise<Answer>;
  /** The request's `_meta`. */
  meta: JsonObject;
  /** The values of the root's options, over MCP those that the server was started with. */
  globals?: Readonly<Record<string, unknown>>;
  /** Set when the command runs from a shell. */
  terminal?: Terminal;
}

/** What a handler may return: text, blocks, or either with data, an error flag, `_meta` and an exit code for shells. */
export type CommandOutput =
  | string
  | ContentBlock[]
  | { content: string | ContentBlock[]; structured?: JsonObject } & Ending
  | { structured: JsonObject } & Ending;

/**
 * How a call has ended, beside what it gives. `structured` is the result as data; without `content` its JSON is the text.
 * Over MCP it is `structuredContent` (2025-06-18), and some hosts then show the model nothing else.
 */
export interface Ending {
  /** The command failed; default whether `exitCode` is not 0. */
  isError?: boolean;
  /** Figures for programs. */
  meta?: JsonObject;
  /** Exit code on the command line; default 1 with `isError`, else 0. */
  exitCode?: number;
}

/** How one argument is given on the command line and in configuration. */
export interface OptionHints {
  /** One letter, for `-x`. */
  short?: string;
  /** The long name; default the property's, with dashes. */
  flag?: string;
  /** Environment variable that supplies the value when the flag is absent. */
  env?: string;
  /** A variable that help names because the command reads it itself. */
  shownEnv?: string;
  /** Dotted key in the configuration, which supplies the value when flag and variable are absent (`RunOptions.config`). */
  config?: string;
  /** Accepted, but neither listed over MCP nor shown in help and completion; with `help` only the latter. */
  hidden?: boolean | "help";
  /** The word in help for the value, such as `DIR`. */
  value?: string;
  /** On the command line `-`, or the absence of a required positional, means standard input. */
  stdin?: boolean;
  /** The heading that help lists the option under. */
  group?: string;
  /** What to use instead; the option goes on working, with a warning. */
  deprecated?: string;
}

/** The MCP tool that a command is. */
export interface ToolHints {
  /** The name that models call it by. */
  name: string;
  /** A name for people. */
  title?: string;
  /** What is left out is listed as MCP assumes it: destructive, not idempotent, open world, not read-only. */
  annotations?: Partial<ToolAnnotations>;
  /** Hints for particular hosts. */
  _meta?: JsonObject;
}

/** The MCP resource that a command is. A URI with `{name}` in it is a template whose values become arguments. */
export interface ResourceHints {
  /** The URI, or a template (RFC 6570). */
  uri: string;
  /** A name for people. */
  title?: string;
  /** The type of what the handler returns. */
  mimeType: string;
}

/** A command. `Ctx` is what its handler needs of the world beyond {@linkcode CommandContext}. */
export interface Command<
  S extends InputSchema = InputSchema,
  Ctx extends CommandContext = CommandContext,
> {
  /** One word; the verb on the command line. */
  name: string;
  /** One line for help; begins with a capital letter, no full stop. */
  summary: string;
  /** What the model and `--help` are told; default `summary`. */
  description?: string;
  /** Arguments as a JSON Schema object. */
  input?: S;
  /**
   * The shape of the data that the handler returns as `structured`, as a JSON Schema object (2025-06-18, `outputSchema`).
   * On the command line such a command has `--json`, unless it has an argument of that name.
   */
  output?: InputSchema;
  /** Names of the properties that the command line takes by position, in order; the last may be an array. */
  positionals?: readonly string[];
  /** Command-line and configuration side of the arguments, by property name. */
  options?: Readonly<Record<string, OptionHints>>;
  /** Exposes the command as this MCP tool. */
  tool?: ToolHints;
  /** Exposes the command as this MCP resource. Never together with `tool`. */
  resource?: ResourceHints;
  /** Subcommands. */
  commands?: readonly AnyCommand[];
  /**
   * Loads the whole command when it is reached: what stands here is only what a list of commands shows. Start-up then
   * does not wait for what is not used.
   */
  load?(): Promise<AnyCommand>;
  /**
   * Subcommands that are not known beforehand, such as those that a configuration declares. Asked for a word that none
   * of `commands` has, for help, for completion and by the command `mcp`, with the whole command line.
   */
  more?(args: readonly string[]): Promise<readonly AnyCommand[]>;
  /** Other names on the command line. */
  aliases?: readonly string[];
  /** Not shown in help. */
  hidden?: boolean;
  /** What to use instead; the command goes on working, with a warning. */
  deprecated?: string;
  /** Lines for help: a command line each. */
  examples?: readonly string[];
  /** The text is printed byte for byte; otherwise a missing final newline is added on the command line. */
  verbatim?: boolean;
  /** The handler. A group of subcommands needs none. */
  run?(args: FromSchema<S>, ctx: Ctx): CommandOutput | Promise<CommandOutput>;
}

/** A command of any arguments and any context: what trees and registries hold. */
// deno-lint-ignore no-explicit-any
export type AnyCommand = Command<any, any>;

/** A command whose arguments are described by a validator of another library. */
export interface StandardCommand<Output, Ctx extends CommandContext>
  extends Omit<Command<InputSchema, Ctx>, "input" | "run"> {
  /** A Standard Schema validator that can say itself as JSON Schema. */
  input: StandardInput<Output>;
  /** The handler; `args` is what the validator made of the arguments. */
  run(args: Output, ctx: Ctx): CommandOutput | Promise<CommandOutput>;
}

/**
 * Identity with type inference: `args` of `run` is typed from `input`, a literal JSON Schema or a validator.
 *
 * @example
 * ```ts
 * import { command } from "./command.ts";
 * import { run } from "./cli.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const add = command({
 *   name: "add",
 *   summary: "Add two numbers",
 *   input: {
 *     type: "object",
 *     properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
 *     required: ["a"],
 *   },
 *   positionals: ["a", "b"],
 *   tool: { name: "add" },
 *   run: ({ a, b }) => `${a + b}`,
 * });
 * let text = "";
 * const code = await run(add, ["2", "3"], {
 *   stdin: ReadableStream.from<Uint8Array>([]),
 *   stdout: new WritableStream({
 *     write: (bytes) => void (text += new TextDecoder().decode(bytes)),
 *   }),
 *   stderr: { write: () => Promise.resolve() },
 * });
 * assertEquals([code, text], [0, "5\n"]);
 * ```
 *
 * @throws {TypeError} when the command is both a tool and a resource, or its validator has no JSON Schema.
 */
export function command<Output, Ctx extends CommandContext = CommandContext>(
  definition: StandardCommand<Output, Ctx>,
): Command<InputSchema, Ctx>;
/** The same for a JSON Schema. */
export function command<
  const S extends InputSchema,
  Ctx extends CommandContext = CommandContext,
>(definition: Command<S, Ctx>): Command<S, Ctx>;
export function command(definition: AnyCommand): AnyCommand {
  if (definition.tool && definition.resource) {
    throw new TypeError(
      `Cannot define command "${definition.name}": it is both a tool and a resource`,
    );
  }
  const validator: unknown = definition.input;
  if (!isStandard(validator)) return definition;
  return {
    ...definition,
    input: jsonSchemaOf(validator),
    async run(args: unknown, ctx: CommandContext) {
      const result = await validator["~standard"].validate(args);
      if (result.issues) throw new CommandError(issuesText(result.issues));
      return await definition.run!(result.value, ctx);
    },
  };
}

/** The first characters of every block that is an addition to a tool's own text. */
export const NOTE_PREFIX = "[rousseau: ";

/** The second block of an answer: the notes joined, or undefined when there are none. */
export function noteBlock(notes: readonly string[]): ContentBlock | undefined {
  return notes.length === 0
    ? undefined
    : { type: "text", text: `${NOTE_PREFIX}${notes.join("\n")}]` };
}

/** A handler's output in the shape of `tools/call`. */
export function toToolResult(output: CommandOutput): ToolResult {
  if (typeof output === "string" || Array.isArray(output)) {
    return toToolResult({ content: output });
  }
  const { structured, exitCode = 0, isError = exitCode !== 0, meta } = output;
  const content = "content" in output
    ? output.content
    : JSON.stringify(structured);
  return {
    content: typeof content === "string"
      ? [{ type: "text", text: content }]
      : content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isError ? { isError: true } : {}),
    ...(meta ? { _meta: meta } : {}),
  };
}

/** The input schema of a command that takes no arguments. */
export const NO_INPUT: InputSchema = {
  type: "object",
  properties: {},
  additionalProperties: false,
};
