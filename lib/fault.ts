/**
 * What is wrong with an argument, in words for whoever sent it.
 *
 * @module
 */
import { quoted } from "./argument.ts";
import { formatInWords } from "./formats.ts";
import { didYouMean } from "./nearest.ts";

/** What a value should be, in words: `a string`, `an integer from 1 to 200`, `one of "a", "b"`. */
export function expectation(schema: unknown): string {
  if (!isObject(schema)) return "a value";
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) {
    return `one of ${schema.enum.map((v) => JSON.stringify(v)).join(", ")}`;
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return choices.map(expectation).join(" or ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => expectation({ ...schema, type })).join(
      " or ",
    );
  }
  switch (schema.type) {
    case "string":
      return "a string";
    case "integer":
      return `an integer${range(schema)}`;
    case "number":
      return `a number${range(schema)}`;
    case "boolean":
      return "true or false";
    case "array":
      return isObject(schema.items) && typeof schema.items.type === "string"
        ? `an array of ${schema.items.type}s`
        : "an array";
    case "object":
      return "an object";
    case "null":
      return "null";
    default:
      return "a value";
  }
}

function range({ minimum, maximum }: Record<string, unknown>): string {
  if (minimum !== undefined && maximum !== undefined) {
    return ` from ${minimum} to ${maximum}`;
  }
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

/** An argument that the schema does not have, with the nearest that it has. `place` is empty or begins with " in ". */
export function unknownFault(
  name: string,
  place: string,
  known: Record<string, unknown>,
): string {
  const names = Object.keys(known);
  const hint = didYouMean(name, names) ||
    (names.length === 0
      ? "; there are none"
      : `; there are ${names.join(", ")}`);
  return `unknown argument ${quoted(name)}${place}${hint}`;
}

/** One entry of the validator's list of errors. */
export interface FailedKeyword {
  /** The keyword of the schema that was not met. */
  keyword: string;
  /** JSON pointer into the schema, in fragment form. */
  keywordLocation: string;
  /** JSON pointer into the value, in fragment form. */
  instanceLocation: string;
  /** The validator's own words. */
  error: string;
}

/** One fault from the validator's list, which goes from the outermost keyword to the one that failed. */
export function faultOf(
  errors: readonly FailedKeyword[],
  schema: unknown,
  value: unknown,
): string {
  const unit =
    errors.find(({ keyword }) => ["anyOf", "oneOf", "not"].includes(keyword)) ??
      errors.findLast(({ keyword }) => keyword !== "false");
  if (!unit) return "arguments: not allowed";
  const node = nodeAt(schema, pointer(unit.keywordLocation).slice(0, -1));
  const path = pointer(unit.instanceLocation);
  const field = fieldName(path);
  const got = path.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined)?.[key],
    value,
  );
  const rule = isObject(node) ? node[unit.keyword] : undefined;
  const must = (what: string) => `${field}: must ${what}, got ${describe(got)}`;
  switch (unit.keyword) {
    case "required": {
      const names = Array.isArray(rule) ? rule as string[] : [];
      const name = names.find((n) => !Object.hasOwn(got as object, n));
      return `${fieldName([...path, name ?? "?"])} is required`;
    }
    case "additionalProperties": {
      const known = isObject(node) && isObject(node.properties)
        ? node.properties
        : {};
      const name = Object.keys(got as object).find((n) =>
        !Object.hasOwn(known, n)
      );
      return unknownFault(name ?? "?", ` in ${field}`, known);
    }
    case "enum": {
      const words = (rule as unknown[]).filter((v) => typeof v === "string");
      return must(`be ${expectation(node)}`) +
        (typeof got === "string" ? didYouMean(got, words as string[]) : "");
    }
    case "type":
    case "const":
    case "anyOf":
    case "oneOf":
    case "minimum":
    case "maximum":
      return must(`be ${expectation(node)}`);
    case "exclusiveMinimum":
      return must(`be more than ${rule}`);
    case "exclusiveMaximum":
      return must(`be less than ${rule}`);
    case "multipleOf":
      return must(`be a multiple of ${rule}`);
    case "minLength":
      return must(`have at least ${count(rule, "character")}`);
    case "maxLength":
      return must(`have at most ${count(rule, "character")}`);
    case "minItems":
      return `${field}: must have at least ${count(rule, "item")}`;
    case "maxItems":
      return `${field}: must have at most ${count(rule, "item")}`;
    case "pattern":
      return must(`match ${rule}`);
    case "format":
      return must(
        formatInWords(rule) === undefined
          ? `have the format "${rule}"`
          : `be ${formatInWords(rule)}`,
      );
    default:
      return `${field}: ${unit.error}`;
  }
}

/** The schema object at a keyword path, following references inside the document. */
function nodeAt(root: unknown, path: string[]): unknown {
  let node = root;
  for (const key of path) {
    if (!isObject(node) && !Array.isArray(node)) return undefined;
    const next = (node as Record<string, unknown>)[key];
    node = key === "$ref" && typeof next === "string"
      ? nodeAt(root, pointer(next))
      : next;
  }
  return node;
}

/** The keys of a JSON pointer in fragment form (RFC 6901 section 6). */
function pointer(text: string): string[] {
  return text.split("/").slice(1).map((key) =>
    decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

/** `edits[0].old_string`; `arguments` for the whole. */
function fieldName(path: string[]): string {
  if (path.length === 0) return "arguments";
  return path.map((key, i) =>
    /^\d+$/.test(key) ? `[${key}]` : i === 0 ? key : `.${key}`
  ).join("");
}

function count(n: unknown, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** A value in words: `string "abc"`, `number 5`, `an array`. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case "string":
      return `string ${quoted(value)}`;
    case "number":
    case "boolean":
      return `${typeof value} ${value}`;
    default:
      return value === null
        ? "null"
        : Array.isArray(value)
        ? "an array"
        : "an object";
  }
}

/** Whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
