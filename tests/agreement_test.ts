/**
 * A command called from a shell, over MCP and from a program gives the same result or the same refusal, whatever its
 * arguments hold.
 */
import { assert, assertEquals } from "@std/assert";
import { run } from "../lib/cli.ts";
import type { AnyCommand, PropertySchema } from "../lib/command.ts";
import { prepareInput } from "../lib/schema.ts";
import { McpServer } from "../lib/server.ts";

const ROUNDS = 300;

/** Strings that have broken command lines: options, ends of options, names of commands, separators, nothing. */
const ODD = [
  "--",
  "-",
  "--count=3",
  "-x",
  "--help",
  "help",
  "other",
  "a b",
  "a\nb",
  "",
  "=",
  "--=",
  "'\"`$(id)",
  "\u2028",
  "é",
  "__proto__",
  "true",
  "5",
  "null",
];

/** Mulberry32: the same numbers for the same seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

type Random = () => number;

function pick<T>(next: Random, items: readonly T[]): T {
  return items[Math.floor(next() * items.length)]!;
}

const TYPES: readonly ((next: Random) => PropertySchema)[] = [
  () => ({ type: "string" }),
  () => ({ type: "string", minLength: 0 }),
  () => ({ type: "string", maxLength: 3 }),
  () => ({ type: "integer" }),
  () => ({ type: "integer", minimum: 0, maximum: 9, default: 4 }),
  () => ({ type: "number", exclusiveMinimum: -1 }),
  () => ({ type: "boolean" }),
  () => ({ type: "boolean", default: true }),
  () => ({ enum: ["one", "two", "--three"] }),
  () => ({ type: "array", items: { type: "string" } }),
  () => ({ type: "array", items: { type: "integer" }, maxItems: 2 }),
  () => ({ type: "object", additionalProperties: { type: "string" } }),
];

function value(next: Random, schema: PropertySchema): unknown {
  if (schema.enum) return pick(next, ["one", "two", "--three", "four"]);
  switch (schema.type) {
    case "string":
      return pick(next, ODD);
    case "integer":
      return Math.floor(next() * 24) - 8;
    case "number":
      return pick(next, [-2, -0.5, 0, 1.25, 1e21]);
    case "boolean":
      return next() < 0.5;
    case "array":
      return Array.from(
        { length: 1 + Math.floor(next() * 3) },
        () => value(next, schema.items as PropertySchema),
      );
    default:
      return { [pick(next, ["a", "-b", "__c"])]: pick(next, ODD) };
  }
}

interface Case {
  command: AnyCommand;
  args: Record<string, unknown>;
}

function makeCase(next: Random): Case {
  const names = ["count", "path", "two_words", "x", "other"].slice(
    0,
    1 + Math.floor(next() * 5),
  );
  const properties: Record<string, PropertySchema> = {};
  for (const name of names) properties[name] = pick(next, TYPES)(next);
  const isPlain = (name: string) =>
    properties[name]!.type !== "boolean" && properties[name]!.type !== "array";
  const positionals = names.filter((name) => isPlain(name) && next() < 0.4);
  // What comes by position is given in full, so that the order tells what is what.
  const required = names.filter((name) =>
    positionals.includes(name) || next() < 0.2
  );
  const args: Record<string, unknown> = {};
  for (const name of names) {
    // What is missing is told in other words in a shell.
    if (required.includes(name) || next() < 0.7) {
      args[name] = value(next, properties[name]!);
    }
  }
  return {
    command: {
      name: "cmd",
      summary: "Cmd",
      input: {
        type: "object",
        properties,
        required,
        additionalProperties: false,
      },
      positionals,
      tool: { name: "cmd" },
      run: (given: unknown) => JSON.stringify(given),
    },
    args,
  };
}

/** The arguments as a person would type them, in a random order. */
function commandLine(next: Random, { command, args }: Case): string[] {
  const text = (item: unknown) =>
    typeof item === "string" ? item : JSON.stringify(item);
  const options = Object.entries(args)
    .filter(([name]) => !command.positionals!.includes(name))
    .toSorted(() => next() - 0.5)
    .flatMap(([name, given]) => {
      const flag = `--${name.replaceAll("_", "-")}`;
      if (typeof given === "boolean") {
        return given ? [flag] : [flag.replace("--", "--no-")];
      }
      return [given].flat().flatMap((item) =>
        next() < 0.5 ? [`${flag}=${text(item)}`] : [flag, text(item)]
      );
    });
  const words = command.positionals!.map((name) => text(args[name]));
  return ["cmd", ...options, "--", ...words];
}

async function fromShell(next: Random, made: Case): Promise<string> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const write = (bytes: Uint8Array) => void chunks.push(new Uint8Array(bytes));
  const other: AnyCommand = { name: "other", summary: "O", run: () => "other" };
  const root = { name: "prog", summary: "P", commands: [made.command, other] };
  const line = commandLine(next, made);
  const code = await run(root, line, {
    stdin: new Blob([]).stream(),
    stdout: new WritableStream({ write }),
    stderr: new WritableStream({ write }).getWriter(),
  });
  const text = await new Blob(chunks).text();
  return code === 0
    ? text.trimEnd()
    : `refused: ${text.trimEnd().replace(/^prog: /, "")}`;
}

async function overMcp(cases: readonly Case[]): Promise<string[]> {
  const results: string[] = [];
  for (const { command, args } of cases) {
    const server = new McpServer({ name: "s", version: "1" }).register(command);
    const lines = [
      {
        id: 0,
        method: "initialize",
        params: {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "t", version: "1" },
        },
      },
      { method: "notifications/initialized" },
      { id: 1, method: "tools/call", params: { name: "cmd", arguments: args } },
    ].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const { readable, writable } = new TransformStream<
      Uint8Array,
      Uint8Array
    >();
    const served = server.serve(new Blob(lines).stream(), writable);
    const answers = (await new Response(readable).text()).trim().split("\n")
      .map((line) => JSON.parse(line));
    await served;
    const { content, isError } = answers.find(({ id }) => id === 1).result;
    const text = content[0].text as string;
    results.push(isError ? `refused: ${text.replace(/^cmd: /, "")}` : text);
  }
  return results;
}

function fromProgram({ command, args }: Case): string {
  const { value, error } = prepareInput(command.input, args);
  return error === undefined
    ? command.run!(value, undefined as never) as string
    : `refused: ${error}`;
}

Deno.test("shell, MCP and program agree on results and refusals", async () => {
  const seed = Number(Deno.env.get("SEED") ?? 20261130);
  const next = random(seed);
  const cases = Array.from({ length: ROUNDS }, () => makeCase(next));
  const mcp = await overMcp(cases);
  let refused = 0;
  for (const [i, made] of cases.entries()) {
    const expected = fromProgram(made);
    const about = `SEED=${seed}, case ${i}: ${JSON.stringify(made)}`;
    const sorted = (text: string) =>
      text.startsWith("{")
        ? JSON.stringify(Object.entries(JSON.parse(text)).toSorted())
        : text;
    assertEquals(sorted(mcp[i]!), sorted(expected), about);
    assertEquals(sorted(await fromShell(next, made)), sorted(expected), about);
    if (expected.startsWith("refused")) refused++;
  }
  // Both kinds have to occur, or the test says nothing.
  assert(refused > ROUNDS / 20 && refused < ROUNDS * 0.9, `${refused}`);
});
