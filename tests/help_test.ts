import { assert, assertEquals } from "@std/assert";
import type { AnyCommand } from "../lib/command.ts";
import {
  DEFAULT_COLUMNS,
  helpText,
  MAX_COLUMNS,
  MIN_COLUMNS,
  usageLine,
  wrap,
} from "../lib/help.ts";

const grep: AnyCommand = {
  name: "grep",
  aliases: ["search"],
  summary: "Search files",
  description:
    "Search files under a folder for a regular expression. Returns rows of path, line number and text.",
  input: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "What to look for." },
      path: {
        type: "string",
        format: "path",
        description: "Where to look; default the first root.",
      },
      output: {
        enum: ["content", "files", "count"],
        default: "content",
        description: "What to print of each match, or of each file.",
      },
      max_count: {
        type: "integer",
        default: 200,
        description: "Matches at most.",
      },
      ignore_case: {
        type: "boolean",
        default: false,
        description: "Case counts not.",
      },
      include: {
        type: "array",
        items: { type: "string" },
        description: "Only files that match.",
      },
      secret: { type: "string" },
    },
    required: ["pattern"],
  },
  positionals: ["pattern", "path"],
  options: {
    max_count: { short: "m", env: "PROG_MAX", config: "grep.max" },
    ignore_case: { short: "i" },
    include: { value: "GLOB", group: "Filters" },
    secret: { hidden: true },
  },
  tool: {
    name: "grep",
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  },
  examples: ["prog grep TODO src"],
  run: () => "",
};

const root: AnyCommand = {
  name: "prog",
  summary: "A program",
  input: {
    type: "object",
    properties: {
      root: {
        type: "array",
        items: { type: "string", format: "path" },
        description: "A folder.",
      },
    },
  },
  commands: [
    grep,
    {
      name: "version",
      summary: "Print the version",
      resource: { uri: "prog://version", mimeType: "application/json" },
      run: () => "",
    },
    { name: "secret", summary: "S", hidden: true, run: () => "" },
    { name: "plain", summary: "Do something", run: () => "" },
  ],
};

Deno.test("help of a command shows usage, arguments, options with their facts, and its tool", () => {
  assertEquals(
    helpText([root, grep], 78),
    `Usage: prog grep [OPTIONS] PATTERN [PATH]

Search files under a folder for a regular expression. Returns rows of path,
line number and text.

MCP tool: grep

Arguments:
  PATTERN  What to look for.
  PATH     Where to look; default the first root.

Options:
      --output content|files|count
                            What to print of each match, or of each file.
                            [default: content]
  -m, --max-count N         Matches at most. [env: PROG_MAX] [config:
                            grep.max] [default: 200]
  -i, --ignore-case         Case counts not.

Filters:
      --include GLOB  Only files that match. [repeatable]

Global options, as in "prog --help": --root

Examples:
  prog grep TODO src

Aliases: search
`,
  );
});

Deno.test("help of a group lists its commands and what they are over MCP", () => {
  assertEquals(
    helpText([root]),
    `Usage: prog [OPTIONS] COMMAND

A program

Commands:
  grep     Search files [MCP tool]
  version  Print the version [MCP resource]
  plain    Do something

Options:
      --root PATH  A folder. [repeatable]

"prog COMMAND --help" tells more about a command.
`,
  );
});

Deno.test("help wraps to the width that it is given, within its bounds", () => {
  for (const columns of [1, MIN_COLUMNS, 60, DEFAULT_COLUMNS, 100, 500]) {
    const width = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, columns));
    for (const line of helpText([root, grep], columns).split("\n")) {
      assert(line.length <= width || !line.trim().includes(" "), line);
    }
  }
});

Deno.test("usageLine shows required options, optional and repeated positionals", () => {
  assertEquals(
    usageLine([{
      name: "x",
      summary: "X",
      input: {
        type: "object",
        properties: {
          a: { type: "string" },
          b: { type: "array", items: { type: "string" } },
          c: { type: "integer" },
          d: { type: "string" },
        },
        required: ["c", "a", "d"],
      },
      positionals: ["a", "d", "b"],
      options: { d: { stdin: true } },
      run: () => "",
    }]),
    "Usage: x --c N A [D] [B...]",
  );
});

Deno.test("wrap breaks between words, keeps line breaks, and lets a long word stand alone", () => {
  assertEquals(wrap("aa bb cc", 5), ["aa bb", "cc"]);
  assertEquals(wrap("a\n\nb", 5), ["a", "", "b"]);
  assertEquals(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
});
