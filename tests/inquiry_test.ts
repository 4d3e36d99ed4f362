import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AnyCommand, CommandContext } from "../lib/command.ts";
import { INPUT_STATE_TTL_MS, InputStates } from "../lib/input_state.ts";
import { clientRoots, inquire } from "../lib/inquiry.ts";
import { McpServer } from "../lib/server.ts";
import { MemoryClient, type Received } from "./fixtures/memory_client.ts";

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const ELICITATION = { elicitation: {} };

function envelope(
  capabilities: Record<string, unknown> = ELICITATION,
): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}

const nameSchema = {
  type: "object",
  properties: { name: { type: "string" } },
  required: ["name"],
};

/** A server with tools that ask; `effects` is what they did. */
function asking(): { server: McpServer; effects: string[] } {
  const effects: string[] = [];
  const tool = (
    name: string,
    run: (
      args: { target?: string },
      ctx: CommandContext,
    ) => Promise<string>,
  ): AnyCommand => ({
    name,
    summary: name,
    tool: { name, annotations },
    input: { type: "object", properties: { target: { type: "string" } } },
    run,
  });
  const server = new McpServer({ name: "test", version: "1.0.0" })
    .register(tool("delete", async ({ target }, ctx) => {
      const { action } = await ctx.ask("sure", {
        message: `Delete ${target}?`,
      });
      if (action !== "accept") return `kept: ${action}`;
      effects.push(`deleted ${target}`);
      return "deleted";
    }))
    .register(tool("greet", async (_args, ctx) => {
      const first = await ctx.ask("first", {
        message: "First name?",
        schema: nameSchema,
      });
      const last = await ctx.ask("last", {
        message: "Last name?",
        schema: nameSchema,
      });
      return `Hello ${first.content?.name} ${last.content?.name}`;
    }))
    .register(tool("both", async (_args, ctx) => {
      const answers = await Promise.all([
        ctx.ask("a", { message: "A?" }),
        ctx.ask("b", { message: "B?" }),
      ]);
      return answers.map(({ action }) => action).join(" ");
    }))
    .register(tool("careless", async (_args, ctx) => {
      try {
        await ctx.ask("x", { message: "X?" });
        return "answered";
      } catch {
        return "went on without";
      }
    }))
    .register(
      tool(
        "roots",
        async (_args, ctx) => JSON.stringify(await clientRoots(ctx) ?? null),
      ),
    )
    .register(tool("sample", async (_args, ctx) =>
      JSON.stringify(
        await inquire(ctx, "s", "sampling/createMessage", {
          messages: [],
          maxTokens: 1,
        }),
      )));
  return { server, effects };
}

const call = (
  id: unknown,
  name: string,
  more: Record<string, unknown> = {},
) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, ...more },
});

async function handshake(
  capabilities: unknown,
  fn: (client: MemoryClient, effects: string[]) => Promise<void>,
): Promise<void> {
  const { server, effects } = asking();
  const client = new MemoryClient(server);
  await client.initialize("2025-11-25", capabilities);
  await fn(client, effects);
  assertEquals(await client.close(), []);
}

const text = (message: Received): string => message.result.content[0].text;

Deno.test("ask sends elicitation/create in the handshake revisions and waits for the answer", async () => {
  await handshake(ELICITATION, async (client, effects) => {
    await client.send(call("c", "delete", { arguments: { target: "x" } }));
    const question = await client.next();
    assertEquals([question.method, question.params], ["elicitation/create", {
      message: "Delete x?",
      requestedSchema: { type: "object", properties: {} },
    }]);
    assertEquals(effects, []);
    await client.send({
      jsonrpc: "2.0",
      id: question.id,
      result: { action: "accept", content: {} },
    });
    assertEquals(text(await client.next()), "deleted");
    assertEquals(effects, ["deleted x"]);
  });
});

Deno.test("ask hands over declining, cancelling, and answers of no known kind as cancelling", async () => {
  await handshake(ELICITATION, async (client, effects) => {
    for (
      const [result, action] of [
        [{ action: "decline" }, "decline"],
        [{ action: "cancel" }, "cancel"],
        [{ action: "maybe" }, "cancel"],
        [null, "cancel"],
        [[], "cancel"],
      ] as const
    ) {
      await client.send(call("c", "delete"));
      const { id } = await client.next();
      await client.send({ jsonrpc: "2.0", id, result });
      assertEquals(text(await client.next()), `kept: ${action}`);
    }
    assertEquals(effects, []);
  });
});

Deno.test("ask tells a refusal of the client, and an answer that does not fit, as the tool's failure", async () => {
  await handshake(ELICITATION, async (client) => {
    await client.send(call("c", "delete"));
    const { id } = await client.next();
    await client.send({
      jsonrpc: "2.0",
      id,
      error: { code: -32601, message: "Method not found" },
    });
    const refused = await client.next();
    assertEquals(refused.result.isError, true);
    assertStringIncludes(
      text(refused),
      "could not ask its person: Method not found",
    );
    await client.send(call("c", "greet"));
    const question = await client.next();
    await client.send({
      jsonrpc: "2.0",
      id: question.id,
      result: { action: "accept", content: { name: 5 } },
    });
    const wrong = await client.next();
    assertEquals(wrong.result.isError, true);
    assertStringIncludes(text(wrong), "name");
  });
});

Deno.test("ask without the capability is the tool's failure in both eras, and nothing is sent", async () => {
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    await handshake(capabilities, async (client) => {
      for (const meta of [{}, { _meta: envelope(capabilities) }]) {
        await client.send(call("c", "delete", meta));
        const answer = await client.next();
        assertEquals(answer.result.isError, true);
        assertStringIncludes(text(answer), "no way to ask its person");
      }
    });
  }
});

Deno.test("a cancelled call withdraws its question, and late or foreign answers change nothing", async () => {
  await handshake(ELICITATION, async (client, effects) => {
    await client.send(call("c", "delete"));
    const { id } = await client.next();
    await client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: "c" },
    });
    const withdrawn = await client.next();
    assertEquals([withdrawn.method, withdrawn.params], [
      "notifications/cancelled",
      { requestId: id },
    ]);
    for (const late of [id, 999, "1", null]) {
      await client.send({
        jsonrpc: "2.0",
        id: late,
        result: { action: "accept" },
      });
    }
    assertEquals((await client.request("ping")).result, {});
    assertEquals(effects, []);
  });
});

Deno.test("the end of input ends a question that waits", async () => {
  const { server } = asking();
  const client = new MemoryClient(server);
  await client.initialize("2025-11-25", ELICITATION);
  await client.send(call("c", "delete"));
  await client.next();
  const [answer] = await client.close();
  assertEquals(answer.result.isError, true);
  assertStringIncludes(text(answer), "closed the connection");
});

/** Sends a stateless call, and goes on round by round with what `answer` gives for each question. */
async function rounds(
  client: MemoryClient,
  name: string,
  answer: (key: string) => unknown,
  more: Record<string, unknown> = {},
): Promise<Received> {
  let params: Record<string, unknown> = { ...more };
  for (let id = 1;; id++) {
    await client.send(call(`r${id}`, name, { ...params, _meta: envelope() }));
    const message = await client.next();
    if (message.result?.resultType !== "input_required") return message;
    const { inputRequests, requestState } = message.result;
    params = {
      ...more,
      requestState,
      inputResponses: Object.fromEntries(
        Object.keys(inputRequests).map((key) => [key, answer(key)]),
      ),
    };
  }
}

async function stateless(
  fn: (client: MemoryClient, effects: string[]) => Promise<void>,
): Promise<void> {
  const { server, effects } = asking();
  const client = new MemoryClient(server);
  await fn(client, effects);
  assertEquals(await client.close(), []);
}

Deno.test("ask ends a stateless call with input_required, and the call runs again with the answer", async () => {
  await stateless(async (client, effects) => {
    const more = { arguments: { target: "x" } };
    await client.send(call(1, "delete", { ...more, _meta: envelope() }));
    const { result } = await client.next();
    assertEquals(result.resultType, "input_required");
    assertEquals(result.inputRequests, {
      sure: {
        method: "elicitation/create",
        params: {
          message: "Delete x?",
          requestedSchema: { type: "object", properties: {} },
        },
      },
    });
    assertEquals([result.ttlMs, result.content], [undefined, undefined]);
    assertEquals(effects, []);
    const done = await rounds(
      client,
      "delete",
      () => ({ action: "accept" }),
      more,
    );
    assertEquals([text(done), effects], ["deleted", ["deleted x"]]);
  });
});

Deno.test("questions one after the other take several rounds, side by side one", async () => {
  await stateless(async (client) => {
    const asked: string[] = [];
    const greeted = await rounds(client, "greet", (key) => {
      asked.push(key);
      return { action: "accept", content: { name: key.toUpperCase() } };
    });
    assertEquals(text(greeted), "Hello FIRST LAST");
    assertEquals(asked, ["first", "last"]);
    await client.send(call(1, "both", { _meta: envelope() }));
    const { result } = await client.next();
    assertEquals(Object.keys(result.inputRequests), ["a", "b"]);
    const partly = call(2, "both", {
      _meta: envelope(),
      requestState: result.requestState,
      inputResponses: { a: { action: "accept" }, zzz: { action: "accept" } },
    });
    await client.send(partly);
    assertEquals(Object.keys((await client.next()).result.inputRequests), [
      "b",
    ]);
  });
});

Deno.test("a handler that swallows the end of its call is not believed", async () => {
  await stateless(async (client) => {
    await client.send(call(1, "careless", { _meta: envelope() }));
    assertEquals((await client.next()).result.resultType, "input_required");
    assertEquals(
      text(await rounds(client, "careless", () => ({ action: "accept" }))),
      "answered",
    );
  });
});

Deno.test("a state that was altered, or belongs to another call, is -32602", async () => {
  await stateless(async (client, effects) => {
    const more = { arguments: { target: "x" } };
    await client.send(call(1, "delete", { ...more, _meta: envelope() }));
    const { requestState } = (await client.next()).result;
    const [payload, signature] = requestState.split(".");
    const inputResponses = { sure: { action: "accept" } };
    const forged = btoa(
      JSON.stringify({
        expires: Date.now() + 1e6,
        answers: { sure: { action: "accept" } },
        asked: [],
      }),
    ).replaceAll("=", "");
    for (
      const bad of [
        { requestState: `${forged}.${signature}` },
        { requestState: `${payload}.${signature}x` },
        { requestState: payload },
        { requestState: "" },
        { requestState: "a.b.c" },
        { requestState: 5 },
        { requestState, arguments: { target: "y" } },
        { requestState, name: "greet" },
        { inputResponses: 5 },
        { requestState, inputResponses: { sure: 5 } },
        { requestState, inputResponses: { sure: null } },
      ]
    ) {
      await client.send(
        call(2, "delete", {
          ...more,
          inputResponses,
          _meta: envelope(),
          ...bad,
        }),
      );
      assertEquals(
        (await client.next()).error.code,
        -32602,
        JSON.stringify(bad),
      );
    }
    assertEquals(effects, []);
  });
});

Deno.test("a state is good for the same call with its members in another order", async () => {
  await stateless(async (client, effects) => {
    await client.send(call(1, "delete", {
      arguments: { target: "x" },
      other: { a: 1, b: { c: 1, d: 2 } },
      _meta: envelope(),
    }));
    const { requestState } = (await client.next()).result;
    const { params } = call(2, "delete", {});
    await client.send({
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: {
        _meta: envelope(),
        other: { b: { d: 2, c: 1 }, a: 1 },
        arguments: { target: "x" },
        requestState,
        inputResponses: { sure: { action: "accept" } },
        ...params,
      },
    });
    assertEquals((await client.next()).error, undefined);
    assertEquals(effects.length, 1);
  });
});

Deno.test("a state is for parameters that can be written down: those that nest without end are -32602", async () => {
  await stateless(async (client) => {
    const line = JSON.stringify(call(1, "delete", {
      arguments: { target: "x" },
      other: "DEEP",
      _meta: envelope(),
    }));
    const deep = `${"[".repeat(300_000)}${"]".repeat(300_000)}`;
    await client.raw(`${line.replace('"DEEP"', deep)}\n`);
    const { error } = await client.next();
    assertEquals(error.code, -32602);
    assertStringIncludes(error.message, "nest");
  });
});

Deno.test("a state expires", async () => {
  let now = 1_000_000;
  const states = new InputStates(() => now);
  const state = { answers: { a: 1 }, asked: ["b"] };
  const written = await states.write(state, "call");
  now += INPUT_STATE_TTL_MS;
  assertEquals(await states.read(written, "call"), state);
  assertEquals(await states.read(written, "another"), undefined);
  now++;
  assertEquals(await states.read(written, "call"), undefined);
  assertEquals(await new InputStates().read(written, "call"), undefined);
});

Deno.test("a handler may ask the client itself, in both eras", async () => {
  await handshake({ sampling: {} }, async (client) => {
    await client.send(call(1, "sample"));
    const { id, method } = await client.next();
    assertEquals(method, "sampling/createMessage");
    await client.send({ jsonrpc: "2.0", id, result: { role: "assistant" } });
    assertEquals(text(await client.next()), '{"role":"assistant"}');
    await client.send(
      call(2, "sample", { _meta: envelope({ sampling: {} }) }),
    );
    assertEquals(
      (await client.next()).result.inputRequests.s.method,
      "sampling/createMessage",
    );
  });
  await handshake({}, async (client) => {
    for (const meta of [{}, { _meta: envelope({}) }]) {
      await client.send(call(1, "sample", meta));
      const { error } = await client.next();
      assertEquals([error.code, error.data], [-32021, {
        requiredCapabilities: { sampling: {} },
      }]);
    }
  });
});

Deno.test("clientRoots asks a client that has roots, and no other", async () => {
  await handshake({ roots: {} }, async (client) => {
    await client.send(call(1, "roots"));
    const { id, method } = await client.next();
    assertEquals(method, "roots/list");
    await client.send({
      jsonrpc: "2.0",
      id,
      result: {
        roots: [{ uri: "file:///a" }, {}, { uri: 5 }, { uri: "file:///b" }],
      },
    });
    assertEquals(text(await client.next()), '["file:///a","file:///b"]');
    await client.send(call(2, "roots"));
    const again = await client.next();
    await client.send({
      jsonrpc: "2.0",
      id: again.id,
      error: { code: 1, message: "no" },
    });
    assertEquals(text(await client.next()), "null");
  });
  await handshake({}, async (client) => {
    await client.send(call(1, "roots"));
    assertEquals(text(await client.next()), "null");
  });
});

Deno.test("clientRoots waits two seconds for a client that says nothing", async () => {
  await handshake({ roots: {} }, async (client) => {
    const startedAt = performance.now();
    await client.send(call(1, "roots"));
    await client.next();
    assertEquals((await client.next()).method, "notifications/cancelled");
    assertEquals(text(await client.next()), "null");
    assert(performance.now() - startedAt < 3000);
  });
});
