/**
 * The tree of commands: finding a command by its words, walking, and checking that the tree makes sense.
 *
 * @module
 */
import { type ArgumentSchema, isList, isSwitch } from "./argument.ts";
import type { AnyCommand, OptionHints } from "./command.ts";

/** A command with the words that lead to it, the root's name first. */
export interface Placed {
  /** The command. */
  command: AnyCommand;
  /** Its ancestors and itself, root first. */
  path: readonly AnyCommand[];
}

/** An argument of a command, as the command line sees it. */
export interface Option {
  /** Property name in the input schema. */
  name: string;
  /** The flag without its dashes: the hint's, else the name with `_` as `-`. */
  flag: string;
  /** Its JSON Schema. */
  property: ArgumentSchema;
  /** How it is given. */
  hints: OptionHints;
  /** Whether the schema requires it. */
  required: boolean;
  /** Takes no value. */
  isSwitch: boolean;
  /** May be given several times. */
  isList: boolean;
  /** Given by position. */
  isPositional: boolean;
}

/** The name of the option that prints a command's data. */
export const JSON_OPTION = "json";

/** Whether a command has `--json` because it has data, and not as an argument of its own. */
export function printsJson({ input, output }: AnyCommand): boolean {
  return output !== undefined &&
    !Object.hasOwn(input?.properties ?? {}, JSON_OPTION);
}

/**
 * The arguments of a command in the order of its schema, and `--json` where {@linkcode printsJson}. Names that make no
 * flag are left out.
 */
export function optionsOf(command: AnyCommand): Option[] {
  const properties: Readonly<Record<string, ArgumentSchema>> = {
    ...command.input?.properties,
    ...(printsJson(command) ? { [JSON_OPTION]: JSON_PROPERTY } : {}),
  };
  return Object.entries(properties)
    .filter(([name]) =>
      hintsOf(command, name).flag !== undefined || FLAG_NAME.test(name)
    )
    .map(([name, property]) => ({
      name,
      flag: hintsOf(command, name).flag ?? name.replaceAll("_", "-"),
      property,
      hints: hintsOf(command, name),
      required: command.input?.required?.includes(name) ?? false,
      isSwitch: isSwitch(property),
      isList: isList(property),
      isPositional: command.positionals?.includes(name) ?? false,
    }));
}

function hintsOf({ options = {} }: AnyCommand, name: string): OptionHints {
  return Object.hasOwn(options, name) ? options[name]! : {};
}

const FLAG_NAME = /^[A-Za-z][\w-]*$/;

const JSON_PROPERTY: ArgumentSchema = {
  type: "boolean",
  description: "Print the result as JSON.",
};

/** The command and everything under it, parents before children, in the order of definition. */
export function* walkCommands(
  root: AnyCommand,
  above: readonly AnyCommand[] = [],
): Generator<Placed> {
  const path = [...above, root];
  yield { command: root, path };
  for (const child of root.commands ?? []) yield* walkCommands(child, path);
}

/** The whole command, where so far only its entry in a list was there. What the entry says of it stands. */
export async function loadCommand(entry: AnyCommand): Promise<AnyCommand> {
  const { load, tool: _tool, ...said } = entry;
  if (!load) return entry;
  const whole = await load();
  return { ...whole, ...said, summary: entry.summary || whole.summary };
}

/** The command with everything under it loaded. */
export async function loadTree(command: AnyCommand): Promise<AnyCommand> {
  const whole = await loadCommand(command);
  if (!whole.commands) return whole;
  return {
    ...whole,
    commands: await Promise.all(whole.commands.map(loadTree)),
  };
}

/** The command with the subcommands that were not known beforehand. */
export async function withMore(
  command: AnyCommand,
  args: readonly string[],
): Promise<AnyCommand> {
  const { more, ...known } = command;
  if (!more) return command;
  return {
    ...known,
    commands: [...known.commands ?? [], ...await more(args)],
  };
}

/** The child of that name or alias. */
export function childNamed(
  command: AnyCommand,
  word: string,
): AnyCommand | undefined {
  return command.commands?.find((child) =>
    child.name === word || child.aliases?.includes(word)
  );
}

/** The words of a path, such as `rousseau sessions list`. */
export function pathWords(path: readonly AnyCommand[]): string {
  return path.map((command) => command.name).join(" ");
}

/**
 * Checks a tree as its author wrote it; of what is not loaded, only the names.
 *
 * @throws {TypeError} that names the command: both tool and resource, a name used twice, an option, a positional or a
 * variable of the URI that the schema lacks, a list that is not the last positional, a required positional after an optional one.
 */
export function checkTree(root: AnyCommand): void {
  const tools = new Set<string>();
  const uris = new Set<string>();
  for (const { command, path } of walkCommands(root)) {
    const words = pathWords(path);
    const fail = (what: string): never => {
      throw new TypeError(`Cannot use command "${words}": ${what}`);
    };
    if (!/^[^\s-]\S*$/.test(command.name)) {
      fail("its name is empty, begins with a dash or holds a space");
    }
    if (command.tool && command.resource) {
      fail("it is both a tool and a resource");
    }
    takeOnce(
      tools,
      command.tool?.name,
      (name) => fail(`tool "${name}" is defined twice`),
    );
    takeOnce(
      uris,
      command.resource?.uri,
      (uri) => fail(`resource "${uri}" is defined twice`),
    );
    if (!command.load) checkHandler(command, fail);
    if (command.output && command.output.type !== "object") {
      fail("its output schema does not describe an object");
    }
    checkArguments(command, fail);
    const siblings = new Set<string>();
    for (const child of command.commands ?? []) {
      for (const word of [child.name, ...(child.aliases ?? [])]) {
        takeOnce(
          siblings,
          word,
          (name) => fail(`subcommand "${name}" is defined twice`),
        );
      }
    }
  }
}

function checkHandler(
  command: AnyCommand,
  fail: (what: string) => never,
): void {
  if (!command.run && !command.commands?.length) {
    fail("it has neither a handler nor subcommands");
  }
  if ((command.tool || command.resource) && !command.run) {
    fail("it is exposed but has no handler");
  }
}

function checkArguments(
  command: AnyCommand,
  fail: (what: string) => never,
): void {
  const properties: Record<string, Record<string, unknown>> =
    command.input?.properties ?? {};
  const required: readonly string[] = command.input?.required ?? [];
  for (const name of Object.keys(command.options ?? {})) {
    if (!Object.hasOwn(properties, name)) {
      fail(`option "${name}" is not in its input schema`);
    }
  }
  const uri: string = command.resource?.uri ?? "";
  for (const [, names] of uri.matchAll(/\{\??([\w,]+)\}/g)) {
    const lost = names!.split(",").find((name) =>
      !Object.hasOwn(properties, name)
    );
    if (lost !== undefined) {
      fail(`variable "${lost}" of its URI is not in its input schema`);
    }
  }
  const flags = new Set<string>();
  for (const { flag } of optionsOf(command)) {
    if (!FLAG_NAME.test(flag)) fail(`flag "${flag}" has odd characters`);
    takeOnce(flags, flag, (name) => fail(`flag "${name}" is used twice`));
  }
  const shorts = new Set<string>();
  for (
    const { short } of Object.values(command.options ?? {}) as {
      short?: string;
    }[]
  ) {
    if (short !== undefined && !/^[A-Za-z]$/.test(short)) {
      fail(`short option "${short}" is not one letter`);
    }
    takeOnce(
      shorts,
      short,
      (name) => fail(`short option "${name}" is used twice`),
    );
  }
  const positionals = command.positionals ?? [];
  let optional: string | undefined;
  for (const [i, name] of positionals.entries()) {
    const property = properties[name];
    if (!property) {
      return fail(`positional "${name}" is not in its input schema`);
    }
    if (isSwitch(property)) fail(`positional "${name}" is a switch`);
    if (isList(property) && i < positionals.length - 1) {
      fail(`positional "${name}" is a list and not the last`);
    }
    if (!required.includes(name)) optional ??= name;
    else if (optional !== undefined) {
      fail(`required positional "${name}" follows the optional "${optional}"`);
    }
  }
}

function takeOnce(
  seen: Set<string>,
  name: string | undefined,
  twice: (name: string) => never,
): void {
  if (name === undefined) return;
  if (seen.has(name)) twice(name);
  seen.add(name);
}
