/** Under `deno run` with few permissions the server works with what it has, and never asks for more. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { denoDirectory, Folders, Server } from "../harness.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** Starts the server with these grants; `ROOT` in them stands for the root. */
async function start(
  folders: Folders,
  grants: string[],
  env: Record<string, string> = {},
): Promise<Server> {
  return await Server.open({
    folders,
    bare: true,
    env: { DENO_DIR: await denoDirectory(), ...env },
    program: [
      Deno.execPath(),
      "run",
      "--no-remote",
      ...grants.map((grant) => grant.replace("ROOT", folders.root)),
      MAIN,
      "mcp",
      "--root",
      folders.root,
    ],
  });
}

const FILE_TOOLS = ["read", "write", "edit", "grep"];

for (
  const [grants, tools] of [
    [["--allow-read=ROOT"], ["read", "grep"]],
    [["--allow-read=ROOT", "--allow-write=ROOT"], FILE_TOOLS],
    [
      ["--allow-read=ROOT", "--allow-write=ROOT", "--allow-env"],
      FILE_TOOLS,
    ],
    [["--allow-read", "--allow-write", "--allow-run", "--allow-env"], [
      ...FILE_TOOLS,
      "bash",
    ]],
  ] as const
) {
  Deno.test(`with ${grants.join(" ")} the listed tools are ${tools.join(", ")}`, async () => {
    await using folders = await Folders.make();
    await folders.write("a.txt", "one\n");
    await using server = await start(folders, [...grants]);
    const listed: string[] = (await server.request("tools/list")).result.tools
      .map(({ name }: { name: string }) => name);
    assertEquals(
      [...FILE_TOOLS, "bash"].filter((name) => listed.includes(name)),
      [...tools],
    );
    assertEquals(await server.text("read", { path: "a.txt" }), "one\n");
    assertStringIncludes(
      await server.text("grep", { pattern: "one" }),
      "a.txt:1: one",
    );
    if (listed.includes("write")) {
      await server.text("write", { path: "b.txt", content: "two\n" });
      assertEquals(
        await Deno.readTextFile(`${folders.root}/b.txt`),
        "two\n",
      );
    }
  });
}

Deno.test("a session tool is listed where the state folder may be used, and not elsewhere", async () => {
  const names = async (grants: string[]) => {
    await using folders = await Folders.make();
    const env = { HOME: folders.home };
    await using server = await start(folders, grants, env);
    return (await server.request("tools/list")).result.tools
      .map(({ name }: { name: string }) => name)
      .filter((name: string) => name.startsWith("rousseau_"));
  };
  assertEquals(
    await names(["--allow-read", "--allow-write=ROOT", "--allow-env"]),
    [],
  );
  assertEquals(await names(["--allow-read", "--allow-write"]), []);
  assertEquals(await names(["--allow-read", "--allow-write", "--allow-env"]), [
    "rousseau_list_sessions",
    "rousseau_search_sessions",
    "rousseau_read_session",
    "rousseau_undo",
  ]);
});

Deno.test("without any permission the server starts, lists no tool and says what is missing", async () => {
  await using folders = await Folders.make();
  await using server = await start(folders, []);
  assertEquals((await server.request("tools/list")).result.tools, []);
  assertEquals(
    (await server.request("resources/list")).result.resources.map((
      { uri }: { uri: string },
    ) => uri),
    ["rousseau://version"],
  );
});
