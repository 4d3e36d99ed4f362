/**
 * The requests of the serpent document, in its order, over a real pipe to its example program built on the library.
 * Where an answer differs on purpose, the difference is listed with its reason, and nothing else may differ.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { differences } from "../differences.ts";
import { Folders, type Message, run, Server } from "../harness.ts";

const EXAMPLE = new URL("../examples/serpent.ts", import.meta.url).pathname;
const PROGRAM = [
  Deno.execPath(),
  "run",
  "--no-prompt",
  "--config",
  new URL("../../deno.json", import.meta.url).pathname,
  EXAMPLE,
];

interface Step {
  name: string;
  send: Message;
  /** The document's answer, where it shows one. */
  seed?: unknown;
  /** Paths at which ours differs, with the reason. */
  differs?: Record<string, string>;
  /** What must hold where the document shows no answer. */
  check?(answer: Message): void;
}

const STEPS: Step[] = [
  {
    name: "tools/list before the handshake is an error",
    send: { jsonrpc: "2.0", id: 0, method: "tools/list", params: {} },
    check: ({ error }) => {
      assertEquals(error?.code, -32600);
      assertStringIncludes(error?.message ?? "", "not initialized");
    },
  },
  {
    name: "initialize",
    send: {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-03-26",
        clientInfo: { name: "manual-test-client", version: "1.0.0" },
        capabilities: {},
      },
    },
    seed: {
      jsonrpc: "2.0",
      id: 1,
      result: { capabilities: { tools: true, resources: true } },
    },
    differs: {
      "/result/capabilities/tools": "capabilities are objects in MCP",
      "/result/capabilities/resources": "capabilities are objects in MCP",
      "/result/capabilities/prompts": "prompts/list is answered",
      "/result/capabilities/logging": "messages for the client",
      "/result/capabilities/completions": "completion/complete is answered",
      "/result/protocolVersion": "MCP requires it",
      "/result/serverInfo": "MCP requires it",
    },
  },
  {
    name: "initialized, with an id",
    send: { jsonrpc: "2.0", id: 2, method: "notifications/initialized" },
    seed: { jsonrpc: "2.0", id: 2, result: {} },
  },
  {
    name: "tools/list",
    send: { jsonrpc: "2.0", id: 3, method: "tools/list", params: {} },
    check: ({ result }) =>
      assertEquals(
        result.tools.map(({ name }: { name: string }) => name),
        ["echo"],
      ),
  },
  {
    name: "resources/list",
    send: { jsonrpc: "2.0", id: 4, method: "resources/list", params: {} },
    check: ({ result }) =>
      assertEquals(
        result.resources.map(({ uri }: { uri: string }) => uri),
        ["version"],
      ),
  },
  {
    name: "tools/call",
    send: {
      jsonrpc: "2.0",
      id: 5,
      method: "tools/call",
      params: { name: "echo", arguments: { _: "Hello from MCP!" } },
    },
    check: ({ result }) => {
      assertEquals(result.isError, undefined);
      assertStringIncludes(result.content[0].text, "Hello from MCP!");
    },
  },
  {
    name: "resources/read",
    send: {
      jsonrpc: "2.0",
      id: 6,
      method: "resources/read",
      params: { uri: "version" },
    },
    check: ({ result }) => {
      assertEquals(result.contents[0].uri, "version");
      assertEquals(JSON.parse(result.contents[0].text).version, "1.0.0");
    },
  },
  {
    name: "resources/templates/list",
    send: { jsonrpc: "2.0", id: 7, method: "resources/templates/list" },
    seed: { jsonrpc: "2.0", id: 7, result: { resourceTemplates: [] } },
  },
  {
    name: "ping",
    send: { jsonrpc: "2.0", id: 8, method: "ping" },
    seed: { jsonrpc: "2.0", id: 8, result: {} },
  },
];

Deno.test("every request of the second document gets the document's answer from its example program", async (t) => {
  await using server = await Server.start({
    program: [...PROGRAM, "mcp"],
    exemptUri: "version",
  });
  for (const { name, send, seed, differs = {}, check } of STEPS) {
    await t.step(name, async () => {
      await server.send(send);
      const answer = await server.answer(send.id as number);
      if (seed !== undefined) {
        const unlisted = differences(seed, answer).filter((path) =>
          !(path in differs)
        );
        assertEquals(unlisted, [], JSON.stringify(answer));
      }
      check?.(answer);
    });
  }
});

Deno.test("the second document's command lines work on its example program", async () => {
  await using folders = await Folders.make();
  const example = (...args: string[]) =>
    run(folders, [], { program: [...PROGRAM, ...args] });
  const echo = await example("echo", "Hello, World!");
  assertEquals(echo.code, 0, echo.stderr);
  assertStringIncludes(echo.stdout, "Hello, World!");
  const version = await example("version");
  assertEquals(JSON.parse(version.stdout).version, "1.0.0");
  const help = await example("--help");
  assertEquals(help.code, 0);
  for (const word of ["echo", "version", "mcp"]) {
    assertStringIncludes(help.stdout, word);
  }
});
