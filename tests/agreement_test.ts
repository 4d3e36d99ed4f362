/**
 * A command called from a shell, over MCP and from a program gives the same result or the same refusal, whatever its
 * tree, its definition and its arguments are; and no argument's value changes the meaning of another.
 */
import { assert, assertEquals } from "@std/assert";
import { call } from "../lib/call.ts";
import type {
  AnyCommand,
  InputSchema,
  OptionHints,
  PropertySchema,
} from "../lib/command.ts";
import { checkTree } from "../lib/tree.ts";
import { program, requests, shell, textOf } from "./three_ways.ts";

const ROUNDS = Number(Deno.env.get("ROUNDS") ?? 400);

/** Strings that have broken command lines: options, ends of options, names of commands, separators, nothing. */
const ODD = [
  "--",
  "-",
  "--count=3",
  "--count",
  "-x",
  "-xyz",
  "--no-loud",
  "--help",
  "--version",
  "help",
  "mcp",
  "other",
  "target",
  "a b",
  "a\nb\n",
  "\r\n",
  "\t",
  "",
  "=",
  "--=",
  "--count=",
  "'\"`$(id)",
  "\\",
  "%s%n",
  "\u2028",
  "é👩‍👩‍👧",
  "__proto__",
  "constructor",
  "true",
  "5",
  "-0",
  "1e999",
  "NaN",
  "null",
  "{}",
  "_",
  "x".repeat(5_000),
];

/** Names of arguments: plain ones, and those that mean something to parsers, prototypes and help. */
const NAMES = [
  "count",
  "path",
  "two_words",
  "x",
  "loud",
  "no_loud",
  "o0",
  "other",
  "constructor",
  "toString",
  "hasOwnProperty",
  "length",
  "version",
  "json",
  "level",
  "_under",
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

function shuffled<T>(next: Random, items: readonly T[]): T[] {
  return items.map((item) => [next(), item] as const)
    .toSorted(([a], [b]) => a - b).map(([, item]) => item);
}

/** A kind of argument: its schema, a good value, and values that it refuses. */
interface Kind {
  schema: PropertySchema;
  good(next: Random): unknown;
  bad: readonly unknown[];
}

const oddString = (next: Random) => pick(next, ODD);
const integer = (next: Random) => Math.floor(next() * 10);
const some = (next: Random, item: Kind["good"]) =>
  Array.from({ length: 1 + Math.floor(next() * 3) }, () => item(next));

const KINDS: readonly Kind[] = [
  { schema: { type: "string", minLength: 0 }, good: oddString, bad: [] },
  {
    schema: { type: "string", minLength: 0, default: "--x" },
    good: oddString,
    bad: [],
  },
  {
    schema: { type: "string", minLength: 0, maxLength: 3 },
    good: (next) => pick(next, ["", "--", "-x", "abc"]),
    bad: ["abcd", "--count=3"],
  },
  {
    schema: { type: "string", pattern: "^-" },
    good: (next) => pick(next, ["-", "--", "--help"]),
    bad: ["a", "5"],
  },
  {
    schema: { type: "integer" },
    good: (next) => integer(next) - 5,
    bad: ["many", "1.5", "1e999", "NaN", "0x10", "--", "9007199254740993"],
  },
  {
    schema: { type: "integer", minimum: 0, maximum: 9, default: 4 },
    good: integer,
    bad: [-1, 10],
  },
  {
    schema: { type: "number", exclusiveMinimum: -1 },
    good: (next) => pick(next, [-0.5, 0, 1.25, 1e21, 5e-324]),
    bad: [-1, -2, "Infinity", "-", "1e999"],
  },
  { schema: { type: "boolean" }, good: (next) => next() < 0.5, bad: [] },
  {
    schema: { type: "boolean", default: true },
    good: (next) => next() < 0.5,
    bad: [],
  },
  {
    schema: { enum: ["one", "two", "--three", "help"] },
    good: (next) => pick(next, ["one", "two", "--three", "help"]),
    bad: ["four", "On", "--"],
  },
  {
    schema: { enum: [1, 2] },
    good: (next) => pick(next, [1, 2]),
    bad: [3],
  },
  {
    schema: { type: "array", items: { type: "string" } },
    good: (next) => some(next, oddString),
    bad: [],
  },
  {
    schema: { type: "array", items: { enum: ["a", "--b"] } },
    good: (next) => some(next, (n) => pick(n, ["a", "--b"])),
    bad: [["c"]],
  },
  {
    schema: { type: "array", items: { type: "integer" }, maxItems: 3 },
    good: (next) => some(next, integer),
    bad: [[1, 2, 3, 4]],
  },
  {
    schema: { type: "string", format: "duration" },
    good: (next) => pick(next, ["PT5M", "P1W", "P1DT2H", "P1Y"]),
    bad: ["soon", "5", "--"],
  },
  {
    schema: { type: "string", format: "path", minLength: 0 },
    good: oddString,
    bad: [],
  },
  {
    schema: { type: "string", format: "uri" },
    good: (next) => pick(next, ["http://x/?a=--b", "rousseau://x"]),
    bad: ["nowhere", "--"],
  },
  {
    schema: { type: "string", format: "regex" },
    good: (next) => pick(next, ["^--$", "a|b", "\\s"]),
    bad: ["(", "["],
  },
  {
    schema: { type: "object", additionalProperties: { type: "string" } },
    good: (next) => ({ [pick(next, ["a", "-b", "__c"])]: oddString(next) }),
    bad: [{ a: 5 }],
  },
];

interface Case {
  /** The words to the command, the program's own left out. */
  words: string[];
  root: AnyCommand;
  command: AnyCommand;
  schema: InputSchema;
  args: Record<string, unknown>;
  globals: Record<string, unknown>;
  /** What is wrong with the arguments, if anything is. */
  fault: "none" | "missing" | "wrong" | "unknown";
}

function makeCase(next: Random): Case {
  const names = shuffled(next, NAMES).slice(0, 1 + Math.floor(next() * 6));
  const kinds = new Map(names.map((name) => [name, pick(next, KINDS)]));
  const properties = Object.fromEntries(
    names.map((name) => [name, kinds.get(name)!.schema]),
  );
  const type = (name: string) => kinds.get(name)!.schema.type;
  // What makes no flag has to come by position, and a switch cannot.
  const byPosition = names.filter((name) =>
    type(name) !== "boolean" && type(name) !== "array" &&
    (name.startsWith("_") || next() < 0.4)
  );
  const last = names.find((name) =>
    type(name) === "array" && !byPosition.includes(name)
  );
  const listed = last !== undefined && next() < 0.5 ? [last] : [];
  const firmCount = Math.floor(next() * (byPosition.length + 1));
  const firm = byPosition.slice(0, firmCount);
  const positionals = [...byPosition, ...listed];
  const required = names.filter((name) =>
    firm.includes(name) ||
    (!positionals.includes(name) && !name.startsWith("_") && next() < 0.25)
  );
  const hints: Record<string, OptionHints> = {};
  const letters = new Set("abcdefgxyz");
  for (const name of names) {
    const letter = pick(next, [...letters]);
    if (next() < 0.5) {
      hints[name] = { short: letter };
      letters.delete(letter);
    }
  }
  const args: Record<string, unknown> = {};
  // Positional ones that are left out are the last.
  const filled = firmCount +
    Math.floor(next() * (positionals.length - firmCount + 1));
  for (const name of names) {
    const at = positionals.indexOf(name);
    const given = at >= 0
      ? at < filled
      : !name.startsWith("_") && (required.includes(name) || next() < 0.6);
    if (given) args[name] = kinds.get(name)!.good(next);
  }
  let fault: Case["fault"] = "none";
  const roll = next();
  if (roll < 0.12) {
    const name = required.find((one) => !positionals.includes(one)) ??
      firm.at(-1);
    // Of positional ones only the last can be left out.
    if (name !== undefined && (!firm.includes(name) || filled === firmCount)) {
      delete args[name];
      if (properties[name]!.default === undefined) fault = "missing";
    }
  } else if (roll < 0.35) {
    const name = Object.keys(args).find((one) =>
      kinds.get(one)!.bad.length > 0
    );
    if (name !== undefined) {
      args[name] = pick(next, kinds.get(name)!.bad);
      fault = "wrong";
    }
  } else if (roll < 0.42) {
    args.nonsense = "x";
    fault = "unknown";
  }
  const schema: InputSchema = {
    type: "object",
    properties,
    required,
    additionalProperties: false,
  };
  const command: AnyCommand = {
    name: "target",
    aliases: ["t"],
    summary: "Target",
    input: schema,
    positionals,
    options: hints,
    tool: { name: "target" },
    run: (given, ctx) =>
      JSON.stringify({ given, globals: ctx.globals ?? null }),
  };
  const other: AnyCommand = {
    name: "other",
    summary: "Other",
    tool: { name: "other" },
    run: () => "other",
  };
  const depth = Math.floor(next() * 3);
  let top: readonly AnyCommand[] = [command, other];
  const words = [pick(next, ["target", "t"])];
  for (let i = 0; i < depth; i++) {
    const name = ["group", "constructor"][i]!;
    top = [{ name, summary: "G", commands: top }];
    words.unshift(name);
  }
  const globals = next() < 0.5 ? { level: integer(next) } : {};
  const root = program(top, {
    input: {
      type: "object",
      properties: { level: { type: "integer", default: 1 } },
    },
  });
  return { words, root, command, schema, args, globals, fault };
}

function toText(item: unknown): string {
  return typeof item === "string" ? item : JSON.stringify(item);
}

/** The arguments as a person might type them. */
function commandLine(next: Random, made: Case): string[] {
  const { command, args, words, globals } = made;
  const positionals = command.positionals!;
  const options: { name: string; words: string[] }[] = [];
  const add = (name: string, ...words: string[]) =>
    void options.push({ name, words });
  for (const [name, given] of Object.entries(args)) {
    if (positionals.includes(name)) continue;
    const flag = `--${name.replaceAll("_", "-")}`;
    const short = command.options?.[name]?.short;
    for (const item of Array.isArray(given) ? given : [given]) {
      if (typeof item === "boolean") {
        // `--no-loud` is an option of its own where there is one.
        const spelled = item ? flag : `${flag}=false`;
        const word = next() < 0.5 || name === "loud"
          ? spelled
          : item
          ? `${flag}=yes`
          : flag.replace("--", "--no-");
        add(name, word);
      } else if (short !== undefined && next() < 0.3) {
        const text = toText(item);
        if (next() < 0.5) add(name, `-${short}=${text}`);
        else add(name, `-${short}`, text);
      } else {
        const text = toText(item);
        if (next() < 0.5) add(name, `${flag}=${text}`);
        else add(name, flag, text);
      }
    }
  }
  const level = Object.hasOwn(globals, "level") &&
      !(Object.hasOwn(made.schema.properties!, "level"))
    ? [`--level=${globals.level}`]
    : [];
  const typed = positionals.flatMap((name) =>
    Object.hasOwn(args, name) ? [args[name]].flat().map(toText) : []
  );
  // A list keeps its order.
  const mixed = shuffled(next, [
    ...Map.groupBy(options, ({ name }) => name).values(),
  ]).flat().flatMap(({ words }) => words);
  return [
    ...(next() < 0.5 ? level.splice(0) : []),
    ...words,
    ...mixed,
    ...level,
    // Needed only where a word looks like an option.
    ...(typed.some((word) => /^-./.test(word)) || next() < 0.5 ? ["--"] : []),
    ...typed,
  ];
}

/** A refusal without what differs by how it was asked: dashes, the program's name, the type of what was given. */
function refusal(text: string): string {
  const missing = /^missing (.*); see /.exec(text)?.[1]?.split(", ") ??
    [...text.matchAll(/(\w+) is required/g)].map(([, name]) => name!);
  if (missing.length > 0) {
    return `missing ${
      missing.map((name) =>
        name.replace(/^--/, "").replaceAll("-", "_").toLowerCase()
      ).toSorted()
    }`;
  }
  if (/^unknown (option|argument)/.test(text)) {
    return `unknown ${/nonsense/.exec(text)}`;
  }
  const [, field, rest] = /^([^:]*): (.*)$/s.exec(text) ?? [];
  if (field === undefined) return text;
  const name = field!.replace(/^_$/, "").replace(/^-+/, "")
    .replaceAll("-", "_");
  // The text of a line says no more than its field and what it must be.
  return `${name.replace(/\[\d+\]$/, "")}: ${
    rest!.replace(/^\w+: /, "").replace(/(, got .*|; did you mean.*)$/s, "")
  }`;
}

function refused(text: string): string {
  return `refused: ${refusal(text)}`;
}

async function fromShell(next: Random, made: Case): Promise<string> {
  const line = commandLine(next, made);
  const { code, out, err } = await shell(made.root, line);
  assertEquals(code === 0 ? err : out, "", JSON.stringify(line));
  return code === 0 ? out : refused(
    err.trimEnd().replace(/^prog: /, "").replace(
      /^(?:(?:constructor|group) )*target: /,
      "",
    ),
  );
}

/** Over MCP, positional arguments at times under `"_"`. */
async function overMcp(next: Random, made: Case): Promise<string> {
  const { args, command, root } = made;
  const filled = command.positionals!.filter((name) =>
    Object.hasOwn(args, name)
  );
  const under = filled.length > 0 && next() < 0.4 &&
    // Text there is read as on a command line; what is none is taken as it is.
    !(made.fault === "wrong");
  const sent = under
    ? {
      _: filled.flatMap((name) => args[name]).map((item) =>
        typeof item === "object" ? JSON.stringify(item) : item
      ),
      ...Object.fromEntries(
        Object.entries(args).filter(([name]) => !filled.includes(name)),
      ),
    }
    : args;
  const level = Object.hasOwn(made.globals, "level") &&
      !(Object.hasOwn(made.schema.properties!, "level"))
    ? [`--level=${made.globals.level}`]
    : [];
  const [result] = await requests(
    root,
    [
      { method: "tools/call", params: { name: "target", arguments: sent } },
    ],
    {},
    ["mcp", ...level],
  );
  return result.isError
    ? refused(textOf(result).replace(/^target: /, ""))
    : textOf(result);
}

async function fromProgram({ command, args, globals, schema }: Case) {
  const level = Object.hasOwn(schema.properties!, "level")
    ? { level: 1 }
    : { level: 1, ...globals };
  try {
    return textOf(await call(command, args, { globals: level }));
  } catch (error) {
    return refused((error as Error).message);
  }
}

/** The same result, whatever the order of its keys. */
function sorted(text: string): string {
  if (!text.startsWith("{")) return text;
  const { given, globals } = JSON.parse(text);
  return JSON.stringify([Object.entries(given).toSorted(), globals]);
}

Deno.test("shell, MCP and program agree on results and refusals", async () => {
  const seed = Number(Deno.env.get("SEED") ?? 20261130);
  const next = random(seed);
  const seen = new Map<string, number>();
  for (let i = 0; i < ROUNDS; i++) {
    const made = makeCase(next);
    const { words, args, schema, command, fault } = made;
    const about = `SEED=${seed}, case ${i}: ${
      JSON.stringify({ words, args, schema, of: command.positionals, fault })
    }`;
    checkTree(made.root);
    const expected = await fromProgram(made);
    assertEquals(expected.startsWith("refused"), fault !== "none", about);
    assertEquals(sorted(await overMcp(next, made)), sorted(expected), about);
    assertEquals(sorted(await fromShell(next, made)), sorted(expected), about);
    if (fault === "none") {
      // Each value arrives as it was given, whatever the others are.
      const { given } = JSON.parse(expected);
      for (const [name, value] of Object.entries(args)) {
        assertEquals(given[name], value, `${about}: ${name}`);
      }
    }
    seen.set(fault, (seen.get(fault) ?? 0) + 1);
  }
  // Every kind has to occur, or the test says nothing.
  for (const fault of ["none", "missing", "wrong", "unknown"]) {
    assert((seen.get(fault) ?? 0) >= ROUNDS / 50, `${fault}: ${[...seen]}`);
  }
});
