import { assert, assertEquals, assertThrows } from "@std/assert";
import { isList, isSwitch, valueFromText } from "../lib/argument.ts";
import {
  type AnyCommand,
  command,
  CommandError,
  NOTE_PREFIX,
  noteBlock,
  toToolResult,
} from "../lib/command.ts";
import { bindPositionals, commandArguments } from "../lib/positionals.ts";
import { toolDefinition } from "../lib/registry.ts";
import {
  checkTree,
  childNamed,
  loadCommand,
  loadTree,
  pathWords,
  walkCommands,
} from "../lib/tree.ts";

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const echo = command({
  name: "echo",
  summary: "Echo words",
  input: {
    type: "object",
    properties: {
      count: { type: "integer" },
      words: { type: "array", items: { type: "string" } },
      loud: { type: "boolean", default: false },
    },
    required: ["count"],
    additionalProperties: false,
  },
  positionals: ["count", "words"],
  tool: { name: "echo", title: "Echo", annotations },
  run: (args) => {
    const count: number = args.count;
    const words: string[] | undefined = args.words;
    const loud: boolean = args.loud;
    return `${count} ${words} ${loud}`;
  },
});

function leaf(name: string, more: Partial<AnyCommand> = {}): AnyCommand {
  return { name, summary: name, run: () => name, ...more };
}

Deno.test("commandArguments gives positionals under _ their names and types", () => {
  assertEquals(commandArguments(echo, { _: "3" }).value, { count: 3 });
  assertEquals(
    commandArguments(echo, { _: ["3", "a", "b"], loud: true }).value,
    {
      loud: true,
      count: 3,
      words: ["a", "b"],
    },
  );
  assertEquals(commandArguments(echo, { _: 3 }).value, { count: 3 });
  assertEquals(commandArguments(echo, { _: null, count: 1 }).value, {
    count: 1,
  });
});

Deno.test("commandArguments keeps an argument's meaning whatever its value looks like", () => {
  const odd = ["--loud", "--", "-x", "a\nb", "echo", "", "true"];
  assertEquals(commandArguments(echo, { _: ["1", ...odd] }).value, {
    count: 1,
    words: odd,
  });
});

Deno.test("commandArguments leaves what it does not know to the schema", () => {
  for (const raw of [undefined, null, 5, "x", [1], {}, { count: "x" }]) {
    assertEquals(commandArguments(echo, raw).value, raw);
  }
});

Deno.test("commandArguments says what is wrong with positionals", () => {
  assertEquals(
    commandArguments(echo, { _: "x" }).error,
    '_: count: must be an integer, got "x"',
  );
  assertEquals(
    commandArguments(echo, { _: "3", count: 3 }).error,
    'count: given both by name and under "_"',
  );
  const one = leaf("one", {
    input: { type: "object", properties: { a: { type: "string" } } },
    positionals: ["a"],
  });
  assertEquals(
    commandArguments(one, { _: ["x", "y"] }).error,
    "_: takes at most 1 (a), got 2",
  );
  assertEquals(
    bindPositionals(leaf("none"), ["x"]).error,
    "takes no positional arguments",
  );
});

Deno.test("valueFromText reads text as its schema asks", () => {
  const good: [Record<string, unknown>, string, unknown][] = [
    [{ type: "string" }, "5", "5"],
    [{ type: "integer" }, "-5", -5],
    [{ type: "number" }, "1e3", 1000],
    [{ type: "boolean" }, "Yes", true],
    [{ enum: ["a", "b"] }, "a", "a"],
    [{ enum: [1, 2] }, "1", 1],
    [{ type: "array", items: { type: "integer" } }, "7", 7],
    [{ type: "array" }, "x", "x"],
    [{ type: "object" }, '{"a":1}', { a: 1 }],
    [{}, "[1]", [1]],
    [{ type: ["integer", "null"] }, "null", null],
    [{ anyOf: [{ type: "string" }, { type: "array" }] }, "x", "x"],
  ];
  for (const [schema, text, value] of good) {
    assertEquals(valueFromText(schema, text).value, value);
  }
  const bad: [Record<string, unknown>, string][] = [
    [{ type: "integer" }, "1.5"],
    [{ type: "integer" }, "9007199254740993"],
    [{ type: "integer" }, ""],
    [{ type: "number" }, "0x10"],
    [{ type: "number" }, "Infinity"],
    [{ type: "boolean" }, "maybe"],
    [{ type: "object" }, "{a:1}"],
  ];
  for (const [schema, text] of bad) {
    assert(valueFromText(schema, text).error?.includes(`got "${text}"`), text);
  }
  assert(
    isSwitch({ type: "boolean" }) && !isSwitch({ type: ["boolean", "string"] }),
  );
  assert(isList({ type: "array" }) && !isList({ type: "string" }));
});

Deno.test("command refuses to be both a tool and a resource", () => {
  assertThrows(
    () =>
      command({
        ...leaf("both"),
        tool: { name: "both", annotations },
        resource: { uri: "x:y", mimeType: "text/plain" },
      }),
    TypeError,
    "both a tool and a resource",
  );
});

Deno.test("toolDefinition lists name, title, description, schema and annotations", () => {
  assertEquals(toolDefinition(echo), {
    name: "echo",
    title: "Echo",
    description: "Echo words",
    inputSchema: echo.input!,
    annotations,
  });
  assertEquals(
    toolDefinition(leaf("x", { tool: { name: "x", annotations } })).inputSchema,
    { type: "object", properties: {}, additionalProperties: false },
  );
  assertThrows(() => toolDefinition(leaf("x")), TypeError, "it is no tool");
});

Deno.test("toToolResult takes text, blocks and results", () => {
  assertEquals(toToolResult("x"), { content: [{ type: "text", text: "x" }] });
  assertEquals(toToolResult({ content: [], isError: true, exitCode: 3 }), {
    content: [],
    isError: true,
  });
  assertEquals(noteBlock(["a", "b"]), {
    type: "text",
    text: `${NOTE_PREFIX}a\nb]`,
  });
  assertEquals(noteBlock([]), undefined);
  assertEquals(new CommandError("x").notes, []);
});

const root: AnyCommand = {
  name: "top",
  summary: "Top",
  commands: [
    echo,
    {
      name: "sessions",
      aliases: ["session"],
      summary: "Sessions",
      commands: [leaf("list"), leaf("show")],
    },
  ],
};

Deno.test("childNamed knows names and aliases, walkCommands goes parents first", () => {
  assertEquals(childNamed(root, "session")?.name, "sessions");
  assertEquals(childNamed(root, "toString"), undefined);
  assertEquals(
    [...walkCommands(root)].map(({ path }) => pathWords(path)),
    [
      "top",
      "top echo",
      "top sessions",
      "top sessions list",
      "top sessions show",
    ],
  );
  checkTree(root);
});

Deno.test("an entry is loaded when it is reached, and what it says of its command stands", async () => {
  let loads = 0;
  const entry: AnyCommand = {
    name: "late",
    summary: "As listed",
    load: () => {
      loads++;
      return Promise.resolve(leaf("other", { hidden: true, aliases: ["l"] }));
    },
  };
  const tree = { name: "top", summary: "Top", commands: [entry, echo] };
  checkTree(tree);
  assertEquals(loads, 0);
  const loaded = await loadCommand(entry);
  assertEquals([loaded.name, loaded.summary, loaded.aliases, loads], [
    "late",
    "As listed",
    ["l"],
    1,
  ]);
  assertEquals(await loadCommand(echo), echo);
  const whole = await loadTree(tree);
  assertEquals(whole.commands!.map(({ load }) => load), [undefined, undefined]);
});

Deno.test("checkTree names the command and what its author got wrong", () => {
  const text = { type: "string" };
  const list = { type: "array" };
  const input = (
    properties: Record<string, unknown>,
    required: string[] = [],
  ) => ({
    input: {
      type: "object" as const,
      properties: properties as never,
      required,
    },
  });
  const cases: [AnyCommand[], string][] = [
    [[leaf("a"), leaf("a")], 'command "t": subcommand "a" is defined twice'],
    [
      [leaf("a"), leaf("b", { aliases: ["a"] })],
      'subcommand "a" is defined twice',
    ],
    [[leaf("")], "its name is empty"],
    [[leaf("-x")], "begins with a dash"],
    [[{ name: "a", summary: "A" }], 'command "t a": it has neither'],
    [
      [
        leaf("a", { tool: { name: "x", annotations } }),
        leaf("b", { tool: { name: "x", annotations } }),
      ],
      'tool "x" is defined twice',
    ],
    [
      [
        leaf("a", { resource: { uri: "u", mimeType: "x/y" } }),
        leaf("b", { resource: { uri: "u", mimeType: "x/y" } }),
      ],
      'resource "u" is defined twice',
    ],
    [
      [leaf("a", { resource: { uri: "x:{id}{?n}", mimeType: "x/y" } })],
      'variable "id" of its URI is not in its input schema',
    ],
    [
      [leaf("a", { options: { x: {} } })],
      'option "x" is not in its input schema',
    ],
    [
      [leaf("a", { positionals: ["x"] })],
      'positional "x" is not in its input schema',
    ],
    [
      [leaf("a", { ...input({ x: list, y: text }), positionals: ["x", "y"] })],
      'positional "x" is a list and not the last',
    ],
    [
      [leaf("a", {
        ...input({ x: text, y: text }, ["y"]),
        positionals: ["x", "y"],
      })],
      'required positional "y" follows the optional "x"',
    ],
    [
      [leaf("a", {
        ...input({ x: text, y: text }),
        options: { x: { short: "q" }, y: { short: "q" } },
      })],
      'short option "q" is used twice',
    ],
    [
      [leaf("a", input({ "a_b": text, "a-b": text }))],
      'flag "a-b" is used twice',
    ],
    [
      [leaf("a", { ...input({ x: text }), options: { x: { flag: "a=b" } } })],
      'flag "a=b" has odd characters',
    ],
    [
      [leaf("a", { ...input({ x: text }), options: { x: { short: "long" } } })],
      "is not one letter",
    ],
  ];
  for (const [commands, message] of cases) {
    assertThrows(
      () => checkTree({ name: "t", summary: "T", commands }),
      TypeError,
      message,
    );
  }
});
