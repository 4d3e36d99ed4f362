/**
 * JSON Schemas as literals, and the TypeScript types of what they accept.
 *
 * @module
 */

/** A JSON Schema 2020-12 object schema, written as a literal so that {@linkcode FromSchema} can type it. */
export type InputSchema = {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
};

/** The schema of one argument. */
export type PropertySchema = {
  readonly description?: string;
  readonly [keyword: string]: unknown;
};

/** The TypeScript type of the values that a literal JSON Schema accepts, defaults filled in. */
export type FromSchema<S> = S extends { const: infer C } ? C
  : S extends { enum: readonly (infer E)[] } ? E
  : S extends { type: "string" } ? string
  : S extends { type: "integer" | "number" } ? number
  : S extends { type: "boolean" } ? boolean
  : S extends { type: "null" } ? null
  : S extends { type: "array"; items: infer I } ? FromSchema<I>[]
  : S extends { type: "array" } ? unknown[]
  : S extends
    { type: "object"; properties: infer P; required: readonly (infer R)[] }
    ? FromProperties<P, R>
  : S extends { type: "object"; properties: infer P } ? FromProperties<P, never>
  : S extends { type: "object" } ? Record<string, unknown>
  : S extends { anyOf: readonly (infer U)[] } ? FromSchema<U>
  : S extends { type: readonly (infer T)[] } ? FromSchema<{ type: T }>
  : unknown;

/** The object type of a schema's `properties`: required or defaulted ones are always there. */
export type FromProperties<P, R> = Simplify<
  & {
    -readonly [
      K in keyof P as K extends R ? K : P[K] extends { default: unknown } ? K
      : never
    ]: FromSchema<P[K]>;
  }
  & {
    -readonly [
      K in keyof P as K extends R ? never
        : P[K] extends { default: unknown } ? never
        : K
    ]?: FromSchema<P[K]>;
  }
>;

/** The same type, shown as one object. */
export type Simplify<T> = { [K in keyof T]: T[K] };
