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
import { settingsFrom } from "../lib/settings_file.ts";

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
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/c.yaml`, yaml);
    await Deno.mkdir(`${folder}/root`);
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
    let stdout = "";
    let stderr = "";
    const decoder = new TextDecoder();
    const { root, options } = buildProgram({
      platform: platform({
        ROUSSEAU_STATE_PATH: ":memory:",
        PATH: "/usr/bin:/bin",
      }),
      launch: { command: "rousseau", args: [] },
      writeLog: () => Promise.resolve(),
    });
    const code = await run(
      root,
      [
        "--config",
        `${folder}/c.yaml`,
        "--root",
        `${folder}/root`,
        ...args,
        "mcp",
      ],
      {
        stdin: ReadableStream.from([new TextEncoder().encode(lines.join(""))]),
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
    const results = stdout.trim() === ""
      ? []
      : stdout.trim().split("\n").map((line) => JSON.parse(line))
        .filter(({ id }) => id !== undefined)
        .sort((a, b) => a.id - b.id).slice(1).map(({ result, error }) =>
          result ?? error
        );
    return { results, code, stderr };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

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
    'c.yaml:22: custom_tools[3].timeot: unknown key; did you mean "timeout"?',
  );
});

Deno.test("each key of a tool without code is checked", async () => {
  const good = { name: "t", description: "d", argv: ["true"] };
  const input = { type: "object", properties: { a: {} } };
  const cases: [unknown, string][] = [
    [{ ...good, name: "a b" }, "name: must be"],
    [{ ...good, name: "bash" }, 'name: there already is a tool "bash"'],
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
