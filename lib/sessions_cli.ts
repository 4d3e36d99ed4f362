/**
 * `rousseau sessions …`: recorded sessions from a shell.
 *
 * @module
 */
import type { AnyCommand } from "./command.ts";

/** The command `sessions` with its subcommands; handlers take a `ToolContext`. */
export const sessionsCommand: AnyCommand = {
  name: "sessions",
  summary: "Show recorded sessions",
};
