import { assertEquals } from "@std/assert";
import { MAX_SCHEMA_DEPTH, schemaFault } from "../lib/schema_fault.ts";

Deno.test("schemaFault has nothing against what JSON Schema allows", () => {
  for (
    const schema of [
      true,
      {},
      {
        type: ["object", "null"],
        properties: { a: { type: "string", pattern: "^a$", "x-own": 1 } },
        required: ["a"],
        additionalProperties: false,
        $defs: { b: { enum: [1, null] } },
        anyOf: [{ $ref: "#/$defs/b" }, { items: { minimum: -1.5 } }],
      },
      { required: ["b"] },
      { required: ["b"], additionalProperties: false, patternProperties: {} },
      { properties: { type: { type: "string" } }, default: { type: 5 } },
    ]
  ) assertEquals(schemaFault(schema), undefined, JSON.stringify(schema));
});

Deno.test("schemaFault names the place and what should stand there", () => {
  const cases: [unknown, string][] = [
    [5, "must be a schema"],
    [{ type: "strin" }, 'type: unknown type "strin"; did you mean "string"?'],
    [
      { type: 5 },
      "type: must be one of string, number, integer, boolean, object, array, null",
    ],
    [{ properties: [] }, "properties: must be schemas by name"],
    [{ properties: { a: 5 } }, "properties.a: must be a schema"],
    [
      { properties: { a: { items: { type: "x" } } } },
      "properties.a.items.type: must be one of string, number, integer, boolean, object, array, null",
    ],
    [{ anyOf: [] }, "anyOf: must be a list that is not empty"],
    [{ anyOf: [true, 5] }, "anyOf.1: must be a schema"],
    [{ enum: "a" }, "enum: must be a list that is not empty"],
    [{ pattern: "(" }, "pattern: must be a regular expression"],
    [{ minLength: -1 }, "minLength: must be a whole number from 0"],
    [{ maximum: "5" }, "maximum: must be a number"],
    [{ multipleOf: 0 }, "multipleOf: must be a number above 0"],
    [{ description: 5 }, "description: must be a string"],
    [{ required: ["a", 5] }, "required: must be a list of names"],
    [
      {
        properties: { path: {} },
        required: ["paht"],
        additionalProperties: false,
      },
      'required: "paht" is no property; did you mean "path"?',
    ],
  ];
  for (const [schema, fault] of cases) assertEquals(schemaFault(schema), fault);
});

Deno.test("schemaFault goes as deep as its limit", () => {
  const nested = (depth: number) => {
    let schema: unknown = { type: "string" };
    for (let i = 0; i < depth; i++) schema = { properties: { a: schema } };
    return schema;
  };
  assertEquals(schemaFault(nested(MAX_SCHEMA_DEPTH)), undefined);
  assertEquals(
    schemaFault(nested(MAX_SCHEMA_DEPTH + 1))?.endsWith("is nested too deep"),
    true,
  );
});
