/** What the second document promises and what its predecessor got wrong, each with the test that shows it here. */
import { assertEquals } from "@std/assert";

/** Feature or defect, the file, and the test's name. */
const TABLE: readonly [string, string, string][] = [
  [
    "S1 tool or resource, never both",
    "command",
    "command refuses to be both a tool and a resource",
  ],
  [
    "S2 mcp serves the tree or a part",
    "serpent",
    "mcp serves a part of the tree, and says when there is none",
  ],
  [
    "S3 one program, two faces",
    "serpent",
    "the second document's program works from a shell",
  ],
  [
    "S4 methods",
    "readme",
    "the README's examples run on Deno as printed, in an empty folder, by this project's import map",
  ],
  [
    "S5 nothing before initialize",
    "server",
    "J16: before initialize, requests but ping are refused and nothing ends",
  ],
  [
    "S6 initialized with an id",
    "server",
    "notifications/initialized with an id is answered, and shutdown does not end the loop",
  ],
  [
    "S7 revisions",
    "server",
    "each handshake revision is agreed on, and any other answered with the newest",
  ],
  [
    "S8 capabilities",
    "server",
    "initialize tells the revision, capabilities, server and instructions",
  ],
  [
    "S9 schema from options",
    "command",
    "toolDefinition lists name, title, description, schema and annotations",
  ],
  [
    "S10 positionals under _",
    "server",
    "positional arguments come under an underscore",
  ],
  [
    "S11 content and isError",
    "server",
    "a failure of a tool is a result, a protocol failure an error",
  ],
  [
    "S12 resources/read",
    "server",
    "resources: a fixed one, a template with percent-decoded values, and none",
  ],
  [
    "S13 templates",
    "uri_template",
    "UriTemplate gives the values of its variables, percent-decoded",
  ],
  [
    "S14 error codes",
    "server",
    "tools/call of an unknown tool is -32000, also under names of Object.prototype",
  ],
  ["S15 lenient params", "server", "params of the wrong shape are -32602"],
  [
    "S16 nothing can add an option",
    "command",
    "commandArguments keeps an argument's meaning whatever its value looks like",
  ],
  [
    "S17 standard input",
    "cli",
    "standard input stands in for an argument that asks for it",
  ],
  [
    "S18 help shows exposure",
    "help",
    "help of a group lists its commands and what they are over MCP",
  ],
  [
    "S19 help layout",
    "help",
    "help of a command shows usage, arguments, options with their facts, and its tool",
  ],
  [
    "S19 wrapping",
    "help",
    "help wraps to the width that it is given, within its bounds",
  ],
  [
    "S20 precedence",
    "config",
    "a flag outranks the environment, that the file, that the default",
  ],
  [
    "S21 completion",
    "completions",
    "every shell's script asks the program by its name",
  ],
  [
    "S21 installer",
    "completions",
    "withBlock adds its block at the end, and replaces only its own",
  ],
  [
    "S21 real shells: bash",
    "system/completion",
    "bash completes commands, options and values, those after = included",
  ],
  [
    "S21 real shells: zsh",
    "system/completion",
    "zsh completes commands, options and values, with what they are",
  ],
  [
    "S21 real shells: fish",
    "system/completion",
    "fish completes commands, options and values, with what they are",
  ],
  [
    "S22 middleware",
    "library",
    "middleware runs around every handler of a tree, the first outermost, from a shell and over MCP",
  ],
  [
    "S22 counts of arguments",
    "command",
    "commandArguments says what is wrong with positionals",
  ],
  [
    "S23 deprecations",
    "library",
    "deprecated commands and options work and say what to use",
  ],
  ["S24 value types", "cli", "numbers, enums, JSON and one-or-many are typed"],
  [
    "S24 durations",
    "library",
    "durations are written as people do and handed over as JSON Schema has them",
  ],
  [
    "S25 unknown subcommand",
    "cli",
    "wrong usage is told on standard error with exit code 2",
  ],
  [
    "S26 the example",
    "serpent",
    "the second document's program echoes by position, by name, and several words",
  ],
  [
    "defect 1: templates never match",
    "server",
    "resources: a fixed one, a template with percent-decoded values, and none",
  ],
  [
    "defect 2: values leak between calls",
    "cli",
    "values never leak from one run to the next",
  ],
  [
    "defect 3: global options not over MCP",
    "library",
    "the root's options reach handlers from a shell and over MCP",
  ],
  [
    "defect 3: no cancellation",
    "server",
    "S18: a cancelled call is aborted and never answered",
  ],
  [
    "defect 4: no --",
    "cli",
    "-- ends the options, a lone dash and negative numbers are words",
  ],
  [
    "defect 4: values become options or children",
    "agreement",
    "shell, MCP and program agree on results and refusals",
  ],
  [
    "defect 5: positionals out of order, not required",
    "serpent",
    "the second document's program lists its positionals and defaults in the schema",
  ],
  [
    "defect 6: no defaults, wrong types",
    "serpent",
    "the second document's program lists its positionals and defaults in the schema",
  ],
  [
    "defect 7: notifications are answered",
    "server",
    "J09, J10: a notification is never answered nor executed, whatever its method",
  ],
  [
    "defect 7: ids lose digits",
    "rpc",
    "parse keeps a big integer id digit for digit",
  ],
  [
    "defect 7: blank lines are answered",
    "lines",
    "readLines skips blank lines",
  ],
  [
    "defect 7: the last line is lost",
    "lines",
    "readLines hands over a last line without a newline",
  ],
  [
    "defect 7: random order",
    "server",
    "tools/list keeps the order of registration and writes annotations out",
  ],
  [
    "defect 8: any version is accepted",
    "server",
    "each handshake revision is agreed on, and any other answered with the newest",
  ],
  [
    "defect 9: a panic ends the server, calls wait for each other",
    "library",
    "a handler that throws, hangs, or returns the wrong thing harms only its own call",
  ],
  [
    "defect 9: calls wait for each other",
    "server",
    "requests run concurrently, and ping is answered beside them",
  ],
  [
    "defect 10: examples that do not run",
    "system/npm",
    "the README's examples run on Node as printed, after the packed tarball is installed in an empty folder",
  ],
];

Deno.test("every feature of the second document and every defect of its predecessor has its test", async () => {
  const missing: string[] = [];
  for (const [what, file, name] of TABLE) {
    const text = await Deno.readTextFile(
      new URL(`${file}_test.ts`, import.meta.url),
    );
    if (!text.includes(`Deno.test("${name}"`)) missing.push(`${what}: ${name}`);
  }
  assertEquals(missing, []);
  const has = (id: string) =>
    TABLE.some(([what]) =>
      what.startsWith(`${id} `) || what.startsWith(`${id}:`)
    );
  const ids = [
    ...Array.from({ length: 26 }, (_, i) => `S${i + 1}`),
    ...Array.from({ length: 10 }, (_, i) => `defect ${i + 1}`),
  ];
  assertEquals(ids.filter((id) => !has(id)), []);
});
