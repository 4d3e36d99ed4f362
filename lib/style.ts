/**
 * Colours on a terminal, and none anywhere else.
 *
 * @module
 */
import type { CommandContext } from "./command.ts";
import type { Platform } from "./platform.ts";

/** How parts of a text are set off. Off a terminal each gives its text back as it is. */
export interface Style {
  /** What names the thing. */
  bold(text: string): string;
  /** What stands beside it. */
  dim(text: string): string;
  /** What was looked for. */
  hit(text: string): string;
  /** What is gone, or went wrong. */
  bad(text: string): string;
  /** What is new, or went well. */
  good(text: string): string;
}

/** The style for an answer: coloured when standard output is a terminal that knows colours, and `NO_COLOR` is unset. */
export function styleOf(
  ctx: Pick<CommandContext, "terminal"> & { platform: Pick<Platform, "env"> },
): Style {
  const { env } = ctx.platform;
  const isColoured = ctx.terminal?.columns !== undefined &&
    env("NO_COLOR") === undefined && env("TERM") !== "dumb";
  return isColoured ? COLOURED : PLAIN;
}

/** A unified diff with its lines coloured. */
export function styledDiff(text: string, style: Style): string {
  return text.split("\n").map((line) =>
    line.startsWith("+")
      ? style.good(line)
      : line.startsWith("-")
      ? style.bad(line)
      : line.startsWith("@@")
      ? style.dim(line)
      : line
  ).join("\n");
}

const same = (text: string) => text;
const PLAIN: Style = {
  bold: same,
  dim: same,
  hit: same,
  bad: same,
  good: same,
};

const code = (on: number, off: number) => (text: string) =>
  text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
const COLOURED: Style = {
  bold: code(1, 22),
  dim: code(2, 22),
  hit: (text) => code(1, 22)(code(33, 39)(text)),
  bad: code(31, 39),
  good: code(32, 39),
};
