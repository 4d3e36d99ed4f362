/**
 * Validators of other libraries as input schemas: whatever implements Standard Schema and can say itself as JSON Schema
 * (https://standardschema.dev; zod, valibot and arktype do).
 *
 * @module
 */

/** A validator, as far as it is used here. `Output` is what it makes of an input. */
export interface StandardInput<Output = unknown> {
  /** The interface that such libraries share. */
  readonly "~standard": {
    /** The version of the interface. */
    readonly version: 1;
    /** Which library it is. */
    readonly vendor: string;
    /** Checks and converts a value. */
    readonly validate: (
      value: unknown,
    ) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** The validator as JSON Schema. */
    readonly jsonSchema: {
      /** What it takes in. */
      readonly input: (
        options: { readonly target: string },
      ) => Record<string, unknown>;
    };
    /** Types only. */
    readonly types?:
      | { readonly input: unknown; readonly output: Output }
      | undefined;
  };
}

/** What a validation gives: a value, or what is wrong. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong. */
export interface StandardIssue {
  /** In words. */
  readonly message: string;
  /** Where. */
  readonly path?:
    | readonly (PropertyKey | { readonly key: PropertyKey })[]
    | undefined;
}

/** Whether a schema is a validator of another library. */
export function isStandard(schema: unknown): schema is StandardInput {
  return (typeof schema === "object" || typeof schema === "function") &&
    schema !== null && "~standard" in schema;
}

/**
 * The JSON Schema of a validator.
 *
 * @throws {TypeError} when it cannot say itself as one, or takes no object.
 */
export function jsonSchemaOf(
  input: StandardInput,
): { type: "object"; [keyword: string]: unknown } {
  const { vendor, jsonSchema } = input["~standard"];
  if (typeof jsonSchema?.input !== "function") {
    throw new TypeError(
      `Cannot use a schema of "${vendor}": it cannot be written as JSON Schema`,
    );
  }
  const { $schema: _dialect, ...schema } = jsonSchema.input({
    target: "draft-2020-12",
  });
  if (schema.type !== "object") {
    throw new TypeError(
      `Cannot use a schema of "${vendor}": it must describe an object`,
    );
  }
  return { ...schema, type: "object" };
}

/** What is wrong, in the words of the other messages: `field: what`. */
export function issuesText(issues: readonly StandardIssue[]): string {
  return issues.map(({ message, path = [] }) => {
    const field = path.map((part) =>
      String(typeof part === "object" ? part.key : part)
    ).join(".");
    return field === "" ? message : `${field}: ${message}`;
  }).join("; ");
}
