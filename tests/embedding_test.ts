/** One server on several transports at once. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type AnyCommand,
  command,
  type CommandContext,
  McpServer,
  serveHttp,
  serveStdio,
  type StdioSystem,
} from "../lib/library.ts";

const INITIALIZE = {
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  },
};
Deno.test("one server serves standard streams, HTTP and a pair in the process at once", async () => {
  const met = Promise.withResolvers<void>();
  let present = 0;
  // Each call is answered only when the calls of all three transports are there.
  const meet = command({
    name: "meet",
    summary: "Meet",
    tool: { name: "meet" },
    async run() {
      if (++present === 3) met.resolve();
      await met.promise;
      return "met";
    },
  });
  const server = new McpServer({ name: "t", version: "1" }).register(meet);
  const answers = await everywhere(server, ["meet"], 0);
  for (const texts of answers) assertEquals(texts, ["met"]);
});

Deno.test("a handler that throws, hangs, returns the wrong thing or ignores its signal harms only its own call, on every transport", async () => {
  const tool = (
    name: string,
    run: (ctx: CommandContext) => unknown,
  ): AnyCommand => ({
    name,
    summary: name,
    tool: { name },
    run: (_args, ctx) => run(ctx) as never,
  });
  const tools = {
    throws: () => {
      throw new TypeError("a bug");
    },
    fails: () => {
      throw new Error("cannot reach it");
    },
    nothing: () => Promise.reject(undefined),
    wrong: () => 5,
    huge: () => "x".repeat(9 * 1024 * 1024),
    later: () => {
      queueMicrotask(() => {
        throw new Error("when nobody listens any more");
      });
      return "early";
    },
    hangs: ({ signal }: CommandContext) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(new Error("stopped")))
      ),
    deaf: () => new Promise(() => {}),
    works: () => "fine",
  };
  const server = new McpServer({ name: "t", version: "1" });
  for (const [name, run] of Object.entries(tools)) {
    server.register(tool(name, run));
  }
  const names = Object.keys(tools);
  const answers = await everywhere(server, names, 50);
  for (const texts of answers) {
    const [throws, fails, nothing, wrong, huge, later, hangs, deaf, works] =
      texts;
    assertEquals([throws, nothing, wrong], Array(3).fill("internal error"));
    assertEquals([fails, later, works], ["cannot reach it", "early", "fine"]);
    assertStringIncludes(huge!, "more than the 8388608 that clients take");
    // The end of its connection ends them, and only them.
    assertEquals(hangs, "stopped");
    assertStringIncludes(deaf!, "the server stops");
  }
});

/** Calls each tool over standard streams, HTTP and a pair in the process at once; resolves to the texts of each. */
async function everywhere(
  server: McpServer,
  names: readonly string[],
  drain: number,
): Promise<string[][]> {
  const calls = names.map((name) => ({
    method: "tools/call",
    params: { name, arguments: {} },
  }));
  const http = serveHttp(server, { port: 0, token: undefined });
  const post = async (id: number, message: unknown, session?: string) => {
    const response = await fetch(http.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...(session === undefined ? {} : {
          "Mcp-Session-Id": session,
          "MCP-Protocol-Version": "2025-06-18",
        }),
      },
      body: line(id, message),
    });
    return {
      text: await response.text(),
      session: response.headers.get("Mcp-Session-Id")!,
    };
  };
  const overHttp = async () => {
    const { session } = await post(0, INITIALIZE);
    const posted = calls.map((call, i) => post(i + 1, call, session));
    // The last is one that works.
    await posted.at(-1);
    const [texts] = await Promise.all([
      Promise.all(posted.map(async (one) => (await one).text)),
      http.close(drain),
    ]);
    return texts.map((text) =>
      textOf(/^data: (\{.*)$/m.exec(text)?.[1] ?? text)
    );
  };
  const overLines = async (
    serve: (
      readable: ReadableStream<Uint8Array>,
      writable: WritableStream<Uint8Array>,
    ) => Promise<unknown>,
  ) => {
    const { readable, writable } = new TransformStream<
      Uint8Array,
      Uint8Array
    >();
    const served = serve(
      new Blob([INITIALIZE, ...calls].map((one, i) => line(i, one))).stream(),
      writable,
    );
    const lines = (await new Response(readable).text()).trim().split("\n");
    await served;
    return lines.slice(1).toSorted((a, b) =>
      JSON.parse(a).id - JSON.parse(b).id
    ).map(textOf);
  };
  const system = {
    onSignal: () => () => {},
    exit() {},
  } satisfies Partial<StdioSystem>;
  return await Promise.all([
    overHttp(),
    overLines((stdin, stdout) =>
      serveStdio(server, { ...system, stdin, stdout }, { drain })
    ),
    overLines((readable, writable) =>
      server.serve(readable, writable, { drain })
    ),
  ]);
}

function textOf(answer: string): string {
  const { result, error } = JSON.parse(answer);
  return result?.content[0].text ?? error.message;
}

function line(id: number, message: unknown): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, ...message as object })}\n`;
}
