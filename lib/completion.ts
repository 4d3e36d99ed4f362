/**
 * `completion/complete`: values for an argument of a prompt, or for a variable of a resource template.
 *
 * @module
 */
import { createContext } from "./context.ts";
import { isObject, own } from "./era.ts";
import { badParams, type Exchange } from "./exchange.ts";
import type { Completion } from "./hooks.ts";
import { stringsOf } from "./prompts.ts";

/** Values in one answer (2025-03-26, Completion, "Completion Results"). */
export const MAX_COMPLETIONS = 100;

/**
 * The values that begin like what is typed.
 *
 * @throws {RpcError} -32602 for parameters of the wrong shape, and for a prompt, template or argument that is unknown.
 */
export async function complete(exchange: Exchange): Promise<object> {
  const { params } = exchange;
  const argument = own(params, "argument");
  const name = isObject(argument) ? own(argument, "name") : undefined;
  const value = isObject(argument) ? own(argument, "value") : undefined;
  if (typeof name !== "string" || typeof value !== "string") {
    throw badParams("argument must have a name and a value that are strings");
  }
  const context = own(params, "context");
  const given = stringsOf(
    isObject(context) ? own(context, "arguments") : undefined,
    "context.arguments",
  );
  const values = await valuesFor(exchange, { name, value, given });
  return {
    completion: {
      values: values.slice(0, MAX_COMPLETIONS),
      total: values.length,
      hasMore: values.length > MAX_COMPLETIONS,
    },
  };
}

async function valuesFor(
  exchange: Exchange,
  wanted: Completion,
): Promise<string[]> {
  const ref = own(exchange.params, "ref");
  if (isObject(ref)) {
    const name = own(ref, "name");
    const uri = own(ref, "uri");
    if (own(ref, "type") === "ref/prompt" && typeof name === "string") {
      return await forPrompt(exchange, name, wanted);
    }
    if (own(ref, "type") === "ref/resource" && typeof uri === "string") {
      return await forTemplate(exchange, uri, wanted);
    }
  }
  throw badParams(
    "ref must be a ref/prompt with a name, or a ref/resource with a uri",
  );
}

async function forPrompt(
  exchange: Exchange,
  name: string,
  { name: argumentName, value, given }: Completion,
): Promise<string[]> {
  const prompt = exchange.core.registry.prompt(name);
  if (!prompt) throw badParams(`ref names no prompt: ${name}`);
  const argument = prompt.arguments?.find((each) => each.name === argumentName);
  if (!argument) {
    throw badParams(`the prompt ${name} has no argument ${argumentName}`);
  }
  const { context } = createContext(exchange);
  return await argument.complete?.(value, given, context) ?? [];
}

async function forTemplate(
  exchange: Exchange,
  uri: string,
  wanted: Completion,
): Promise<string[]> {
  const { registry, providers } = exchange.core;
  const command = registry.template(uri);
  if (command) {
    const properties = command.input?.properties ?? {};
    const property = Object.hasOwn(properties, wanted.name)
      ? properties[wanted.name]
      : undefined;
    const choices: unknown[] = Array.isArray(property?.enum)
      ? property.enum
      : [];
    return choices.filter((choice): choice is string =>
      typeof choice === "string" && choice.startsWith(wanted.value)
    );
  }
  const { context } = createContext(exchange);
  for (const provider of providers) {
    const known = provider.templates().some(({ uriTemplate }) =>
      uriTemplate === uri
    );
    if (known) return await provider.complete?.(uri, wanted, context) ?? [];
  }
  if (registry.resource(uri)) return [];
  throw badParams(`ref names no resource template: ${uri}`);
}
