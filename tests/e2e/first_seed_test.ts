/**
 * The requests of the rousseau document, in its order, over a real pipe, with the document's answers. Where the
 * answer differs on purpose, the difference is listed with its reason, and nothing else may differ.
 */
import { assertEquals } from "@std/assert";
import { differences } from "../differences.ts";
import { Folders, type Message, run, Server } from "../harness.ts";

interface Step {
  name: string;
  send: Message;
  /** The document's answer. */
  seed: unknown;
  /** Paths at which ours differs, with the reason. */
  differs: Record<string, string>;
}

const hostname = await Deno.readTextFile("/etc/hostname").catch(() => "");

const STEPS: Step[] = [
  {
    name: "initialize",
    send: {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2024-11-05",
        clientInfo: { name: "claude-desktop", version: "0.7.0" },
      },
    },
    seed: {
      jsonrpc: "2.0",
      id: 1,
      result: {
        protocolVersion: "2024-11-05",
        serverInfo: { name: "rousseau", version: "0.6.0" },
        capabilities: { tools: { listChanged: false } },
      },
    },
    differs: {
      "/result/serverInfo/version": "the version is deno.json's",
      "/result/serverInfo/title": "a name for people",
      "/result/capabilities/resources": "sessions are resources",
      "/result/capabilities/prompts": "prompts/list is answered",
      "/result/capabilities/logging": "messages for the client",
      "/result/instructions": "the model is told roots and rules",
    },
  },
  {
    name: "tools/list",
    send: { jsonrpc: "2.0", id: 2, method: "tools/list" },
    seed: {
      jsonrpc: "2.0",
      id: 2,
      result: {
        tools: [
          {
            name: "read",
            inputSchema: {
              type: "object",
              properties: { path: { type: "string" } },
              required: ["path"],
            },
          },
          {
            name: "grep",
            inputSchema: {
              type: "object",
              properties: {
                pattern: { type: "string" },
                path: { type: "string" },
              },
              required: ["pattern"],
            },
          },
          {
            name: "bash",
            inputSchema: {
              type: "object",
              properties: { command: { type: "string" } },
              required: ["command"],
            },
          },
        ],
      },
    },
    differs: {},
  },
  {
    name: "tools/call, success",
    send: {
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "read", arguments: { path: "/etc/hostname" } },
    },
    seed: {
      jsonrpc: "2.0",
      id: 3,
      result: { content: [{ type: "text", text: hostname }] },
    },
    differs: { "/result/_meta": "figures for programs" },
  },
  {
    name: "tools/call, failure",
    send: {
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "read", arguments: { path: "/nope" } },
    },
    seed: {
      jsonrpc: "2.0",
      id: 3,
      result: {
        content: [{
          type: "text",
          text: "read: open /nope: no such file or directory",
        }],
        isError: true,
      },
    },
    differs: {},
  },
  {
    name: "ping",
    send: { jsonrpc: "2.0", id: 4, method: "ping" },
    seed: { jsonrpc: "2.0", id: 4, result: {} },
    differs: {},
  },
  {
    name: "resources/list before anything was recorded",
    send: { jsonrpc: "2.0", id: 5, method: "resources/list" },
    seed: { jsonrpc: "2.0", id: 5, result: { resources: [] } },
    differs: {
      "/result/resources/0": "the resource of the command version",
      "/result/resources/1": "the session that the calls above began",
    },
  },
  {
    name: "prompts/list",
    send: { jsonrpc: "2.0", id: 6, method: "prompts/list" },
    seed: { jsonrpc: "2.0", id: 6, result: { prompts: [] } },
    differs: {
      "/result/prompts/0": "a session can be resumed by a prompt",
      "/result/prompts/1": "what a session changed can be reviewed",
      "/result/prompts/2": "and undone",
    },
  },
  {
    name: "shutdown",
    send: { jsonrpc: "2.0", id: 7, method: "shutdown" },
    seed: { jsonrpc: "2.0", id: 7, result: {} },
    differs: {},
  },
];

/** The document's table of errors: what is sent, the id and code of the answer, and for MCP's own the message. */
const ERRORS: [
  name: string,
  line: string,
  id: number | null,
  code: number,
  message?: string,
][] = [
  ["invalid JSON in the envelope", '{"jsonrpc":', null, -32700],
  ["jsonrpc is not 2.0", '{"jsonrpc":"1.0","id":8,"method":"ping"}', 8, -32600],
  [
    "method not implemented",
    '{"jsonrpc":"2.0","id":9,"method":"foo"}',
    9,
    -32601,
    "method not found: foo",
  ],
  [
    "params did not unmarshal into the expected shape",
    '{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":7}}',
    10,
    -32602,
  ],
  [
    "tool name is not registered",
    '{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"nope"}}',
    11,
    -32000,
    "unknown tool: nope",
  ],
];

Deno.test("every request of the first document gets the document's answer", async (t) => {
  await using server = await Server.start();
  for (const { name, send, seed, differs } of STEPS) {
    await t.step(name, async () => {
      const before = server.messages.length;
      await server.send(send);
      const answer = await server.find(
        (message) =>
          server.messages.indexOf(message) >= before && message.id === send.id,
        name,
      );
      if (send.method === "tools/list") {
        assertToolsMatch(answer.result.tools, (seed as Message).result.tools);
        return;
      }
      const unlisted = differences(seed, answer).filter((path) =>
        !(path in differs)
      );
      assertEquals(unlisted, [], JSON.stringify(answer));
    });
    if (send.method === "initialize") {
      await server.send({
        jsonrpc: "2.0",
        method: "notifications/initialized",
      });
    }
  }
  for (const [name, line, id, code, message] of ERRORS) {
    await t.step(name, async () => {
      const before = server.messages.length;
      await server.send(line);
      const { error } = await server.find(
        (message) =>
          server.messages.indexOf(message) >= before && message.id === id,
        `an error for ${line}`,
      );
      assertEquals(error?.code, code);
      if (message !== undefined) assertEquals(error?.message, message);
    });
  }
  await t.step(
    "the loop goes on after shutdown until the input ends",
    async () => {
      assertEquals((await server.request("ping")).result, {});
      await server.closeInput();
      assertEquals((await server.exit()).code, 0);
    },
  );
});

Deno.test("ROUSSEAU_LOG_LEVEL=debug logs every envelope on standard error", async () => {
  await using server = await Server.open({
    env: { ROUSSEAU_LOG_LEVEL: "debug" },
  });
  await server.request("ping");
  await server.call("read", { path: "missing" });
  await server.close();
  for (const seen of ["initialize", "ping", "tools/call", "missing"]) {
    assertEquals(server.stderr.includes(seen), true, seen);
  }
});

Deno.test("log.level and log.format in the configuration file do the same", async () => {
  await using folders = await Folders.make();
  const config = `${folders.base}/config.yaml`;
  await Deno.writeTextFile(config, "log:\n  level: debug\n  format: json\n");
  await using server = await Server.open({
    folders,
    args: ["mcp", "--root", folders.root, "--config", config],
  });
  await server.request("ping");
  await server.close();
  const records = server.stderr.trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  assertEquals(
    records.some((record) => JSON.stringify(record).includes("ping")),
    true,
  );
});

Deno.test("rousseau mcp </dev/null ends with 0 and says nothing", async () => {
  await using folders = await Folders.make();
  const { code, stdout, stderr } = await run(folders, [
    "mcp",
    "--root",
    folders.root,
  ]);
  assertEquals({ code, stdout, stderr }, { code: 0, stdout: "", stderr: "" });
});

/** The document shows descriptions and schemas abbreviated: ours must hold what it shows, in its order. */
function assertToolsMatch(
  ours: { name: string; inputSchema: Schema; description: string }[],
  seeds: { name: string; inputSchema: Schema }[],
): void {
  const names = ours.map((tool) => tool.name);
  const positions = seeds.map((tool) => names.indexOf(tool.name));
  assertEquals(positions, [...positions].sort((a, b) => a - b), "order");
  for (const seed of seeds) {
    const tool = ours.find(({ name }) => name === seed.name);
    assertEquals(tool?.inputSchema.type, "object");
    assertEquals(tool?.inputSchema.required, seed.inputSchema.required);
    for (
      const [name, property] of Object.entries(seed.inputSchema.properties)
    ) {
      assertEquals(tool?.inputSchema.properties[name]?.type, property.type);
    }
    assertEquals(typeof tool?.description, "string");
  }
  assertEquals(
    ["read", "write", "edit", "grep", "bash"].every((name) =>
      names.includes(name)
    ),
    true,
  );
}

interface Schema {
  type: string;
  properties: Record<string, { type: string }>;
  required?: string[];
}
