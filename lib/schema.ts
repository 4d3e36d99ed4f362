/**
 * Checking arguments against an input schema, and completing them.
 *
 * Loading this module loads the validator, so importers on the way to the first answer import it dynamically.
 *
 * @module
 */
import { type Schema, Validator } from "@cfworker/json-schema";
import type { InputSchema } from "./command.ts";
import { describe, faultOf, isObject, unknownFault } from "./fault.ts";

/** Arguments ready for a handler, or what is wrong with them in words for whoever sent them. */
export type Prepared =
  | { value: Record<string, unknown>; error?: undefined }
  | { value?: undefined; error: string };

/** Levels that arguments may be nested. */
export const MAX_INPUT_DEPTH = 64;

/** Faults that one error names. */
export const MAX_FAULTS = 5;

/**
 * Checks arguments against `schema` and completes them: optional properties that are null or an empty string are
 * dropped (models send both for "not given"; a property with `minLength: 0`, or that admits null, keeps its own), and
 * defaults are filled in.
 *
 * The error names each field and what it should be, such as `path: must be a string, got number 5`; a missing one is
 * `path is required`. A tool puts its name in front (`read: path is required`).
 *
 * @throws {TypeError} when the schema itself cannot be used.
 */
export function prepareInput(schema: InputSchema, value: unknown): Prepared {
  return new InputValidator(schema).prepare(value);
}

/** {@linkcode prepareInput} with the schema compiled once. */
export class InputValidator {
  readonly #schema: InputSchema;
  readonly #validator: Validator;

  /**
   * Compiles the schema.
   *
   * @throws {TypeError} when the schema has a `$ref` to elsewhere: nothing is ever fetched.
   */
  constructor(schema: InputSchema) {
    // The validator marks the schema objects that it has seen; the copy keeps those of the caller as they are.
    this.#schema = structuredClone(schema);
    const foreign = foreignReference(this.#schema);
    if (foreign !== undefined) {
      throw new TypeError(
        `Cannot use the schema: $ref "${foreign}" does not begin with "#"`,
      );
    }
    this.#validator = new Validator(this.#schema as Schema, "2020-12", true);
  }

  /** Checks and completes arguments; undefined and null are `{}`. Never changes `value`. */
  prepare(value: unknown): Prepared {
    const input = value ?? {};
    if (!isObject(input)) {
      return { error: `arguments: must be an object, got ${describe(input)}` };
    }
    if (isDeeper(input, MAX_INPUT_DEPTH)) {
      return {
        error: `arguments: nested deeper than ${MAX_INPUT_DEPTH} levels`,
      };
    }
    const complete = completed(this.#schema, input) as Record<string, unknown>;
    const faults = [
      ...unknownFaults(this.#schema, complete),
      ...missingFaults(this.#schema, complete),
    ];
    if (faults.length === 0) {
      const { valid, errors } = this.#validator.validate(complete);
      if (valid) return { value: complete };
      faults.push(faultOf(errors, this.#schema, complete));
    }
    return { error: faults.slice(0, MAX_FAULTS).join("; ") };
  }

  /** What is wrong with a value that is taken as it stands; undefined when nothing is. */
  misfit(value: unknown): string | undefined {
    // As JSON has it: a client sees nothing else.
    const seen: unknown = JSON.parse(JSON.stringify(value));
    const { valid, errors } = this.#validator.validate(seen);
    return valid ? undefined : faultOf(errors, this.#schema, seen);
  }
}

/** Validators by schema object, each compiled at its first use. Held by whoever serves calls. */
export class InputValidators {
  readonly #bySchema = new WeakMap<InputSchema, InputValidator>();

  /** {@linkcode prepareInput}, with the schema compiled at the first call. */
  prepare(schema: InputSchema, value: unknown): Prepared {
    return this.#of(schema).prepare(value);
  }

  /** {@linkcode InputValidator.misfit}, with the schema compiled at the first call. */
  misfit(schema: InputSchema, value: unknown): string | undefined {
    return this.#of(schema).misfit(value);
  }

  #of(schema: InputSchema): InputValidator {
    let validator = this.#bySchema.get(schema);
    if (!validator) {
      validator = new InputValidator(schema);
      this.#bySchema.set(schema, validator);
    }
    return validator;
  }
}

/** The value without what stands for "not given", and with defaults. Only containers that the schema names are entered. */
function completed(schema: unknown, value: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) {
    return isObject(schema.items)
      ? value.map((item) => completed(schema.items, item))
      : value;
  }
  if (!isObject(value) || !isObject(schema.properties)) return value;
  const properties = schema.properties;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const entries: [string, unknown][] = [];
  const present = new Set<string>();
  for (const [name, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const property = Object.hasOwn(properties, name)
      ? properties[name]
      : undefined;
    if (property && !required.includes(name) && isNotGiven(property, item)) {
      continue;
    }
    present.add(name);
    entries.push([name, completed(property, item)]);
  }
  for (const [name, property] of Object.entries(properties)) {
    if (present.has(name) || !isObject(property)) continue;
    if (property.default !== undefined) {
      entries.push([name, structuredClone(property.default)]);
    }
  }
  return Object.fromEntries(entries);
}

function isNotGiven(property: unknown, value: unknown): boolean {
  if (value !== null && value !== "") return false;
  if (!isObject(property)) return false;
  if (Array.isArray(property.enum) && property.enum.includes(value)) {
    return false;
  }
  return value === "" ? property.minLength !== 0 : !admitsNull(property);
}

function admitsNull(schema: Record<string, unknown>): boolean {
  const choices = schema.anyOf ?? schema.oneOf;
  return schema.type === "null" || schema.const === null ||
    (Array.isArray(schema.type) && schema.type.includes("null")) ||
    (Array.isArray(choices) &&
      choices.some((choice) => isObject(choice) && admitsNull(choice)));
}

function* unknownFaults(
  schema: InputSchema,
  value: Record<string, unknown>,
): Generator<string> {
  if (schema.additionalProperties !== false || schema.patternProperties) return;
  const known = schema.properties ?? {};
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(known, name)) yield unknownFault(name, "", known);
  }
}

function* missingFaults(
  schema: InputSchema,
  value: Record<string, unknown>,
): Generator<string> {
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) yield `${name} is required`;
  }
}

/** Whether containers are nested deeper than `limit`; does not recurse, since the depth is the sender's choice. */
function isDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      for (const child of Object.values(item)) {
        if (typeof child === "object" && child !== null) next.push(child);
      }
    }
    level = next;
  }
  return false;
}

function foreignReference(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$ref" && typeof value === "string" && value[0] !== "#") {
      return value;
    }
    const inner = foreignReference(value);
    if (inner !== undefined) return inner;
  }
  return undefined;
}
