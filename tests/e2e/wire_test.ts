/** What only a real pipe can show of the wire. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Server } from "../harness.ts";

const encoder = new TextEncoder();

for (
  const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
) {
  Deno.test(`${revision} is negotiated, and every method's answer fits its schema`, async () => {
    await using server = await Server.start();
    const { protocolVersion } = await server.initialize(revision);
    assertEquals(protocolVersion, revision);
    await server.folders.write("a.txt", "one\ntwo\n");
    for (
      const method of [
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "shutdown",
      ]
    ) {
      const answer = await server.request(method);
      assert(answer.result, `${method}: ${JSON.stringify(answer)}`);
    }
    assertEquals(await server.text("read", { path: "a.txt" }), "one\ntwo\n");
    await server.text("edit", {
      path: "a.txt",
      old_string: "two",
      new_string: "2",
    });
    await server.text("grep", { pattern: "2" });
    await server.text("bash", { command: "exit 3" });
    const { resources } = (await server.request("resources/list")).result;
    for (const { uri } of resources) {
      const read = await server.request("resources/read", { uri });
      assertEquals(read.result.contents[0].uri, uri);
    }
  });
}

Deno.test("a revision that nobody speaks is answered with the newest, never with an error", async () => {
  for (const asked of ["1900-01-01", "2026-07-28", "draft"]) {
    await using server = await Server.start();
    assertEquals(
      (await server.initialize(asked)).protocolVersion,
      "2025-11-25",
    );
  }
});

Deno.test("J03: a character split between writes arrives whole", async () => {
  await using server = await Server.open();
  const line = JSON.stringify({
    jsonrpc: "2.0",
    id: "🦀",
    method: "tools/call",
    params: { name: "write", arguments: { path: "a.txt", content: "é🦀" } },
  });
  const bytes = encoder.encode(line + "\n");
  const middle = bytes.findIndex((byte) => byte === 0xf0) + 2;
  await server.sendBytes(bytes.subarray(0, middle), [line]);
  // Nothing can be awaited here: the pause only makes two reads of the two writes likely.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await server.sendBytes(bytes.subarray(middle));
  await server.answer("🦀");
  assertEquals(
    await Deno.readTextFile(`${server.folders.root}/a.txt`),
    "é🦀",
  );
});

Deno.test("J06: a line of 12 MB is refused with its id while it streams, and the next one is served", async () => {
  await using server = await Server.open();
  const line = JSON.stringify({
    jsonrpc: "2.0",
    id: "big",
    method: "tools/call",
    params: {
      name: "write",
      arguments: { path: "a.txt", content: "x".repeat(12_000_000) },
    },
  });
  await server.send(line);
  const { error } = await server.answer("big");
  assertEquals(error?.code, -32600);
  assertStringIncludes(error?.message ?? "", "8388608 bytes");
  assertEquals((await server.request("ping")).result, {});
});

Deno.test("J22: Content-Length framing is answered with an error that names it, and the session goes on", async () => {
  await using server = await Server.start();
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  await server.sendBytes(
    encoder.encode(`Content-Length: ${body.length}\r\n\r\n${body}\n`),
    [body],
  );
  assertEquals((await server.answer(1)).result, {});
  const { error } = await server.find(({ error }) => !!error, "the error");
  assertEquals(error?.code, -32700);
  assertStringIncludes(error?.message ?? "", "Content-Length");
});

Deno.test("ping is answered while bash runs", async () => {
  await using server = await Server.open();
  await server.send({
    jsonrpc: "2.0",
    id: "slow",
    method: "tools/call",
    params: {
      name: "bash",
      arguments: { command: "until [ -e go ]; do sleep 0.02; done; echo went" },
    },
  });
  assertEquals((await server.request("ping")).result, {});
  assertEquals(server.messages.some(({ id }) => id === "slow"), false);
  await server.call("write", { path: "go", content: "" });
  assertStringIncludes(
    (await server.answer("slow")).result.content[0].text,
    "went",
  );
});

Deno.test("S03: a command that reads its input does not take the client's messages", async () => {
  await using server = await Server.open();
  const [output, ping] = await Promise.all([
    server.text("bash", { command: "cat; echo over" }),
    server.request("ping"),
  ]);
  assertStringIncludes(output, "over");
  assertEquals(ping.result, {});
});

Deno.test("tools/list and its size are as they were reviewed", async () => {
  await using server = await Server.open();
  const { result } = await server.request("tools/list");
  const now = `${encoder.encode(JSON.stringify(result)).length} bytes\n\n${
    JSON.stringify(result.tools, null, 2)
  }\n`;
  const snapshot = new URL("../snapshots/tools.txt", import.meta.url);
  if (Deno.env.get("UPDATE")) await Deno.writeTextFile(snapshot, now);
  assertEquals(now, await Deno.readTextFile(snapshot));
});

Deno.test("tools/list is under 8 KB, the same each time, and has no top-level union", async () => {
  await using server = await Server.open();
  const [first, second] = [
    (await server.request("tools/list")).result,
    (await server.request("tools/list")).result,
  ];
  assertEquals(first, second);
  const size = encoder.encode(JSON.stringify(first)).length;
  assert(size < 8_192, `${size} bytes`);
  for (const tool of first.tools) {
    for (const keyword of ["anyOf", "oneOf", "allOf", "$ref"]) {
      assertEquals(keyword in tool.inputSchema, false, tool.name);
    }
    for (
      const hint of [
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
      ]
    ) {
      assertEquals(typeof tool.annotations[hint], "boolean", tool.name);
    }
    assertEquals("outputSchema" in tool, false, tool.name);
  }
});

Deno.test("J20: no built-in tool has an output schema, no answer structured content, and each has text", async () => {
  await using server = await Server.start();
  await server.folders.write("a", "one\n");
  await server.initialize();
  const calls = new Map<string, unknown>([
    ["read", { path: "a" }],
    ["write", { path: "b", content: "x" }],
    ["edit", { path: "a", old_string: "one", new_string: "two" }],
    ["grep", { pattern: "two" }],
    ["bash", { command: "echo hi" }],
    ["bash_output", { job: "j9" }],
    ["bash_kill", { job: "j9" }],
    ["rousseau_list_sessions", {}],
    ["rousseau_search_sessions", { query: "two" }],
    ["rousseau_read_session", { id: "0" }],
    ["rousseau_undo", {}],
  ]);
  const { tools } = (await server.request("tools/list")).result;
  assertEquals(
    tools.map(({ name }: { name: string }) => name).toSorted(),
    [...calls.keys()].toSorted(),
  );
  for (const { name, inputSchema, outputSchema } of tools) {
    assertEquals([inputSchema.type, outputSchema], ["object", undefined], name);
    const result = await server.call(name, calls.get(name));
    assertEquals("structuredContent" in result, false, name);
    assertEquals(result.content[0].type, "text", name);
  }
});

Deno.test("instructions are at most 1,500 characters and name the root", async () => {
  await using server = await Server.start();
  const { instructions } = await server.initialize();
  assert(instructions.length <= 1_500, `${instructions.length}`);
  assertStringIncludes(instructions, server.folders.root);
});
