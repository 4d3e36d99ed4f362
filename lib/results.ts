/**
 * The result of a call: what its handler printed around it, and whether it is one at all.
 *
 * @module
 */
import {
  type AnyCommand,
  CommandError,
  type CommandOutput,
  type InputSchema,
  toToolResult,
} from "./command.ts";
import type { ToolResult } from "./mcp.ts";

/** Says what is wrong with a value by a schema; undefined when nothing is. */
export type Problem = (
  schema: InputSchema,
  value: unknown,
) => string | undefined | Promise<string | undefined>;

/** What a handler prints where there is no terminal, kept for its result. */
export class Printed {
  #out = "";
  #err = "";

  /** Text for standard output. */
  readonly print = (text: string): void => {
    this.#out += text;
  };

  /** A line for standard error. */
  readonly warn = (line: string): void => {
    this.#err += `${line}\n`;
  };

  /**
   * There is none.
   *
   * @throws {CommandError} always.
   */
  readonly stdin = (): never => {
    throw new CommandError(
      "standard input is closed here: whatever the command reads there has to come as an argument; one is probably missing",
    );
  };

  /** The result with standard output before it. */
  before(result: ToolResult): ToolResult {
    return withBlocks(this.#out, result, "");
  }

  /** The result with standard output before it, and standard error behind it. */
  around(result: ToolResult): ToolResult {
    return withBlocks(this.#out, result, this.#err);
  }

  /** A failure behind all that was printed before it. */
  beforeFailure(failure: ToolResult): ToolResult {
    return withBlocks(this.#out, withBlocks(this.#err, failure, ""), "");
  }
}

function withBlocks(
  before: string,
  result: ToolResult,
  after: string,
): ToolResult {
  if (before === "" && after === "") return result;
  const block = (text: string) =>
    text === "" ? [] : [{ type: "text" as const, text }];
  // Where the handler returned nothing, what it printed is the answer.
  const own = result.content.filter((one) =>
    one.type !== "text" || one.text !== ""
  );
  return { ...result, content: [...block(before), ...own, ...block(after)] };
}

/**
 * A handler's output as a result.
 *
 * @throws {TypeError} when the handler returned something else: hosts drop, or fail at, what is no result.
 */
export function resultOf(
  output: CommandOutput,
  command: AnyCommand,
): ToolResult {
  const result = typeof output === "string" || isObject(output)
    ? toToolResult(output)
    : undefined;
  const { content, structuredContent } = result ?? {};
  if (!result || !Array.isArray(content) || !content.every(isBlock)) {
    throw new TypeError(
      `Command "${command.name}" must return text, blocks, { content } or { structured }`,
    );
  }
  if (
    structuredContent !== undefined &&
    (!isObject(structuredContent) || Array.isArray(structuredContent))
  ) {
    throw new TypeError(
      `Command "${command.name}" must return structured data that is an object`,
    );
  }
  return result;
}

/**
 * {@linkcode resultOf}, kept to the command's output schema (2025-06-18, Tools, "Output Schema").
 *
 * @throws {TypeError} when the handler returned something else.
 */
export async function checkedResult(
  output: CommandOutput,
  command: AnyCommand,
  problem: Problem,
): Promise<ToolResult> {
  const result = resultOf(output, command);
  const { structuredContent, isError } = result;
  if (!command.output || isError) return result;
  const wrong = structuredContent === undefined
    ? "there is none"
    : await problem(command.output, structuredContent);
  if (wrong !== undefined) {
    throw new TypeError(
      `Command "${command.name}" must return structured data by its output schema: ${wrong}`,
    );
  }
  return result;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a block is of a kind that clients know, and has what its kind needs. */
function isBlock(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type, text, data, mimeType, resource, uri } = block as Record<
    string,
    unknown
  >;
  switch (type) {
    case "text":
      return typeof text === "string";
    case "image":
    case "audio":
      return typeof data === "string" && typeof mimeType === "string";
    case "resource":
      return isObject(resource);
    case "resource_link":
      return typeof uri === "string";
    default:
      return false;
  }
}
