/** What the handshake revisions have beside tools and resources: logging, subscriptions, completion and prompts. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  type AnyCommand,
  type CommandContext,
  CommandError,
} from "../lib/command.ts";
import { MAX_COMPLETIONS } from "../lib/completion.ts";
import { type AnyPrompt, prompt } from "../lib/prompt.ts";
import { McpServer, type ServerOptions } from "../lib/server.ts";
import { MAX_SUBSCRIPTIONS } from "../lib/subscriptions.ts";
import { MemoryClient } from "./fixtures/memory_client.ts";

const talk: AnyCommand = {
  name: "talk",
  summary: "Log at every level",
  tool: {
    name: "talk",
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  },
  run: (_args: unknown, ctx: CommandContext) => {
    for (
      const level of ["debug", "info", "notice", "warning", "error"] as const
    ) ctx.log(level, level);
    return "";
  },
};

const choose: AnyCommand = {
  name: "choose",
  summary: "A choice",
  resource: { uri: "c:{kind}", mimeType: "text/plain" },
  input: {
    type: "object",
    properties: { kind: { enum: ["red", "rose", "blue"] } },
    required: ["kind"],
  },
  run: ({ kind }: { kind: string }) => kind,
};

const greet = prompt({
  name: "greet",
  title: "Greet",
  description: "Greets somebody",
  arguments: [
    {
      name: "who",
      description: "Whom",
      required: true,
      complete: (value, given) =>
        Array.from(
          { length: 150 },
          (_, i) => `${value}${i}${given.style ?? ""}`,
        ),
    },
    { name: "style", title: "Style" },
  ],
  run: ({ who, style }) => `Say hello to ${who}${style ? ` ${style}` : ""}`,
});

const refuses = prompt({
  name: "refuses",
  description: "Refuses",
  run: () => Promise.reject(new CommandError("no session of that id")),
});

const fails = prompt({
  name: "fails",
  description: "Fails",
  run: () => Promise.reject(new Error("No such session")),
});

async function withClient(
  fn: (client: MemoryClient, server: McpServer) => Promise<void>,
  options: Partial<ServerOptions> = {},
): Promise<void> {
  const server = new McpServer({ name: "test", version: "1.0.0", ...options })
    .register(talk).register(choose).registerPrompt(greet)
    .registerPrompt(refuses).registerPrompt(fails);
  const client = new MemoryClient(server);
  await client.initialize();
  await fn(client, server);
  assertEquals(await client.close(), []);
}

Deno.test("log messages are sent from info on, and then from what logging/setLevel says", async () => {
  await withClient(async (client) => {
    const levels = async () => {
      await client.send({
        jsonrpc: "2.0",
        id: "t",
        method: "tools/call",
        params: { name: "talk" },
      });
      const seen: string[] = [];
      for (
        let message = await client.next();
        message.id !== "t";
        message = await client.next()
      ) {
        assertEquals(message.params.data, message.params.level);
        seen.push(message.params.level);
      }
      return seen;
    };
    assertEquals(await levels(), ["info", "notice", "warning", "error"]);
    assertEquals(
      await client.result("logging/setLevel", { level: "error" }),
      {},
    );
    assertEquals(await levels(), ["error"]);
    await client.result("logging/setLevel", { level: "debug" });
    assertEquals((await levels()).length, 5);
    for (const params of [undefined, {}, { level: "loud" }, { level: 5 }]) {
      const { error } = await client.request("logging/setLevel", params);
      assertEquals(error.code, -32602);
      assertStringIncludes(error.message, "debug");
    }
  });
});

Deno.test("a subscribed resource is told of when it changes, and no other", async () => {
  await withClient(async (client, server) => {
    const uri = "test://watched-resource";
    assertEquals(await client.result("resources/subscribe", { uri }), {});
    server.resourceUpdated("test://other");
    server.resourceUpdated(uri);
    assertEquals(await client.next(), {
      jsonrpc: "2.0",
      method: "notifications/resources/updated",
      params: { uri },
    });
    assertEquals(await client.result("resources/unsubscribe", { uri }), {});
    server.resourceUpdated(uri);
    server.resourceListChanged();
    assertEquals(await client.next(), {
      jsonrpc: "2.0",
      method: "notifications/resources/list_changed",
      params: {},
    });
    for (
      const params of [undefined, {}, { uri: 5 }, { uri: "x".repeat(5000) }]
    ) {
      assertEquals(
        (await client.request("resources/subscribe", params)).error.code,
        -32602,
      );
    }
  });
});

Deno.test("one connection subscribes to a bounded number of resources", async () => {
  await withClient(async (client) => {
    for (let i = 0; i < MAX_SUBSCRIPTIONS; i++) {
      await client.result("resources/subscribe", { uri: `a:${i}` });
    }
    assertEquals(
      (await client.request("resources/subscribe", { uri: "one:more" })).error
        .code,
      -32602,
    );
    await client.result("resources/subscribe", { uri: "a:5" });
  });
});

Deno.test("nothing is told of to a client that is not initialized, or gone", async () => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  const early = new MemoryClient(server);
  server.resourceListChanged();
  assertEquals(await early.request("ping"), {
    jsonrpc: "2.0",
    id: 1,
    result: {},
  });
  assertEquals(await early.close(), []);
  server.resourceListChanged();
});

Deno.test("prompts are listed with their arguments", async () => {
  await withClient(async (client) => {
    assertEquals(await client.result("prompts/list"), {
      prompts: [
        {
          name: "greet",
          title: "Greet",
          description: "Greets somebody",
          arguments: [
            { name: "who", description: "Whom", required: true },
            { name: "style", title: "Style", required: false },
          ],
        },
        { name: "refuses", description: "Refuses", arguments: [] },
        { name: "fails", description: "Fails", arguments: [] },
      ],
    });
  });
});

Deno.test("prompts/get fills a prompt in, and refuses what does not fit", async () => {
  await withClient(async (client) => {
    assertEquals(
      await client.result("prompts/get", {
        name: "greet",
        arguments: { who: "Ann", style: "warmly" },
      }),
      {
        description: "Greets somebody",
        messages: [{
          role: "user",
          content: { type: "text", text: "Say hello to Ann warmly" },
        }],
      },
    );
    for (
      const params of [
        {},
        { name: 5 },
        { name: "nope" },
        { name: "__proto__" },
        { name: "greet" },
        { name: "greet", arguments: {} },
        { name: "greet", arguments: { who: 5 } },
        { name: "greet", arguments: [] },
        { name: "refuses" },
      ]
    ) {
      assertEquals(
        (await client.request("prompts/get", params)).error.code,
        -32602,
      );
    }
    assertEquals(
      (await client.request("prompts/get", { name: "fails" })).error,
      {
        code: -32603,
        message: "No such session",
      },
    );
  });
});

Deno.test("registering refuses a prompt that is there already, unnamed, or has an argument twice", () => {
  const server = new McpServer({ name: "test", version: "1.0.0" })
    .registerPrompt(greet);
  const bad: AnyPrompt[] = [
    greet,
    { ...greet, name: "" },
    { ...greet, name: "x", arguments: [{ name: "a" }, { name: "a" }] },
  ];
  for (const each of bad) {
    assertThrows(
      () => server.registerPrompt(each),
      TypeError,
      "Cannot register",
    );
  }
});

Deno.test("completion/complete gives at most 100 values and says how many there are", async () => {
  await withClient(async (client) => {
    const ref = { type: "ref/prompt", name: "greet" };
    const { completion } = await client.result("completion/complete", {
      ref,
      argument: { name: "who", value: "A" },
      context: { arguments: { style: "!" } },
    });
    assertEquals(completion.values.length, MAX_COMPLETIONS);
    assertEquals(completion.values[0], "A0!");
    assertEquals([completion.total, completion.hasMore], [150, true]);
    assertEquals(
      await client.result("completion/complete", {
        ref,
        argument: { name: "style", value: "" },
      }),
      { completion: { values: [], total: 0, hasMore: false } },
    );
  });
});

Deno.test("completion/complete knows the choices of a template, and asks providers for theirs", async () => {
  await withClient(async (client) => {
    const complete = async (uri: string, name: string, value: string) =>
      (await client.result("completion/complete", {
        ref: { type: "ref/resource", uri },
        argument: { name, value },
      })).completion.values;
    assertEquals(await complete("c:{kind}", "kind", "r"), ["red", "rose"]);
    assertEquals(await complete("c:{kind}", "__proto__", ""), []);
    assertEquals(await complete("s:{id}", "id", "7"), ["id 7"]);
  }, {
    resources: [{
      list: () => Promise.resolve({ items: [] }),
      templates: () => [{ uriTemplate: "s:{id}", name: "s" }],
      read: () => Promise.resolve(undefined),
      complete: (_uri, { name, value }) =>
        Promise.resolve([`${name} ${value}`]),
    }],
  });
});

Deno.test("completion/complete refuses what it does not know", async () => {
  await withClient(async (client) => {
    const argument = { name: "who", value: "" };
    for (
      const params of [
        undefined,
        {},
        { ref: { type: "ref/prompt", name: "greet" } },
        { ref: { type: "ref/prompt", name: "nope" }, argument },
        { ref: { type: "ref/prompt" }, argument },
        { ref: { type: "ref/other", name: "greet" }, argument },
        { ref: { type: "ref/resource", uri: "nope:{id}" }, argument },
        {
          ref: { type: "ref/prompt", name: "greet" },
          argument: { name: "nope", value: "" },
        },
        {
          ref: { type: "ref/prompt", name: "greet" },
          argument: { name: "who", value: 5 },
        },
      ]
    ) {
      assertEquals(
        (await client.request("completion/complete", params)).error.code,
        -32602,
      );
    }
  });
});

Deno.test("the program hears when a client's roots have changed", async () => {
  const heard: string[] = [];
  await withClient(async (client) => {
    await client.send({
      jsonrpc: "2.0",
      method: "notifications/roots/list_changed",
    });
    await client.result("ping");
    assertEquals(heard.length, 1);
  }, { onRootsChanged: (connectionId) => heard.push(connectionId) });
});
