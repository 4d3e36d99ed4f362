/** The MCP Inspector's command line, strict, in each era that the server speaks. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { commandLine, environment, Folders } from "../harness.ts";
import { need } from "./programs.ts";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";

interface Inspection {
  code: number;
  stdout: string;
  stderr: string;
}

async function inspect(
  folders: Folders,
  ...args: string[]
): Promise<Inspection> {
  const config = `${folders.base}/inspector.json`;
  const [command, ...rest] = await commandLine([
    "mcp",
    "--root",
    folders.root,
  ]);
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      mcpServers: {
        rousseau: { command, args: rest, env: await environment(folders) },
      },
    }),
  );
  const { code, stdout, stderr } = await new Deno.Command("npx", {
    args: [
      "-y",
      INSPECTOR,
      "--cli",
      "--config",
      config,
      "--server",
      "rousseau",
      ...args,
    ],
    cwd: folders.root,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

Deno.test("the Inspector finds nothing wrong with the tools' schemas, strictly", async () => {
  await need("node", "npx");
  await using folders = await Folders.make();
  const { code, stdout, stderr } = await inspect(
    folders,
    "--method",
    "tools/list",
    "--strict",
    "--format",
    "json",
  );
  assertEquals(code, 0, stderr);
  const { tools } = JSON.parse(stdout);
  assert(tools.length >= 8, stdout);
});

Deno.test("the Inspector calls a tool, and its errors are tool errors", async () => {
  await need("node", "npx");
  await using folders = await Folders.make();
  await folders.write("a.txt", "hello\n");
  const call = ["--method", "tools/call", "--tool-name", "read"];
  const good = await inspect(
    folders,
    ...call,
    "--tool-arg",
    "path=a.txt",
    "--format",
    "json",
  );
  assertEquals(good.code, 0, good.stderr);
  assertStringIncludes(good.stdout, "hello");
  const bad = await inspect(
    folders,
    ...call,
    "--tool-arg",
    "path=missing.txt",
    "--format",
    "json",
  );
  assertEquals(bad.code, 5, bad.stderr);
});

Deno.test("the Inspector lists the resources and reads one", async () => {
  await need("node", "npx");
  await using folders = await Folders.make();
  const listed = await inspect(
    folders,
    "--method",
    "resources/list",
    "--format",
    "json",
  );
  assertEquals(listed.code, 0, listed.stderr);
  const { resources } = JSON.parse(listed.stdout);
  const read = await inspect(
    folders,
    "--method",
    "resources/read",
    "--uri",
    resources[0].uri,
    "--format",
    "json",
  );
  assertEquals(read.code, 0, read.stderr);
});

Deno.test("the Inspector keeps 20 calls in flight and gets every answer", async () => {
  await need("node", "npx");
  await using folders = await Folders.make();
  await folders.write("a.txt", "hello\n");
  const { code, stdout, stderr } = await inspect(
    folders,
    "--method",
    "tools/call",
    "--tool-name",
    "read",
    "--tool-arg",
    "path=a.txt",
    "--load",
    "--load-requests",
    "500",
    "--load-concurrency",
    "20",
    "--format",
    "json",
  );
  assertEquals(code, 0, stderr + stdout);
});
