/** One server on several transports at once. */
import { assertEquals } from "@std/assert";
import {
  command,
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
const CALL = {
  method: "tools/call",
  params: { name: "meet", arguments: {} },
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
  const overLines = async (
    serve: (
      readable: ReadableStream<Uint8Array>,
      writable: WritableStream<Uint8Array>,
    ) => Promise<unknown>,
  ) => {
    let text = "";
    await serve(
      ReadableStream.from([
        new TextEncoder().encode(line(0, INITIALIZE) + line(1, CALL)),
      ]),
      new WritableStream({
        write: (bytes) => void (text += new TextDecoder().decode(bytes)),
      }),
    );
    return text;
  };
  const system = {
    onSignal: () => () => {},
    exit() {},
  } satisfies Partial<StdioSystem>;
  const answers = await Promise.all([
    post(0, INITIALIZE).then(({ session }) => post(1, CALL, session))
      .then(({ text }) => text),
    overLines((stdin, stdout) =>
      serveStdio(server, { ...system, stdin, stdout })
    ),
    overLines((readable, writable) => server.serve(readable, writable)),
  ]);
  await http.close(0);
  assertEquals(answers.map((text) => text.includes(`"text":"met"`)), [
    true,
    true,
    true,
  ]);
});

function line(id: number, message: unknown): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, ...message as object })}\n`;
}
