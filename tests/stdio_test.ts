import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { McpServer } from "../lib/server.ts";
import {
  type EndSignal,
  EXIT_WITHIN_MS,
  KILL_AFTER_MS,
  serveStdio,
  type StdioHooks,
  type StdioSystem,
} from "../lib/stdio.ts";

/** A process in memory: what it was told is in `events`, with the milliseconds since the signal. */
function memorySystem() {
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const output = new TransformStream<Uint8Array, Uint8Array>(
    undefined,
    undefined,
    { highWaterMark: 100 },
  );
  const events: string[] = [];
  const exited = Promise.withResolvers<number>();
  let handler: ((signal: EndSignal) => void) | undefined;
  const system: StdioSystem = {
    stdin: input.readable,
    stdout: output.writable,
    onSignal(each) {
      handler = each;
      return () => handler = undefined;
    },
    exit(code) {
      events.push(`exit ${code}`);
      exited.resolve(code);
    },
  };
  const writer = input.writable.getWriter();
  writer.closed.catch(() => {});
  return {
    system,
    events,
    exited: exited.promise,
    signal: (name: EndSignal) => handler?.(name),
    listens: () => handler !== undefined,
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    output: output.readable,
  };
}

function hooksInto(events: string[], more: StdioHooks = {}): StdioHooks {
  return {
    terminate: () => void events.push("terminate"),
    commit: () => Promise.resolve(void events.push("commit")),
    kill: () => void events.push("kill"),
    ...more,
  };
}

const server = new McpServer({ name: "test", version: "1.0.0" }).register({
  name: "hang",
  summary: "Hang",
  tool: {
    name: "hang",
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  },
  run: () => new Promise(() => {}),
});

Deno.test("serveStdio resolves at the end of input, with nothing left running or unrecorded", async () => {
  const { system, events, write, end, output, listens } = memorySystem();
  const served = serveStdio(server, system, { hooks: hooksInto(events) });
  await write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await end();
  await served;
  assertEquals(events, ["kill", "commit"]);
  assertEquals(listens(), false);
  assertEquals(
    await new Response(output).text(),
    '{"jsonrpc":"2.0","id":1,"result":{}}\n',
  );
});

Deno.test("serveStdio stops calls that outlast the drain limit", async () => {
  const { system, events, write, end, output } = memorySystem();
  const served = serveStdio(server, system, {
    drain: 10,
    hooks: hooksInto(events),
  });
  await write(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n' +
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}\n',
  );
  await end();
  await served;
  assertEquals(events, ["kill", "commit"]);
  const last = (await new Response(output).text()).trim().split("\n").at(-1)!;
  assertEquals(JSON.parse(last).id, 2);
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test(`serveStdio exits with ${code} after ${signal}: TERM and commit at once, then KILL`, async () => {
    const memory = memorySystem();
    const killedAt = Promise.withResolvers<number>();
    const served = serveStdio(server, memory.system, {
      hooks: hooksInto(memory.events, {
        kill() {
          memory.events.push("kill");
          killedAt.resolve(performance.now());
        },
      }),
    });
    const startedAt = performance.now();
    memory.signal(signal);
    assertEquals(memory.events, ["terminate", "commit"]);
    memory.signal("SIGTERM");
    assertEquals(await memory.exited, code);
    assertLess(performance.now() - startedAt, EXIT_WITHIN_MS + 50);
    assertGreater(await killedAt.promise - startedAt, KILL_AFTER_MS - 10);
    await served;
    assertEquals(memory.events, [
      "terminate",
      "commit",
      "kill",
      `exit ${code}`,
    ]);
  });
}

Deno.test("serveStdio exits in time when a commit hangs, and when hooks fail", async () => {
  const hung = memorySystem();
  const hungServed = serveStdio(server, hung.system, {
    hooks: hooksInto(hung.events, { commit: () => new Promise(() => {}) }),
  });
  const startedAt = performance.now();
  hung.signal("SIGTERM");
  assertEquals(await hung.exited, 143);
  assertLess(performance.now() - startedAt, EXIT_WITHIN_MS + 100);
  await hungServed;

  const failing = memorySystem();
  const fail = () => {
    throw new Error("no");
  };
  const failingServed = serveStdio(server, failing.system, {
    hooks: { terminate: fail, commit: fail, kill: fail },
  });
  failing.signal("SIGINT");
  assertEquals(await failing.exited, 130);
  await failingServed;
});
