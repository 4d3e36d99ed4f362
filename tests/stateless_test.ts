import { assertEquals, assertStringIncludes } from "@std/assert";
import type { AnyCommand, CommandContext } from "../lib/command.ts";
import { McpServer } from "../lib/server.ts";
import { MAX_LISTENING, MAX_SUBSCRIPTIONS } from "../lib/subscriptions.ts";
import { MemoryClient, type Received } from "./fixtures/memory_client.ts";

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const INFO = "io.modelcontextprotocol/clientInfo";
const LEVEL = "io.modelcontextprotocol/logLevel";
const SERVER = "io.modelcontextprotocol/serverInfo";
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

/** The envelope of a request of 2026-07-28. */
function envelope(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { [VERSION]: "2026-07-28", [CAPABILITIES]: {}, ...more };
}

const serverInfo = { name: "test", version: "9.9.9" };

function makeServer(): McpServer {
  const server = new McpServer({
    ...serverInfo,
    instructions: "Be kind",
    resources: [{
      list: () => Promise.resolve({ items: [{ uri: "a:1", name: "one" }] }),
      templates: () => [{ uriTemplate: "a:{id}", name: "a" }],
      read: (uri) =>
        Promise.resolve(
          uri.startsWith("a:") ? [{ uri, text: "A" }] : undefined,
        ),
    }],
  });
  const commands: AnyCommand[] = [
    {
      name: "who",
      summary: "Who asks",
      tool: { name: "who", annotations },
      run: (_args: unknown, ctx: CommandContext) => {
        ctx.log("debug", "fine");
        ctx.log("warning", "careful", { n: 1 });
        return JSON.stringify(ctx.client);
      },
    },
    {
      name: "wait",
      summary: "Wait",
      tool: { name: "wait", annotations },
      run: (_args: unknown, { signal, progress }: CommandContext) => {
        progress(1, 2);
        return new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve("aborted"))
        );
      },
    },
  ];
  for (const each of commands) server.register(each);
  return server;
}

async function withClient(
  fn: (client: MemoryClient, server: McpServer) => Promise<void>,
): Promise<void> {
  const server = makeServer();
  const client = new MemoryClient(server);
  await fn(client, server);
  assertEquals(await client.close(), []);
}

Deno.test("server/discover is answered before, between and after initialize", async () => {
  await withClient(async (client) => {
    const discover = async () =>
      assertEquals(
        await client.result("server/discover", { _meta: envelope() }),
        {
          resultType: "complete",
          supportedVersions: ["2026-07-28"],
          capabilities: {
            tools: { listChanged: false },
            resources: { subscribe: true, listChanged: true },
            prompts: { listChanged: false },
            logging: {},
            completions: {},
          },
          instructions: "Be kind",
          ttlMs: 3600000,
          cacheScope: "public",
          _meta: { [SERVER]: serverInfo },
        },
      );
    await discover();
    await discover();
    await client.initialize();
    await discover();
    assertEquals((await client.result("tools/list")).resultType, undefined);
  });
});

Deno.test("an incomplete envelope is -32602, a revision that is not spoken -32022", async () => {
  await withClient(async (client) => {
    for (
      const params of [
        undefined,
        {},
        { _meta: {} },
        { _meta: { [VERSION]: "2026-07-28" } },
        { _meta: { [VERSION]: 5, [CAPABILITIES]: {} } },
        { _meta: { [VERSION]: "2026-07-28", [CAPABILITIES]: [] } },
        { _meta: { [CAPABILITIES]: {} } },
      ]
    ) {
      assertEquals(
        (await client.request("server/discover", params)).error.code,
        -32602,
      );
    }
    for (const method of ["server/discover", "tools/list", "tools/call"]) {
      const { error } = await client.request(method, {
        _meta: envelope({ [VERSION]: "1900-01-01" }),
      });
      assertEquals([error.code, error.data], [-32022, {
        supported: ["2026-07-28"],
        requested: "1900-01-01",
      }]);
    }
    assertEquals(
      (await client.request("tools/list", { _meta: { [CAPABILITIES]: {} } }))
        .error.code,
      -32602,
    );
  });
});

Deno.test("what 2026-07-28 removed is -32601 under its envelope, initialized or not", async () => {
  await withClient(async (client) => {
    for (let round = 0; round < 2; round++) {
      for (
        const method of [
          "initialize",
          "notifications/initialized",
          "ping",
          "shutdown",
          "logging/setLevel",
          "resources/subscribe",
          "resources/unsubscribe",
          "tasks/get",
          "no/such",
        ]
      ) {
        assertEquals(
          (await client.request(method, { _meta: envelope() })).error,
          { code: -32601, message: `method not found: ${method}` },
        );
      }
      await client.initialize();
    }
    assertEquals(
      (await client.request("subscriptions/listen")).error.code,
      -32602,
    );
  });
});

Deno.test("results of every method have the type, the server and, where asked for, the cache hints", async () => {
  await withClient(async (client) => {
    const hints: [string, Record<string, unknown>, unknown][] = [
      ["tools/list", {}, "public"],
      ["prompts/list", {}, "public"],
      ["resources/templates/list", {}, "public"],
      ["resources/list", {}, "private"],
      ["resources/read", { uri: "a:1" }, "private"],
      ["tools/call", { name: "who" }, undefined],
      ["completion/complete", {
        ref: { type: "ref/resource", uri: "a:{id}" },
        argument: { name: "id", value: "" },
      }, undefined],
    ];
    for (const [method, params, scope] of hints) {
      const result = await client.result(method, {
        ...params,
        _meta: envelope(),
      });
      assertEquals(result.resultType, "complete");
      assertEquals(result._meta[SERVER], serverInfo);
      assertEquals(result.cacheScope, scope, method);
      assertEquals(typeof result.ttlMs, scope ? "number" : "undefined");
    }
  });
});

Deno.test("unknown tools and resources are -32602 in 2026-07-28", async () => {
  await withClient(async (client) => {
    const unknown = await client.request("tools/call", {
      name: "nope",
      _meta: envelope(),
    });
    assertEquals([unknown.error.code, unknown.error.message], [
      -32602,
      "Unknown tool: nope",
    ]);
    const missing = await client.request("resources/read", {
      uri: "b:1",
      _meta: envelope(),
    });
    assertEquals([missing.error.code, missing.error.data], [-32602, {
      uri: "b:1",
    }]);
  });
});

Deno.test("the caller of a stateless request is what its envelope says, and nothing else", async () => {
  await withClient(async (client) => {
    await client.initialize("2025-06-18", { roots: {} });
    const call = async (meta: Record<string, unknown>) =>
      JSON.parse(
        (await client.result("tools/call", { name: "who", _meta: meta }))
          .content[0].text,
      );
    assertEquals(await call(envelope()), {
      revision: "2026-07-28",
      capabilities: {},
    });
    assertEquals(
      await call(envelope({
        [CAPABILITIES]: { sampling: {} },
        [INFO]: { name: "n", version: "1", extra: 5 },
      })),
      {
        name: "n",
        version: "1",
        revision: "2026-07-28",
        capabilities: { sampling: {} },
      },
    );
  });
});

Deno.test("log messages follow the level of each request", async () => {
  await withClient(async (client) => {
    const call = { name: "who", _meta: envelope({ [LEVEL]: "warning" }) };
    assertEquals(await client.request("tools/call", call), {
      jsonrpc: "2.0",
      method: "notifications/message",
      params: {
        level: "warning",
        logger: "test",
        data: { message: "careful", n: 1 },
      },
    });
    await client.next();
    await client.result("tools/call", {
      name: "who",
      _meta: envelope({ [LEVEL]: "bogus" }),
    });
  });
});

Deno.test("a cancelled stateless call says nothing more", async () => {
  await withClient(async (client) => {
    await client.send({
      jsonrpc: "2.0",
      id: 0,
      method: "tools/call",
      params: { name: "wait", _meta: envelope({ progressToken: "t" }) },
    });
    assertEquals((await client.next()).method, "notifications/progress");
    await client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 0 },
    });
    await client.result("tools/list", { _meta: envelope() });
  });
});

Deno.test("subscriptions/listen acknowledges, tells of what was asked for only, and ends by cancellation", async () => {
  await withClient(async (client, server) => {
    const listen = (id: unknown, notifications: unknown) =>
      client.send({
        jsonrpc: "2.0",
        id,
        method: "subscriptions/listen",
        params: { notifications, _meta: envelope() },
      });
    await listen("l1", {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ["a:1", "a:2"],
    });
    assertEquals(await client.next(), {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: {
          resourcesListChanged: true,
          resourceSubscriptions: ["a:1", "a:2"],
        },
        _meta: { [SUBSCRIPTION]: "l1" },
      },
    });
    await listen(0, { resourceSubscriptions: ["a:3"] });
    assertEquals((await client.next()).params._meta, { [SUBSCRIPTION]: 0 });
    server.resourceUpdated("a:2");
    server.resourceUpdated("a:9");
    server.resourceUpdated("a:3");
    server.resourceListChanged();
    const told = [];
    for (let i = 0; i < 3; i++) {
      const { method, params } = await client.next();
      told.push([method, params.uri, params._meta[SUBSCRIPTION]]);
    }
    assertEquals(told, [
      ["notifications/resources/updated", "a:2", "l1"],
      ["notifications/resources/updated", "a:3", 0],
      ["notifications/resources/list_changed", undefined, "l1"],
    ]);
    for (const requestId of ["l1", 0]) {
      await client.send({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId },
      });
    }
    await client.result("tools/list", { _meta: envelope() });
    server.resourceListChanged();
  });
});

Deno.test("the end of input ends a listening request with its answer", async () => {
  const client = new MemoryClient(makeServer());
  await client.send({
    jsonrpc: "2.0",
    id: 5,
    method: "subscriptions/listen",
    params: { notifications: {}, _meta: envelope() },
  });
  assertEquals((await client.next()).params.notifications, {});
  assertEquals(await client.close(), [{
    jsonrpc: "2.0",
    id: 5,
    result: {
      resultType: "complete",
      _meta: { [SUBSCRIPTION]: 5, [SERVER]: serverInfo },
    },
  }]);
});

Deno.test("subscriptions/listen is bounded, and refuses other shapes", async () => {
  await withClient(async (client) => {
    for (
      const notifications of [
        undefined,
        5,
        [],
        { resourceSubscriptions: "a" },
        { resourceSubscriptions: [5] },
        { resourceSubscriptions: Array(MAX_SUBSCRIPTIONS + 1).fill("a:1") },
        { resourceSubscriptions: ["x".repeat(4097)] },
      ]
    ) {
      const { error } = await client.request("subscriptions/listen", {
        notifications,
        _meta: envelope(),
      });
      assertEquals(error.code, -32602);
    }
  });
});

Deno.test("one connection listens a bounded number of times at once", async () => {
  const client = new MemoryClient(makeServer());
  const listen = (id: number) => ({
    jsonrpc: "2.0",
    id: `l${id}`,
    method: "subscriptions/listen",
    params: { notifications: {}, _meta: envelope() },
  });
  for (let id = 0; id < MAX_LISTENING; id++) {
    await client.send(listen(id));
    assertEquals((await client.next()).params._meta[SUBSCRIPTION], `l${id}`);
  }
  await client.send(listen(MAX_LISTENING));
  assertEquals((await client.next()).error.code, -32602);
  await client.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "l0" },
  });
  await client.result("tools/list", { _meta: envelope() });
  await client.send(listen(MAX_LISTENING));
  assertEquals(
    (await client.next()).params._meta[SUBSCRIPTION],
    `l${MAX_LISTENING}`,
  );
  assertEquals((await client.close()).length, MAX_LISTENING);
});

Deno.test("discover, initialize, listen and calls of both eras mix on one pipe in any order", async () => {
  const id = (message: Received) =>
    message.id ?? message.params._meta?.[SUBSCRIPTION];
  const messages = [
    { id: "d", method: "server/discover", params: { _meta: envelope() } },
    {
      id: "i",
      method: "initialize",
      params: { protocolVersion: "2025-11-25" },
    },
    {
      id: "l",
      method: "subscriptions/listen",
      params: { notifications: {}, _meta: envelope() },
    },
    {
      id: "s",
      method: "tools/call",
      params: { name: "who", _meta: envelope() },
    },
    { id: "d2", method: "server/discover", params: { _meta: envelope() } },
    { id: "p", method: "ping" },
  ].map((message) => ({ jsonrpc: "2.0", ...message }));
  for (let turn = 0; turn < messages.length; turn++) {
    const client = new MemoryClient(makeServer());
    const order = [...messages.slice(turn), ...messages.slice(0, turn)];
    await client.send(...order);
    const said = await client.close();
    assertEquals(said.map(id).toSorted(), ["d", "d2", "i", "l", "l", "p", "s"]);
    for (const message of said) assertEquals(message.error, undefined);
    const called = said.find((message) => message.id === "s");
    assertStringIncludes(called.result.content[0].text, "2026-07-28");
  }
});
