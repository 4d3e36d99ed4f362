/** The second document's example program, and what its predecessor got wrong. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { command, McpServer, withMiddleware } from "../lib/library.ts";
import { asFunction, overMcp, program, shell, textOf } from "./three_ways.ts";

const EXAMPLES = new URL("examples/", import.meta.url);

async function example(
  name: string,
  args: string[],
  lines: unknown[] = [],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-read",
      "--config",
      new URL("../deno.json", import.meta.url).pathname,
      new URL(name, EXAMPLES).pathname,
      ...args,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-03-26",
    clientInfo: { name: "manual-test-client", version: "1.0.0" },
    capabilities: {},
  },
};

const call = (id: number, args: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "echo", arguments: args },
});

async function answers(
  name: string,
  args: string[],
  lines: unknown[],
  // deno-lint-ignore no-explicit-any
): Promise<any[]> {
  const { stdout, stderr, code } = await example(name, args, [
    INITIALIZE,
    ...lines,
  ]);
  assertEquals([code, stderr], [0, ""]);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line))
    .toSorted((a, b) => a.id - b.id);
}

async function lineCount(name: string): Promise<number> {
  const text = await Deno.readTextFile(new URL(name, EXAMPLES));
  return text.trimEnd().split("\n").length;
}

Deno.test("the examples stay short", async () => {
  assert(await lineCount("serpent.ts") < 40);
  assert(await lineCount("count_files.ts") < 25);
});

Deno.test("the second document's program echoes by position, by name, and several words", async () => {
  const [, ...results] = await answers("serpent.ts", ["mcp"], [
    call(1, { _: "Hello from MCP!" }),
    call(2, { _: ["--repeat", "--", "mcp"], repeat: 1 }),
    call(3, { message: ["a", "b"], repeat: 3 }),
    call(4, {}),
    call(5, { repeat: "many" }),
    call(6, { _: "x", repaet: 1 }),
  ]);
  const texts = results.map(({ result }) => result.content[0].text);
  assertEquals(texts.slice(0, 4), [
    "Hello from MCP!\nHello from MCP!",
    "--repeat -- mcp",
    "a b\na b\na b",
    "Hello, World!\nHello, World!",
  ]);
  assertEquals(results[4].result.isError, true);
  assertStringIncludes(texts[4], "repeat: must be an integer");
});

Deno.test("the second document's program lists its positionals and defaults in the schema", async () => {
  const [, { result }] = await answers("serpent.ts", ["mcp"], [
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
  ]);
  const { properties } = result.tools[0].inputSchema;
  assertEquals(properties.message.default, ["Hello, World!"]);
  assertEquals(properties.repeat.default, 2);
});

Deno.test("mcp serves a part of the tree, and says when there is none", async () => {
  const [, { result }] = await answers("serpent.ts", ["mcp", "version"], [
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
  ]);
  assertEquals(result.tools, []);
  assertEquals(await example("serpent.ts", ["mcp", "ech"]), {
    code: 2,
    stdout: "",
    stderr:
      'serpent-mcp-example: command not found: ech; did you mean "echo"?\n',
  });
  const nothing = await example("serpent.ts", ["mcp", "hidden"]);
  assertEquals(nothing.code, 2);
  assertStringIncludes(nothing.stderr, "nothing to serve");
});

Deno.test("mcp serves the tools that are picked, and names the nearest of one that is not there", async () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const [, listed] = await answers("serpent.ts", ["mcp", "--tools", "echo"], [
    list,
  ]);
  assertEquals(listed.result.tools.length, 1);
  const [, none] = await answers("serpent.ts", ["mcp", "--exclude", "echo"], [
    list,
  ]);
  assertEquals(none.result?.tools ?? [], []);
  const { code, stderr } = await example("serpent.ts", [
    "mcp",
    "--tools",
    "ehco",
  ]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, `did you mean "echo"?`);
});

Deno.test("the second document's program works from a shell", async () => {
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await example("serpent.ts", args);
    return [code, stdout, stderr];
  };
  assertEquals(await run("echo", "Hello, World!", "--repeat", "1"), [
    0,
    "Hello, World!\n",
    "",
  ]);
  assertEquals(await run("hidden"), [0, "hidden\n", ""]);
  assertEquals(JSON.parse((await run("version"))[1] as string).author, "Coder");
  assertEquals(await run("ekho"), [
    2,
    "",
    'serpent-mcp-example: unknown command "ekho"; did you mean "echo"?; see "serpent-mcp-example --help"\n',
  ]);
});

Deno.test("the first document's custom tool counts files", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const name of ["a", "b"]) {
      await Deno.writeTextFile(`${folder}/${name}`, "");
    }
    await Deno.mkdir(`${folder}/c`);
    const count = (path: string, id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "count_files", arguments: { path } },
    });
    const [, good, bad] = await answers("count_files.ts", [], [
      count(folder, 1),
      count(`${folder}/missing`, 2),
    ]);
    assertEquals(good.result, { content: [{ type: "text", text: "2" }] });
    assertEquals(bad.result.isError, true);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("ids of any size and kind come back digit for digit, and an empty text keeps its key", async () => {
  const server = new McpServer({ name: "t", version: "1" }).register(
    command({
      name: "nil",
      summary: "N",
      tool: { name: "nil" },
      run: () => "",
    }),
  );
  const call = (id: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"nil"}}\n`;
  const ids = ["9007199254740993", "-123456789012345678901", '"0x"', '""', "0"];
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const served = server.serve(
    new Blob([
      `${JSON.stringify(INITIALIZE).replace('"id":0', '"id":-1')}\n`,
      ...ids.map(call),
    ]).stream(),
    writable,
  );
  const lines = (await new Response(readable).text()).trim().split("\n");
  await served;
  assertEquals(
    lines.slice(1).toSorted(),
    ids.map((id) =>
      `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":""}]}}`
    ).toSorted(),
  );
});

Deno.test("a layer forces an argument that no caller can change", async () => {
  const show = command({
    name: "show",
    summary: "Show",
    input: {
      type: "object",
      properties: { dry: { type: "boolean" }, path: { type: "string" } },
    },
    tool: { name: "show" },
    run: (args) => JSON.stringify(args),
  });
  const forced = withMiddleware(
    show,
    (args, ctx, next) => next({ ...args, dry: true }, ctx),
  );
  const root = program([forced]);
  const expected = '{"dry":true,"path":"--no-dry"}';
  assertEquals(
    (await shell(root, ["show", "--no-dry", "--path", "--no-dry"])).out,
    `${expected}\n`,
  );
  const args = { dry: false, path: "--no-dry" };
  assertEquals(textOf(await overMcp(root, "show", args)), expected);
  assertEquals(await asFunction(forced, args), expected);
});

Deno.test("a command that is neither tool nor resource cannot be reached over MCP", async () => {
  const [, tool, resource, list] = await answers("serpent.ts", ["mcp"], [
    { ...call(1, {}), params: { name: "hidden" } },
    {
      jsonrpc: "2.0",
      id: 2,
      method: "resources/read",
      params: { uri: "hidden" },
    },
    { jsonrpc: "2.0", id: 3, method: "tools/list" },
  ]);
  assertEquals([tool.error.code, resource.error.code], [-32000, -32002]);
  assertEquals(list.result.tools.length, 1);
});

Deno.test("the last line of the input is answered without a newline behind it", async () => {
  const server = new McpServer({ name: "t", version: "1" });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const served = server.serve(
    new Blob(['\n\n{"jsonrpc":"2.0","id":1,"method":"ping"}']).stream(),
    writable,
  );
  assertEquals(
    await new Response(readable).text(),
    '{"jsonrpc":"2.0","id":1,"result":{}}\n',
  );
  await served;
});

Deno.test("a group without a command shows its help on standard error and fails, an unknown command names the nearest", async () => {
  const leaf = { name: "leaf", summary: "L", run: () => "" };
  const root = program([{ name: "group", summary: "G", commands: [leaf] }]);
  const bare = await shell(root, ["group"]);
  assertEquals([bare.code, bare.out], [2, ""]);
  assertStringIncludes(bare.err, "Usage: prog group COMMAND");
  assertEquals(await shell(root, ["group", "laef"]), {
    code: 2,
    out: "",
    err:
      'prog: unknown command "laef"; did you mean "leaf"?; see "prog group --help"\n',
  });
});
