/**
 * Text from a command line or an environment variable, turned into the value that an argument's schema asks for.
 *
 * @module
 */

import { isoDuration } from "./formats.ts";

/** The value, or what is wrong with the text. */
export type Parsed =
  | { value: unknown; error?: undefined }
  | { value?: undefined; error: string };

/** The part of an argument's JSON Schema that decides how its text is read. */
export type ArgumentSchema = { readonly [keyword: string]: unknown };

/**
 * Reads `text` as the argument's type: strings as they are, integers, numbers and booleans in their usual spelling,
 * objects and whatever has no type as JSON. For a list, `text` is one item. Ranges, enums and patterns are left to
 * the validation that follows.
 */
export function valueFromText(schema: ArgumentSchema, text: string): Parsed {
  const types = typesOf(schema);
  if (types.has("array") && types.size === 1) {
    return valueFromText(
      (schema.items ?? { type: "string" }) as ArgumentSchema,
      text,
    );
  }
  if (types.has("string")) {
    const iso = schema.format === "duration" ? isoDuration(text) : undefined;
    return { value: iso ?? text };
  }
  if (types.has("integer") || types.has("number")) {
    const value = NUMBER.test(text) ? Number(text) : NaN;
    if (
      Number.isFinite(value) &&
      (types.has("number") || Number.isSafeInteger(value))
    ) {
      return { value };
    }
  }
  if (types.has("boolean")) {
    const value = BOOLEANS.get(text.toLowerCase());
    if (value !== undefined) return { value };
  }
  if (types.has("null") && text === "null") return { value: null };
  if (types.size === 0 || types.has("object") || types.has("array")) {
    try {
      return { value: JSON.parse(text) };
    } catch {
      return { error: `must be JSON, got ${quoted(text)}` };
    }
  }
  const wanted = [...types].map((type) => WORDS[type] ?? type).join(" or ");
  return { error: `must be ${wanted}, got ${quoted(text)}` };
}

/** Characters of a wrong text that an error quotes. */
export const QUOTED_CHARS = 40;

/** A text in quotes, cut where it is long, and without what could do something to a terminal. */
export function quoted(text: string): string {
  return JSON.stringify(
    text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}…` : text,
  ).toWellFormed().replaceAll(
    // C1 controls, and those that turn the direction of text.
    /[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Whether the argument is a switch: it needs no value on the command line. */
export function isSwitch(schema: ArgumentSchema): boolean {
  const types = typesOf(schema);
  return types.size === 1 && types.has("boolean");
}

/** Whether the argument may be given several times, each adding an item. */
export function isList(schema: ArgumentSchema): boolean {
  return typesOf(schema).has("array");
}

/** The JSON types that a schema admits at its top; empty when it does not say. */
function typesOf(schema: ArgumentSchema): Set<string> {
  const values = "const" in schema ? [schema.const] : schema.enum;
  if (schema.type === undefined && Array.isArray(values)) {
    return new Set(values.map((v) => v === null ? "null" : typeof v));
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (schema.type === undefined && Array.isArray(choices)) {
    return new Set(choices.flatMap((choice) => [...typesOf(choice)]));
  }
  return new Set([schema.type ?? []].flat() as string[]);
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["yes", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["0", false],
]);

const WORDS: Readonly<Record<string, string>> = {
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  null: "null",
};
