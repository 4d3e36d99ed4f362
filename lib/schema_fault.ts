/**
 * What is wrong with a JSON Schema itself, for whoever wrote it by hand: a validator takes a misspelt type, or a pattern
 * that does not compile, and fails at the first call.
 *
 * @module
 */
import { didYouMean } from "./nearest.ts";

/** Levels that a schema may be nested. */
export const MAX_SCHEMA_DEPTH = 64;

/** The fault, with the place where it is, such as `properties.a.type: must be …`; undefined for a sound schema (2020-12). */
export function schemaFault(
  schema: unknown,
  place: readonly string[] = [],
): string | undefined {
  const fail = (problem: string, ...more: string[]) => {
    const where = [...place, ...more].join(".");
    return where === "" ? problem : `${where}: ${problem}`;
  };
  if (typeof schema === "boolean") return undefined;
  if (!isRecord(schema)) return fail("must be a schema");
  if (place.length > MAX_SCHEMA_DEPTH * 2) return fail("is nested too deep");
  const { type } = schema;
  for (const one of type === undefined ? [] : [type].flat()) {
    if (typeof one !== "string" || !TYPES.includes(one)) {
      const near = typeof one === "string" ? didYouMean(one, TYPES) : "";
      return fail(
        near === ""
          ? `must be one of ${TYPES.join(", ")}`
          : `unknown type ${JSON.stringify(one)}${near}`,
        "type",
      );
    }
  }
  for (const [key, value] of Object.entries(schema)) {
    const rule = KEYWORDS.get(key);
    const problem = rule && !rule.fits(value) ? rule.says : undefined;
    if (problem !== undefined) return fail(`must be ${problem}`, key);
    const inner = MAPS.includes(key)
      ? Object.entries(value as object)
      : LISTS.includes(key)
      ? Object.entries(value as unknown[])
      : SINGLE.includes(key)
      ? [["", value] as const]
      : [];
    for (const [name, one] of inner) {
      const path = [...place, key, ...(name === "" ? [] : [name])];
      const fault = schemaFault(one, path);
      if (fault !== undefined) return fault;
    }
  }
  if (schema.additionalProperties !== false) return undefined;
  const names = Object.keys(schema.properties ?? {});
  const lost = (schema.required as string[] | undefined)?.find((name) =>
    !names.includes(name)
  );
  return lost === undefined || schema.patternProperties !== undefined
    ? undefined
    : fail(
      `${JSON.stringify(lost)} is no property${didYouMean(lost, names)}`,
      "required",
    );
}

const TYPES = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
];

/** Keywords that hold schemas by name, in a list, and one. */
const MAPS = ["properties", "patternProperties", "$defs", "dependentSchemas"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SINGLE = [
  "items",
  "additionalProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
];

interface Rule {
  fits(value: unknown): boolean;
  says: string;
}

const map: Rule = { fits: isRecord, says: "schemas by name" };
const list: Rule = {
  fits: (value) => Array.isArray(value) && value.length > 0,
  says: "a list that is not empty",
};
const strings: Rule = {
  fits: (value) =>
    Array.isArray(value) && value.every((one) => typeof one === "string"),
  says: "a list of names",
};
const number: Rule = {
  fits: (value) => Number.isFinite(value),
  says: "a number",
};
const count: Rule = {
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  says: "a whole number from 0",
};
const text: Rule = {
  fits: (value) => typeof value === "string",
  says: "a string",
};

const KEYWORDS: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...MAPS.map((key) => [key, map] as const),
  ...[...LISTS, "enum"].map((key) => [key, list] as const),
  ...[
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
  ].map((key) => [key, count] as const),
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((key) =>
    [key, number] as const
  ),
  ["multipleOf", {
    fits: (value) => Number.isFinite(value) && (value as number) > 0,
    says: "a number above 0",
  }],
  ["required", strings],
  ["description", text],
  ["title", text],
  ["format", text],
  ["pattern", {
    fits: (value) => typeof value === "string" && compiles(value),
    says: "a regular expression",
  }],
]);

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
