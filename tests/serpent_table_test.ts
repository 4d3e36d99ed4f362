/**
 * What the second document promises and what its predecessor got wrong, each with the tests that show it here.
 *
 * That a test shows its row is for whoever reviews a change of either; that it is there, and runs, is checked.
 */
import { assertEquals } from "@std/assert";

/** Feature or defect, then file and name of each test. */
const TABLE: readonly [string, ...(readonly [string, string])[]][] = [
  [
    "S1 a command is a tool or a resource, never both; neither keeps it off MCP",
    ["command", "command refuses to be both a tool and a resource"],
    [
      "server",
      "registering refuses duplicates, bad names, and what is neither tool nor resource",
    ],
    [
      "serpent",
      "a command that is neither tool nor resource cannot be reached over MCP",
    ],
  ],
  [
    "S2 mcp serves the tree or a part of it",
    [
      "e2e/second_seed",
      "every request of the second document gets the document's answer from its example program",
    ],
    ["serpent", "mcp serves a part of the tree, and says when there is none"],
    [
      "serpent",
      "mcp serves the tools that are picked, and names the nearest of one that is not there",
    ],
  ],
  ["S3 one program is command line and server", [
    "e2e/second_seed",
    "the second document's command lines work on its example program",
  ], [
    "e2e/second_seed",
    "every request of the second document gets the document's answer from its example program",
  ]],
  ["S4 the methods of the second document", [
    "e2e/second_seed",
    "every request of the second document gets the document's answer from its example program",
  ]],
  ["S5 nothing before initialize", [
    "server",
    "J16: before initialize, requests but ping are refused and nothing ends",
  ]],
  ["S6 the initialized notification with an id is answered", [
    "server",
    "notifications/initialized with an id is answered, and shutdown does not end the loop",
  ]],
  ["S7 2025-03-26 and the other revisions", [
    "server",
    "each handshake revision is agreed on, and any other answered with the newest",
  ]],
  ["S8 capabilities are objects", [
    "server",
    "initialize tells the revision, capabilities, server and instructions",
  ]],
  [
    "S9 schema with types, enums, required and descriptions",
    [
      "option_kinds",
      "an option of type ${name} is the same from a shell, a variable, a configuration, MCP and a program",
    ],
    [
      "option_kinds",
      "positionals are required, optional and variadic, named in the schema, and come by name or under an underscore",
    ],
    ["option_kinds", "a hidden option works everywhere and is listed nowhere"],
    [
      "command",
      "toolDefinition lists name, title, description, schema and annotations",
    ],
  ],
  ["S10 positionals under _, and by name", [
    "server",
    "positional arguments come under an underscore",
  ], [
    "option_kinds",
    "positionals are required, optional and variadic, named in the schema, and come by name or under an underscore",
  ]],
  [
    "S11 standard output, standard error and the error as content; isError",
    [
      "results",
      "standard output, standard error and the error are content, in this order",
    ],
    ["results", "an exit status that is not 0 is isError over MCP"],
    ["server", "a failure of a tool is a result, a protocol failure an error"],
  ],
  [
    "S12 resources/read gives what the command prints, under the URI asked for",
    [
      "results",
      "a resource is what its command prints and returns, without standard error, of the type that it chooses",
    ],
    [
      "server",
      "resources: a fixed one, a template with percent-decoded values, and none",
    ],
  ],
  ["S13 templates are listed apart, and their variables reach the handler", [
    "server",
    "resources: a fixed one, a template with percent-decoded values, and none",
  ], [
    "results",
    "a resource is what its command prints and returns, without standard error, of the type that it chooses",
  ], [
    "uri_template",
    "UriTemplate takes a query at the end, in any order and in part",
  ]],
  ["S14 an error code for what is not there", [
    "server",
    "tools/call of an unknown tool is -32000, also under names of Object.prototype",
  ], [
    "server",
    "resources: a fixed one, a template with percent-decoded values, and none",
  ]],
  ["S15 absent and null arguments mean none, wrong shapes are refused", [
    "server",
    "J25: arguments that fail the schema are a result that names the field",
  ], ["server", "params of the wrong shape are -32602"]],
  ["S16 arguments forced by whoever declares the tool", [
    "serpent",
    "a layer forces an argument that no caller can change",
  ]],
  ["S17 standard input of a tool is closed, with what to do about it", [
    "results",
    "standard input is there in a shell, and elsewhere an error that says what to do",
  ], [
    "e2e/wire",
    "S03: a command that reads its input does not take the client's messages",
  ]],
  ["S18 help shows exposure", [
    "help",
    "help of a group lists its commands and what they are over MCP",
  ]],
  [
    "S19 help: layout, groups, environment and defaults, width",
    [
      "help",
      "help of a command shows usage, arguments, options with their facts, and its tool",
    ],
    ["help", "help wraps to the width that it is given, within its bounds"],
    [
      "snapshot",
      "help and usage errors of every command are as they were reviewed",
    ],
  ],
  ["S20 precedence of flag, environment, configuration, default", [
    "option_kinds",
    "a flag outranks the variable, that the configuration, that the default, from a shell and over MCP",
  ], [
    "config",
    "a flag outranks the environment, that the file, that the default",
  ]],
  [
    "S21 completion for four shells, tried in three, and its installer",
    ["completions", "every shell's script asks the program by its name"],
    [
      "completions",
      "withBlock adds its block at the end, and replaces only its own",
    ],
    ["completions", "withBlock refuses marks that do not pair up"],
    [
      "completions",
      "--install changes the file that a link leads to, keeps its mode, and is done once",
    ],
    [
      "system/completion",
      "bash completes commands, options and values, those after = included",
    ],
    [
      "system/completion",
      "zsh completes commands, options and values, with what they are",
    ],
    [
      "system/completion",
      "fish completes commands, options and values, with what they are",
    ],
  ],
  [
    "S22 middleware, and counts of arguments",
    [
      "library",
      "middleware runs around every handler of a tree, the first outermost, from a shell and over MCP",
    ],
    ["command", "commandArguments says what is wrong with positionals"],
    ["cli", "wrong usage is told on standard error with exit code 2"],
  ],
  ["S23 deprecated options and commands", [
    "library",
    "deprecated commands and options work and say what to use",
  ], [
    "option_kinds",
    "a deprecated option is listed as such, works everywhere, and warns in a shell",
  ]],
  ["S24 value types, durations and validators", [
    "option_kinds",
    "an option of type ${name} is the same from a shell, a variable, a configuration, MCP and a program",
  ], [
    "library",
    "durations are written as people do and handed over as JSON Schema has them",
  ], [
    "validators",
    "a validator of ${library} is schema, check and type, from a shell, over MCP and from a program",
  ]],
  ["S25 an unknown subcommand fails and names the nearest", [
    "serpent",
    "a group without a command shows its help on standard error and fails, an unknown command names the nearest",
  ], ["cli", "wrong usage is told on standard error with exit code 2"]],
  ["S26 the example", [
    "serpent",
    "the second document's program echoes by position, by name, and several words",
  ], ["serpent", "the second document's program works from a shell"]],
  ["defect 1: templates never match, and no variable reaches the handler", [
    "server",
    "resources: a fixed one, a template with percent-decoded values, and none",
  ]],
  ["defect 2: values leak between calls, lists pile up", [
    "option_kinds",
    "calls that run at once share no values",
  ], ["cli", "values never leak from one run to the next"]],
  [
    "defect 3: environment, configuration and global options do not reach MCP calls, nor does cancellation",
    [
      "option_kinds",
      "a flag outranks the variable, that the configuration, that the default, from a shell and over MCP",
    ],
    ["library", "the root's options reach handlers from a shell and over MCP"],
    ["server", "S18: a cancelled call is aborted and never answered"],
  ],
  ["defect 4: a value becomes an option or a subcommand", [
    "cli",
    "-- ends the options, a lone dash and negative numbers are words",
  ], ["agreement", "shell, MCP and program agree on results and refusals"]],
  [
    "defect 5: positionals out of order, _ lost, required ones not in required",
    [
      "option_kinds",
      "positionals are required, optional and variadic, named in the schema, and come by name or under an underscore",
    ],
    ["agreement", "shell, MCP and program agree on results and refusals"],
  ],
  [
    "defect 6: no defaults in schemas, lists typed wrongly, durations of another format",
    [
      "serpent",
      "the second document's program lists its positionals and defaults in the schema",
    ],
    [
      "option_kinds",
      "an option of type ${name} is the same from a shell, a variable, a configuration, MCP and a program",
    ],
    [
      "library",
      "durations are written as people do and handed over as JSON Schema has them",
    ],
  ],
  [
    "defect 7: replies to notifications, ids and the last line lost, blank lines answered, random order, empty text without its key",
    [
      "server",
      "J09, J10: a notification is never answered nor executed, whatever its method",
    ],
    [
      "serpent",
      "ids of any size and kind come back digit for digit, and an empty text keeps its key",
    ],
    [
      "serpent",
      "the last line of the input is answered without a newline behind it",
    ],
    ["lines", "readLines skips blank lines"],
    [
      "server",
      "tools/list keeps the order of registration and writes annotations out",
    ],
  ],
  ["defect 8: any protocol version is accepted", [
    "server",
    "each handshake revision is agreed on, and any other answered with the newest",
  ]],
  [
    "defect 9: a handler's panic ends the server, and calls wait for each other",
    [
      "embedding",
      "a handler that throws, hangs, returns the wrong thing or ignores its signal harms only its own call, on every transport",
    ],
    ["server", "requests run concurrently, and ping is answered beside them"],
  ],
  ["defect 10: examples in the documentation that do not run", [
    "readme",
    "the README's examples run on Deno as printed, in an empty folder, by this project's import map",
  ], [
    "system/npm",
    "the README's examples run on Node as printed, after the packed tarball is installed in an empty folder",
  ]],
];

Deno.test("every feature of the second document and every defect of its predecessor has tests, none of which is left out", async () => {
  const missing: string[] = [];
  for (const [what, ...tests] of TABLE) {
    if (tests.length === 0) missing.push(what);
    for (const [file, name] of tests) {
      const text = await Deno.readTextFile(
        new URL(`${file}_test.ts`, import.meta.url),
      );
      const begins = ['"', "`"].map((quote) =>
        `\nDeno.test(${quote}${name}${quote}, `
      );
      // One that a loop makes is set in.
      const found = text.replaceAll("\n  Deno.test(", "\nDeno.test(");
      if (!begins.some((begin) => found.includes(begin))) {
        missing.push(`${what}: ${file}: ${name}`);
      }
    }
  }
  assertEquals(missing, []);
  const ids = [
    ...Array.from({ length: 26 }, (_, i) => `S${i + 1}`),
    ...Array.from({ length: 10 }, (_, i) => `defect ${i + 1}`),
  ];
  assertEquals(TABLE.map(([what]) => /^(S\d+|defect \d+)/.exec(what)![0]), ids);
});
