/** What a call gives: text, data, what was printed, and how it ended, whichever way the command is called. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { call } from "../lib/call.ts";
import { type AnyCommand, command, CommandError } from "../lib/command.ts";
import { candidates } from "../lib/completions.ts";
import { helpText } from "../lib/help.ts";
import { checkTree } from "../lib/tree.ts";
import { overMcp, program, requests, shell } from "./three_ways.ts";

const text = (text: string) => ({ type: "text" as const, text });

const weather = command({
  name: "weather",
  summary: "Tell the weather",
  input: {
    type: "object",
    properties: { place: { type: "string" } },
    required: ["place"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { place: { type: "string" }, degrees: { type: "number" } },
    required: ["place", "degrees"],
    additionalProperties: false,
  },
  positionals: ["place"],
  tool: { name: "weather" },
  run: ({ place }, ctx) => {
    ctx.print(`asking for ${place}\n`);
    if (place === "nowhere") return { content: "no such place", isError: true };
    return {
      ...(place === "short" ? {} : { content: `${place}: mild` }),
      structured: { place, degrees: 17.5 },
    };
  },
});

Deno.test("data is structuredContent beside the text over MCP, and JSON where asked for in a shell", async () => {
  const root = program([weather]);
  assertEquals(await overMcp(root, "weather", { place: "Rome" }), {
    content: [text("asking for Rome\n"), text("Rome: mild")],
    structuredContent: { place: "Rome", degrees: 17.5 },
  });
  assertEquals(await shell(root, ["weather", "Rome"]), {
    code: 0,
    out: "asking for Rome\nRome: mild\n",
    err: "",
  });
  const { out, err } = await shell(root, ["weather", "--json", "Rome"]);
  assertEquals(JSON.parse(out), { place: "Rome", degrees: 17.5 });
  assertEquals(err, "asking for Rome\n");
  assertEquals(
    (await call(weather, { _: "Rome" })).structuredContent,
    { place: "Rome", degrees: 17.5 },
  );
});

Deno.test("data without text is its JSON as text, for clients that know no data", async () => {
  const { content } = await overMcp(program([weather]), "weather", {
    place: "short",
  });
  assertEquals(content.at(-1), text('{"place":"short","degrees":17.5}'));
});

Deno.test("an output schema is listed, and belongs to its tool alone", async () => {
  const plain: AnyCommand = {
    name: "plain",
    summary: "P",
    tool: { name: "plain" },
    run: () => "",
  };
  const [{ tools }] = await requests(program([weather, plain]), [
    { method: "tools/list" },
  ]);
  assertEquals(tools[0].outputSchema, weather.output);
  assertEquals("outputSchema" in tools[1], false);
});

Deno.test("data that its schema does not allow is the command's fault, and an error needs none", async () => {
  const wrong = (name: string, run: AnyCommand["run"]): AnyCommand => ({
    ...weather,
    input: { type: "object" },
    positionals: [],
    name,
    tool: { name },
    run: run!,
  });
  const cases = [
    wrong("none", () => "text only"),
    wrong("type", () => ({ structured: { place: "x", degrees: "17" } })),
    wrong("more", () => ({
      structured: { place: "x", degrees: 1, wind: 2 },
    })),
    wrong("less", () => ({ structured: { place: null, degrees: 1 } })),
    wrong("shape", () => ({ structured: "x" as never })),
  ];
  const results = await requests(
    program(cases),
    cases.map(({ name }) => ({ method: "tools/call", params: { name } })),
  );
  for (const [i, { name }] of cases.entries()) {
    assertEquals(results[i], { code: -32603, message: "internal error" }, name);
    await assertRejects(
      () => call(cases[i]!),
      TypeError,
      "must return structured data",
    );
    for (const args of [[name], [name, "--json"]]) {
      const { code, out, err } = await shell(program(cases), args);
      assertEquals([code, out], [1, ""], name);
      assertStringIncludes(err, "must return structured data");
    }
  }
  assertEquals(await overMcp(program([weather]), "weather", { _: "nowhere" }), {
    content: [text("asking for nowhere\n"), text("no such place")],
    isError: true,
  });
});

Deno.test("--json is an option like others, unless the command has an argument of that name", async () => {
  const root = program([weather]);
  assertStringIncludes(
    helpText([root, weather as AnyCommand]),
    "--json  Print the result as JSON.",
  );
  assertEquals(
    (await candidates(root, ["weather", "--j"])).map(({ word }) => word),
    ["--json"],
  );
  // A call never has it.
  const { isError } = await overMcp(root, "weather", {
    place: "x",
    json: true,
  });
  assertEquals(isError, true);
  const own: AnyCommand = {
    ...weather,
    input: { type: "object", properties: { json: { type: "string" } } },
    positionals: [],
    run: ({ json }) => ({
      content: `own ${json}`,
      structured: { place: "", degrees: 0 },
    }),
  };
  assertEquals(
    (await shell(program([own]), ["weather", "--json", "x"])).out,
    "own x\n",
  );
  assertEquals(
    (await shell(program([leaf("bare", () => "")]), ["bare", "--json"])).code,
    2,
  );
});

function leaf(name: string, run: NonNullable<AnyCommand["run"]>): AnyCommand {
  return { name, summary: name, tool: { name }, run };
}

Deno.test("an output schema has to describe an object", () => {
  let problem = "";
  try {
    checkTree(program([{ ...weather, output: { type: "array" } as never }]));
  } catch (error) {
    problem = (error as Error).message;
  }
  assertStringIncludes(problem, "does not describe an object");
});

Deno.test("standard output, standard error and the error are content, in this order", async () => {
  const says = leaf("says", (_args, ctx) => {
    ctx.print("one\n");
    ctx.warn("careful");
    ctx.print("two\n");
    return "three";
  });
  const fails = leaf("fails", (_args, ctx) => {
    ctx.warn("careful");
    ctx.print("half of it\n");
    throw new CommandError("disk full", { notes: ["free some"] });
  });
  const silent = leaf("silent", (_args, ctx) => {
    ctx.print("all of it\n");
    return "";
  });
  const root = program([says, fails, silent]);
  assertEquals(await overMcp(root, "says", {}), {
    content: [text("one\ntwo\n"), text("three"), text("careful\n")],
  });
  assertEquals(await overMcp(root, "fails", {}), {
    content: [
      text("half of it\n"),
      text("careful\n"),
      text("disk full"),
      text("[rousseau: free some]"),
    ],
    isError: true,
  });
  assertEquals(await overMcp(root, "silent", {}), {
    content: [text("all of it\n")],
  });
  assertEquals(await shell(root, ["says"]), {
    code: 0,
    out: "one\ntwo\nthree\n",
    err: "prog: careful\n",
  });
  assertEquals(await shell(root, ["fails"]), {
    code: 1,
    out: "half of it\n",
    err: "prog: careful\nprog: disk full\n[rousseau: free some]\n",
  });
  assertEquals((await call(says)).content.length, 3);
});

Deno.test("an exit status that is not 0 is isError over MCP", async () => {
  const root = program([
    leaf("three", () => ({ content: "x", exitCode: 3 })),
    leaf("zero", () => ({ content: "x", exitCode: 0 })),
    leaf("soft", () => ({ content: "x", exitCode: 1, isError: false })),
  ]);
  const errors = [];
  for (const name of ["three", "zero", "soft"]) {
    errors.push((await overMcp(root, name, {})).isError);
  }
  assertEquals(errors, [true, undefined, undefined]);
  assertEquals((await shell(root, ["three"])).code, 3);
});

Deno.test("standard input is there in a shell, and elsewhere an error that says what to do", async () => {
  const reads = leaf(
    "reads",
    async (_args, ctx) => await new Response(ctx.stdin()).text(),
  );
  const root = program([reads]);
  assertEquals(
    (await shell(root, ["reads"], { input: "typed" })).out,
    "typed\n",
  );
  const { content, isError } = await overMcp(root, "reads", {});
  assertEquals(isError, true);
  assertStringIncludes(
    (content[0] as { text: string }).text,
    "standard input is closed here: whatever the command reads there has to come as an argument",
  );
  await assertRejects(() => call(reads), CommandError, "closed");
});

Deno.test("what is no result is the command's fault, from a shell, over MCP, from a program and as a resource", async () => {
  const wrong: Record<string, unknown> = {
    nothing: undefined,
    null: null,
    number: 42,
    empty: {},
    list: { structured: [1] },
    data: { structured: null },
    content: { content: null },
    kind: [{ type: "bogus" }],
    hole: [null],
    text: [{ type: "text", text: 5 }],
    picture: { content: [{ type: "image", data: "AAAA" }] },
    resource: [{ type: "resource" }],
    link: [{ type: "resource_link", name: "n" }],
  };
  const names = Object.keys(wrong);
  const run = (name: string) => () => wrong[name] as never;
  const tools = names.map((name) => leaf(name, run(name)));
  const root = program([
    ...tools,
    ...names.map((name): AnyCommand => ({
      name: `${name}-resource`,
      summary: "R",
      resource: { uri: `x://${name}`, mimeType: "text/plain" },
      run: run(name),
    })),
  ]);
  const internal = { code: -32603, message: "internal error" };
  const answers = await requests(root, [
    ...names.map((name) => ({ method: "tools/call", params: { name } })),
    ...names.map((name) => ({
      method: "resources/read",
      params: { uri: `x://${name}` },
    })),
  ]);
  for (const [i, name] of names.entries()) {
    assertEquals(answers[i], internal, name);
    assertEquals(answers[names.length + i], internal, `${name} as a resource`);
    await assertRejects(() => call(tools[i]!), TypeError, "must return");
    const { code, out, err } = await shell(root, [name]);
    assertEquals([code, out], [1, ""], name);
    assertStringIncludes(err, `Command "${name}" must return`);
  }
});

Deno.test("a resource is what its command prints and returns, without standard error, of the type that it chooses", async () => {
  const prints: AnyCommand = {
    name: "prints",
    summary: "P",
    resource: { uri: "x://prints", mimeType: "text/csv" },
    run: (_args, ctx) => {
      ctx.print("a,b\n");
      ctx.warn("careful");
      return "";
    },
  };
  const page: AnyCommand = {
    name: "page",
    summary: "P",
    resource: { uri: "x://{id}/page{?from,tag}", mimeType: "text/plain" },
    input: {
      type: "object",
      properties: {
        id: { type: "string" },
        from: { type: "integer", default: 1 },
        tag: { type: "array", items: { type: "string" } },
      },
    },
    run: (args) => JSON.stringify(args),
  };
  const chooses: AnyCommand = {
    name: "chooses",
    summary: "C",
    resource: { uri: "x://any", mimeType: "application/octet-stream" },
    run: () => [{
      type: "resource",
      resource: { uri: "x://any", mimeType: "image/svg+xml", text: "<svg/>" },
    }],
  };
  const read = (uri: string) => ({ method: "resources/read", params: { uri } });
  const [printed, first, later, wrong, chosen] = await requests(
    program([prints, page, chooses]),
    [
      read("x://prints"),
      read("x://7/page"),
      read("x://7/page?from=20&tag=a%2Cb"),
      read("x://7/page?from=x"),
      read("x://any"),
    ],
  );
  assertEquals(printed.contents, [
    { uri: "x://prints", mimeType: "text/csv", text: "a,b\n" },
  ]);
  assertEquals(JSON.parse(first.contents[0].text), { id: "7", from: 1 });
  assertEquals(JSON.parse(later.contents[0].text), {
    id: "7",
    from: 20,
    tag: ["a,b"],
  });
  assertEquals(wrong.code, -32602);
  assertStringIncludes(wrong.message, "from: must be an integer");
  assertEquals(chosen.contents[0].mimeType, "image/svg+xml");
});
