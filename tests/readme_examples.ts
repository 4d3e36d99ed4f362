/**
 * The library's examples in the README, and what they must do wherever they run.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const README = new URL("../README.md", import.meta.url);

/** Starts one of the examples: the program and the arguments that come before the file. */
export type Runner = readonly string[];

/** The examples as printed, by the file that the README says to save them as. */
export async function readmeExamples(): Promise<Map<string, string>> {
  const text = await Deno.readTextFile(README);
  const [countFiles, example] = [...text.matchAll(/^```js\n(.*?)^```$/gms)]
    .map(([, code]) => code!);
  return new Map([["count_files.mjs", countFiles!], ["example.mjs", example!]]);
}

/** Runs both examples, which are in `folder`, and checks their answers. */
export async function checkExamples(
  folder: string,
  runner: Runner,
): Promise<void> {
  const run = async (args: string[], lines: unknown[] = []) => {
    const child = new Deno.Command(runner[0]!, {
      args: [...runner.slice(1), ...args],
      cwd: folder,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { code, stdout: text(stdout), stderr: text(stderr) };
  };
  const answers = async (args: string[], lines: unknown[]) => {
    const { stdout, stderr, code } = await run(args, [INITIALIZE, ...lines]);
    assertEquals({ code, stderr }, { code: 0, stderr: "" });
    return stdout.trimEnd().split("\n").map((line) => JSON.parse(line))
      .sort((a, b) => a.id - b.id).slice(1).map(({ result }) => result);
  };
  await Deno.mkdir(`${folder}/three`);
  for (const name of "abc") {
    await Deno.writeTextFile(`${folder}/three/${name}`, "");
  }
  const [counted, refused] = await answers(["count_files.mjs"], [
    call(1, "count_files", { path: "three" }),
    call(2, "count_files", {}),
  ]);
  assertEquals(counted.content[0].text, "3");
  assertEquals(refused.isError, true);

  assertEquals(
    await run(["example.mjs", "echo", "--repeat", "3", "a", "b"]),
    { code: 0, stdout: "a b\na b\na b\n", stderr: "" },
  );
  const help = await run(["example.mjs", "--help"]);
  assertStringIncludes(help.stdout, "[MCP tool]");
  const wrong = await run(["example.mjs", "ehco"]);
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, `did you mean "echo"?`);
  const [tools, echoed, read] = await answers(["example.mjs", "mcp"], [
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    call(2, "echo", { _: ["--repeat", "7"], repeat: 1 }),
    {
      jsonrpc: "2.0",
      id: 3,
      method: "resources/read",
      params: { uri: "version" },
    },
  ]);
  assertEquals(tools.tools.map(({ name }: { name: string }) => name), ["echo"]);
  assertEquals(echoed.content[0].text, "--repeat 7\n");
  assert(JSON.parse(read.contents[0].text).version === "1.0.0");
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    clientInfo: { name: "readme", version: "1" },
    capabilities: {},
  },
};

const call = (id: number, name: string, args: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});
