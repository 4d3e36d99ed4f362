/**
 * Positional arguments: those of a command line, and those under `"_"` of a call.
 *
 * @module
 */
import { type ArgumentSchema, isList, valueFromText } from "./argument.ts";
import type { AnyCommand } from "./command.ts";
import type { JsonObject } from "./mcp.ts";

/**
 * The arguments of a call by name: those under `"_"` (a string is one positional argument, an array several) take the
 * names of the command's positionals. Text there is read as on the command line. Arguments without `"_"`, and
 * whatever is no object, come back as they are, for the schema to judge.
 */
export function commandArguments(
  command: AnyCommand,
  raw: unknown,
):
  | { value: unknown; error?: undefined }
  | { value?: undefined; error: string } {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, "_")) {
    return { value: raw };
  }
  const { _: given, ...named } = raw as JsonObject;
  if (
    command.input?.properties && Object.hasOwn(command.input.properties, "_")
  ) {
    return { value: raw };
  }
  const items = given === null || given === undefined
    ? []
    : Array.isArray(given)
    ? given
    : [given];
  const bound = bindPositionals(command, items);
  if (bound.error !== undefined) return { error: `_: ${bound.error}` };
  for (const name of bound.value.keys()) {
    if (Object.hasOwn(named, name)) {
      return { error: `${name}: given both by name and under "_"` };
    }
  }
  return { value: { ...named, ...Object.fromEntries(bound.value) } };
}

/** Positional values by argument name, each read as its schema asks; the last list takes all that is left. */
export function bindPositionals(
  command: AnyCommand,
  items: readonly unknown[],
):
  | { value: Map<string, unknown>; error?: undefined }
  | { value?: undefined; error: string } {
  const names = command.positionals ?? [];
  const properties: Readonly<Record<string, ArgumentSchema>> =
    command.input?.properties ?? {};
  const last = names.at(-1);
  const variadic = last !== undefined && isList(properties[last] ?? {});
  if (items.length > names.length && !variadic) {
    return {
      error: names.length === 0
        ? "takes no positional arguments"
        : `takes at most ${names.length} (${
          names.join(", ")
        }), got ${items.length}`,
    };
  }
  const value = new Map<string, unknown>();
  for (const [i, item] of items.entries()) {
    const rest = variadic && i >= names.length - 1;
    const name = rest ? last! : names[i]!;
    const parsed = typeof item === "string"
      ? valueFromText(properties[name] ?? {}, item)
      : { value: item };
    if (parsed.error !== undefined) {
      return { error: `${name}: ${parsed.error}` };
    }
    if (!rest) value.set(name, parsed.value);
    else if (i === names.length - 1) value.set(name, [parsed.value]);
    else (value.get(name) as unknown[]).push(parsed.value);
  }
  return { value };
}
