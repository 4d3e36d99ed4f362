/**
 * A command line, taken apart by the tree of commands that it is meant for.
 *
 * @module
 */
// @ts-types="./std_cli.d.ts"
import { parseArgs } from "@std/cli/parse-args";
import { type ArgumentSchema, quoted, valueFromText } from "./argument.ts";
import { type AnyCommand, UsageError } from "./command.ts";
import { didYouMean } from "./nearest.ts";
import { bindPositionals } from "./positionals.ts";
import {
  childNamed,
  loadCommand,
  type Option,
  optionsOf,
  pathWords,
  withMore,
} from "./tree.ts";

/** What a command line asks for. */
export interface CommandLine {
  /** The command and its ancestors, root first. */
  path: readonly AnyCommand[];
  /** Arguments of the command by property name, not yet checked against its schema. */
  values: Record<string, unknown>;
  /** The root's options by property name, not yet checked either. */
  globals: Record<string, unknown>;
  /** `--help` or `-h` was among the options, or the line began with `help`. */
  help: boolean;
  /** `--version` was among the options. */
  version: boolean;
}

/** Where options come from that the line does not give. */
export interface Environment {
  /** A variable, or undefined when it is unset. */
  env(name: string): string | undefined;
  /** What separates the items of a list of paths in a variable: `:`, on Windows `;`. */
  pathSeparator: string;
  /** What the configuration says under a dotted key; undefined when nothing. */
  config?(key: string): unknown;
}

/** No variables. */
export const NO_ENVIRONMENT: Environment = {
  env: () => undefined,
  pathSeparator: ":",
};

/**
 * Takes a command line apart. An option that takes a value takes the next argument, whatever it looks like; `--` ends
 * the options; a list option may be repeated; of a repeated single one the last counts. The root's options are taken
 * anywhere. An option that is absent comes from its environment variable, else from
 * the configuration.
 *
 * @throws {UsageError} for unknown commands and options, missing values, and text that is not of an option's type.
 */
export async function parseCommandLine(
  root: AnyCommand,
  args: readonly string[],
  environment: Environment = NO_ENVIRONMENT,
): Promise<CommandLine> {
  const { path: found, words, tokens, help, version } = await split(root, args);
  const path = help || !found.at(-1)!.run ? await listing(found, args) : found;
  const command = path.at(-1)!;
  if (help || version) {
    return { path, values: {}, globals: {}, help, version };
  }
  const own = optionsOf(command);
  const texts = optionTexts(path, tokens);
  const values = optionValues(own, texts, environment);
  const globals = path.length === 1 ? values : optionValues(
    optionsOf(path[0]!).filter(({ flag }) => !own.some((o) => o.flag === flag)),
    texts,
    environment,
  );
  const bound = bindPositionals(command, words);
  if (bound.error !== undefined) {
    throw new UsageError(
      path.length === 1
        ? bound.error
        : `${pathWords(path.slice(1))}: ${bound.error}`,
    );
  }
  for (const [name, value] of bound.value) {
    const flag = own.find((option) => option.name === name)?.flag;
    if (flag !== undefined && texts.has(flag)) {
      throw new UsageError(`${name}: given both as an option and by position`);
    }
    values[name] = value;
  }
  return { path, values, globals, help, version };
}

/** The path with all subcommands of its last command, for help: that is there even where the settings are wrong. */
async function listing(
  path: readonly AnyCommand[],
  args: readonly string[],
): Promise<readonly AnyCommand[]> {
  const command = path.at(-1)!;
  return [
    ...path.slice(0, -1),
    await withMore(command, args).catch(() => command),
  ];
}

/** The options that may stand on the line of a command: its own, and the root's where its own do not hide them. */
export function knownOptions(path: readonly AnyCommand[]): Map<string, Option> {
  const known = new Map<string, Option>();
  for (const command of new Set([path[0]!, path.at(-1)!])) {
    for (const option of optionsOf(command)) known.set(option.flag, option);
  }
  return known;
}

type Token = readonly [flag: string, given: string | boolean];

interface Split {
  path: readonly AnyCommand[];
  words: string[];
  /** Options in their order: the flag, and its text, or whether a switch is on. */
  tokens: Token[];
  help: boolean;
  version: boolean;
}

async function split(
  root: AnyCommand,
  args: readonly string[],
): Promise<Split> {
  const path = [await loadCommand(root)];
  const words: string[] = [];
  const tokens: Token[] = [];
  let known = knownOptions(path);
  let help = false;
  let version = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    const next = () => {
      const value = args[++i];
      if (value === undefined) throw new UsageError(`${arg}: needs a value`);
      return value;
    };
    if (arg === "--") {
      words.push(...args.slice(i + 1));
      break;
    }
    if (arg.startsWith("--")) {
      const [, flag, text] = /^--([^=]*)(?:=(.*))?$/s.exec(arg)!;
      if (known.has(flag!)) {
        tokens.push(longToken(known.get(flag!)!, text, next));
      } else if (flag === "help") help = true;
      else if (flag === "version" && path.length === 1) version = true;
      else tokens.push(negatedToken(flag!, text, path, known));
    } else if (/^-[A-Za-z]/.test(arg)) {
      for (const token of shortTokens(arg, path, known, next)) {
        if (token === HELP) help = true;
        else tokens.push(token);
      }
    } else {
      let child: AnyCommand | undefined;
      if (words.length === 0) {
        const here = path.at(-1)!;
        child = childNamed(here, arg);
        if (!child && arg !== "help") {
          path[path.length - 1] = await withMore(here, args);
          child = childNamed(path.at(-1)!, arg);
        }
      }
      if (child) {
        path.push(await loadCommand(child));
        known = knownOptions(path);
      } else if (arg === "help" && path.length === 1 && words.length === 0) {
        help = true;
      } else if (path.at(-1)!.run) words.push(arg);
      else throw unknownCommand(path, arg);
    }
  }
  return { path, words, tokens, help, version };
}

const HELP = "-h";

function longToken(
  { flag, isSwitch, property }: Option,
  text: string | undefined,
  next: () => string,
): Token {
  if (!isSwitch) return [flag, text ?? next()];
  if (text === undefined) return [flag, true];
  const { value, error } = valueFromText(property, text);
  if (error !== undefined) throw new UsageError(`--${flag}: ${error}`);
  return [flag, value === true];
}

function negatedToken(
  flag: string,
  text: string | undefined,
  path: readonly AnyCommand[],
  known: ReadonlyMap<string, Option>,
): Token {
  const positive = flag.startsWith("no-")
    ? known.get(flag.slice("no-".length))
    : undefined;
  if (!positive?.isSwitch) throw unknownOption(path, `--${flag}`, known);
  if (text !== undefined) throw new UsageError(`--${flag}: takes no value`);
  return [positive.flag, false];
}

/** A cluster such as `-x`, `-xyz`, `-n5`, `-n=5`, or `-n` with its value in the next argument. */
function* shortTokens(
  arg: string,
  path: readonly AnyCommand[],
  known: ReadonlyMap<string, Option>,
  next: () => string,
): Generator<Token | typeof HELP> {
  for (let i = 1; i < arg.length; i++) {
    const letter = arg[i]!;
    const option = [...known.values()].find(({ hints }) =>
      hints.short === letter
    );
    if (!option && letter === "h") yield HELP;
    else if (!option) throw unknownOption(path, `-${letter}`, known);
    else if (option.isSwitch) yield [option.flag, true];
    else {
      const rest = arg.slice(i + 1);
      yield [option.flag, rest === "" ? next() : rest.replace(/^=/, "")];
      return;
    }
  }
}

/** What was given for each flag. The parser gets names of its own, so that no flag can mean anything to it. */
function optionTexts(
  path: readonly AnyCommand[],
  tokens: readonly Token[],
): ReadonlyMap<string, readonly (string | boolean)[]> {
  const texts = new Map<string, readonly (string | boolean)[]>();
  if (tokens.length === 0) return texts;
  const known = knownOptions(path);
  const options = [...known.values()];
  const index = new Map(options.map(({ flag }, i) => [flag, `o${i}`]));
  for (const [flag] of tokens) {
    // It was an option of a command on the way.
    if (!known.has(flag)) throw unknownOption(path, `--${flag}`, known);
  }
  const names = (pick: (option: Option) => boolean) =>
    options.filter(pick).map(({ flag }) => index.get(flag)!);
  const parsed = parseArgs(
    tokens.map(([flag, given]) => {
      const name = index.get(flag)!;
      if (typeof given === "string") return `--${name}=${given}`;
      return given ? `--${name}` : `--no-${name}`;
    }),
    {
      string: names(({ isSwitch }) => !isSwitch),
      boolean: names(({ isSwitch }) => isSwitch),
      negatable: names(({ isSwitch }) => isSwitch),
      collect: names(({ isList }) => isList),
    },
  );
  for (const flag of new Set(tokens.map(([flag]) => flag))) {
    const given = parsed[index.get(flag)!] as string | boolean | string[];
    texts.set(flag, [given].flat());
  }
  return texts;
}

function optionValues(
  options: readonly Option[],
  texts: ReadonlyMap<string, readonly (string | boolean)[]>,
  environment: Environment,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const option of options) {
    const { name, flag } = option;
    const given = texts.get(flag);
    const value = given
      ? read(option, given, `--${flag}`)
      : fallback(option, environment);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/**
 * What the environment and the configuration give for the arguments of a command, by name.
 *
 * @throws {UsageError} when one of them is not of its argument's type.
 */
export function fallbackValues(
  command: AnyCommand,
  environment: Environment,
): Record<string, unknown> {
  return optionValues(optionsOf(command), new Map(), environment);
}

/** The value from the option's variable, else from its key in the configuration. An empty variable counts as unset. */
function fallback(option: Option, environment: Environment): unknown {
  const { property, hints } = option;
  const text = hints.env === undefined ? "" : environment.env(hints.env) ?? "";
  if (text !== "") {
    const items = option.isList
      ? listFromText(property, text, environment)
      : [text];
    return read(option, items, hints.env!);
  }
  if (hints.config === undefined) return undefined;
  const value = environment.config?.(hints.config) ?? undefined;
  const items = option.isList ? [value].flat() : [value];
  const isText = items.length > 0 &&
    items.every((item) => typeof item === "string");
  return isText ? read(option, items, hints.config) : value;
}

function read(
  { property, isList }: Option,
  given: readonly (string | boolean)[],
  source: string,
): unknown {
  const values = given.map((text) => {
    if (typeof text === "boolean") return text;
    const parsed = valueFromText(property, text);
    if (parsed.error !== undefined) {
      throw new UsageError(`${source}: ${parsed.error}`);
    }
    return parsed.value;
  });
  const single = !isList ||
    (values.length === 1 && property.type === undefined);
  return single ? values.at(-1) : values;
}

/** The items of a list in a variable: paths between the platform's separators, anything else between commas. */
export function listFromText(
  property: ArgumentSchema,
  text: string,
  { pathSeparator }: Environment,
): string[] {
  const { format } = (property.items ?? {}) as ArgumentSchema;
  return text.split(format === "path" ? pathSeparator : ",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function unknownOption(
  path: readonly AnyCommand[],
  shown: string,
  known: ReadonlyMap<string, Option>,
): UsageError {
  const flags = [...known.values()].filter(({ hints }) => !hints.hidden)
    .map(({ flag }) => `--${flag}`);
  const atRoot = path.length === 1 ? ["--version"] : [];
  return new UsageError(
    `unknown option ${quoted(shown).slice(1, -1)}${
      didYouMean(shown, [...flags, "--help", ...atRoot])
    }; see "${pathWords(path)} --help"`,
  );
}

function unknownCommand(
  path: readonly AnyCommand[],
  word: string,
): UsageError {
  const names = (path.at(-1)!.commands ?? []).filter(({ hidden }) => !hidden)
    .flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]);
  const atRoot = path.length === 1 ? ["help"] : [];
  return new UsageError(
    `unknown command ${quoted(word)}${
      didYouMean(word, [...names, ...atRoot])
    }; see "${pathWords(path)} --help"`,
  );
}
