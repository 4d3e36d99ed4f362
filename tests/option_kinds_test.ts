/** Every kind of argument and every trait that one can have, from a shell, a variable, a configuration, MCP and a program. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type AnyCommand,
  type OptionHints,
  type PropertySchema,
} from "../lib/command.ts";
import { helpText } from "../lib/help.ts";
import { toolDefinition } from "../lib/registry.ts";
import {
  asFunction,
  overMcp,
  program,
  requests,
  shell,
  textOf,
} from "./three_ways.ts";

/** A command that prints its arguments. */
function show(
  properties: Record<string, PropertySchema>,
  more: Partial<AnyCommand> = {},
): AnyCommand {
  return {
    name: "show",
    summary: "Show",
    input: { type: "object", properties, additionalProperties: false },
    tool: { name: "show" },
    run: (args) => JSON.stringify(args),
    ...more,
  };
}

interface Kind {
  property: PropertySchema;
  /** As typed, once or several times. */
  typed: string[];
  /** As a variable has it; default the first of `typed`. */
  variable?: string;
  /** As JSON has it; what the handler gets. */
  value: unknown;
  /** Typed wrongly, and what is said of it everywhere. */
  wrong?: { typed: string; value: unknown; says: string };
}

const KINDS: Record<string, Kind> = {
  string: {
    property: { type: "string", maxLength: 9 },
    typed: ["--x\n"],
    value: "--x\n",
    wrong: {
      typed: "0123456789",
      value: "0123456789",
      says: "at most 9 characters",
    },
  },
  number: {
    property: { type: "number" },
    typed: ["-1.5e3"],
    value: -1500,
    wrong: { typed: "1e999", value: "1e999", says: "must be a number" },
  },
  integer: {
    property: { type: "integer", minimum: 1 },
    typed: ["007"],
    value: 7,
    wrong: { typed: "0", value: 0, says: "at least 1" },
  },
  boolean: {
    property: { type: "boolean" },
    typed: ["no"],
    value: false,
    wrong: { typed: "maybe", value: "maybe", says: "must be true or false" },
  },
  enum: {
    property: { enum: ["plain", "fancy"] },
    typed: ["fancy"],
    value: "fancy",
    wrong: { typed: "fncy", value: "fncy", says: 'did you mean "fancy"?' },
  },
  "enum list": {
    property: { type: "array", items: { enum: ["a", "b"] } },
    typed: ["b", "a"],
    variable: "b, a",
    value: ["b", "a"],
    wrong: { typed: "c", value: ["c"], says: 'must be one of "a", "b"' },
  },
  "string list": {
    property: { type: "array", items: { type: "string" } },
    typed: ["a b", "-c", "d,e"],
    variable: "a b,-c",
    value: ["a b", "-c", "d,e"],
  },
  duration: {
    property: { type: "string", format: "duration" },
    typed: ["1w2d"],
    value: "P9D",
    wrong: { typed: "soon", value: "soon", says: "must be a duration" },
  },
  path: {
    property: { type: "string", format: "path" },
    typed: ["./a b/-c"],
    value: "./a b/-c",
  },
  "list of paths": {
    property: { type: "array", items: { type: "string", format: "path" } },
    typed: ["/a,b", "/c"],
    variable: "/a,b:/c",
    value: ["/a,b", "/c"],
  },
  URL: {
    property: { type: "string", format: "uri" },
    typed: ["https://example.org/?q=--x"],
    value: "https://example.org/?q=--x",
    wrong: { typed: "nowhere", value: "nowhere", says: "must be a URL" },
  },
  "regular expression": {
    property: { type: "string", format: "regex" },
    typed: ["^-+$"],
    value: "^-+$",
    wrong: { typed: "(", value: "(", says: "must be a regular expression" },
  },
  JSON: {
    property: { type: "object", required: ["a"] },
    typed: ['{"a":[1,null]}'],
    value: { a: [1, null] },
    wrong: { typed: "{}", value: {}, says: "is required" },
  },
};

for (const [name, kind] of Object.entries(KINDS)) {
  Deno.test(`an option of type ${name} is the same from a shell, a variable, a configuration, MCP and a program`, async () => {
    const { property, typed, variable = typed[0]!, value, wrong } = kind;
    const command = show({ it: property }, {
      options: { it: { env: "IT", config: "show.it", short: "i" } },
    });
    const root = program([command]);
    const expected = JSON.stringify({ it: value });
    const out = async (...parts: Parameters<typeof shell>) => {
      const { code, out, err } = await shell(...parts);
      assertEquals([code, err], [0, ""]);
      return out.trimEnd();
    };
    const words = typed.map((text) => `--it=${text}`);
    assertEquals(await out(root, ["show", ...words]), expected);
    const isSwitch = property.type === "boolean";
    if (!isSwitch) {
      const apart = typed.flatMap((text) => ["--it", text]);
      assertEquals(await out(root, ["show", ...apart]), expected);
      const short = typed.map((text) => `-i${text}`);
      assertEquals(await out(root, ["show", ...short]), expected);
    }
    const fromVariable = await out(root, ["show"], { env: { IT: variable } });
    if (name !== "string list") assertEquals(fromVariable, expected);
    // Commas part the items in a variable.
    else assertEquals(fromVariable, '{"it":["a b","-c"]}');
    const options = { config: { show: { it: value } } };
    assertEquals(await out(root, ["show"], { options }), expected);
    assertEquals(textOf(await overMcp(root, "show", { it: value })), expected);
    const env = { IT: variable };
    assertEquals(
      textOf(await overMcp(root, "show", {}, { env })),
      fromVariable,
    );
    assertEquals(
      textOf(await overMcp(root, "show", {}, { options })),
      expected,
    );
    assertEquals(await asFunction(command, { it: value }), expected);
    assertEquals(
      toolDefinition(command).inputSchema,
      {
        type: "object",
        properties: { it: property },
        additionalProperties: false,
      },
    );
    if (!wrong) return;
    const refusals = [
      (await shell(root, ["show", `--it=${wrong.typed}`])).err,
      (await shell(root, ["show"], { env: { IT: wrong.typed } })).err,
      (await shell(root, ["show"], {
        options: { config: { show: { it: wrong.value } } },
      })).err,
      textOf(await overMcp(root, "show", { it: wrong.value })),
      await asFunction(command, { it: wrong.value }),
    ];
    for (const text of refusals) {
      assertStringIncludes(text, wrong.says);
      assert(/\b(it|IT)\b/.test(text), text);
    }
  });
}

const text: PropertySchema = { type: "string" };

function hinted(hints: OptionHints, property = text): AnyCommand {
  return show({ it: property }, { options: { it: hints } });
}

Deno.test("a flag outranks the variable, that the configuration, that the default, from a shell and over MCP", async () => {
  const root = program([
    hinted({ env: "IT", config: "a.b" }, { ...text, default: "default" }),
  ]);
  const env = { IT: "variable" };
  const options = { config: { a: { b: "configuration" } } };
  const cases: [string[], Parameters<typeof shell>[2], unknown, string][] = [
    [["--it=flag"], { env, options }, { it: "flag" }, "flag"],
    [[], { env, options }, {}, "variable"],
    [[], { env: { IT: "" }, options }, {}, "configuration"],
    [[], { options }, {}, "configuration"],
    [[], { options: { config: { a: "no folder of keys" } } }, {}, "default"],
    [[], { options: { config: { a: { b: null } } } }, {}, "default"],
    [[], {}, {}, "default"],
  ];
  for (const [args, world, over, expected] of cases) {
    const wanted = JSON.stringify({ it: expected });
    assertEquals(
      (await shell(root, ["show", ...args], world)).out.trimEnd(),
      wanted,
    );
    assertEquals(textOf(await overMcp(root, "show", over, world)), wanted);
  }
});

Deno.test("a configuration's value has to be of the option's type, and one text may stand for a list of it", async () => {
  const of = (property: PropertySchema) =>
    [
      program([hinted({ config: "it" }, property)]),
      (it: unknown) => ({ options: { config: { it } } }),
    ] as const;
  const [one, said] = of(text);
  for (const wrong of [["x", "y"], 5, { a: "x" }, true]) {
    const { code, err } = await shell(one, ["show"], said(wrong));
    assertEquals(code, 2);
    assertStringIncludes(err, "it: must be a string");
    const over = await overMcp(one, "show", {}, said(wrong));
    assertEquals(over.isError, true);
  }
  const [list] = of({ type: "array", items: text });
  assertEquals(
    (await shell(list, ["show"], said("x"))).out,
    '{"it":["x"]}\n',
  );
});

Deno.test("a required option may come from its variable, and is told by its flag or its name when it is missing", async () => {
  const command = show({ it: text }, {
    input: { type: "object", properties: { it: text }, required: ["it"] },
    options: { it: { env: "IT" } },
  });
  const root = program([command]);
  assertEquals(
    (await shell(root, ["show"])).err,
    'prog: missing --it; see "prog show --help"\n',
  );
  assertEquals(textOf(await overMcp(root, "show", {})), "show: it is required");
  assertEquals(await asFunction(command, {}), "refused: it is required");
  const env = { IT: "x" };
  assertEquals((await shell(root, ["show"], { env })).out, '{"it":"x"}\n');
  assertEquals(textOf(await overMcp(root, "show", {}, { env })), '{"it":"x"}');
});

Deno.test("a hidden option works everywhere and is listed nowhere", async () => {
  const command = hinted({ hidden: true });
  const root = program([command]);
  assert(!helpText([root, command]).includes("--it"));
  const [{ tools }] = await requests(root, [{ method: "tools/list" }]);
  assertEquals(tools[0].inputSchema.properties, {});
  assertEquals((await shell(root, ["show", "--it=x"])).out, '{"it":"x"}\n');
  assertEquals(textOf(await overMcp(root, "show", { it: "x" })), '{"it":"x"}');
  const inHelp = hinted({ hidden: "help" });
  assert(!helpText([root, inHelp]).includes("--it"));
  assertEquals(toolDefinition(inHelp).inputSchema.properties, { it: text });
});

Deno.test("a deprecated option is listed as such, works everywhere, and warns in a shell", async () => {
  const command = hinted({ deprecated: "--other" }, {
    ...text,
    description: "It.",
  });
  const root = program([command]);
  const [{ tools }] = await requests(root, [{ method: "tools/list" }]);
  assertEquals(tools[0].inputSchema.properties.it, {
    type: "string",
    description: "It. Deprecated: use --other.",
    deprecated: true,
  });
  assertStringIncludes(
    helpText([root, command]),
    "[deprecated: use --other]",
  );
  assertEquals(await shell(root, ["show", "--it=x"]), {
    code: 0,
    out: '{"it":"x"}\n',
    err: "prog: --it is deprecated: use --other\n",
  });
  assertEquals(textOf(await overMcp(root, "show", { it: "x" })), '{"it":"x"}');
});

Deno.test("positionals are required, optional and variadic, named in the schema, and come by name or under an underscore", async () => {
  const command = show(
    {
      from: text,
      count: { type: "integer" },
      to: { type: "array", items: text },
    },
    { positionals: ["from", "count", "to"] },
  );
  command.input = { ...command.input!, required: ["from"] };
  const root = program([command]);
  const cases: [string[], Record<string, unknown>][] = [
    [["a"], { from: "a" }],
    [["a", "2"], { from: "a", count: 2 }],
    [["a", "2", "b", "--", "--c", "--"], {
      from: "a",
      count: 2,
      to: ["b", "--c", "--"],
    }],
  ];
  for (const [words, args] of cases) {
    const expected = JSON.stringify(args);
    assertEquals(
      (await shell(root, ["show", ...words])).out.trimEnd(),
      expected,
    );
    const items = words.filter((word, i) => word !== "--" || i > 3);
    assertEquals(textOf(await overMcp(root, "show", { _: items })), expected);
    assertEquals(textOf(await overMcp(root, "show", args)), expected);
    assertEquals(await asFunction(command, { _: items }), expected);
  }
  const [{ tools }] = await requests(root, [{ method: "tools/list" }]);
  assertEquals(Object.keys(tools[0].inputSchema.properties), [
    "from",
    "count",
    "to",
  ]);
  assertEquals(tools[0].inputSchema.required, ["from"]);
  assertStringIncludes(
    (await shell(root, ["show", "--help"])).out,
    "Usage: prog show FROM [COUNT] [TO...]",
  );
});

Deno.test("aliases, groups and nested commands lead to the same command", async () => {
  const command = { ...show({ it: text }), aliases: ["s"] };
  const group: AnyCommand = {
    name: "outer",
    aliases: ["o"],
    summary: "Outer",
    commands: [{ name: "inner", summary: "Inner", commands: [command] }],
  };
  const root = program([group]);
  for (
    const words of [["outer", "inner", "show"], ["o", "inner", "s"]]
  ) {
    assertEquals(
      (await shell(root, [...words, "--it", "show"])).out,
      '{"it":"show"}\n',
    );
  }
  assertEquals(textOf(await overMcp(root, "show", { it: "x" })), '{"it":"x"}');
});

Deno.test("calls that run at once share no values", async () => {
  const begun = Promise.withResolvers<void>();
  let count = 0;
  const command = show(
    { it: { ...text, default: "none" }, list: { type: "array", default: [] } },
    {
      // deno-lint-ignore no-explicit-any
      run: async (args: any) => {
        // A handler may change what it is given.
        args.list.push(args.it);
        if (++count === 20) begun.resolve();
        await begun.promise;
        return JSON.stringify(args);
      },
    },
  );
  const root = program([command]);
  const calls = Array.from({ length: 20 }, (_, i) => ({
    method: "tools/call",
    params: {
      name: "show",
      arguments: i % 2 === 0 ? {} : { it: `i${i}`, list: ["x"] },
    },
  }));
  const results = await requests(root, calls);
  assertEquals(
    results.map(textOf),
    calls.map((_, i) =>
      i % 2 === 0
        ? '{"it":"none","list":["none"]}'
        : `{"it":"i${i}","list":["x","i${i}"]}`
    ),
  );
});
