import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import type { AnyCommand, CommandContext } from "../lib/command.ts";
import { type HttpOptions, serveHttp } from "../lib/http.ts";
import { MAX_BODY_BYTES, readBody } from "../lib/http_guard.ts";
import { HttpHandler } from "../lib/http_handler.ts";
import { decodeHeader } from "../lib/http_headers.ts";
import { McpServer } from "../lib/server.ts";
import { EventStream, MAX_KEPT_EVENTS, MAX_UNREAD_BYTES } from "../lib/sse.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

function makeServer(): { server: McpServer; cancelled: Promise<void> } {
  const cancelled = Promise.withResolvers<void>();
  const tools: Record<string, AnyCommand["run"]> = {
    echo: ({ text }: { text: string }) => text,
    steps: (_args: unknown, ctx: CommandContext) => {
      ctx.progress(1, 2);
      ctx.progress(2, 2);
      return "done";
    },
    slow: async () => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      return "slow";
    },
    ask: async (_args: unknown, ctx: CommandContext) =>
      (await ctx.ask("q", { message: "Sure?" })).action,
    wait: (_args: unknown, { signal }: CommandContext) =>
      new Promise((resolve) =>
        signal.addEventListener("abort", () => {
          cancelled.resolve();
          resolve("aborted");
        })
      ),
  };
  const server = new McpServer({ name: "test", version: "1.0.0" });
  for (const [name, run] of Object.entries(tools)) {
    server.register({
      name,
      summary: name,
      tool: { name, annotations },
      input: {
        type: "object",
        properties: {
          text: { type: "string", "x-mcp-header": "Text" },
          count: { type: "integer", "x-mcp-header": "Count" },
        },
      },
      run: run!,
    });
  }
  return { server, cancelled: cancelled.promise };
}

interface Endpoint {
  url: string;
  server: McpServer;
  cancelled: Promise<void>;
  post(
    message: unknown,
    headers?: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Response>;
  /** A POST of 2026-07-28, with the headers that its body asks for. */
  stateless(
    method: string,
    params?: Record<string, unknown>,
    headers?: Record<string, string | undefined>,
  ): Promise<Response>;
  /** Does the handshake; the session's headers. */
  session(
    version?: string,
    capabilities?: unknown,
  ): Promise<Record<string, string>>;
}

async function withHttp(
  fn: (endpoint: Endpoint) => Promise<void>,
  options: Partial<HttpOptions> = {},
): Promise<void> {
  const { server, cancelled } = makeServer();
  const http = serveHttp(server, { port: 0, token: undefined, ...options });
  const { url } = http;
  const post: Endpoint["post"] = (message, headers = {}, signal) =>
    fetch(url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      body: typeof message === "string" ? message : JSON.stringify(message),
      ...(signal ? { signal } : {}),
    });
  try {
    await fn({
      url,
      server,
      cancelled,
      post,
      stateless(method, params = {}, headers = {}) {
        const name = params.name ?? params.uri;
        const all = {
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": method,
          ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
          ...headers,
        };
        return post(
          {
            jsonrpc: "2.0",
            id: 1,
            method,
            params: {
              _meta: {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {
                  elicitation: {},
                },
              },
              ...params,
            },
          },
          Object.fromEntries(
            Object.entries(all).filter((entry): entry is [string, string] =>
              entry[1] !== undefined
            ),
          ),
        );
      },
      async session(version = "2025-11-25", capabilities = {}) {
        const response = await post({
          jsonrpc: "2.0",
          id: "init",
          method: "initialize",
          params: { protocolVersion: version, capabilities },
        });
        assertEquals(response.status, 200);
        await response.json();
        const id = response.headers.get("mcp-session-id")!;
        assert(/^[\x21-\x7e]+$/.test(id));
        return { "Mcp-Session-Id": id, "MCP-Protocol-Version": version };
      },
    });
  } finally {
    await http.close(50);
    await http.finished;
  }
}

/** The messages of a stream of events, as they come. */
async function* events(
  response: Response,
): AsyncGenerator<{ id: string | undefined; message: Any }> {
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  let rest = "";
  for await (
    const text of response.body!.pipeThrough(
      new TextDecoderStream() as TransformStream<Uint8Array, string>,
    )
  ) {
    rest += text;
    const blocks = rest.split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      yield {
        id: /^id: (.*)$/m.exec(block)?.[1],
        message: data === "" ? undefined : JSON.parse(data),
      };
    }
  }
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

Deno.test("http: a stateless request is answered as JSON", async () => {
  await withHttp(async ({ stateless }) => {
    const response = await stateless("server/discover");
    assertEquals(response.status, 200);
    assertEquals((await response.json()).result.supportedVersions, [
      "2026-07-28",
    ]);
    assertEquals(response.headers.get("mcp-session-id"), null);
  });
});

Deno.test("http: what is said before the answer makes the response a stream", async () => {
  await withHttp(async ({ stateless }) => {
    const response = await stateless("tools/call", {
      name: "steps",
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        progressToken: "t",
      },
    });
    assertEquals(response.headers.get("x-accel-buffering"), "no");
    const said = await Array.fromAsync(events(response));
    assertEquals(
      said.map(({ message }) =>
        message.method ?? message.result.content[0].text
      ),
      [
        "notifications/progress",
        "notifications/progress",
        "done",
      ],
    );
  });
});

Deno.test("http: status codes of 2026-07-28", async () => {
  await withHttp(async ({ url, post, stateless }) => {
    const check = async (
      response: Response,
      status: number,
      code?: number,
    ): Promise<void> => {
      const text = await response.text();
      assertEquals(response.status, status, text);
      if (code !== undefined) assertEquals(JSON.parse(text).error.code, code);
    };
    await check(await stateless("no/such"), 404, -32601);
    await check(await stateless("ping"), 404, -32601);
    await check(await stateless("initialize"), 404, -32601);
    await check(await stateless("tools/call", { name: "nope" }), 200, -32602);
    const old = "1900-01-01";
    await check(
      await stateless("tools/list", {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": old,
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      }, { "MCP-Protocol-Version": old }),
      400,
      -32022,
    );
    await check(await stateless("tools/list", { _meta: {} }), 400, -32602);
    await check(
      await post({ jsonrpc: "2.0", id: 1, method: "server/discover" }),
      400,
      -32602,
    );
    await check(await post("{oops"), 400, -32700);
    await check(
      await post({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: {},
      }, {
        "MCP-Protocol-Version": "2026-07-28",
      }),
      202,
    );
    for (const method of ["GET", "DELETE", "PUT"]) {
      await check(
        await fetch(url, {
          method,
          headers: {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Session-Id": "x",
          },
        }),
        405,
      );
    }
    await check(await fetch(url.replace("/mcp", "/other")), 404);
  });
});

Deno.test("http: headers that are missing, or disagree with the body, are -32020", async () => {
  await withHttp(async ({ stateless }) => {
    const cases: [Record<string, string | undefined>, number][] = [
      [{}, 200],
      [{ "MCP-Protocol-Version": "2025-11-25" }, 400],
      [{ "MCP-Protocol-Version": undefined }, 400],
      [{ "Mcp-Method": undefined }, 400],
      [{ "Mcp-Method": "tools/list" }, 400],
      [{ "Mcp-Method": "TOOLS/CALL" }, 400],
      [{ "Mcp-Name": undefined }, 400],
      [{ "Mcp-Name": "steps" }, 400],
      [{ "Mcp-Name": `=?base64?${btoa("echo")}?=` }, 200],
      [{ "Mcp-Name": "=?base64?!!?=" }, 400],
      [{ "Mcp-Param-Text": undefined }, 400],
      [{ "Mcp-Param-Text": "other" }, 400],
      [{ "Mcp-Param-Text": `=?base64?${btoa("hi")}?=` }, 200],
      [{ "Mcp-Param-Count": "6" }, 400],
      [{ "Mcp-Param-Count": "5.0" }, 200],
    ];
    for (const [headers, status] of cases) {
      const response = await stateless("tools/call", {
        name: "echo",
        arguments: { text: "hi", count: 5 },
      }, { "Mcp-Param-Text": "hi", "Mcp-Param-Count": "5", ...headers });
      const answer = await response.json();
      assertEquals(response.status, status, JSON.stringify([headers, answer]));
      if (status === 400) assertEquals(answer.error.code, -32020);
    }
    const surplus = await stateless("tools/call", {
      name: "echo",
      arguments: {},
    }, {
      "Mcp-Param-Text": "hi",
    });
    assertEquals((await surplus.json()).error.code, -32020);
  });
});

Deno.test("http: a header says a text, a number or a truth value, and never what the body nests", async () => {
  await withHttp(async ({ post }) => {
    const body = JSON.stringify(call(1, "NAME", {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "REVISION",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    }));
    const deep = `${"[".repeat(300_000)}${"]".repeat(300_000)}`;
    for (
      const [revision, name] of [
        [deep, '"echo"'],
        ['"2026-07-28"', deep],
        ['"2026-07-28"', '{"toString":1}'],
        ['["2026-07-28"]', '"echo"'],
        ['"2026-07-28"', '["echo"]'],
      ] as const
    ) {
      const response = await post(
        body.replace('"REVISION"', revision).replace('"NAME"', name),
        {
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": "tools/call",
          "Mcp-Name": "echo",
        },
      );
      const { error } = await response.json();
      assertEquals([response.status, error.code], [400, -32020]);
    }
  });
});

Deno.test("decodeHeader reads plain text and base64, and nothing from bad base64", () => {
  assertEquals(decodeHeader("plain"), "plain");
  assertEquals(decodeHeader("=?base64?4oKs?="), "€");
  assertEquals(decodeHeader("=?base64?/w==?="), undefined);
  assertEquals(decodeHeader("=?base64?*?="), undefined);
  assertEquals(decodeHeader("=?base64?SGVsbG8?="), undefined);
});

for (const when of ["before", "after"] as const) {
  Deno.test(`http: a client that disconnects cancels its stateless call, ${when} the response has begun`, async () => {
    await withHttp(async ({ post, cancelled }) => {
      const abort = new AbortController();
      const posted = post(
        call(1, "wait", {
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        }),
        {
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": "tools/call",
          "Mcp-Name": "wait",
        },
        abort.signal,
      );
      if (when === "after") {
        const { body } = await posted;
        abort.abort();
        await body!.cancel().catch(() => {});
      } else {
        const failed = posted.catch(() => {});
        setTimeout(() => abort.abort(), 20);
        await failed;
      }
      await cancelled;
    });
  });
}

Deno.test("http: subscriptions/listen streams until the server closes", async () => {
  let last: Any;
  let reading: Promise<void> | undefined;
  await withHttp(async ({ stateless, server }) => {
    const response = await stateless("subscriptions/listen", {
      notifications: { resourceSubscriptions: ["a:1"] },
    });
    const stream = events(response);
    assertEquals(
      (await stream.next()).value!.message.method,
      "notifications/subscriptions/acknowledged",
    );
    server.resourceUpdated("a:1");
    assertEquals((await stream.next()).value!.message.params.uri, "a:1");
    reading = (async () => {
      for await (const { message } of stream) last = message;
    })();
  });
  await reading;
  assertEquals(last.result.resultType, "complete");
});

Deno.test("http: a handshake session is opened, used and ended", async () => {
  await withHttp(async ({ url, post, session }) => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const without = await post(ping);
    assertEquals([
      without.status,
      (await without.text()).includes("Mcp-Session-Id"),
    ], [400, true]);
    const headers = await session();
    const initialized = await post({
      jsonrpc: "2.0",
      method: "notifications/initialized",
    }, headers);
    assertEquals([initialized.status, await initialized.text()], [202, ""]);
    assertEquals(await (await post(ping, headers)).json(), {
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
    const unknown = await post(
      { jsonrpc: "2.0", id: 1, method: "no/such" },
      headers,
    );
    assertEquals([unknown.status, (await unknown.json()).error.code], [
      200,
      -32601,
    ]);
    const slow = await post(call(2, "slow"), headers);
    const said = await Array.fromAsync(events(slow));
    assertEquals(said[0]!.message, undefined);
    assertEquals(said.at(-1)!.message.result.content[0].text, "slow");
    const bad = await post(ping, {
      ...headers,
      "MCP-Protocol-Version": "1999-01-01",
    });
    assertEquals([bad.status, await bad.body?.cancel()], [400, undefined]);
    const ended = await fetch(url, { method: "DELETE", headers });
    assertEquals(ended.status, 204);
    for (const method of ["POST", "GET", "DELETE"] as const) {
      const gone = method === "POST"
        ? await post(ping, headers)
        : await fetch(url, { method, headers });
      assertEquals([gone.status, await gone.body?.cancel()], [404, undefined]);
    }
  });
});

Deno.test("http: the stream of a session tells of changes, and can be taken up again", async () => {
  await withHttp(async ({ url, post, server, session }) => {
    const headers = await session("2025-06-18");
    const uri = "a:1";
    await (await post({
      jsonrpc: "2.0",
      id: 1,
      method: "resources/subscribe",
      params: { uri },
    }, headers)).json();
    server.resourceUpdated(uri);
    const open = (more: Record<string, string> = {}) =>
      fetch(url, {
        headers: { ...headers, Accept: "text/event-stream", ...more },
      });
    const first = events(await open());
    const { id, message } = (await first.next()).value!;
    assertEquals(message.method, "notifications/resources/updated");
    await first.return(undefined);
    server.resourceUpdated(uri);
    server.resourceListChanged();
    const again = events(await open({ "Last-Event-ID": id! }));
    assertEquals((await again.next()).value!.message.params, { uri });
    assertEquals(
      (await again.next()).value!.message.method,
      "notifications/resources/list_changed",
    );
    await again.return(undefined);
    for (const id of ["nope", "s99.1", "own.-1", "__proto__.1"]) {
      const lost = await open({ "Last-Event-ID": id });
      // 404 would mean that the session is gone.
      assertEquals([lost.status, await lost.body?.cancel()], [400, undefined]);
    }
  });
});

Deno.test("http: an answer that a handshake client lost is there when it comes back", async () => {
  await withHttp(async ({ url, post, session }) => {
    const headers = await session();
    const first = events(await post(call(1, "slow"), headers));
    const { id, message } = (await first.next()).value!;
    assertEquals(message, undefined);
    await first.return(undefined);
    const again = await fetch(url, {
      headers: {
        ...headers,
        Accept: "text/event-stream",
        "Last-Event-ID": id!,
      },
    });
    const said = await Array.fromAsync(events(again));
    assertEquals(said.map(({ message }) => message.result.content[0].text), [
      "slow",
    ]);
  });
});

Deno.test("http: a question reaches a handshake client on the stream of its call", async () => {
  await withHttp(async ({ post, session }) => {
    const headers = await session("2025-06-18", { elicitation: {} });
    const stream = events(await post(call(1, "ask"), headers));
    const question = (await stream.next()).value!.message;
    assertEquals(question.method, "elicitation/create");
    const answered = await post({
      jsonrpc: "2.0",
      id: question.id,
      result: { action: "decline" },
    }, headers);
    assertEquals([answered.status, await answered.text()], [202, ""]);
    assertEquals(
      (await stream.next()).value!.message.result.content[0].text,
      "decline",
    );
    await stream.return(undefined);
  });
});

Deno.test("http: batches belong to 2025-03-26", async () => {
  await withHttp(async ({ post, session }) => {
    const batch = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    const old = await post(batch, await session("2025-03-26"));
    assertEquals((await old.json()).length, 2);
    const current = await post(batch, await session());
    assertEquals((await current.json()).error.code, -32600);
  });
});

Deno.test("http: foreign origins and rebound hosts are refused, whatever else they have", async () => {
  await withHttp(async ({ url, post }) => {
    const ping = { jsonrpc: "2.0", id: 1, method: "server/discover" };
    for (
      const origin of [
        "http://evil.example",
        "null",
        "http://127.0.0.1.evil.example",
        "http://localhost@evil.example",
        "file://",
        "https://evil.example:8787",
      ]
    ) {
      const response = await post(ping, { Origin: origin });
      assertEquals([response.status, await response.body?.cancel()], [
        403,
        undefined,
      ], origin);
    }
    for (
      const origin of [
        "http://localhost",
        "http://127.0.0.1:3000",
        "https://[::1]:1",
      ]
    ) {
      const response = await post(ping, { Origin: origin });
      assertEquals([response.status, await response.body?.cancel()], [
        400,
        undefined,
      ], origin);
    }
    const { hostname, port } = new URL(url);
    for (
      const [host, status] of [["evil.example", "403"], ["localhost", "400"], [
        `127.0.0.1:${port}`,
        "400",
      ], ["127.0.0.1.evil.example", "403"]]
    ) {
      const body = JSON.stringify(ping);
      const connection = await Deno.connect({ hostname, port: Number(port) });
      await connection.write(new TextEncoder().encode(
        `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nAccept: */*\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ));
      assertStringIncludes(
        await new Response(connection.readable).text(),
        `HTTP/1.1 ${status}`,
        host,
      );
    }
  });
});

Deno.test("http: the host is a name that the server was given, or any address where it listens on all", async () => {
  const status = async (hosts: string[], host: string) => {
    const handler = new HttpHandler(makeServer().server, {
      token: undefined,
      hosts,
    });
    const request = new Request("http://127.0.0.1/mcp", {
      headers: { Host: host },
    });
    return (await handler.handle(request)).status;
  };
  for (
    const [hosts, host, expected] of [
      [["fd00::1"], "[fd00::1]:8787", 405],
      [["Box.Example"], "box.example", 405],
      [["box.example"], "192.0.2.1", 403],
      [["0.0.0.0"], "192.0.2.1:8787", 405],
      [["::"], "[fd00::1]:8787", 405],
      [["0.0.0.0"], "evil.example", 403],
      [["0.0.0.0"], "192.0.2.1.evil.example", 403],
    ] as const
  ) assertEquals(await status([...hosts], host), expected, host);
});

Deno.test("http: a request without a Host is judged by its address", async () => {
  const handler = new HttpHandler(makeServer().server, { token: undefined });
  for (
    const [address, expected] of [["localhost", 405], ["evil.example", 403]]
  ) {
    const request = new Request(`http://${address}/mcp`);
    assertEquals((await handler.handle(request)).status, expected);
  }
});

Deno.test("http: what is no request has an error without an id in 2026-07-28", async () => {
  await withHttp(async ({ post }) => {
    for (
      const [body, code] of [["{oops", -32700], ["[]", -32600], [
        "5",
        -32600,
      ]] as const
    ) {
      const response = await post(body, {
        "MCP-Protocol-Version": "2026-07-28",
      });
      const answer = await response.json();
      assertEquals([
        response.status,
        answer.error.code,
        Object.hasOwn(answer, "id"),
      ], [400, code, false]);
    }
  });
});

Deno.test("http: a request cannot hide another one, nor say a thing twice", async () => {
  await withHttp(async ({ url }) => {
    const { hostname, port } = new URL(url);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "server/discover",
      params: {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    });
    const hidden = `POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const send = async (headers: string, text: string): Promise<string> => {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      await connection.write(new TextEncoder().encode(
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nConnection: close\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n${headers}\r\n\r\n${text}`,
      ));
      return await new Response(connection.readable).text();
    };
    assertStringIncludes(
      await send(`Content-Length: ${body.length}`, body),
      "HTTP/1.1 200",
    );
    assertStringIncludes(
      await send(
        `Mcp-Method: tools/list\r\nContent-Length: ${body.length}`,
        body,
      ),
      "-32020",
    );
    for (
      const headers of [
        `Content-Length: ${body.length}\r\nContent-Length: 5`,
        `Content-Length: 5\r\nTransfer-Encoding: chunked`,
        `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity`,
        `Transfer-Encoding : chunked`,
        `Transfer-Encoding:\r\n chunked`,
        `X-Folded: a\r\n Mcp-Method: tools/list\r\nContent-Length: 5`,
        `Host: evil.example\r\nContent-Length: 5`,
        `Content-Length: +5`,
      ]
    ) {
      const said = await send(headers, `0\r\n\r\n${hidden}`);
      assertEquals(said.split("HTTP/1.1 ").length - 1 <= 1, true, said);
      assertEquals(said.includes("HTTP/1.1 200"), false, said);
    }
  });
});

Deno.test("http: the token is required, and compared whole", async () => {
  await withHttp(async ({ post, url }) => {
    const discover = { jsonrpc: "2.0", id: 1, method: "server/discover" };
    for (
      const authorization of [
        undefined,
        "Bearer wrong",
        "Bearer secre",
        "Bearer secrets",
        "Basic secret",
        "secret",
        "Bearer ",
      ]
    ) {
      const response = await post(
        discover,
        authorization === undefined ? {} : { Authorization: authorization },
      );
      assertEquals(response.status, 401);
      assertStringIncludes(response.headers.get("www-authenticate")!, "Bearer");
      await response.body?.cancel();
    }
    const get = await fetch(url);
    assertEquals([get.status, await get.body?.cancel()], [401, undefined]);
    const response = await post(discover, { Authorization: "bearer secret" });
    assertEquals((await response.json()).error.code, -32602);
  }, { token: "secret" });
});

Deno.test("http: bodies are bounded in size and time, and have a type", async () => {
  await withHttp(async ({ url, post }) => {
    const large = await post("x".repeat(MAX_BODY_BYTES + 1)).catch(() =>
      undefined
    );
    if (large) {
      assertEquals([large.status, await large.body?.cancel()], [
        413,
        undefined,
      ]);
    }
    const plain = await post("{}", { "Content-Type": "text/plain" });
    assertEquals([plain.status, await plain.body?.cancel()], [415, undefined]);
    const wrong = await post("{}", { Accept: "text/html" });
    assertEquals([wrong.status, await wrong.body?.cancel()], [406, undefined]);
    const binary = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "*/*" },
      body: new Uint8Array([0x22, 0xff, 0x22]),
    });
    assertEquals([binary.status, await binary.body?.cancel()], [
      400,
      undefined,
    ]);
  });
  const request = (body: ReadableStream<Uint8Array>) =>
    new Request("http://localhost/", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
  const endless = await readBody(
    request(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      }),
    ),
    { bytes: 5000, ms: 10_000 },
  );
  assertEquals(endless instanceof Response && endless.status, 413);
  const startedAt = performance.now();
  const silent = await readBody(request(new ReadableStream()), {
    bytes: 10,
    ms: 30,
  });
  assertEquals(silent instanceof Response && silent.status, 408);
  assertLess(performance.now() - startedAt, 1000);
});

Deno.test("http: stateless calls of one client are one client to observers, and those of another are not", async () => {
  const seen: string[] = [];
  const server = new McpServer({
    name: "test",
    version: "1.0.0",
    observer: {
      started: ({ connectionId }) => void seen.push(connectionId),
      ended() {},
    },
  });
  server.register({
    name: "nothing",
    summary: "nothing",
    tool: { name: "nothing", annotations },
    run: () => "",
  });
  const http = serveHttp(server, { port: 0, token: undefined });
  for (const name of ["a", "a", "b", undefined]) {
    const response = await fetch(http.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "nothing",
      },
      body: JSON.stringify(call(1, "nothing", {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          ...(name
            ? { "io.modelcontextprotocol/clientInfo": { name, version: "1" } }
            : {}),
        },
      })),
    });
    assertEquals((await response.json()).error, undefined);
  }
  assertEquals(seen, ["http:a/1", "http:a/1", "http:b/1", "http:"]);
  await http.close(0);
  await http.finished;
});

Deno.test("http: closing waits for what is in flight, and refuses more", async () => {
  const { server } = makeServer();
  const http = serveHttp(server, { port: 0, token: undefined });
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "slow",
  };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(http.url, {
    method: "POST",
    headers,
    body: JSON.stringify(call(1, "slow", { _meta })),
  });
  const closed = http.close(5000);
  const said = await Array.fromAsync(events(response));
  assertEquals(said.at(-1)!.message.result.content[0].text, "slow");
  await closed;
  await http.finished;
});

Deno.test("http: closing cuts off those who send half a request, and those who do not read", async () => {
  const { server } = makeServer();
  const loud = Promise.withResolvers<void>();
  const name = "loud";
  const piece = "x".repeat(1024 * 1024);
  server.register({
    name,
    summary: name,
    tool: { name, annotations },
    run(_args: unknown, ctx: CommandContext) {
      for (let i = 0; i < 14; i++) ctx.log("info", piece);
      loud.resolve();
      return "said";
    },
  });
  const http = serveHttp(server, { port: 0, token: undefined });
  const { hostname, port } = new URL(http.url);
  const say = async (text: string): Promise<Deno.Conn> => {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode(text));
    return connection;
  };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/logLevel": "info",
  };
  const body = JSON.stringify(call(1, name, { _meta }));
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/call",
    `Mcp-Name: ${name}`,
    `Content-Length: ${body.length}`,
  ];
  using silent = await say("");
  using half = await say("POST /mcp HTTP/1.1\r\nHost: local");
  using _deaf = await say(`${head.join("\r\n")}\r\n\r\n${body}`);
  await loud.promise;
  await http.close(0);
  await http.finished;
  for (const connection of [silent, half]) {
    assertEquals(await connection.read(new Uint8Array(1)), null);
  }
});

Deno.test("EventStream keeps a bounded number of events, and lets an earlier reader go", async () => {
  const stream = new EventStream({ id: "x" });
  for (let i = 1; i <= MAX_KEPT_EVENTS + 10; i++) stream.send(String(i));
  const first = stream.read();
  const second = stream.read(MAX_KEPT_EVENTS + 8);
  stream.end();
  const text = await new Response(first).text();
  assertEquals(text.split("\n\n").length - 1, MAX_KEPT_EVENTS);
  assertStringIncludes(text, "id: x.11\ndata: 11\n\n");
  assertEquals(
    (await new Response(second).text()).split("\n\n").length - 1,
    2,
  );
  assertEquals(
    await new Response(stream.read(MAX_KEPT_EVENTS + 10)).text(),
    "",
  );
});

Deno.test("EventStream lets a client go that does not read", async () => {
  let gone = 0;
  const stream = new EventStream({ onGone: () => gone++ });
  const reader = stream.read().getReader();
  const piece = "x".repeat(1024 * 1024);
  for (
    let sent = 0;
    sent < MAX_UNREAD_BYTES - piece.length;
    sent += piece.length
  ) {
    stream.send(piece);
  }
  assertEquals([gone, stream.isRead], [0, true]);
  stream.send(piece);
  stream.send(piece);
  assertEquals([gone, stream.isRead], [1, false]);
  await reader.closed.catch(() => {});
  stream.end();
});
