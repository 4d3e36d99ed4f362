/**
 * Questions to the person at a terminal.
 *
 * @module
 */
import { type Answer, CommandError, type Question } from "./command.ts";
import type { Printer } from "./printer.ts";
import type { System } from "./system.ts";

/**
 * Asks for yes or no on standard error and waits for a line; anything but `y` or `yes` declines.
 *
 * @throws {CommandError} when standard input is no terminal, or the question is a form.
 */
export async function askAtTerminal(
  system: Pick<System, "stdin" | "stdinIsTerminal">,
  printer: Printer,
  { message, schema }: Question,
): Promise<Answer> {
  if (
    !system.stdinIsTerminal || Object.keys(schema?.properties ?? {}).length > 0
  ) {
    throw new CommandError(
      "cannot ask on the command line: say it with options",
    );
  }
  await printer.warn(`${message} [y/N] `);
  const line = await firstLine(system.stdin);
  return { action: /^y(?:es)?$/i.test(line.trim()) ? "accept" : "decline" };
}

/** The first line; what there is, when the input ends before one does. */
async function firstLine(
  stream: ReadableStream<Uint8Array>,
): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = "";
  try {
    while (!text.includes("\n")) {
      const { value } = await reader.read();
      if (!value) break;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.releaseLock();
  }
  return text.split("\n", 1)[0] ?? "";
}
