/** README tells the truth: what can be checked of it by a program is. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Folders, run, Server } from "../harness.ts";

const root = new URL("../../", import.meta.url);

const read = (path: string) => Deno.readTextFile(new URL(path, root));

/** Fenced blocks of one language. */
async function blocks(language: string): Promise<string[]> {
  const found = (await read("README.md")).matchAll(
    new RegExp("```" + language + "\\n([\\s\\S]*?)```", "g"),
  );
  return [...found].map((match) => match[1] as string);
}

Deno.test("README's custom tool counts files over a real pipe", async () => {
  await using server = await Server.open({
    program: [
      Deno.execPath(),
      "run",
      "--no-prompt",
      "--allow-read",
      "--config",
      new URL("deno.json", root).pathname,
      new URL("tests/examples/count_files.ts", root).pathname,
    ],
  });
  for (const name of ["a", "b", "c"]) await server.folders.write(name, "");
  assertEquals(
    await server.text("count_files", { path: server.folders.root }),
    "3",
  );
});

Deno.test("README's JSON blocks are JSON, and their arguments are understood", async () => {
  await using folders = await Folders.make();
  const found = await blocks("json");
  assert(found.length >= 4);
  for (const block of found) {
    const parsed = JSON.parse(block);
    const { args } = (parsed.mcpServers ?? parsed.servers).rousseau;
    const own = args.slice(args.indexOf("mcp")).map((word: string) =>
      word.startsWith("/") || word.startsWith("${") ? folders.root : word
    );
    const { code, stdout, stderr } = await run(folders, own, { input: "" });
    assertEquals({ code, stdout }, { code: 0, stdout: "" }, stderr);
  }
});

Deno.test("README's configuration file is accepted", async () => {
  await using folders = await Folders.make();
  const [block] = await blocks("yaml");
  const config = `${folders.base}/config.yaml`;
  await Deno.writeTextFile(
    config,
    (block as string).replace(/\/home\/you\/\w+/g, folders.root),
  );
  const { code, stderr } = await run(folders, ["mcp", "--config", config], {
    input: "",
  });
  assertEquals(code, 0, stderr);
});

Deno.test("README's flags of the server are in its help, its tasks in deno.json, its packages at their versions", async () => {
  await using folders = await Folders.make();
  const readme = await read("README.md");
  const { stdout: help } = await run(folders, ["mcp", "--help"]);
  for (
    const flag of [
      "--root",
      "--mode",
      "--read",
      "--tools",
      "--exclude",
      "--no-record",
      "--sessions",
      "--config",
    ]
  ) {
    assertStringIncludes(readme, flag);
    assertStringIncludes(help, flag);
  }
  const { tasks, imports } = JSON.parse(await read("deno.json"));
  for (const [, name] of readme.matchAll(/deno task ([a-z:]+)/g)) {
    assert((name as string) in tasks, name);
  }
  for (const target of Object.values(imports as Record<string, string>)) {
    if (target.startsWith("./")) continue;
    const [, name, version] = /^npm:\/?(.+?)@(\d[\d.]*)/.exec(target) ?? [];
    assertStringIncludes(readme, `\`${name}\` ${version}`);
  }
});
