/**
 * `prompts/list` and `prompts/get`.
 *
 * @module
 */
import { failure } from "./calls.ts";
import { CommandError } from "./command.ts";
import { createContext } from "./context.ts";
import { isObject, own } from "./era.ts";
import { badParams, type Exchange, refuseCursor } from "./exchange.ts";
import type { JsonObject } from "./mcp.ts";
import type { PromptMessage } from "./prompt.ts";
import { ErrorCode, RpcError } from "./rpc.ts";

/** All prompts; there are too few to page. */
export function listPrompts(exchange: Exchange): { prompts: JsonObject[] } {
  refuseCursor(exchange);
  return {
    prompts: exchange.core.registry.prompts().map((prompt) => ({
      name: prompt.name,
      ...(prompt.title === undefined ? {} : { title: prompt.title }),
      description: prompt.description,
      arguments: (prompt.arguments ?? []).map((argument) => ({
        name: argument.name,
        ...(argument.title === undefined ? {} : { title: argument.title }),
        ...(argument.description === undefined
          ? {}
          : { description: argument.description }),
        required: argument.required === true,
      })),
    })),
  };
}

/**
 * The messages of the prompt that `params` names.
 *
 * @throws {RpcError} -32602 for an unknown prompt, for arguments that are missing or no strings, and for what the prompt
 * refuses, -32603 when it fails.
 */
export async function getPrompt(
  exchange: Exchange,
): Promise<{ description: string; messages: PromptMessage[] }> {
  const { core, params } = exchange;
  const name = own(params, "name");
  if (typeof name !== "string") throw badParams("name must be a string");
  const prompt = core.registry.prompt(name);
  if (!prompt) {
    throw new RpcError(ErrorCode.invalidParams, `unknown prompt: ${name}`);
  }
  const args = stringsOf(own(params, "arguments"), "arguments");
  for (const { name, required } of prompt.arguments ?? []) {
    if (required && !Object.hasOwn(args, name)) {
      throw badParams(`arguments.${name} is required`);
    }
  }
  const { context, finish } = createContext(exchange);
  try {
    const said = await prompt.run(args, context);
    finish();
    return {
      description: prompt.description,
      messages: typeof said === "string"
        ? [{ role: "user", content: { type: "text", text: said } }]
        : said,
    };
  } catch (error) {
    // What the prompt says of its arguments is no fault of the server.
    if (error instanceof CommandError) throw badParams(error.message);
    const [block] = failure(error, name, core.logger).content;
    throw new RpcError(
      ErrorCode.internal,
      block?.type === "text" ? block.text : "the prompt failed",
    );
  }
}

/**
 * An object whose values are strings; absent and null are an empty one.
 *
 * @throws {RpcError} -32602 for anything else, in the name of `what`.
 */
export function stringsOf(
  value: unknown,
  what: string,
): Record<string, string> {
  const given = value ?? {};
  if (!isObject(given)) throw badParams(`${what} must be an object`);
  for (const [name, item] of Object.entries(given)) {
    if (typeof item !== "string") {
      throw badParams(`${what}.${name} must be a string`);
    }
  }
  return given as Record<string, string>;
}
