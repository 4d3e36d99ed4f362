/** Tools without code. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { run } from "../lib/cli.ts";
import { UsageError } from "../lib/command.ts";
import {
  argumentVariable,
  customToolsFrom,
  MAX_CUSTOM_TIMEOUT_S,
  MAX_CUSTOM_TOOLS,
} from "../lib/custom_tool.ts";
import { MAX_ARGUMENT_BYTES } from "../lib/custom_run.ts";
import type { Platform } from "../lib/platform.ts";
import { buildProgram } from "../lib/program.ts";
import { settingsFrom } from "../lib/settings_text.ts";
import { TOOL_NAMES, VERBS } from "../lib/tool_names.ts";
import { loadTree } from "../lib/tree.ts";

const platform = (env: Record<string, string>): Platform => ({
  os: "linux",
  env: (name) => env[name],
  home: undefined,
  temp: "/tmp",
  cwd: "/",
  execPath: undefined,
  uid: 1000,
});

const TOOLS = `mode: workspace
custom_tools:
  - name: show
    description: Shows what it gets
    input:
      type: object
      properties:
        words: { type: array, items: { type: string } }
        count: { type: integer }
    argv: [sh, -c, 'printf "%s|" "$@"; printf "%s|" "$ARG_COUNT" "$FIXED"; cat; echo late >&2', --, "{words}", "{count}"]
    env: { FIXED: here }
  - name: bare
    description: Takes an operand without --
    input: { type: object, properties: { file: { type: string } } }
    argv: [printf, "%s", "{file}"]
  - name: proto
    description: Has arguments that every object seems to have
    input: { type: object, properties: { constructor: {}, __proto__: {} } }
    argv: [sh, -c, 'printf "%s|" "$#" "$@"', --, "{constructor}", "{__proto__}"]
  - name: fails
    description: Fails
    argv: [sh, -c, "echo so; exit 3"]
  - name: slow
    description: Hangs
    argv: [sleep, "60"]
    timeout: 0.2
  - name: data
    description: Prints JSON
    input: { type: object, properties: { good: { type: boolean } } }
    argv: [sh, -c, 'if [ "$ARG_GOOD" = true ]; then echo "[1]"; else echo no; fi']
    output: json
`;

// deno-lint-ignore no-explicit-any
type Result = any;

/** Calls tools of a server with this configuration. */
async function serve(
  yaml: string,
  args: string[],
  requests: { method: string; params?: unknown }[],
): Promise<{ results: Result[]; code: number; stderr: string }> {
  const lines = [
    {
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    },
    ...requests,
  ].map((request, id) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`
  );
  const { stdout, code, stderr } = await line(
    yaml,
    (folder) => [
      "--config",
      `${folder}/c.yaml`,
      "--root",
      `${folder}/root`,
      ...args,
      "mcp",
    ],
    lines.join(""),
  );
  const results = stdout.trim() === ""
    ? []
    : stdout.trim().split("\n").map((line) => JSON.parse(line))
      .filter(({ id }) => id !== undefined)
      .sort((a, b) => a.id - b.id).slice(1).map(({ result, error }) =>
        result ?? error
      );
  return { results, code, stderr };
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line of the program, in a folder with this configuration as `c.yaml` and an empty `root`. */
async function line(
  yaml: string,
  args: (folder: string) => string[],
  input = "",
): Promise<Ended> {
  return await inFolder(yaml, (run, folder) => run(args(folder), input));
}

/** Gives `body` a way to run command lines of the program, all in one folder. */
async function inFolder<T>(
  yaml: string,
  body: (
    run: (args: string[], input?: string) => Promise<Ended>,
    folder: string,
  ) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir();
  const runLine = async (args: string[], input = ""): Promise<Ended> => {
    let stdout = "";
    let stderr = "";
    const decoder = new TextDecoder();
    const { root, options } = buildProgram({
      platform: platform({
        ROUSSEAU_STATE_PATH: `${folder}/sessions.db`,
        PATH: "/usr/bin:/bin",
      }),
      launch: { command: "rousseau", args: [] },
      writeLog: () => Promise.resolve(),
    });
    const code = await run(
      root,
      args,
      {
        stdin: ReadableStream.from([new TextEncoder().encode(input)]),
        stdout: new WritableStream({
          write: (bytes) => void (stdout += decoder.decode(bytes)),
        }),
        stderr: {
          write: (bytes) => {
            stderr += decoder.decode(bytes);
            return Promise.resolve();
          },
        },
      },
      options,
    );
    return { code, stdout, stderr };
  };
  try {
    await Deno.writeTextFile(`${folder}/c.yaml`, yaml);
    await Deno.mkdir(`${folder}/root`);
    return await body(runLine, folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a tool without code from the command line. */
const cli = (yaml: string, ...args: string[]) =>
  line(
    yaml,
    (folder) => [
      ...args,
      "--config",
      `${folder}/c.yaml`,
      "--root",
      `${folder}/root`,
      "--sandbox",
      "off",
    ],
  );

const call = (name: string, args: unknown) => ({
  method: "tools/call",
  params: { name, arguments: args },
});

Deno.test("a tool without code gets its arguments as whole items, variables and JSON, and no shell reads them", async () => {
  const words = ["a b", "-x", "--", "$(id)", "'; rm -rf /; '", "two\nlines"];
  const { results: [shown] } = await serve(TOOLS, ["--sandbox", "off"], [
    call("show", { words, count: 2 }),
  ]);
  assertEquals(
    shown.content[0].text,
    `${[...words, "2", "2", "here"].join("|")}|${
      JSON.stringify({ words, count: 2 })
    }late\n`,
  );
});

Deno.test("a tool without code refuses a value that its program would take for an option", async () => {
  const { results: [option, operand, nul] } = await serve(
    TOOLS,
    ["--sandbox", "off"],
    [
      call("bare", { file: "-rf" }),
      call("bare", { file: "a-b" }),
      call("bare", { file: "a\0b" }),
    ],
  );
  assertStringIncludes(option.content[0].text, 'bare: file: begins with "-"');
  assertEquals(option.isError, true);
  assertEquals(operand.content[0].text, "a-b");
  assertStringIncludes(nul.content[0].text, "NUL");
});

Deno.test("a tool without code tells how its program failed, was too slow, or printed no JSON", async () => {
  const { results } = await serve(TOOLS, ["--sandbox", "off"], [
    call("fails", {}),
    call("slow", {}),
    call("data", { good: true }),
    call("data", { good: false }),
    call("data", { god: true }),
  ]);
  const texts = results.map(({ content, isError }) => [
    content[0].text,
    isError ?? false,
  ]);
  assertEquals(texts[0], ["so\nfails: exit status 3", true]);
  assertEquals(texts[1], ["slow: timed out after 0.2s", true]);
  assertEquals(texts[2], ["[1]\n", false]);
  assertEquals(texts[3]![0], 'data: should print JSON and printed "no\\n"');
  assertEquals(texts[4]![1], true);
});

Deno.test("names that every object seems to have are names of arguments like others", async () => {
  const { results } = await serve(TOOLS, ["--sandbox", "off"], [
    call("proto", {}),
    call("proto", JSON.parse('{ "constructor": "a", "__proto__": "b" }')),
  ]);
  assertEquals(results.map(({ content }) => content[0].text), [
    "0|",
    "2|a|b|",
  ]);
});

Deno.test("an argument of a tool without code may have as many bytes as fit", async () => {
  const { results: [fits, over] } = await serve(TOOLS, ["--sandbox", "off"], [
    call("bare", { file: "x".repeat(MAX_ARGUMENT_BYTES) }),
    call("bare", { file: "x".repeat(MAX_ARGUMENT_BYTES + 1) }),
  ]);
  assertEquals(fits.isError, undefined);
  assertStringIncludes(over.content[0].text, `${MAX_ARGUMENT_BYTES} bytes`);
});

Deno.test("tools without code are picked by name, as the group custom, and by mode", async () => {
  const names = async (...args: string[]) => {
    const { results: [list] } = await serve(TOOLS, args, [
      { method: "tools/list" },
    ]);
    return list.tools.map(({ name }: { name: string }) => name);
  };
  assertEquals(await names("--tools", "custom", "--exclude", "slow,data"), [
    "show",
    "bare",
    "proto",
    "fails",
  ]);
  assertEquals(await names("--tools", "show"), ["show"]);
  assertEquals(
    await names("--tools", "custom,grep", "--mode", "read-only"),
    ["grep"],
  );
});

Deno.test("a mistake in a tool without code stops the start and shows the line", async () => {
  const { code, stderr } = await serve(
    TOOLS.replace("timeout: 0.2", "timeot: 0.2"),
    [],
    [],
  );
  assertEquals(code, 2);
  assertStringIncludes(
    stderr,
    'c.yaml:26: custom_tools[4].timeot: unknown key; did you mean "timeout"?',
  );
});

Deno.test("the line of a mistake is found in any style of YAML", async () => {
  const cases: [string, string][] = [
    ["mode: open\n'custom_tools' :\n  -\n    \"name\" : 5\n", "f:4"],
    [
      "custom_tools:\n- name: a\n  description: |\n    name: x\n  argv: 5",
      "f:5",
    ],
    ["mode: open\ncustom_tools: [{ name: 5 }]\n", "f:2"],
    ["custom_tools:\n  - name: a\n    a(b: 1\n", "f:3"],
    [
      "custom_tools:\n  - &x\n    name: a\n    cwd: 1\n    description: d\n    argv: [a]",
      "f:4",
    ],
  ];
  for (const [yaml, place] of cases) {
    const error = await assertRejects(
      () => settingsFrom(yaml, "f", platform({})),
      UsageError,
    );
    assertStringIncludes(error.message, `${place}: custom_tools[0]`, yaml);
  }
});

Deno.test("each key of a tool without code is checked", async () => {
  const good = { name: "t", description: "d", argv: ["true"] };
  const input = { type: "object", properties: { a: {} } };
  const cases: [unknown, string][] = [
    [{ ...good, name: "a b" }, "name: must be"],
    [
      { ...good, name: "bash" },
      'name: there already is a tool or command "bash"',
    ],
    [{ ...good, description: " " }, "description: must say"],
    [{ ...good, argv: [] }, "argv: must be a list"],
    [{ ...good, argv: "true" }, "argv: must be a list"],
    [{ ...good, argv: ["{a}"], input }, "the program cannot be an argument"],
    [{ ...good, argv: ["x", "{b}"], input }, "{b}: no such argument"],
    [{ ...good, argv: ["x", "n={a}"], input }, "{a} can only be a whole item"],
    [{ ...good, input: { type: "string" } }, "input: must be a JSON Schema"],
    [
      {
        ...good,
        input: { type: "object", properties: { a: { $ref: "http://x" } } },
      },
      "input: is no JSON Schema",
    ],
    [
      {
        ...good,
        input: { type: "object", properties: { "a-b": {}, a_b: {} } },
      },
      "two arguments would both be ARG_A_B",
    ],
    [{ ...good, timeout: 0 }, "timeout: must be seconds"],
    [
      { ...good, timeout: MAX_CUSTOM_TIMEOUT_S + 1 },
      "timeout: must be seconds",
    ],
    [{ ...good, env: { A: 1 } }, "env: must hold"],
    [{ ...good, env: { A: "x\0" } }, "env: has a NUL byte"],
    [{ ...good, input, env: { ARG_A: "x" } }, "ARG_A is an argument's"],
    [
      {
        ...good,
        input: { type: "object", properties: { a: { type: "strin" } } },
      },
      'properties.a.type: unknown type "strin"; did you mean "string"?',
    ],
    [{ ...good, name: "-x" }, "name: must be"],
    [{ ...good, cwd: "" }, "cwd: must be"],
    [{ ...good, output: "xml" }, "output: must be text or json"],
    ["x", "must hold keys and values"],
  ];
  for (const [tool, problem] of cases) {
    const error = await assertRejects(
      () => customToolsFrom([tool], "", "f", ["bash"]),
      UsageError,
    );
    assertStringIncludes(error.message, problem);
  }
  const many = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ ...good, name: `t${i}` }));
  const most = await customToolsFrom(many(MAX_CUSTOM_TOOLS), "", "f", []);
  assertEquals(most.length, MAX_CUSTOM_TOOLS);
  await assertRejects(
    () => customToolsFrom(many(MAX_CUSTOM_TOOLS + 1), "", "f", []),
    UsageError,
    "at most",
  );
  assertEquals(argumentVariable("file-name"), "ARG_FILE_NAME");
  await assertRejects(
    () => settingsFrom("custom_tool: []", "f", platform({})),
    UsageError,
    'did you mean "custom_tools"?',
  );
});

Deno.test("a tool without code is a command with an option for each argument and its program's exit code", async () => {
  const shown = await cli(
    TOOLS,
    "show",
    "--words=a b",
    "--words",
    "--count",
    "--count=2",
  );
  assertEquals(
    [shown.code, shown.stdout],
    [
      0,
      `a b|--count|2|2|here|${
        JSON.stringify({ words: ["a b", "--count"], count: 2 })
      }late\n`,
    ],
  );
  assertEquals((await cli(TOOLS, "fails")).code, 3);
  assertEquals((await cli(TOOLS, "bare", "--file=-rf")).code, 1);
  const wrong = await cli(TOOLS, "show", "--count", "two");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, '--count: must be an integer, got "two"');
  const readOnly = await cli(TOOLS, "fails", "--mode", "read-only");
  assertEquals(readOnly.code, 1);
  assertStringIncludes(readOnly.stderr, "fails: refused in mode read-only");
});

Deno.test("a tool without code is recorded over MCP, and not on the command line", async () => {
  const found = await inFolder(TOOLS, async (run, folder) => {
    const common = [
      "--config",
      `${folder}/c.yaml`,
      "--root",
      `${folder}/root`,
      "--sandbox",
      "off",
    ];
    const search = async () =>
      (await run(["sessions", "search", "--json", "zebra", ...common])).stdout;
    const typed = await run(["show", "--words=zebra", ...common]);
    assertStringIncludes(typed.stdout, "zebra|");
    const before = JSON.parse(await search());
    const messages = [
      {
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {} },
      },
      { id: 1, ...call("show", { words: ["zebra"] }) },
    ].map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);
    await run([...common, "mcp"], messages.join(""));
    return [before.length, JSON.parse(await search()).length];
  });
  assertEquals(found, [0, 1]);
});

Deno.test("help, completion and mistyped names know the tools without code of the file that the line names", async () => {
  const help = await cli(TOOLS, "--help");
  assertStringIncludes(help.stdout, "fails        Fails [MCP tool]");
  const one = await cli(TOOLS, "help", "bare");
  assertStringIncludes(one.stdout, "Usage: rousseau bare [OPTIONS]");
  assertStringIncludes(one.stdout, "Takes an operand without --");
  const words = async (...words: string[]) =>
    (await line(TOOLS, (folder) => [
      "complete",
      "--",
      `--config=${folder}/c.yaml`,
      ...words,
    ])).stdout;
  assertEquals(await words("sho"), "show\tShows what it gets\n");
  assertEquals(
    await words("show", "--co"),
    "--config\tConfiguration file instead of the user's.\n--count\t\n",
  );
  const near = await cli(TOOLS, "shwo");
  assertEquals(near.code, 2);
  assertStringIncludes(near.stderr, 'did you mean "show"?');
});

Deno.test("a mistake in a tool without code is told for an unknown command, and hides neither help nor other commands", async () => {
  const broken = TOOLS.replace("timeout: 0.2", "timeot: 0.2");
  const unknown = await cli(broken, "show");
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.stderr, "c.yaml:26: custom_tools[4].timeot");
  const help = await cli(broken, "--help");
  assertEquals(help.code, 0);
  assertStringIncludes(help.stdout, "Usage: rousseau");
  assertEquals((await cli(broken, "version")).code, 0);
});

Deno.test("doctor and instructions name the tools without code, or why they are not offered", async () => {
  const doctor = async (...args: string[]) =>
    (await cli(TOOLS, "doctor", ...args)).stdout;
  assertStringIncludes(
    await doctor("--exclude", "slow"),
    "custom_tools      show, bare, proto, fails, data\n",
  );
  assertStringIncludes(
    await doctor("--mode", "read-only"),
    "not offered: show, bare, proto, fails, slow, data (mode read-only",
  );
  const told = async (...args: string[]) => {
    const { stdout } = await line(
      TOOLS,
      (folder) => ["--config", `${folder}/c.yaml`, ...args, "mcp"],
      `${
        JSON.stringify({
          jsonrpc: "2.0",
          id: 0,
          method: "initialize",
          params: { protocolVersion: "2025-06-18", capabilities: {} },
        })
      }\n`,
    );
    return JSON.parse(stdout).result.instructions;
  };
  assertStringIncludes(
    await told("--tools", "show,fails"),
    "declared as tools, held like bash: show, fails.",
  );
  assertStringIncludes(
    await told("--mode", "read-only"),
    "show, bare, proto, fails, slow, data (mode read-only",
  );
});

Deno.test("mcp NAME serves one tool without code alone", async () => {
  const { stdout } = await line(
    TOOLS,
    (folder) => ["--config", `${folder}/c.yaml`, "mcp", "bare"],
    [
      {
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {} },
      },
      { id: 1, method: "tools/list" },
    ].map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`).join(""),
  );
  const { result } = JSON.parse(stdout.trim().split("\n")[1]!);
  assertEquals(result.tools.map(({ name }: Result) => name), ["bare"]);
});

Deno.test("no tool without code takes the name of a command", async () => {
  const { root } = buildProgram({
    platform: platform({}),
    launch: { command: "rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const { commands = [] } = await loadTree(root);
  const names = commands.flatMap(({ name, aliases }) => [
    name,
    ...aliases ?? [],
  ]);
  assertEquals(
    new Set([...names, "help"]),
    new Set<string>([...TOOL_NAMES, ...VERBS]),
  );
  for (const name of ["doctor", "help", "-x"]) {
    await assertRejects(
      () =>
        settingsFrom(
          `custom_tools: [{ name: ${name}, description: D, argv: [a] }]`,
          "f",
          platform({}),
        ),
      UsageError,
      "f:1: custom_tools[0].name",
    );
  }
});
