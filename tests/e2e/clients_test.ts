/** The official SDK clients, both generations, as the hosts of today embed them. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Transport2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { commandLine, environment, Folders } from "../harness.ts";

/** What the tests need of either client. */
interface Client {
  // deno-lint-ignore no-explicit-any
  connect(transport: any): Promise<void>;
  close(): Promise<void>;
  getServerVersion(): { name: string; version: string } | undefined;
  // deno-lint-ignore no-explicit-any
  listTools(): Promise<any>;
  // deno-lint-ignore no-explicit-any
  callTool(params: any): Promise<any>;
  // deno-lint-ignore no-explicit-any
  listResources(params?: any): Promise<any>;
  // deno-lint-ignore no-explicit-any
  readResource(params: any): Promise<any>;
}

const INFO = { name: "sdk", version: "1" };

const CLIENTS = [
  {
    name: "@modelcontextprotocol/sdk 1.32",
    client: () => new Client1(INFO) as unknown as Client,
    Transport: Transport1,
  },
  {
    name: "@modelcontextprotocol/client 2.4",
    client: () => new Client2(INFO) as unknown as Client,
    Transport: Transport2,
  },
  {
    name: "@modelcontextprotocol/client 2.4, choosing the revision itself",
    client: () =>
      new Client2(INFO, {
        versionNegotiation: { mode: "auto" },
      }) as unknown as Client,
    Transport: Transport2,
  },
];

/** Arguments with which each tool succeeds, in an order that makes them so. */
const CALLS: [tool: string, args: Record<string, unknown>, text: string][] = [
  ["write", { path: "a.txt", content: "plum\n" }, "wrote 5 bytes to "],
  ["read", { path: "a.txt" }, "plum\n"],
  [
    "edit",
    { path: "a.txt", old_string: "plum", new_string: "pear" },
    "(1 replacement)",
  ],
  ["grep", { pattern: "pear" }, "a.txt:1: pear"],
  ["bash", { command: "cat a.txt" }, "pear"],
  ["rousseau_list_sessions", {}, ""],
  ["rousseau_search_sessions", { query: "pear" }, ""],
  ["rousseau_undo", { dry_run: true }, "would be"],
];

for (const { name, client: make, Transport } of CLIENTS) {
  Deno.test({
    name: `${name} lists and calls every tool and reads a session`,
    // The SDKs' transports keep a timer and the child's pipes for a moment after close().
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      await using folders = await Folders.make();
      const [command, ...args] = await commandLine([
        "mcp",
        "--root",
        folders.root,
      ]);
      const transport = new Transport({
        command: command as string,
        args,
        cwd: folders.root,
        env: await environment(folders),
      });
      const client = make();
      await client.connect(transport);
      try {
        assertEquals(client.getServerVersion()?.name, "rousseau");
        const listed: string[] = (await client.listTools()).tools.map((
          tool: { name: string },
        ) => tool.name);
        const called = new Set<string>();
        const call = async (
          tool: string,
          input: Record<string, unknown>,
          text: string,
        ) => {
          const result = await client.callTool({
            name: tool,
            arguments: input,
          });
          assertEquals(result.isError ?? false, false, JSON.stringify(result));
          assertStringIncludes(result.content[0].text, text);
          called.add(tool);
          return result;
        };
        for (const [tool, input, text] of CALLS) await call(tool, input, text);

        if (listed.includes("bash_output")) {
          const begun = await call(
            "bash",
            { command: "echo job; sleep 60", background: true },
            "",
          );
          const { job } = begun._meta["rousseau/result"];
          await call("bash_output", { job }, "");
          await call("bash_kill", { job }, "");
        }

        const uri = await sessionUri(client);
        const read = await client.readResource({ uri });
        assertStringIncludes(read.contents[0].text, "pear");
        await call(
          "rousseau_read_session",
          { id: uri.slice(uri.lastIndexOf("/") + 1) },
          "pear",
        );
        assertEquals([...called].sort(), [...listed].sort());
      } finally {
        await client.close();
      }
    },
  });
}

for (const { name, client: make, Transport } of CLIENTS) {
  Deno.test({
    name: `${name} takes data by its schema, beside the text`,
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      const client = make();
      await client.connect(
        new Transport({
          command: Deno.execPath(),
          args: [
            "run",
            "--no-prompt",
            "--allow-env",
            "--config",
            new URL("../../deno.json", import.meta.url).pathname,
            new URL("../examples/weather.ts", import.meta.url).pathname,
            "mcp",
          ],
        }),
      );
      try {
        // From here on the client checks data by the schema that was listed.
        const { tools } = await client.listTools();
        assertEquals(tools[0].outputSchema.required, ["city", "degrees"]);
        const call = (city: string) =>
          client.callTool({ name: "forecast", arguments: { city } });
        const { content, structuredContent } = await call("Rome");
        assertEquals(structuredContent, { city: "Rome", degrees: 17.5 });
        assertEquals(content.map(({ text }: { text: string }) => text), [
          "Rome: mild",
          "it may rain\n",
        ]);
        const failed = await call("nowhere");
        assertEquals([failed.isError, failed.structuredContent], [
          true,
          undefined,
        ]);
        await assertRejects(() => call("wrong"), Error, "internal error");
      } finally {
        await client.close();
      }
    },
  });
}

/** The URI of the session that this client's calls were recorded in. */
async function sessionUri(client: Client): Promise<string> {
  const { resources } = await client.listResources();
  const own = resources.find(({ uri }: { uri: string }) =>
    uri.startsWith("rousseau://sessions/")
  );
  if (own) return own.uri;
  // Stateless requests are not shown the sessions that their own calls make; the search names them.
  const { content } = await client.callTool({
    name: "rousseau_list_sessions",
    arguments: {},
  });
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(content[0].text)?.[0];
  assert(id, JSON.stringify(content));
  return `rousseau://sessions/${id}`;
}
