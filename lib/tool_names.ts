/**
 * The names of the built-in tools.
 *
 * @module
 */

/** The names of the built-in tools, in the order in which they are listed. */
export const TOOL_NAMES = [
  "read",
  "write",
  "edit",
  "grep",
  "bash",
  "bash_output",
  "bash_kill",
  "rousseau_list_sessions",
  "rousseau_search_sessions",
  "rousseau_read_session",
  "rousseau_undo",
] as const;

/** The other commands of the program, whose names no tool may have: each is a word of the same command line. */
export const VERBS = [
  "mcp",
  "serve",
  "sessions",
  "session",
  "undo",
  "doctor",
  "config",
  "version",
  "completions",
  "complete",
  "help",
] as const;

/** A name in {@linkcode TOOL_NAMES}. */
export type ToolName = typeof TOOL_NAMES[number];
