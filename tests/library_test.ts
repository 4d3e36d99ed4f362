import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { durationMs, isoDuration } from "../lib/formats.ts";
import {
  type AnyCommand,
  command,
  mcpCommand,
  type McpCommandOptions,
  McpServer,
  type Middleware,
  run,
  type StandardInput,
  withMiddleware,
} from "../lib/library.ts";
import { prepareInput } from "../lib/schema.ts";

async function shell(root: AnyCommand, args: string[], input = "") {
  const text: [string, string] = ["", ""];
  const write = (i: 0 | 1) => (bytes: Uint8Array) =>
    void (text[i] += new TextDecoder().decode(bytes));
  const code = await run(root, args, {
    stdin: new Blob([input]).stream(),
    stdout: new WritableStream({ write: write(0) }),
    stderr: new WritableStream({ write: write(1) }).getWriter(),
  });
  return { code, out: text[0], err: text[1] };
}

const messages = (...calls: unknown[]) =>
  [
    {
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    },
    { method: "notifications/initialized" },
    ...calls.map((call, i) => ({
      id: i + 1,
      method: "tools/call",
      params: call,
    })),
  ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    .join("");

function texts(out: string): string[] {
  return out.trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ id }) => id > 0)
    .toSorted((a, b) => a.id - b.id)
    .map(({ result, error }) => result?.content[0].text ?? error.message);
}

Deno.test("middleware runs around every handler of a tree, the first outermost, from a shell and over MCP", async () => {
  const layer = (name: string): Middleware => async (args, ctx, next) =>
    `${name}(${await next({ ...args, by: `${args.by ?? ""}${name}` }, ctx)})`;
  const refuse: Middleware = (args, ctx, next) =>
    args.by === "AB" ? next(args, ctx) : "refused";
  const leaf = command({
    name: "leaf",
    summary: "Leaf",
    tool: { name: "leaf" },
    run: (args) => JSON.stringify(args),
  });
  const late: AnyCommand = {
    name: "late",
    summary: "Late",
    load: () => Promise.resolve({ ...leaf, tool: { name: "late" } }),
  };
  const tree = withMiddleware(
    {
      name: "prog",
      summary: "P",
      commands: [leaf, late, mcpCommand({ name: "p", version: "1" })],
      more: () =>
        Promise.resolve([{ ...leaf, name: "found", tool: { name: "found" } }]),
    },
    layer("A"),
    layer("B"),
    refuse,
  );
  const wrapped = 'A(B({"by":"AB"}))';
  assertEquals((await shell(tree, ["leaf"])).out, `${wrapped}\n`);
  assertEquals((await shell(tree, ["late"])).out, `${wrapped}\n`);
  assertEquals((await shell(tree, ["found"])).out, `${wrapped}\n`);
  const over = messages({ name: "found" });
  assertEquals(texts((await shell(tree, ["mcp"], over)).out), [wrapped]);
  const server = new McpServer({ name: "p", version: "1" }).register(
    tree.commands![0]!,
  );
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const served = server.serve(
    new Blob([messages({ name: "leaf" })]).stream(),
    writable,
  );
  assertEquals(texts(await new Response(readable).text()), [wrapped]);
  await served;
});

Deno.test("mcp tells the operator of a handler's fault, on standard error or where it is told to", async () => {
  const broken = command({
    name: "broken",
    summary: "Broken",
    tool: { name: "broken" },
    run(): string {
      throw new TypeError("the insides");
    },
  });
  const served = (options: Partial<McpCommandOptions>) =>
    shell(
      {
        name: "prog",
        summary: "P",
        commands: [broken, mcpCommand({ name: "p", version: "1", ...options })],
      },
      ["mcp"],
      messages({ name: "broken" }),
    );
  const { out, err } = await served({});
  assertStringIncludes(out, '"message":"internal error"');
  assertEquals(out.includes("insides"), false);
  assertStringIncludes(
    err,
    "prog: tool.failed: broken: TypeError: the insides",
  );
  const told: unknown[] = [];
  const quiet = () => {};
  const { err: nothing } = await served({
    logger: {
      enabled: () => true,
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (event, fields) => void told.push(event, fields?.tool),
      flush: () => Promise.resolve(),
    },
  });
  assertEquals([nothing, told], ["", ["tool.failed", "broken"]]);
});

Deno.test("the root's options reach handlers from a shell and over MCP", async () => {
  const show = command({
    name: "show",
    summary: "Show",
    tool: { name: "show" },
    run: (_args, ctx) => JSON.stringify(ctx.globals),
  });
  const root: AnyCommand = {
    name: "prog",
    summary: "P",
    input: {
      type: "object",
      properties: { level: { type: "integer", default: 1 } },
    },
    commands: [show, mcpCommand({ name: "p", version: "1" })],
  };
  assertEquals((await shell(root, ["show"])).out, '{"level":1}\n');
  assertEquals(
    (await shell(root, ["show", "--level", "3"])).out,
    '{"level":3}\n',
  );
  const { out } = await shell(
    root,
    ["mcp", "--level=5"],
    messages({ name: "show" }),
  );
  assertEquals(texts(out), ['{"level":5}']);
});

Deno.test("deprecated commands and options work and say what to use", async () => {
  const old = command({
    name: "old",
    summary: "Old",
    deprecated: "new",
    input: {
      type: "object",
      properties: { size: { type: "integer" }, big: { type: "boolean" } },
    },
    options: { big: { deprecated: "--size" } },
    run: () => "done",
  });
  const root: AnyCommand = { name: "prog", summary: "P", commands: [old] };
  assertEquals(await shell(root, ["old", "--big"]), {
    code: 0,
    out: "done\n",
    err:
      'prog: "old" is deprecated: use new\nprog: --big is deprecated: use --size\n',
  });
  const help = (await shell(root, ["old", "--help"])).out;
  assertStringIncludes(help, "Deprecated: use new");
  assertStringIncludes(help, "[deprecated: use --size]");
});

Deno.test("durations are written as people do and handed over as JSON Schema has them", async () => {
  const cases: [string, string | undefined, number][] = [
    ["5m", "PT5M", 300_000],
    ["1h30m", "PT1H30M", 5_400_000],
    ["2d", "P2D", 172_800_000],
    ["1w1s", "P7DT1S", 604_801_000],
    ["0s", "PT0S", 0],
  ];
  for (const [text, iso, ms] of cases) {
    assertEquals(isoDuration(text), iso);
    assertEquals(durationMs(iso!), ms);
  }
  for (const text of ["", "5", "m", "5m3h", "PT5M"]) {
    assertEquals(isoDuration(text), undefined);
  }
  assertThrows(() => durationMs("P1Y"), RangeError);
  const wait = command({
    name: "wait",
    summary: "Wait",
    input: {
      type: "object",
      properties: {
        for: { type: "string", format: "duration" },
        at: { type: "string", format: "uri" },
        like: { type: "string", format: "regex" },
      },
    },
    run: (args) => JSON.stringify(args),
  });
  assertEquals((await shell(wait, ["--for", "90m"])).out, '{"for":"PT90M"}\n');
  assertEquals(
    (await shell(wait, ["--for", "soon"])).err,
    'wait: for: must be a duration such as PT5M (on the command line also 5m), got string "soon"\n',
  );
  assertEquals(
    (await shell(wait, ["--at", "nowhere"])).err,
    'wait: at: must be a URL with its scheme, got string "nowhere"\n',
  );
  assertEquals(
    (await shell(wait, ["--like", "("])).err,
    'wait: like: must be a regular expression, got string "("\n',
  );
});

/** A validator in the form of other libraries' ones: an even number, doubled. */
const even: StandardInput<{ n: number; half: number }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const { n } = value as { n: number };
      return n % 2 === 0
        ? { value: { n, half: n / 2 } }
        : { issues: [{ message: "must be even", path: ["n"] }] };
    },
    jsonSchema: {
      input: ({ target }) => ({
        $schema: target,
        type: "object",
        properties: { n: { type: "integer" } },
        required: ["n"],
      }),
    },
  },
};

Deno.test("a Standard Schema validator is input schema, check and type at once", async () => {
  const halve = command({
    name: "halve",
    summary: "Halve",
    input: even,
    positionals: ["n"],
    tool: { name: "halve" },
    run: ({ half }) => `${half.toFixed(0)}`,
  });
  assertEquals(halve.input, {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
  });
  assertEquals((await shell(halve, ["8"])).out, "4\n");
  assertEquals(await shell(halve, ["7"]), {
    code: 1,
    out: "",
    err: "halve: n: must be even\n",
  });
  assertEquals((await shell(halve, ["x"])).code, 2);
  assertEquals(prepareInput(halve.input!, {}).error, "n is required");
  const bad = {
    "~standard": {
      ...even["~standard"],
      jsonSchema: { input: () => ({ type: "string" }) },
    },
  };
  assertThrows(
    () => command({ ...halve, input: bad, run: () => "" }),
    TypeError,
    "must describe an object",
  );
});
