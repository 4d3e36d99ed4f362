/** What hosts are known to do to a server over standard input and output. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { appears, Folders, run, Server } from "../harness.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "host", version: "1" },
  },
};
const INITIALIZED = { jsonrpc: "2.0", method: "notifications/initialized" };
const DISCOVER = {
  jsonrpc: "2.0",
  id: "discover",
  method: "server/discover",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};

Deno.test("initialize, initialized and calls in one write are all answered", async () => {
  await using server = await Server.start();
  await server.folders.write("a.txt", "hello\n");
  const read = (id: number) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "read", arguments: { path: "a.txt" } },
  });
  await server.send(
    INITIALIZE,
    INITIALIZED,
    { jsonrpc: "2.0", id: 1, method: "tools/list" },
    read(2),
    read(3),
  );
  assertEquals((await server.answer(0)).result.protocolVersion, "2025-11-25");
  assert((await server.answer(1)).result.tools.length >= 5);
  for (const id of [2, 3]) {
    assertEquals((await server.answer(id)).result.content[0].text, "hello\n");
  }
});

Deno.test("server/discover and initialize in one breath are both answered, and the handshake holds", async () => {
  await using server = await Server.start();
  await server.send(DISCOVER);
  await new Promise((resolve) => setTimeout(resolve, 1));
  await server.send(INITIALIZE, INITIALIZED);
  assertEquals((await server.answer(0)).result.protocolVersion, "2025-11-25");
  await server.answer("discover");
  assert((await server.request("tools/list")).result.tools.length >= 5);
});

Deno.test("cancelled after a finished call changes nothing", async () => {
  await using server = await Server.open();
  await server.send({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: { name: "bash", arguments: { command: "echo done" } },
  });
  assertStringIncludes(
    (await server.answer(7)).result.content[0].text,
    "done",
  );
  await server.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 7, reason: "finished" },
  });
  assertEquals((await server.request("ping")).result, {});
  assertStringIncludes(
    await server.text("bash", { command: "echo again" }),
    "again",
  );
});

Deno.test("cancelled after the call that began a job leaves the job running", async () => {
  await using server = await Server.open();
  const begun = server.folders.root + "/go";
  await server.send({
    jsonrpc: "2.0",
    id: 7,
    method: "tools/call",
    params: {
      name: "bash",
      arguments: {
        command: "until [ -e go ]; do sleep 0.02; done; echo survived",
        background: true,
      },
    },
  });
  const { result } = await server.answer(7);
  const job = result._meta["rousseau/result"].job;
  await server.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 7, reason: "finished" },
  });
  assertEquals((await server.request("ping")).result, {});
  await Deno.writeTextFile(begun, "");
  assertStringIncludes(
    await server.text("bash_output", { job, wait: 20 }),
    "survived",
  );
});

Deno.test("SIGINT, SIGTERM after 100 ms and SIGKILL after 460 ms leave no child and nothing unrecorded", async () => {
  await using folders = await Folders.make();
  await using server = await Server.open({ folders });
  for (let n = 0; n < 20; n++) {
    await server.call("write", { path: `f${n}.txt`, content: `${n}` });
  }
  await server.send({
    jsonrpc: "2.0",
    id: "long",
    method: "tools/call",
    params: {
      name: "bash",
      arguments: {
        command: "trap '' INT TERM; echo $$ > pid; sleep 300 & sleep 300",
      },
    },
  });
  await appears(`${folders.root}/pid`);
  const begun = performance.now();
  server.child.kill("SIGINT");
  const signals = [
    setTimeout(() => tryKill(server.child, "SIGTERM"), 100),
    setTimeout(() => tryKill(server.child, "SIGKILL"), 460),
  ];
  const status = await server.exit();
  signals.forEach(clearTimeout);
  assertEquals(
    { code: status.code, signal: status.signal },
    { code: 130, signal: null },
    `after ${performance.now() - begun} ms`,
  );
  const texts = recordedTexts(folders.database);
  for (let n = 0; n < 20; n++) {
    assert(
      texts.some((text) => text.includes(`f${n}.txt`)),
      `f${n}.txt is recorded`,
    );
  }
});

for (
  const [name, cwd] of [["/", "/"], ["a home", "home"]] as const
) {
  Deno.test(`in the working directory ${name} the server starts, reads the system's files and says how to give it a root`, async () => {
    await using folders = await Folders.make();
    await using server = await Server.open({
      folders,
      args: ["mcp"],
      cwd: cwd === "home" ? folders.home : cwd,
    });
    const refused = await server.call("write", {
      path: `${folders.home}/x.txt`,
      content: "x",
    });
    assertEquals(refused.isError, true);
    assertStringIncludes(JSON.stringify(refused), "--root");
    const temporary = await server.call("write", {
      path: `${folders.base}/x.txt`,
      content: "x",
    });
    assertEquals(temporary.isError, true, "nothing is writable without a root");
    assertEquals((await server.request("ping")).result, {});
  });
}

Deno.test("in a project's working directory that is the root", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "hello");
  // A folder directly inside the temporary folder is a fit root, a home is not.
  await using server = await Server.open({ folders, args: ["mcp"] });
  assertEquals(await server.text("read", { path: "a.txt" }), "hello");
  assertEquals(
    await server.text("write", { path: "b.txt", content: "hi" }),
    `wrote 2 bytes to ${folders.root}/b.txt`,
  );
});

Deno.test("CLAUDE_PROJECT_DIR, WORKSPACE_FOLDER_PATHS and ROUSSEAU_ROOT give the root", async () => {
  for (
    const name of [
      "CLAUDE_PROJECT_DIR",
      "WORKSPACE_FOLDER_PATHS",
      "ROUSSEAU_ROOT",
    ]
  ) {
    await using folders = await Folders.make();
    await folders.write("a.txt", name);
    await using server = await Server.open({
      folders,
      args: ["mcp"],
      cwd: "/",
      env: { [name]: folders.root },
    });
    assertEquals(await server.text("read", { path: "a.txt" }), name);
  }
});

Deno.test("a ${workspaceFolder} that the host left unexpanded is an error that says so", async () => {
  await using folders = await Folders.make();
  const { code, stdout, stderr } = await run(folders, [
    "mcp",
    "--root",
    "${workspaceFolder}",
  ], { input: "" });
  assertEquals({ code, stdout }, { code: 2, stdout: "" });
  assertStringIncludes(stderr, "${workspaceFolder}");
});

Deno.test("with a cleared environment every tool still works", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "one\ntwo\n");
  await using server = await Server.open({
    folders,
    bare: true,
    env: { ROUSSEAU_STATE_PATH: folders.database },
  });
  assertEquals(await server.text("read", { path: "a.txt" }), "one\ntwo\n");
  await server.text("edit", {
    path: "a.txt",
    old_string: "two",
    new_string: "three",
  });
  assertStringIncludes(
    await server.text("grep", { pattern: "three" }),
    "a.txt:2: three",
  );
  assertStringIncludes(
    await server.text("bash", { command: "cat a.txt" }),
    "three",
  );
});

Deno.test("without HOME, a state path and anything else the server works and says that nothing is kept", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "one\n");
  await using server = await Server.open({ folders, bare: true });
  assertEquals(await server.text("read", { path: "a.txt" }), "one\n");
});

Deno.test("a second server on the same store starts and answers while the first works", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "one\n");
  await using first = await Server.open({ folders });
  await using second = await Server.open({ folders, shared: true });
  const texts = await Promise.all(
    [first, second, first, second].map((server) =>
      server.text("read", { path: "a.txt" })
    ),
  );
  assertEquals(texts, ["one\n", "one\n", "one\n", "one\n"]);
});

function tryKill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch { /* It has ended. */ }
}

/** Every text cell of every ordinary table. */
function recordedTexts(path: string): string[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%fts%'",
  ).all() as { name: string }[];
  return tables.flatMap(({ name }) =>
    database.prepare(`SELECT * FROM "${name}"`).all().flatMap((row) =>
      Object.values(row as Record<string, unknown>).filter((value) =>
        typeof value === "string"
      ) as string[]
    )
  );
}
