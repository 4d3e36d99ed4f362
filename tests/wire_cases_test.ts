/** Inputs that broke other servers, over real pipes. Each test is named by the case it stands for. */
import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { MAX_LINE_BYTES } from "../lib/lines.ts";
import { PipeClient } from "./fixtures/pipe_client.ts";

const SERVER = new URL("./fixtures/echo_server.ts", import.meta.url);

const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });

const call = (id: unknown, name: string, args?: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, ...(args === undefined ? {} : { arguments: args }) },
});

/**
 * Runs `fn` against a fresh server, and then makes sure that the server still answers, says nothing that was not
 * asked for, and ends with its input.
 */
async function withServer(
  fn: (client: PipeClient) => Promise<void>,
  revision?: string,
): Promise<void> {
  const client = new PipeClient(SERVER);
  try {
    if (revision !== "none") await client.initialize(revision);
    await fn(client);
    assertEquals(await client.exchange(ping("alive")), {
      jsonrpc: "2.0",
      id: "alive",
      result: {},
    });
  } finally {
    const { rest, code } = await client.close();
    assertEquals([rest, code], [[], 0]);
  }
}

Deno.test("J01: the end of input ends a server that holds a timer", async () => {
  const client = new PipeClient(SERVER);
  await client.initialize();
  assertEquals((await client.exchange(call(1, "hold"))).id, 1);
  const { code, ms, errors } = await client.close();
  assertEquals(code, 0);
  assertLess(ms, 2000);
  assertEquals(errors, "kill\ncommit\n");
});

Deno.test("J02: what was asked right before the end of input is answered", async () => {
  const client = new PipeClient(SERVER);
  await client.raw(
    [
      {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18" },
      },
      call(2, "wait", { ms: 100 }),
      call(3, "echo", { text: "last" }),
    ].map((message) => JSON.stringify(message)).join("\n"),
  );
  const { rest, code } = await client.close();
  assertEquals(code, 0);
  assertEquals(rest.map(({ id }) => id), [1, 3, 2]);
  assertEquals(rest[2].result.content[0].text, "waited 100 ms");
});

Deno.test("J02: a call that outlasts the drain limit is stopped and answered", async () => {
  const client = new PipeClient(SERVER, ["50"]);
  await client.initialize();
  await client.send(call(1, "wait", { ms: 60_000 }));
  const { rest, code, ms } = await client.close();
  assertEquals(code, 0);
  assertLess(ms, 3000);
  assertEquals(rest, [{
    jsonrpc: "2.0",
    id: 1,
    result: {
      content: [{ type: "text", text: "wait: stopped" }],
      isError: true,
    },
  }]);
});

Deno.test("J03: a character split between two writes arrives whole", async () => {
  await withServer(async (client) => {
    const bytes = new TextEncoder().encode(
      JSON.stringify(call(1, "echo", { text: "a😀b" })) + "\n",
    );
    const at = bytes.indexOf(0xf0) + 2;
    await client.raw(bytes.subarray(0, at));
    await new Promise((resolve) => setTimeout(resolve, 30));
    await client.raw(bytes.subarray(at));
    assertEquals((await client.next()).result.content[0].text, "a😀b");
  });
});

Deno.test("J04: a malformed line is -32700, and the session goes on", async () => {
  await withServer(async (client) => {
    await client.raw('{"a":\n');
    const { id, error } = await client.next();
    assertEquals([id, error.code], [null, -32700]);
  }, "2025-06-18");
  await withServer(async (client) => {
    await client.raw(new Uint8Array([0x22, 0xff, 0x22, 0x0a]));
    const answer = await client.next();
    assertEquals([Object.hasOwn(answer, "id"), answer.error.code], [
      false,
      -32700,
    ]);
  });
});

Deno.test("J06: a line of 12 MB is refused with its id, and the session goes on", async () => {
  await withServer(async (client) => {
    const text = "x".repeat(12_000_000);
    await client.send(call(7, "echo", { text }));
    const head = await client.next();
    assertEquals([head.id, head.error.code], [7, -32600]);
    assertStringIncludes(head.error.message, String(MAX_LINE_BYTES));
    const { method, params } = call(0, "echo", { text });
    await client.send({ method, params, jsonrpc: "2.0", id: "tail" });
    assertEquals((await client.next()).id, "tail");
  });
});

Deno.test("J07: a byte-order mark at the start is accepted", async () => {
  await withServer(async (client) => {
    await client.raw(new Uint8Array([0xef, 0xbb, 0xbf]));
    assertEquals(await client.exchange(ping(1)), {
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
  }, "none");
});

Deno.test("J08: a batch is one -32600 with a sentence", async () => {
  await withServer(async (client) => {
    const { error } = await client.exchange([ping(1), ping(2)]);
    assertEquals(error.code, -32600);
    assertStringIncludes(error.message, "no longer part of MCP");
  });
});

Deno.test("J09: an unknown notification is met with silence", async () => {
  await withServer((client) =>
    client.send({ jsonrpc: "2.0", method: "notifications/x" })
  );
});

Deno.test("J10: a known method without an id is neither executed nor answered", async () => {
  await withServer((client) =>
    client.send({ ...call(0, "hold"), id: undefined })
  );
});

Deno.test("J11: a null id is -32600", async () => {
  await withServer(async (client) => {
    const { id, error } = await client.exchange(ping(null));
    assertEquals([id, error.code], [null, -32600]);
  }, "2024-11-05");
});

Deno.test("J12: the ids 0 and the empty string are answered as they came", async () => {
  await withServer(async (client) => {
    for (const id of [0, "", "0", -5]) {
      assertEquals(await client.exchange(ping(id)), {
        jsonrpc: "2.0",
        id,
        result: {},
      });
    }
  });
});

Deno.test("J13: a fractional id is -32600", async () => {
  await withServer(async (client) => {
    assertEquals((await client.exchange(ping(1.5))).error.code, -32600);
  });
});

Deno.test("J15: a second request of an id in flight is -32600", async () => {
  await withServer(async (client) => {
    await client.send(call(50, "wait", { ms: 100 }), ping(50));
    assertEquals((await client.next()).error.code, -32600);
    assertEquals(
      (await client.next()).result.content[0].text,
      "waited 100 ms",
    );
  });
});

Deno.test("J16: a request before initialize is -32600", async () => {
  await withServer(async (client) => {
    assertEquals((await client.exchange(call(1, "echo"))).error, {
      code: -32600,
      message: "server not initialized",
    });
  }, "none");
});

Deno.test("J17: standard output holds nothing but JSON-RPC", async () => {
  const client = new PipeClient(SERVER);
  await client.send(
    {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25" },
    },
    call(2, "log"),
    call(3, "echo", { text: "line\nbreak\r\u2028" }),
  );
  const { rest } = await client.close();
  assertEquals(rest.every((message) => message.jsonrpc === "2.0"), true);
  assertEquals(
    rest.filter((message) => message.id !== undefined).map(({ id }) => id)
      .toSorted(),
    [1, 2, 3],
  );
});

Deno.test("J18: a client that reads no more ends the server quietly", async () => {
  const client = new PipeClient(SERVER);
  await client.initialize();
  await client.stopReading();
  for (let i = 0; i < 20; i++) {
    try {
      await client.send(ping(i));
    } catch {
      break;
    }
  }
  const { code, errors } = await client.finish();
  assertEquals([code, errors], [0, "kill\ncommit\n"]);
});

Deno.test("what a careless handler leaves behind does not end the server", async () => {
  await withServer(async (client) => {
    const { result } = await client.exchange(call(1, "careless"));
    assertEquals(result.content[0].text, "left");
    const waited = await client.exchange(call(2, "wait", { ms: 30 }));
    assertEquals(waited.result.content[0].text, "waited 30 ms");
  });
});

Deno.test("J22: Content-Length framing is told what to do instead", async () => {
  await withServer(async (client) => {
    const body = JSON.stringify(ping(1));
    await client.raw(`Content-Length: ${body.length}\r\n\r\n${body}`);
    const { error } = await client.next();
    assertEquals(error.code, -32700);
    assertStringIncludes(error.message, "one line of JSON");
    await client.raw("\n");
    assertEquals((await client.next()).id, 1);
  });
});

Deno.test("J23: line separators of other kinds are data", async () => {
  await withServer(async (client) => {
    const text = "a\u2028b\u2029c\u0085d";
    const { result } = await client.exchange(call(1, "echo", { text }));
    assertEquals(result.content[0].text, text);
  });
});

Deno.test("J25: missing, null, empty and unknown arguments are told by name", async () => {
  await withServer(async (client) => {
    for (
      const [args, field] of [
        [undefined, "text"],
        [null, "text"],
        [{}, "text"],
        [{ text: null }, "text"],
        [{ text: 5 }, "text"],
        [{ text: "a", txet: "b" }, "txet"],
      ] as const
    ) {
      const { result } = await client.exchange(call(1, "echo", args));
      assertEquals(result.isError, true);
      assertStringIncludes(result.content[0].text, field);
    }
    for (const style of ["", null]) {
      const { result } = await client.exchange(
        call(1, "echo", { text: "a", style }),
      );
      assertEquals(result, { content: [{ type: "text", text: "a" }] });
    }
  });
});

Deno.test("S17: SIGTERM ends the server with 143 within its time, after TERM, commit and KILL", async () => {
  const client = new PipeClient(SERVER);
  await client.initialize();
  await client.send(call(1, "wait", { ms: 60_000 }));
  await client.exchange(ping(2));
  const startedAt = performance.now();
  client.process.kill("SIGTERM");
  const { rest, code, errors } = await client.finish();
  assertLess(performance.now() - startedAt, 400);
  assertEquals([rest, code], [[], 143]);
  assertEquals(errors, "terminate\ncommit\nkill\n");
});

Deno.test("SIGINT and SIGTERM 100 ms later end the server once, with 130", async () => {
  const client = new PipeClient(SERVER);
  await client.initialize();
  const startedAt = performance.now();
  client.process.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.process.kill("SIGTERM");
  const { code, errors } = await client.finish();
  assertLess(performance.now() - startedAt, 400);
  assertEquals(code, 130);
  assertEquals(errors, "terminate\ncommit\nkill\n");
});
