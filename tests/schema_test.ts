import { assert, assertEquals, assertThrows } from "@std/assert";
import { QUOTED_CHARS } from "../lib/argument.ts";
import { MAX_NAME_CHARS, nearest } from "../lib/nearest.ts";
import {
  InputValidators,
  MAX_FAULTS,
  MAX_INPUT_DEPTH,
  prepareInput,
} from "../lib/schema.ts";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string" },
    offset: { type: "integer", minimum: 1, maximum: 200 },
    ratio: { type: "number", exclusiveMinimum: 0 },
    output: { enum: ["content", "files", "count"], default: "content" },
    include: {
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    },
    text: { type: "string", minLength: 0 },
    maybe: { type: ["string", "null"] },
    edits: {
      type: "array",
      maxItems: 3,
      items: {
        type: "object",
        properties: {
          old: { type: "string", minLength: 1 },
          all: { type: "boolean", default: false },
        },
        required: ["old"],
        additionalProperties: false,
      },
    },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

function refusal(value: unknown): string {
  return prepareInput(SCHEMA, value).error ?? "accepted";
}

Deno.test("prepareInput names the field, what it should be and what it got", () => {
  const cases: [unknown, string][] = [
    [{ path: 5 }, "path: must be a string, got number 5"],
    [{ path: null }, "path: must be a string, got null"],
    [{ path: ["a"] }, "path: must be a string, got an array"],
    [{}, "path is required"],
    [undefined, "path is required"],
    [[1], "arguments: must be an object, got an array"],
    ["x", 'arguments: must be an object, got string "x"'],
    [
      { path: "a", offset: "5" },
      'offset: must be an integer from 1 to 200, got string "5"',
    ],
    [
      { path: "a", offset: 1.5 },
      "offset: must be an integer from 1 to 200, got number 1.5",
    ],
    [
      { path: "a", offset: 0 },
      "offset: must be an integer from 1 to 200, got number 0",
    ],
    [{ path: "a", ratio: 0 }, "ratio: must be more than 0, got number 0"],
    [
      { path: "a", output: "file" },
      'output: must be one of "content", "files", "count", got string "file"; did you mean "files"?',
    ],
    [
      { path: "a", include: 5 },
      "include: must be a string or an array of strings, got number 5",
    ],
    [
      { path: "a", edits: [{ old: "x" }, { old: 1 }] },
      "edits[1].old: must be a string, got number 1",
    ],
    [{ path: "a", edits: [{}] }, "edits[0].old is required"],
    [
      { path: "a", edits: [{ old: "" }] },
      'edits[0].old: must have at least 1 character, got string ""',
    ],
    [
      { path: "a", edits: [{ old: "x", odl: "y" }] },
      'unknown argument "odl" in edits[0]; did you mean "old"?',
    ],
    [
      { path: "a", edits: Array(4).fill({ old: "x" }) },
      "edits: must have at most 3 items",
    ],
  ];
  assertEquals(cases.map(([value]) => refusal(value)), cases.map(([, e]) => e));
});

Deno.test("prepareInput names the nearest argument, and all faults of names at once", () => {
  assertEquals(
    refusal({ pth: "a", offst: 2 }),
    'unknown argument "pth"; did you mean "path"?; unknown argument "offst"; did you mean "offset"?; path is required',
  );
  assertEquals(
    refusal({ path: "a", zzzzzz: 1 }),
    'unknown argument "zzzzzz"; there are path, offset, ratio, output, include, text, maybe, edits',
  );
  assertEquals(
    prepareInput({ type: "object", additionalProperties: false }, { a: 1 })
      .error,
    'unknown argument "a"; there are none',
  );
});

Deno.test("prepareInput drops what stands for not given, and fills in defaults", () => {
  assertEquals(
    prepareInput(SCHEMA, {
      path: "a",
      offset: null,
      output: "",
      include: "",
      text: "",
      maybe: null,
      edits: [{ old: "x", all: null }],
    }).value,
    {
      path: "a",
      text: "",
      maybe: null,
      edits: [{ old: "x", all: false }],
      output: "content",
    },
  );
});

Deno.test("prepareInput leaves a required empty string to the handler", () => {
  assertEquals(prepareInput(SCHEMA, { path: "" }).value, {
    path: "",
    output: "content",
  });
});

Deno.test("prepareInput changes neither its argument nor the schema, and hands out fresh defaults", () => {
  const schema = {
    type: "object",
    properties: { list: { type: "array", default: [] } },
  } as const;
  const validators = new InputValidators();
  const given = Object.freeze({ list: null });
  const first = validators.prepare(schema, given).value!;
  (first.list as unknown[]).push(1);
  assertEquals(validators.prepare(schema, given).value, { list: [] });
  assertEquals(Object.keys(schema), ["type", "properties"]);
});

Deno.test("prepareInput treats names of inherited properties as unknown arguments", () => {
  for (const name of ["__proto__", "constructor", "toString"]) {
    const value = JSON.parse(`{"path":"a","${name}":{"x":1}}`);
    assert(refusal(value).startsWith(`unknown argument "${name}"`), name);
  }
  assertEquals(({} as Record<string, unknown>).x, undefined);
});

Deno.test("prepareInput accepts nesting up to its limit and refuses one level more", () => {
  const nested = (depth: number) =>
    JSON.parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`);
  const open = { type: "object" } as const;
  assert(prepareInput(open, nested(MAX_INPUT_DEPTH)).value);
  assertEquals(
    prepareInput(open, nested(MAX_INPUT_DEPTH + 1)).error,
    `arguments: nested deeper than ${MAX_INPUT_DEPTH} levels`,
  );
  assert(prepareInput(open, nested(100_000)).error);
});

Deno.test("prepareInput names at most so many faults and quotes so much of a value", () => {
  const many = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`unknown${i}`, i]),
  );
  assertEquals(refusal(many).split("unknown argument").length - 1, MAX_FAULTS);
  const long = refusal({ path: "a", offset: "x".repeat(1000) });
  assert(long.endsWith(`"${"x".repeat(QUOTED_CHARS)}…"`), long);
});

Deno.test("prepareInput stays fast and whole on a list of 100,000 wrong items", () => {
  const wrong = { path: "a", include: Array(100_000).fill(1) };
  assert(refusal(wrong).startsWith("include: must be"));
});

Deno.test("prepareInput follows references inside the schema and refuses others", () => {
  const schema = {
    type: "object",
    properties: { at: { $ref: "#/$defs/place" } },
    $defs: { place: { type: "string" } },
  } as const;
  assertEquals(
    prepareInput(schema, { at: 1 }).error,
    "at: must be a string, got number 1",
  );
  assertThrows(
    () =>
      prepareInput({
        type: "object",
        properties: { at: { $ref: "https://example.com/x" } },
      }, {}),
    TypeError,
    "does not begin with",
  );
});

Deno.test("nearest finds slips and swaps, not strangers", () => {
  const names = ["read", "write", "edit", "bash", "log.level", "deny_read"];
  assertEquals(nearest("a", ["n"]), undefined);
  assertEquals(nearest("raed", names), "read");
  assertEquals(nearest("Wirte", names), "write");
  assertEquals(nearest("deny-read", names), "deny_read");
  assertEquals(nearest("loglevel", names), "log.level");
  assertEquals(nearest("install", names), undefined);
  assertEquals(nearest("", names), undefined);
  assertEquals(
    nearest("x".repeat(MAX_NAME_CHARS), ["x".repeat(MAX_NAME_CHARS)]),
    "x".repeat(MAX_NAME_CHARS),
  );
  assertEquals(
    nearest("x".repeat(MAX_NAME_CHARS + 1), ["x".repeat(MAX_NAME_CHARS)]),
    undefined,
  );
});
