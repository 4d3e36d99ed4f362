/** The MCP Inspector's command line, strict, in each era that the server speaks, over both transports. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { commandLine, environment, Folders } from "../harness.ts";
import { HttpProgram } from "../soak/http_program.ts";
import { need } from "./programs.ts";

const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";

interface Inspection {
  code: number;
  stdout: string;
  stderr: string;
}

/** The Inspector on a server that it starts itself. */
async function inspect(
  folders: Folders,
  ...args: string[]
): Promise<Inspection> {
  const [command, ...rest] = await commandLine([
    "mcp",
    "--root",
    folders.root,
  ]);
  const env = await environment(folders);
  return await inspectServer(folders, { command, args: rest, env }, ...args);
}

async function inspectServer(
  folders: Folders,
  rousseau: Record<string, unknown>,
  ...args: string[]
): Promise<Inspection> {
  const config = `${folders.base}/inspector.json`;
  await Deno.writeTextFile(
    config,
    JSON.stringify({ mcpServers: { rousseau } }),
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
  const { tools } = JSON.parse(stdout).result;
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

for (const era of ["legacy", "modern"]) {
  for (const transport of ["stdio", "HTTP"]) {
    Deno.test(`the Inspector makes its tour in the ${era} era over ${transport}`, async () => {
      await need("node", "npx");
      await using folders = await Folders.make();
      await folders.write("a.txt", "hello\n");
      await using program = transport === "HTTP"
        ? await HttpProgram.start(folders)
        : undefined;
      // deno-lint-ignore no-explicit-any
      const ask = async (...args: string[]): Promise<any> => {
        const all = ["--protocol-era", era, "--format", "json", ...args];
        const { code, stdout, stderr } = await (program
          ? inspectServer(
            folders,
            { type: "streamable-http", url: program.url },
            ...all,
          )
          : inspect(folders, ...all));
        assertEquals(code, 0, `${args}: ${stderr}${stdout}`);
        return JSON.parse(stdout).result;
      };
      const { tools } = await ask("--method", "tools/list", "--strict");
      assert(tools.length >= 8);
      const call = ["--method", "tools/call", "--tool-name"];
      const read = await ask(...call, "read", "--tool-arg", "path=a.txt");
      assertStringIncludes(JSON.stringify(read), "hello");
      const sessions = await ask(...call, "rousseau_list_sessions");
      const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(JSON.stringify(sessions))![0];
      const session = await ask(
        ...["--method", "resources/read"],
        ...["--uri", `rousseau://sessions/${id}`],
      );
      assertStringIncludes(JSON.stringify(session), `id: ${id}`);
      const prompts = await ask("--method", "prompts/list");
      assertStringIncludes(JSON.stringify(prompts), "resume_session");
      const { resourceTemplates } = await ask(
        "--method",
        "resources/templates/list",
      );
      assertEquals(resourceTemplates.length, 2);
    });
  }
}
