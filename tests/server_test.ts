import {
  assertEquals,
  assertGreater,
  assertLess,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { type AnyCommand, command, CommandError } from "../lib/command.ts";
import type { CommandContext } from "../lib/command.ts";
import type { CallEnd, CallStart } from "../lib/hooks.ts";
import { MAX_CONCURRENT } from "../lib/inflight.ts";
import type { Logger } from "../lib/log.ts";
import { HANDSHAKE_REVISIONS, type JsonObject } from "../lib/mcp.ts";
import { RpcError } from "../lib/rpc.ts";
import { McpServer, type ServerOptions } from "../lib/server.ts";
import { MAX_ANSWER_BYTES } from "../lib/answers.ts";
import { PROGRESS_BURST } from "../lib/context.ts";
import { MemoryClient } from "./fixtures/memory_client.ts";

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

function tool(
  name: string,
  run: AnyCommand["run"],
  input?: AnyCommand["input"],
): AnyCommand {
  return {
    name,
    summary: `The tool ${name}`,
    tool: { name, annotations },
    ...(input ? { input } : {}),
    run: run!,
  };
}

/** A logger that keeps what it is told. */
function memoryLogger(
  debug = false,
): Logger & { events: [string, string, unknown][] } {
  const events: [string, string, unknown][] = [];
  const at = (level: string) => (event: string, fields?: unknown) => {
    events.push([level, event, fields]);
  };
  return {
    events,
    enabled: (level) => debug || level !== "debug",
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    flush: () => Promise.resolve(),
  };
}

const echo = command({
  name: "echo",
  summary: "Echo a message",
  input: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
    additionalProperties: false,
  },
  positionals: ["message"],
  tool: { name: "echo", annotations },
  run: ({ message }) => message,
});

function serverOf(
  commands: AnyCommand[],
  options: Partial<ServerOptions> = {},
): McpServer {
  const server = new McpServer({ name: "test", version: "9.9.9", ...options });
  for (const each of commands) server.register(each);
  return server;
}

/** Runs `fn` with an initialized client, and checks that nothing unexpected was left to say. */
async function connected(
  server: McpServer,
  fn: (client: MemoryClient) => Promise<void>,
  revision?: string,
): Promise<void> {
  const client = new MemoryClient(server);
  await client.initialize(revision);
  await fn(client);
  assertEquals(await client.close(), []);
}

Deno.test("initialize tells the revision, capabilities, server and instructions", async () => {
  const client = new MemoryClient(
    serverOf([echo], { title: "Test", instructions: "Be kind" }),
  );
  assertEquals(
    await client.result("initialize", { protocolVersion: "2024-11-05" }),
    {
      protocolVersion: "2024-11-05",
      capabilities: {
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: false },
        prompts: { listChanged: false },
        logging: {},
      },
      serverInfo: { name: "test", version: "9.9.9", title: "Test" },
      instructions: "Be kind",
    },
  );
  await client.close();
});

Deno.test("each handshake revision is agreed on, and any other answered with the newest", async () => {
  for (const revision of HANDSHAKE_REVISIONS) {
    await connected(serverOf([]), async (client) => {
      assertEquals(
        (await client.result("initialize", { protocolVersion: revision }))
          .protocolVersion,
        revision,
      );
    });
  }
  for (const revision of ["1999-01-01", "2026-07-28", "", "__proto__"]) {
    await connected(serverOf([]), async (client) => {
      assertEquals(
        (await client.result("initialize", { protocolVersion: revision }))
          .protocolVersion,
        "2025-11-25",
      );
    });
  }
});

Deno.test("initialize without a protocolVersion is -32602", async () => {
  const client = new MemoryClient(serverOf([]));
  for (const params of [undefined, {}, { protocolVersion: 5 }, [], "x"]) {
    assertEquals(
      (await client.request("initialize", params)).error.code,
      -32602,
    );
  }
  assertEquals((await client.request("tools/list")).error.code, -32600);
  await client.close();
});

Deno.test("J16: before initialize, requests but ping are refused and nothing ends", async () => {
  const client = new MemoryClient(serverOf([echo]));
  for (
    const method of [
      "tools/list",
      "tools/call",
      "resources/list",
      "resources/read",
      "resources/templates/list",
      "prompts/list",
      "shutdown",
    ]
  ) {
    assertEquals((await client.request(method)).error, {
      code: -32600,
      message: "server not initialized",
    });
  }
  assertEquals((await client.request("no/such")).error, {
    code: -32601,
    message: "method not found: no/such",
  });
  assertEquals(await client.result("ping"), {});
  await client.initialize();
  assertEquals((await client.result("tools/list")).tools.length, 1);
  assertEquals(await client.close(), []);
});

Deno.test("the first messages may arrive in one write", async () => {
  const client = new MemoryClient(serverOf([echo]));
  await client.send(
    {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-06-18" },
    },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { message: "hi" } },
    },
  );
  const messages = await client.close();
  assertEquals(messages.map((message) => message.id), [0, 1]);
  assertEquals(messages[1].result, { content: [{ type: "text", text: "hi" }] });
});

Deno.test("notifications/initialized with an id is answered, and shutdown does not end the loop", async () => {
  await connected(serverOf([]), async (client) => {
    assertEquals(await client.result("notifications/initialized"), {});
    assertEquals(await client.result("shutdown"), {});
    assertEquals(await client.result("ping"), {});
  });
});

Deno.test("tools/list keeps the order of registration and writes annotations out", async () => {
  const names = ["zeta", "alpha", "10", "2"];
  await connected(
    serverOf(names.map((name) => tool(name, () => ""))),
    async (client) => {
      const { tools } = await client.result("tools/list");
      assertEquals(tools.map((each: JsonObject) => each.name), names);
      assertEquals(tools[0], {
        name: "zeta",
        description: "The tool zeta",
        inputSchema: {
          type: "object",
          properties: {},
          additionalProperties: false,
        },
        annotations,
      });
    },
  );
});

Deno.test("a cursor that no list gave is -32602", async () => {
  await connected(serverOf([echo]), async (client) => {
    for (
      const method of [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
      ]
    ) {
      // "WzAsIngiXQ" is of a provider that there is not.
      for (const cursor of ["bogus", "WzAsMV0", "WzAsIngiXQ", 5]) {
        assertEquals(
          (await client.request(method, { cursor })).error.code,
          -32602,
        );
      }
    }
  });
});

Deno.test("tools/call: a string, blocks and a whole result are results", async () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  await connected(
    serverOf([
      tool("text", () => "plain"),
      tool("blocks", () => Promise.resolve([image])),
      tool("whole", () => ({
        content: "no",
        isError: true,
        meta: { a: 1 },
        exitCode: 3,
      })),
    ]),
    async (client) => {
      assertEquals(await client.result("tools/call", { name: "text" }), {
        content: [{ type: "text", text: "plain" }],
      });
      assertEquals(await client.result("tools/call", { name: "blocks" }), {
        content: [image],
      });
      assertEquals(await client.result("tools/call", { name: "whole" }), {
        content: [{ type: "text", text: "no" }],
        isError: true,
        _meta: { a: 1 },
      });
    },
  );
});

Deno.test("tools/call of an unknown tool is -32000, also under names of Object.prototype", async () => {
  await connected(serverOf([echo]), async (client) => {
    for (const name of ["nope", "__proto__", "constructor", "toString", ""]) {
      assertEquals((await client.request("tools/call", { name })).error, {
        code: -32000,
        message: `unknown tool: ${name}`,
      });
    }
  });
});

Deno.test("params of the wrong shape are -32602", async () => {
  await connected(serverOf([echo]), async (client) => {
    for (
      const params of [
        [],
        "x",
        5,
        undefined,
        {},
        { name: 5 },
        { name: "echo", arguments: [] },
        { name: "echo", arguments: "x" },
        { name: "echo", _meta: 5 },
      ]
    ) {
      assertEquals(
        (await client.request("tools/call", params)).error.code,
        -32602,
      );
    }
    for (const params of [undefined, {}, { uri: 5 }]) {
      assertEquals(
        (await client.request("resources/read", params)).error.code,
        -32602,
      );
    }
    assertEquals((await client.request("ping", [])).error.code, -32602);
  });
});

Deno.test("J25: arguments that fail the schema are a result that names the field", async () => {
  await connected(serverOf([echo]), async (client) => {
    for (const args of [undefined, null, {}, { message: null }]) {
      const result = await client.result("tools/call", {
        name: "echo",
        ...(args === undefined ? {} : { arguments: args }),
      });
      assertEquals(result.isError, true);
      assertStringIncludes(result.content[0].text, "echo: message");
    }
    const wrong = await client.result("tools/call", {
      name: "echo",
      arguments: { message: 5 },
    });
    assertStringIncludes(wrong.content[0].text, "string");
    const unknown = await client.result("tools/call", {
      name: "echo",
      arguments: { message: "a", mesage: "b" },
    });
    assertEquals(unknown.isError, true);
    assertStringIncludes(unknown.content[0].text, "mesage");
  });
});

Deno.test("positional arguments come under an underscore", async () => {
  await connected(serverOf([echo]), async (client) => {
    for (const _ of ["Hello from MCP!", ["Hello from MCP!"]]) {
      assertEquals(
        await client.result("tools/call", { name: "echo", arguments: { _ } }),
        { content: [{ type: "text", text: "Hello from MCP!" }] },
      );
    }
  });
});

Deno.test("a failure of a tool is a result, a protocol failure an error", async () => {
  await connected(
    serverOf([
      tool("fails", () => {
        throw new CommandError("read: open /nope: no such file or directory", {
          notes: ["near: /nape"],
          meta: { code: 2 },
        });
      }),
      tool("throws", () => Promise.reject(new Error("plain"))),
      tool("missing", () => {
        throw new Deno.errors.NotFound("No such file");
      }),
      tool("rpc", () => {
        throw new RpcError(-32021, "needs more", { a: 1 });
      }),
    ]),
    async (client) => {
      assertEquals(await client.result("tools/call", { name: "fails" }), {
        content: [
          { type: "text", text: "read: open /nope: no such file or directory" },
          { type: "text", text: "[rousseau: near: /nape]" },
        ],
        isError: true,
        _meta: { "rousseau/result": { code: 2 } },
      });
      for (
        const [name, text] of [["throws", "plain"], ["missing", "No such file"]]
      ) {
        assertEquals(await client.result("tools/call", { name }), {
          content: [{ type: "text", text }],
          isError: true,
        });
      }
      assertEquals(
        (await client.request("tools/call", { name: "rpc" })).error,
        {
          code: -32021,
          message: "needs more",
          data: { a: 1 },
        },
      );
    },
  );
});

Deno.test("a fault of a tool's code is logged, answered without its insides, and harms no other call", async () => {
  const logger = memoryLogger();
  const cycle: JsonObject = {};
  cycle.self = cycle;
  const faults: Record<string, () => unknown> = {
    type: () => {
      throw new TypeError("secret inside");
    },
    reference: () => {
      throw new ReferenceError("secret inside");
    },
    range: () => {
      throw new RangeError("secret inside");
    },
    string: () => Promise.reject("secret inside"),
    nothing: () => undefined,
    number: () => 5,
    object: () => ({}),
    nulls: () => [null],
    untyped: () => [{ text: "secret inside" }],
    cycle: () => ({ content: "a", meta: cycle }),
    big: () => ({ content: "a", meta: { n: 1n } }),
    hangs: () => new Promise(() => {}),
  };
  const client = new MemoryClient(
    serverOf(
      [
        ...Object.entries(faults).map(([name, run]) =>
          // deno-lint-ignore no-explicit-any
          tool(name, run as any)
        ),
        echo,
      ],
      { logger },
    ),
    { drain: 0 },
  );
  await client.initialize();
  await client.send({
    jsonrpc: "2.0",
    id: "hangs",
    method: "tools/call",
    params: { name: "hangs" },
  });
  for (const name of Object.keys(faults).filter((name) => name !== "hangs")) {
    const { error } = await client.request("tools/call", { name });
    assertEquals(error, { code: -32603, message: "internal error" }, name);
  }
  assertGreater(logger.events.length, 9);
  assertStringIncludes(JSON.stringify(logger.events), "secret inside");
  assertEquals(
    (await client.result("tools/call", {
      name: "echo",
      arguments: { message: "alive" },
    })).content[0].text,
    "alive",
  );
  const [last] = await client.close();
  assertEquals(last.id, "hangs");
  assertStringIncludes(last.error.message, "not done within 0 s");
});

Deno.test("an answer above the limit becomes an error that says so", async () => {
  await connected(
    serverOf([
      tool("huge", () => "x".repeat(MAX_ANSWER_BYTES)),
      tool("wide", () => "€".repeat(MAX_ANSWER_BYTES / 3)),
      tool("fits", () => "x".repeat(MAX_ANSWER_BYTES - 200)),
      {
        name: "r",
        summary: "R",
        resource: { uri: "big:r", mimeType: "text/plain" },
        run: () => "x".repeat(MAX_ANSWER_BYTES),
      },
    ]),
    async (client) => {
      for (const name of ["huge", "wide"]) {
        const result = await client.result("tools/call", { name });
        assertEquals(result.isError, true);
        assertStringIncludes(result.content[0].text, "ask for less");
      }
      const fits = await client.result("tools/call", { name: "fits" });
      assertEquals(fits.isError, undefined);
      assertStringIncludes(
        (await client.request("resources/read", { uri: "big:r" })).error
          .message,
        "ask for less",
      );
    },
  );
});

Deno.test("requests run concurrently, and ping is answered beside them", async () => {
  const gate = Promise.withResolvers<void>();
  let running = 0;
  const client = new MemoryClient(
    serverOf([tool("wait", async () => {
      running++;
      await gate.promise;
      return "done";
    })]),
  );
  await client.initialize();
  const count = MAX_CONCURRENT + 44;
  await client.send(
    ...Array.from({ length: count }, (_, i) => ({
      jsonrpc: "2.0",
      id: `c${i}`,
      method: "tools/call",
      params: { name: "wait" },
    })),
  );
  assertEquals(await client.result("ping"), {});
  assertEquals(running, MAX_CONCURRENT);
  gate.resolve();
  const answers = await client.close();
  assertEquals(new Set(answers.map((answer) => answer.id)).size, count);
  assertEquals(running, count);
});

Deno.test("a cancelled call that waits for its turn never runs, and one that hangs gives its place up", async () => {
  const gate = Promise.withResolvers<void>();
  const ran: string[] = [];
  const client = new MemoryClient(
    serverOf([tool("wait", async ({ key }: { key: string }) => {
      ran.push(key);
      await gate.promise;
      return key;
    }, { type: "object", properties: { key: { type: "string" } } })]),
  );
  await client.initialize();
  const call = (key: string) => ({
    jsonrpc: "2.0",
    id: key,
    method: "tools/call",
    params: { name: "wait", arguments: { key } },
  });
  const cancel = (requestId: string) => ({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId },
  });
  const keys = Array.from({ length: MAX_CONCURRENT }, (_, i) => `k${i}`);
  await client.send(...keys.map(call), call("late"), call("later"));
  await client.send(cancel("late"));
  await client.result("ping");
  assertEquals(ran.includes("later"), false);
  await client.send(cancel("k0"));
  await client.result("ping");
  gate.resolve();
  const answers = await client.close();
  assertEquals(answers.length, MAX_CONCURRENT);
  assertEquals(ran.includes("late"), false);
  assertEquals(ran.includes("later"), true);
  assertEquals(answers.some(({ id }) => id === "k0" || id === "late"), false);
});

Deno.test("J15: an id still in flight is refused, and free again afterwards", async () => {
  const gate = Promise.withResolvers<void>();
  const client = new MemoryClient(
    serverOf([tool("wait", async () => {
      await gate.promise;
      return "done";
    })]),
  );
  await client.initialize();
  const call = {
    jsonrpc: "2.0",
    id: 50,
    method: "tools/call",
    params: { name: "wait" },
  };
  await client.send(call, call, { jsonrpc: "2.0", id: 50, method: "ping" });
  for (let i = 0; i < 2; i++) {
    const { id, error } = await client.next();
    assertEquals([id, error.code], [50, -32600]);
  }
  await client.send({ ...call, id: "50" });
  gate.resolve();
  assertEquals((await client.next()).id, 50);
  assertEquals((await client.next()).id, "50");
  await client.send(call);
  assertEquals((await client.next()).result.content[0].text, "done");
  await client.close();
});

Deno.test("S18: a cancelled call is aborted and never answered", async () => {
  const ended: CallEnd[] = [];
  const aborted = Promise.withResolvers<unknown>();
  let ctx: CommandContext | undefined;
  const server = serverOf([
    tool("wait", (_args: unknown, context: CommandContext) => {
      ctx = context;
      return new Promise((resolve) => {
        context.signal.addEventListener("abort", () => {
          aborted.resolve(context.signal.reason);
          resolve("too late");
        });
      });
    }),
  ], { observer: { started() {}, ended: (call) => ended.push(call) } });
  await connected(server, async (client) => {
    await client.send({
      jsonrpc: "2.0",
      id: 0,
      method: "tools/call",
      params: { name: "wait", _meta: { progressToken: "p" } },
    });
    await client.result("ping");
    await client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 0, reason: "bored" },
    });
    assertStringIncludes(String(await aborted.promise), "bored");
    ctx!.progress(1);
    ctx!.log("error", "too late as well");
    assertEquals(await client.result("ping"), {});
  });
  assertEquals(ended.length, 1);
  assertEquals(ended[0]!.result, undefined);
});

Deno.test("cancelled for what is finished, unknown or malformed changes nothing", async () => {
  let signal: AbortSignal | undefined;
  await connected(
    serverOf([tool("job", (_args: unknown, ctx: CommandContext) => {
      signal = ctx.signal;
      return "started";
    })]),
    async (client) => {
      const { id } = await client.request("tools/call", { name: "job" });
      for (
        const params of [{ requestId: id }, { requestId: 77 }, {}, null, [], {
          requestId: {},
        }]
      ) {
        await client.send({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params,
        });
      }
      assertEquals(await client.result("ping"), {});
      assertEquals(signal!.aborted, false);
    },
  );
});

Deno.test("J09, J10: a notification is never answered nor executed, whatever its method", async () => {
  let calls = 0;
  await connected(
    serverOf([tool("count", () => `${++calls}`)]),
    async (client) => {
      for (
        const method of [
          "notifications/x",
          "notifications/initialized",
          "tools/call",
          "initialize",
          "ping",
          "no/such",
        ]
      ) {
        await client.send({
          jsonrpc: "2.0",
          method,
          params: { name: "count" },
        });
        await client.send({ jsonrpc: "2.0", method });
      }
      assertEquals(await client.result("ping"), {});
    },
  );
  assertEquals(calls, 0);
});

Deno.test("errors without a usable id carry null up to 2025-06-18, and no id from 2025-11-25 on", async () => {
  const client = new MemoryClient(serverOf([]));
  await client.raw("{oops\n");
  assertEquals((await client.next()).id, null);
  for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18"]) {
    await client.initialize(revision);
    await client.raw("{oops\n");
    const answer = await client.next();
    assertEquals([answer.id, answer.error.code], [null, -32700]);
  }
  await client.initialize("2025-11-25");
  await client.raw("{oops\n[]\n1\n");
  for (const code of [-32700, -32600, -32600]) {
    const answer = await client.next();
    assertEquals([Object.hasOwn(answer, "id"), answer.error.code], [
      false,
      code,
    ]);
  }
  await client.close();
});

Deno.test("J08: a batch is one -32600 that says so, except under 2025-03-26", async () => {
  const batch = [
    { jsonrpc: "2.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", id: 2, method: "ping" },
  ];
  for (const revision of HANDSHAKE_REVISIONS) {
    await connected(serverOf([]), async (client) => {
      await client.send(batch);
      const answer = await client.next();
      if (revision === "2025-03-26") {
        assertEquals(
          answer,
          batch.map(({ id }) => ({ jsonrpc: "2.0", id, result: {} })),
        );
      } else {
        assertEquals(answer.error.code, -32600);
        assertStringIncludes(answer.error.message, "batches");
      }
    }, revision);
  }
});

Deno.test("under 2025-03-26 a batch is answered as one array, without the cancelled and the notifications", async () => {
  const gate = Promise.withResolvers<void>();
  await connected(
    serverOf([
      echo,
      tool("wait", async () => {
        await gate.promise;
        return "done";
      }),
    ]),
    async (client) => {
      await client.send([]);
      assertEquals((await client.next()).error.code, -32600);
      await client.send([
        { jsonrpc: "2.0", method: "notifications/x" },
        {
          jsonrpc: "2.0",
          id: "a",
          method: "tools/call",
          params: { name: "wait" },
        },
        {
          jsonrpc: "2.0",
          id: "b",
          method: "tools/call",
          params: { name: "wait" },
        },
        {
          jsonrpc: "2.0",
          id: 3,
          method: "initialize",
          params: { protocolVersion: "2024-11-05" },
        },
        { jsonrpc: "2.0", id: 4, method: "ping" },
        5,
      ]);
      await client.send({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: "a" },
      });
      assertEquals(await client.result("ping"), {});
      gate.resolve();
      const answers = await client.next();
      assertEquals(
        answers.map((answer: JsonObject) => [
          answer.id,
          (answer.error as JsonObject)?.code,
        ]),
        [[3, -32600], [4, undefined], [null, -32600], ["b", undefined]],
      );
      await client.send([{ jsonrpc: "2.0", method: "notifications/x" }]);
      assertEquals(await client.result("ping"), {});
    },
    "2025-03-26",
  );
});

Deno.test("resources: a fixed one, a template with percent-decoded values, and none", async () => {
  const version: AnyCommand = {
    name: "version",
    summary: "The version",
    resource: { uri: "version", mimeType: "text/plain" },
    run: () => "1.0",
  };
  const item: AnyCommand = {
    name: "item",
    summary: "An item",
    description: "One item by id",
    resource: {
      uri: "test://item/{id}/data",
      title: "Item",
      mimeType: "application/json",
    },
    input: {
      type: "object",
      properties: { id: { type: "string" } },
      required: ["id"],
    },
    run: ({ id }: { id: string }) => JSON.stringify({ id }),
  };
  await connected(serverOf([version, item, echo]), async (client) => {
    assertEquals(await client.result("resources/list"), {
      resources: [{
        uri: "version",
        name: "version",
        description: "The version",
        mimeType: "text/plain",
      }],
    });
    assertEquals(await client.result("resources/templates/list"), {
      resourceTemplates: [{
        uriTemplate: "test://item/{id}/data",
        name: "item",
        title: "Item",
        description: "One item by id",
        mimeType: "application/json",
      }],
    });
    assertEquals(await client.result("resources/read", { uri: "version" }), {
      contents: [{ uri: "version", mimeType: "text/plain", text: "1.0" }],
    });
    assertEquals(
      await client.result("resources/read", {
        uri: "test://item/a%2Fb%20c/data",
      }),
      {
        contents: [{
          uri: "test://item/a%2Fb%20c/data",
          mimeType: "application/json",
          text: '{"id":"a/b c"}',
        }],
      },
    );
    for (
      const uri of [
        "test://item//data",
        "test://item/a/b/data",
        "test://item/%ff/data",
        "nope",
        "",
        "__proto__",
      ]
    ) {
      assertEquals((await client.request("resources/read", { uri })).error, {
        code: -32002,
        message: `resource not found: ${uri}`,
        data: { uri },
      });
    }
    assertEquals((await client.result("tools/list")).tools.length, 1);
  });
});

Deno.test("resource providers are listed page by page after the commands, and read in order", async () => {
  const pages: Record<string, { items: string[]; next?: string }> = {
    start: { items: ["a:1", "a:2"], next: "x" },
    x: { items: ["a:3"] },
  };
  const definition = (uri: string) => ({ uri, name: uri });
  const server = serverOf([], {
    resources: [
      {
        list: (cursor) => {
          const page = pages[cursor ?? "start"]!;
          return Promise.resolve({
            ...page,
            items: page.items.map(definition),
          });
        },
        templates: () => [{ uriTemplate: "a:{id}", name: "a" }],
        read: (uri) =>
          Promise.resolve(
            uri.startsWith("a:") ? [{ uri, text: "A" }] : undefined,
          ),
      },
      {
        list: () => Promise.resolve({ items: [definition("b:1")] }),
        templates: () => [],
        read: (uri) =>
          uri === "b:bad"
            ? Promise.reject(new CommandError("The store is closed"))
            : Promise.resolve(uri === "b:1" ? [{ uri, text: "B" }] : undefined),
      },
    ],
  });
  await connected(server, async (client) => {
    const first = await client.result("resources/list");
    assertEquals(first.resources, ["a:1", "a:2"].map(definition));
    const second = await client.result("resources/list", {
      cursor: first.nextCursor,
    });
    assertEquals(second, { resources: ["a:3", "b:1"].map(definition) });
    assertEquals(
      (await client.result("resources/templates/list")).resourceTemplates
        .length,
      1,
    );
    assertEquals(
      (await client.result("resources/read", { uri: "b:1" })).contents[0].text,
      "B",
    );
    assertEquals(
      (await client.request("resources/read", { uri: "b:bad" })).error,
      {
        code: -32603,
        message: "The store is closed",
      },
    );
    assertEquals(
      (await client.request("resources/read", { uri: "c" })).error.code,
      -32002,
    );
  });
});

Deno.test("registering refuses duplicates, bad names, and what is neither tool nor resource", () => {
  const server = serverOf([echo]);
  const cases: [Partial<AnyCommand>, string][] = [
    [{ tool: { name: "echo", annotations } }, "registered already"],
    [{ tool: { name: "", annotations } }, "1 to 128"],
    [{ tool: { name: "a b", annotations } }, "1 to 128"],
    [{ tool: { name: "a".repeat(129), annotations } }, "1 to 128"],
    [{ resource: { uri: "", mimeType: "a/b" } }, "empty"],
    [{ resource: { uri: "x:{a}{b}", mimeType: "a/b" } }, "text between"],
    [{ resource: { uri: "x:{+a}", mimeType: "a/b" } }, "with text between"],
    [{}, "either a tool or a resource"],
    [{
      tool: { name: "a", annotations },
      resource: { uri: "x", mimeType: "a/b" },
    }, "either"],
  ];
  for (const [part, message] of cases) {
    assertThrows(
      () =>
        server.register({ name: "x", summary: "X", run: () => "", ...part }),
      TypeError,
      message,
    );
  }
  assertThrows(
    () =>
      server.register({
        name: "x",
        summary: "X",
        tool: { name: "x", annotations },
      }),
    TypeError,
    "no handler",
  );
  server.register(tool("a".repeat(128), () => ""));
});

Deno.test("one table is served on several connections at once, each with its own state", async () => {
  const server = serverOf([echo]);
  const [a, b] = [new MemoryClient(server), new MemoryClient(server)];
  await a.initialize("2024-11-05");
  assertEquals((await b.request("tools/list")).error.code, -32600);
  await b.initialize("2025-06-18");
  for (const client of [a, b]) {
    assertEquals((await client.result("tools/list")).tools.length, 1);
  }
  await Promise.all([a.close(), b.close()]);
});

Deno.test("the end of input waits for what was asked, then aborts it, and answers it in any case", async () => {
  let hooked = 0;
  const server = serverOf([
    tool("slow", async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      return "finished";
    }),
    tool(
      "polite",
      (_args: unknown, { signal }: CommandContext) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve("stopped early"))
        ),
    ),
  ], { onEndOfInput: () => hooked++ });
  const call = (id: number, name: string) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name },
  });
  const patient = new MemoryClient(server);
  await patient.initialize();
  await patient.send(call(1, "slow"));
  assertEquals((await patient.close())[0].result.content[0].text, "finished");
  const hasty = new MemoryClient(server, { drain: 20 });
  await hasty.initialize();
  await hasty.send(call(1, "polite"));
  assertEquals(
    (await hasty.close())[0].result.content[0].text,
    "stopped early",
  );
  assertEquals(hooked, 2);
});

Deno.test("an aborted serve ends at once and answers nothing more", async () => {
  const stop = new AbortController();
  let aborted = false;
  const client = new MemoryClient(
    serverOf([
      tool(
        "wait",
        (_args: unknown, { signal }: CommandContext) =>
          new Promise(() =>
            signal.addEventListener("abort", () => aborted = true)
          ),
      ),
    ]),
    { signal: stop.signal },
  );
  await client.initialize();
  await client.send({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "wait" },
  });
  assertEquals((await client.request("ping")).result, {});
  const startedAt = performance.now();
  stop.abort();
  await client.served;
  assertLess(performance.now() - startedAt, 500);
  assertEquals(aborted, true);
  assertEquals(await client.next(), undefined);
});

Deno.test("J18: a closed output ends the connection quietly and aborts what runs", async () => {
  const logger = memoryLogger();
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const server = serverOf([
    tool("wait", (_args: unknown, { signal }: CommandContext) => {
      started.resolve();
      return new Promise(() =>
        signal.addEventListener("abort", () => aborted.resolve())
      );
    }),
  ], { logger });
  let isClosed = false;
  const served = server.serve(
    input.readable,
    new WritableStream({
      write: () =>
        isClosed
          ? Promise.reject(new Deno.errors.BrokenPipe("gone"))
          : Promise.resolve(),
    }),
  );
  const writer = input.writable.getWriter();
  writer.closed.catch(() => {});
  const say = (line: string) =>
    writer.write(new TextEncoder().encode(`${line}\n`));
  await say(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
  );
  await say(
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}',
  );
  await started.promise;
  isClosed = true;
  await say('{"jsonrpc":"2.0","id":3,"method":"ping"}');
  await served;
  await aborted.promise;
  assertEquals(logger.events, []);
});

Deno.test("a call that is cancelled before its handler has begun never begins", async () => {
  let ran = false;
  await connected(
    serverOf([tool("effect", () => {
      ran = true;
      return "";
    })]),
    async (client) => {
      await client.send(
        {
          jsonrpc: "2.0",
          id: "e",
          method: "tools/call",
          params: { name: "effect" },
        },
        {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: "e" },
        },
      );
      assertEquals(await client.result("ping"), {});
    },
  );
  assertEquals(ran, false);
});

Deno.test("progress goes to the token given, rises, is limited in rate, and ends with the answer", async () => {
  let late: (() => void) | undefined;
  const server = serverOf([
    tool("work", (_args: unknown, ctx: CommandContext) => {
      late = () => ctx.progress(1e9);
      ctx.progress(1, 10, "one");
      ctx.progress(1);
      ctx.progress(0.5);
      ctx.progress(NaN);
      for (let i = 2; i <= 1000; i++) ctx.progress(i);
      return "done";
    }),
  ]);
  for (const progressToken of [7, "seven", 0, ""]) {
    await connected(server, async (client) => {
      const seen: number[] = [];
      let message = await client.request("tools/call", {
        name: "work",
        _meta: { progressToken },
      });
      assertEquals(message, {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken, progress: 1, total: 10, message: "one" },
      });
      while (message.method) {
        seen.push(message.params.progress);
        message = await client.next();
      }
      assertEquals(message.result.content[0].text, "done");
      assertEquals(seen, [...new Set(seen)].toSorted((a, b) => a - b));
      assertEquals(seen.at(-1), 1000);
      assertLess(seen.length, PROGRESS_BURST + 5);
      late!();
      assertEquals(await client.result("ping"), {});
    });
  }
  await connected(server, async (client) => {
    assertEquals(
      (await client.result("tools/call", { name: "work" })).content[0].text,
      "done",
    );
    const fractional = { name: "work", _meta: { progressToken: 1.5 } };
    assertEquals(
      (await client.result("tools/call", fractional)).content[0].text,
      "done",
    );
  });
});

Deno.test("a handler learns who asks, and what the program adds to its context", async () => {
  const server = serverOf([
    tool(
      "who",
      (_args: unknown, ctx: CommandContext & { extra?: string }) =>
        JSON.stringify([ctx.client, ctx.meta, ctx.extra]),
    ),
  ], { extend: (base) => ({ ...base, extra: "added" }) as CommandContext });
  const client = new MemoryClient(server);
  await client.initialize("2025-06-18", { roots: {} });
  const { content } = await client.result("tools/call", {
    name: "who",
    _meta: { threadId: "t" },
  });
  assertEquals(JSON.parse(content[0].text), [
    {
      name: "memory-client",
      version: "1.2.3",
      revision: "2025-06-18",
      capabilities: { roots: {} },
    },
    { threadId: "t" },
    "added",
  ]);
  await client.close();
});

Deno.test("the observer hears of every call once, and its own faults stay its own", async () => {
  const logger = memoryLogger();
  const started: CallStart[] = [];
  const ended: CallEnd[] = [];
  const server = serverOf([echo], {
    logger,
    observer: {
      started(call) {
        started.push(call);
        throw new Error("observer broke");
      },
      ended: (call) => void ended.push(call),
    },
  });
  await connected(server, async (client) => {
    await client.result("tools/call", {
      name: "echo",
      arguments: { message: "a" },
    });
    await client.result("tools/call", { name: "echo" });
    await client.request("tools/call", { name: "nope" });
  });
  assertEquals(started.map((call) => [call.tool, call.arguments]), [
    ["echo", { message: "a" }],
    ["echo", {}],
  ]);
  assertEquals(ended.map((call) => call.result?.isError), [undefined, true]);
  assertEquals(ended[0]!.callId, started[0]!.callId);
  assertEquals(started[0]!.connectionId, started[1]!.connectionId);
  assertEquals(logger.events.map(([, event]) => event), [
    "observer.failed",
    "observer.failed",
  ]);
});

Deno.test("every envelope is logged at debug level", async () => {
  const logger = memoryLogger(true);
  await connected(serverOf([], { logger }), async (client) => {
    await client.result("ping");
  });
  const lines = logger.events.map(([level, event, fields]) => [
    level,
    event,
    (fields as { message: string }).message,
  ]);
  assertEquals(lines.slice(-2), [
    ["debug", "rpc.received", '{"jsonrpc":"2.0","id":2,"method":"ping"}'],
    ["debug", "rpc.sent", '{"jsonrpc":"2.0","id":2,"result":{}}'],
  ]);
  assertEquals(lines.length, 5);
});

Deno.test("the server's code does not know of scope, store and tools", async () => {
  for (
    const module of [
      "server",
      "connection",
      "calls",
      "core",
      "exchange",
      "methods",
      "stdio",
    ]
  ) {
    const text = await Deno.readTextFile(
      new URL(`../lib/${module}.ts`, import.meta.url),
    );
    assertMatch(
      text,
      /^(?![\s\S]*from "\.\/(scope|store|tools|files|config)\.ts")/,
    );
  }
});

Deno.test("what initialize does not need is waited for by everything else", async () => {
  const initialize =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}';
  const ping = '{"jsonrpc":"2.0","id":2,"method":"ping"}';
  const cases: [string[], string][] = [
    [[`${initialize}\n`], "1|"],
    [[`${initialize}\n`, `${ping}\n`], "1|2"],
    [[`${initialize}\n${ping}\n`], "1|2"],
    [[initialize.slice(0, 30), `${initialize.slice(30)}\n${ping}`], "1|2"],
    [[`${ping}\n`, `${initialize}\n`], "|21"],
    [["{\n", `${initialize}\n`], "|null1"],
    [[], ""],
  ];
  for (const [chunks, expected] of cases) {
    let seen = "";
    await serverOf([]).serve(
      ReadableStream.from(chunks.map((text) => new TextEncoder().encode(text))),
      new WritableStream({
        write(bytes) {
          for (
            const line of new TextDecoder().decode(bytes).trim().split("\n")
          ) {
            seen += `${JSON.parse(line).id}`;
          }
        },
      }),
      {
        async complete() {
          await new Promise((resolve) => setTimeout(resolve));
          seen += "|";
        },
      },
    );
    assertEquals(seen, expected);
  }
});

Deno.test("a server that cannot be completed logs it and ends", async () => {
  const logger = memoryLogger();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const served = serverOf([echo], { logger }).serve(
    new Blob(['{"jsonrpc":"2.0","id":1,"method":"ping"}\n']).stream(),
    writable,
    { complete: () => Promise.reject(new Error("no parts")) },
  );
  assertEquals(await new Response(readable).text(), "");
  await served;
  assertEquals(logger.events, [
    ["warn", "input.failed", { error: "Error: no parts" }],
  ]);
});

Deno.test("a server that is told its client was greeted takes the first initialize in and answers what follows", async () => {
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}',
  ];
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const answers = new Response(readable).text();
  await new McpServer({ name: "test", version: "1" }).serve(
    new Blob([lines.join("\n")]).stream(),
    writable,
    { greeted: true },
  );
  assertEquals(
    (await answers).trimEnd().split("\n").map((line) => JSON.parse(line).id),
    [2, 3],
  );
});
