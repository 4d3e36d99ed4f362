/** The npm package, packed and installed, on Node. */
import { checkExamples, readmeExamples } from "../readme_examples.ts";
import { need } from "./programs.ts";
import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).pathname;

/** What the README's examples do not use: data, functions, layers, validators, standard input, all from the package. */
const DATA = `import assert from "node:assert/strict";
import * as rousseau from "rousseau";
const { call, command, mcpCommand, run, withMiddleware } = rousseau;

const add = command({
  name: "add",
  summary: "Add",
  input: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer", default: 1 } },
    required: ["a"],
  },
  options: { b: { env: "B", config: "add.b" } },
  output: { type: "object", properties: { sum: { type: "integer" } } },
  tool: { name: "add" },
  run: ({ a, b }, ctx) => (ctx.warn("adding"), { structured: { sum: a + b } }),
});
const read = command({
  name: "read",
  summary: "Read",
  tool: { name: "read" },
  run: async (_args, ctx) => await new Response(ctx.stdin()).text(),
});
assert.deepEqual((await call(add, { a: 2 })).structuredContent, { sum: 3 });
await assert.rejects(() => call(add, {}), /a is required/);
const loud = withMiddleware(read, (args, ctx, next) => next(args, ctx));
const about = { name: "data", version: "1" };
const root = { name: "data", summary: "D", commands: [add, loud, mcpCommand(about)] };
const go = async (args, input = "", env = {}, options = {}) => {
  const text = { out: "", err: "" };
  const put = (name) => (bytes) =>
    void (text[name] += new TextDecoder().decode(bytes));
  const code = await run(root, args, {
    stdin: new Blob([input]).stream(),
    stdout: new WritableStream({ write: put("out") }),
    stderr: { write: async (bytes) => put("err")(bytes) },
    env: (name) => env[name],
  }, options);
  return { code, ...text };
};
assert.deepEqual(await go(["add", "--a=2", "--json"], "", { B: "5" }), {
  code: 0,
  out: '{\\n  "sum": 7\\n}\\n',
  err: "data: adding\\n",
});
const configured = await go(["add", "--a=2"], "", {}, { config: { add: { b: 9 } } });
assert.equal(configured.out, '{"sum":11}\\n');
assert.equal((await go(["read"], "typed")).out, "typed\\n");
const lines = [
  ["initialize", { protocolVersion: "2025-11-25", capabilities: {} }],
  ["tools/call", { name: "add", arguments: { a: 2 } }],
  ["tools/call", { name: "read" }],
  ["tools/call", { name: "add", arguments: { a: "2" } }],
].map(([method, params], id) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n"
);
const { out } = await go(["mcp"], lines.join(""));
const [, sum, closed, wrong] = out.trim().split("\\n").map((line) =>
  JSON.parse(line)
).sort((a, b) => a.id - b.id);
assert.deepEqual(sum.result.structuredContent, { sum: 3 });
assert.match(closed.result.content[0].text, /standard input is closed/);
assert.match(wrong.result.content[0].text, /a: must be an integer/);
`;

async function succeed(program: string, args: string[], cwd: string) {
  const { success, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, `${program}: ${new TextDecoder().decode(stderr)}`);
}

Deno.test("the README's examples run on Node as printed, after the packed tarball is installed in an empty folder", async () => {
  await need("node", "npm");
  const folder = await Deno.makeTempDir();
  try {
    await succeed(Deno.execPath(), ["task", "npm"], ROOT);
    const { version } = JSON.parse(
      await Deno.readTextFile(`${ROOT}deno.json`),
    );
    const tarball = `${ROOT}dist/rousseau-${version}.tgz`;
    await succeed(
      "npm",
      ["install", "--offline", "--no-audit", "--no-fund", tarball],
      folder,
    );
    for (const [name, code] of await readmeExamples()) {
      await Deno.writeTextFile(`${folder}/${name}`, code);
    }
    await checkExamples(folder, ["node"]);
    await Deno.writeTextFile(`${folder}/data.mjs`, DATA);
    await succeed("node", ["data.mjs"], folder);
    const installed = `${folder}/node_modules/rousseau`;
    for await (const { name } of Deno.readDir(installed)) {
      if (!name.endsWith(".js")) continue;
      const code = await Deno.readTextFile(`${installed}/${name}`);
      assertEquals(code.match(/\bDeno\.(?!errors)\w+/g), null, name);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
