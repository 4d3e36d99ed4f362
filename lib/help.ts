/**
 * Help: how a command is used, from the same value that takes its line apart.
 *
 * @module
 */
import type { AnyCommand } from "./command.ts";
import { type Option, optionsOf, pathWords } from "./tree.ts";

/** Columns when the width is not known. */
export const DEFAULT_COLUMNS = 80;

/** Columns that help uses at most: longer lines are hard to read. */
export const MAX_COLUMNS = 100;

/** Columns that help uses at least: narrower ones would hold one word each. */
export const MIN_COLUMNS = 40;

/** Help for the last command of `path`, wrapped to `columns`, with a final newline. */
export function helpText(
  path: readonly AnyCommand[],
  columns: number = DEFAULT_COLUMNS,
): string {
  const width = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, columns));
  const command = path.at(-1)!;
  const root = path[0]!;
  const own = optionsOf(command).filter(({ hints }) => !hints.hidden);
  const positionals = (command.positionals ?? []).flatMap((name) =>
    own.filter((option) => option.name === name)
  );
  const flags = own.filter(({ isPositional }) => !isPositional);
  const above = command === root
    ? []
    : optionsOf(root).filter(({ hints }) => !hints.hidden);
  const sections = [
    wrap(usageLine(path), width - 2).join("\n  "),
    wrap(command.description ?? command.summary, width).join("\n"),
    exposure(command),
    command.deprecated === undefined
      ? ""
      : `Deprecated: use ${command.deprecated}`,
    section("Arguments", positionals.map(argumentRow), width),
    section("Commands", commandRows(command), width),
    ...groups(flags, "Options").map(([title, options]) =>
      section(title, options.map(optionRow), width)
    ),
    command.run ? globalsLine(root, above, width) : "",
    command.examples?.length
      ? `Examples:\n${command.examples.map((line) => `  ${line}`).join("\n")}`
      : "",
    command.aliases?.length ? `Aliases: ${command.aliases.join(", ")}` : "",
    command.commands?.length
      ? wrap(
        `"${pathWords(path)} COMMAND --help" tells more about a command.`,
        width,
      ).join("\n")
      : "",
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

/** One line: the command's words, its options and positionals. */
export function usageLine(path: readonly AnyCommand[]): string {
  const command = path.at(-1)!;
  const options = optionsOf(command);
  const words = [pathWords(path)];
  for (const option of options) {
    if (option.required && !option.isPositional) {
      words.push(`--${option.flag} ${valueWord(option)}`);
    }
  }
  const optional = options.some((option) =>
    !option.isPositional && !option.required && !option.hints.hidden
  );
  if (optional) words.push("[OPTIONS]");
  if (command.commands?.length) {
    words.push(command.run ? "[COMMAND]" : "COMMAND");
  }
  for (const name of command.positionals ?? []) {
    const option = options.find((candidate) => candidate.name === name);
    if (!option) continue;
    const word = `${positionalWord(option)}${option.isList ? "..." : ""}`;
    words.push(
      option.required && !option.hints.stdin ? word : `[${word}]`,
    );
  }
  return `Usage: ${words.join(" ")}`;
}

/** The name of a positional in usage lines and errors. */
export function positionalWord({ name, hints }: Option): string {
  return hints.value ?? name.toUpperCase();
}

/** The root's options by name only: its own help tells the rest. */
function globalsLine(
  root: AnyCommand,
  options: readonly Option[],
  width: number,
): string {
  if (options.length === 0) return "";
  const names = options.map(({ flag }) => `--${flag}`).join(", ");
  const text = `Global options, as in "${root.name} --help": ${names}`;
  return wrap(text, width - 2).join("\n  ");
}

type Row = [left: string, right: string];

function exposure({ tool, resource }: AnyCommand): string {
  if (tool) return `MCP tool: ${tool.name}`;
  return resource ? `MCP resource: ${resource.uri} (${resource.mimeType})` : "";
}

function commandRows(command: AnyCommand): Row[] {
  return (command.commands ?? []).filter(({ hidden }) => !hidden).map(
    ({ name, summary, tool, resource }) => {
      const mark = tool ? " [MCP tool]" : resource ? " [MCP resource]" : "";
      return [name, `${summary}${mark}`];
    },
  );
}

function argumentRow(option: Option): Row {
  const stdin = option.hints.stdin ? ' "-" is standard input.' : "";
  return [positionalWord(option), `${details(option)}${stdin}`];
}

function optionRow(option: Option): Row {
  const { flag, hints, isSwitch } = option;
  const short = hints.short === undefined ? "    " : `-${hints.short}, `;
  const value = isSwitch ? "" : ` ${valueWord(option)}`;
  // A switch that is on is only ever turned off.
  const shown = isSwitch && option.property.default === true
    ? `no-${flag}`
    : flag;
  return [`${short}--${shown}${value}`, details(option)];
}

/** The description, then what else decides the value. */
function details({ property, hints, isList, isPositional }: Option): string {
  const env = hints.env ?? hints.shownEnv;
  const facts = [
    hints.deprecated === undefined ? "" : `deprecated: use ${hints.deprecated}`,
    isList && !isPositional ? "repeatable" : "",
    env === undefined ? "" : `env: ${env}`,
    hints.config === undefined ? "" : `config: ${hints.config}`,
    isPositional && Array.isArray(property.enum)
      ? `one of: ${property.enum.join(", ")}`
      : "",
    property.default === undefined || typeof property.default === "boolean" ||
      (Array.isArray(property.default) && property.default.length === 0)
      ? ""
      : `default: ${
        typeof property.default === "string"
          ? property.default
          : JSON.stringify(property.default)
      }`,
  ].filter((fact) => fact !== "");
  const text = typeof property.description === "string"
    ? property.description
    : "";
  return [text, ...facts.map((fact) => `[${fact}]`)].filter((part) =>
    part !== ""
  ).join(" ");
}

function valueWord({ property, hints, isList }: Option): string {
  if (hints.value !== undefined) return hints.value;
  const item = isList && property.items ? property.items : property;
  const { enum: choices, type, format } = item as Record<string, unknown>;
  if (Array.isArray(choices)) return choices.join("|");
  if (typeof format === "string" && FORMAT_WORDS.has(format)) {
    return FORMAT_WORDS.get(format)!;
  }
  switch (type) {
    case "integer":
    case "number":
      return "N";
    case "string":
      return "TEXT";
    case undefined:
    case "array":
      return "VALUE";
    default:
      return "JSON";
  }
}

const FORMAT_WORDS: ReadonlyMap<string, string> = new Map([
  ["path", "PATH"],
  ["uri", "URL"],
  ["duration", "DURATION"],
  ["regex", "REGEX"],
]);

function groups(
  options: readonly Option[],
  title: string,
): [string, Option[]][] {
  const byTitle = new Map<string, Option[]>();
  for (const option of options) {
    const key = option.hints.group ?? title;
    byTitle.set(key, [...byTitle.get(key) ?? [], option]);
  }
  return [...byTitle];
}

/** Columns of the left side beyond which its text gets a line of its own. */
const LEFT_COLUMNS = 26;

function section(title: string, rows: readonly Row[], width: number): string {
  if (rows.length === 0) return "";
  const longest = Math.max(...rows.map(([left]) => left.length));
  const indent = Math.min(LEFT_COLUMNS, longest + 2) + 2;
  const lines = rows.flatMap(([left, right]) => {
    const [first = "", ...rest] = wrap(right, width - indent);
    const lead = `  ${left}`.padEnd(indent);
    const hanging = " ".repeat(indent);
    return lead.length > indent || !lead.endsWith("  ")
      ? [
        lead.trimEnd(),
        ...(right === "" ? [] : [first, ...rest].map((line) => hanging + line)),
      ]
      : [`${lead}${first}`.trimEnd(), ...rest.map((line) => hanging + line)];
  });
  return `${title}:\n${lines.join("\n")}`;
}

/** Lines of at most `width` columns, broken between words; a longer word stands alone. Line breaks are kept. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines: string[] = [];
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}
