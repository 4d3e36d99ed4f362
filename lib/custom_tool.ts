/**
 * Tools that the operator declares in the configuration file, without code: what may stand there, and what is wrong
 * with what stands there.
 *
 * @module
 */
import { type InputSchema, UsageError } from "./command.ts";
import { didYouMean } from "./nearest.ts";
import { CUSTOM_TOOLS_KEY } from "./settings.ts";

/** Tools that may be declared. */
export const MAX_CUSTOM_TOOLS = 100;

/** Seconds until a declared tool's program is killed, unless it says otherwise. */
export const CUSTOM_TIMEOUT_S = 45;

/** Seconds that a declared tool may ask for. */
export const MAX_CUSTOM_TIMEOUT_S = 86_400;

/** A tool without code. */
export interface CustomTool {
  /** The name that models call it by. */
  name: string;
  /** What the model is told. */
  description: string;
  /** Its arguments. */
  input: InputSchema;
  /** The program and its arguments; an item that is `{name}` and nothing else stands for that argument. */
  argv: readonly string[];
  /** Where it runs, as given; undefined: the first root. */
  cwd?: string;
  /** Seconds until it is killed. */
  timeout: number;
  /** Variables that it gets beside those of every command. */
  env: Readonly<Record<string, string>>;
  /** What it prints: text as it is, or JSON, which is checked. */
  output: "text" | "json";
}

/** The variable that an argument reaches the program in. */
export function argumentVariable(name: string): string {
  return `ARG_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

/** The argument that an item of `argv` stands for. */
export function placeholder(item: string): string | undefined {
  return /^\{([^{}]+)\}$/.exec(item)?.[1];
}

/**
 * The tools in a parsed configuration file.
 *
 * @param text the file's text, to find lines in.
 * @param taken names that other tools and commands have.
 * @throws {UsageError} naming file, line, tool and key.
 */
export async function customToolsFrom(
  raw: unknown,
  text: string,
  path: string,
  taken: readonly string[],
): Promise<CustomTool[]> {
  const fail = (problem: string, index?: number, key?: string): never => {
    const line = lineOf(text, index, key);
    const item = index === undefined ? "" : `[${index}]`;
    const where = `${CUSTOM_TOOLS_KEY}${item}${key ? `.${key}` : ""}`;
    throw new UsageError(`${path}:${line}: ${where}: ${problem}`);
  };
  if (!Array.isArray(raw)) return fail("must be a list of tools");
  if (raw.length > MAX_CUSTOM_TOOLS) {
    return fail(`has ${raw.length} tools, at most ${MAX_CUSTOM_TOOLS} may be`);
  }
  const { InputValidator } = await import("./schema.ts");
  const { schemaFault } = await import("./schema_fault.ts");
  const names = new Set(taken);
  return raw.map((item: unknown, index) => {
    const wrong = (key: string, problem: string) => fail(problem, index, key);
    if (!isRecord(item)) return fail("must hold keys and values", index);
    for (const key of Object.keys(item)) {
      if (!KEYS.includes(key)) {
        wrong(
          key,
          `unknown key${
            didYouMean(key, KEYS) || `; there are ${KEYS.join(", ")}`
          }`,
        );
      }
    }
    const { name, description, argv, cwd, output = "text" } = item;
    const { input = { type: "object" }, env = {} } = item;
    const { timeout = CUSTOM_TIMEOUT_S } = item;
    if (typeof name !== "string" || !/^\w[\w-]{0,63}$/.test(name)) {
      return wrong(
        "name",
        "must be 1 to 64 letters, digits, _ or -, and not begin with -",
      );
    }
    if (names.has(name)) {
      wrong("name", `there already is a tool or command "${name}"`);
    }
    names.add(name);
    if (typeof description !== "string" || description.trim() === "") {
      return wrong("description", "must say what the tool does");
    }
    if (!isRecord(input) || input.type !== "object") {
      return wrong("input", 'must be a JSON Schema with type: "object"');
    }
    const schema: InputSchema = {
      additionalProperties: false,
      ...input,
      type: "object",
    };
    const fault = schemaFault(schema);
    if (fault !== undefined) wrong("input", `is no JSON Schema: ${fault}`);
    try {
      new InputValidator(schema).prepare({});
    } catch (error) {
      wrong("input", `is no JSON Schema: ${(error as Error).message}`);
    }
    if (!isStrings(argv) || argv.length === 0 || argv[0] === "") {
      return wrong("argv", "must be a list of strings, the program first");
    }
    const properties = Object.keys(schema.properties ?? {});
    checkArgv(argv, properties, (problem) => wrong("argv", problem));
    const variables = properties.map(argumentVariable);
    const twice = variables.find((one, i) => variables.indexOf(one) !== i);
    if (twice) wrong("input", `two arguments would both be ${twice}`);
    if (cwd !== undefined && (typeof cwd !== "string" || cwd === "")) {
      return wrong("cwd", "must be a folder");
    }
    if (
      typeof timeout !== "number" || !(timeout >= 0.1) ||
      timeout > MAX_CUSTOM_TIMEOUT_S
    ) {
      return wrong(
        "timeout",
        `must be seconds from 0.1 to ${MAX_CUSTOM_TIMEOUT_S}`,
      );
    }
    if (
      !isRecord(env) || !isStrings(Object.values(env)) ||
      Object.keys(env).some((name) => !/^[A-Za-z_]\w*$/.test(name))
    ) return wrong("env", "must hold names and strings");
    if (Object.values(env).some((value) => `${value}`.includes("\0"))) {
      wrong("env", "has a NUL byte");
    }
    const shadowed = variables.find((one) => Object.hasOwn(env, one));
    if (shadowed) wrong("env", `${shadowed} is an argument's variable`);
    if (output !== "text" && output !== "json") {
      return wrong("output", "must be text or json");
    }
    return {
      name,
      description,
      input: schema,
      argv,
      ...(cwd === undefined ? {} : { cwd }),
      timeout,
      env: env as Record<string, string>,
      output,
    };
  });
}

const KEYS = [
  "name",
  "description",
  "input",
  "argv",
  "cwd",
  "timeout",
  "env",
  "output",
];

function checkArgv(
  argv: readonly string[],
  properties: readonly string[],
  wrong: (problem: string) => unknown,
): void {
  for (const [i, item] of argv.entries()) {
    if (item.includes("\0")) wrong("has a NUL byte");
    const name = placeholder(item);
    if (name === undefined) {
      const part = properties.find((one) => item.includes(`{${one}}`));
      if (part !== undefined) {
        wrong(`"${item}": {${part}} can only be a whole item`);
      }
      continue;
    }
    if (i === 0) wrong("the program cannot be an argument");
    if (!properties.includes(name)) {
      wrong(`${item}: no such argument${didYouMean(name, properties)}`);
    }
  }
}

/** The line, from 1, that a key of the item stands in; that of the item or of the whole list when it is not found. */
function lineOf(
  text: string,
  index: number | undefined,
  key: string | undefined,
): number {
  const lines = text.split("\n");
  const isKey = (line: string, key: string) =>
    /^(["']?)([^"':]*)\1 *:/.exec(line)?.[2]?.trimEnd() === key;
  const start = lines.findIndex((line) => isKey(line, CUSTOM_TOOLS_KEY));
  if (start < 0) return 1;
  if (index === undefined) return start + 1;
  let seen = -1;
  let indent: number | undefined;
  let itemLine = start;
  for (let i = start + 1; i < lines.length; i++) {
    const line = lines[i]!;
    const [, space = "", dash] = /^( *)(- *)?/.exec(line)!;
    if (dash !== undefined && (indent ??= space.length) === space.length) {
      seen++;
      if (seen > index) break;
      if (seen === index) itemLine = i;
    }
    if (
      seen === index && key !== undefined &&
      isKey(line.replace(/^ *(- +)?/, ""), key) &&
      // Keys of the item, not of what is inside it.
      line.search(/[^ -]/) <= (indent ?? 0) + 4
    ) return i + 1;
  }
  return itemLine + 1;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) &&
    value.every((item) => typeof item === "string");
}
