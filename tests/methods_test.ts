/** README's table of methods by revision, tried cell by cell. */
import { assert, assertEquals } from "@std/assert";
import type { CommandContext } from "../lib/command.ts";
import { HANDSHAKE_REVISIONS, STATELESS_REVISIONS } from "../lib/mcp.ts";
import { METHODS } from "../lib/methods.ts";
import { McpServer } from "../lib/server.ts";
import { MemoryClient } from "./fixtures/memory_client.ts";

const REVISIONS = [...HANDSHAKE_REVISIONS, ...STATELESS_REVISIONS];

/** Methods that no revision has: what a seed's client sends, and its end. */
const NOT_IN_MCP = ["notifications/initialized", "shutdown"];

const METHOD_NOT_FOUND = -32601;

/** The cells of README's table, by the first of each row. */
async function table(): Promise<Map<string, string[]>> {
  const readme = await Deno.readTextFile(
    new URL("../README.md", import.meta.url),
  );
  const section = readme.split("## Which MCP\n")[1]!.split("\n## ")[0]!;
  const rows = section.split("\n").filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  assertEquals(rows[0]!.slice(1, 6), REVISIONS);
  const end = rows.findIndex((cells) => cells.length !== rows[0]!.length);
  return new Map(rows.slice(2, end).map(([name, ...cells]) => [name!, cells]));
}

const SERVER_INFO = { name: "t", version: "1" };

const ENVELOPE = "io.modelcontextprotocol/";

/** What a client does under the revision before it asks, and the `_meta` of what it asks. */
async function connect(
  revision: string,
  server = new McpServer(SERVER_INFO),
): Promise<{ client: MemoryClient; _meta: Record<string, unknown> }> {
  const client = new MemoryClient(server);
  const capabilities = { elicitation: {} };
  const isStateless = STATELESS_REVISIONS.some((each) => each === revision);
  if (!isStateless) await client.initialize(revision, capabilities);
  const _meta = isStateless
    ? {
      [`${ENVELOPE}protocolVersion`]: revision,
      [`${ENVELOPE}clientCapabilities`]: capabilities,
      [`${ENVELOPE}logLevel`]: "info",
    }
    : {};
  return { client, _meta };
}

/** Whether the server has the method under the revision. */
async function has(method: string, revision: string): Promise<boolean> {
  const { client, _meta } = await connect(revision);
  const isStateless = Object.keys(_meta).length > 0;
  await client.send({
    jsonrpc: "2.0",
    id: "m",
    method,
    params: {
      protocolVersion: revision,
      notifications: {},
      ...(isStateless ? { _meta } : {}),
    },
  });
  const said = await client.close();
  const answer = said.find(({ id }) => id === "m");
  // Without an envelope, the two methods of 2026-07-28 name what is missing.
  const isMissing = answer.error?.code === METHOD_NOT_FOUND ||
    (!isStateless && /_meta\[/.test(answer.error?.message ?? ""));
  return !isMissing;
}

Deno.test("README's table says which revision has which method", async () => {
  const rows = await table();
  for (const method of METHODS.keys()) {
    if (NOT_IN_MCP.includes(method)) continue;
    const cells = rows.get(`\`${method}\``);
    assert(cells, `README does not name ${method}`);
    for (const [i, revision] of REVISIONS.entries()) {
      assertEquals(
        cells[i],
        await has(method, revision) ? "yes" : "–",
        `${method} ${revision}`,
      );
    }
  }
});

Deno.test("README's table says which revision has batches, progress, log messages and questions", async () => {
  const rows = await table();
  for (const [i, revision] of REVISIONS.entries()) {
    const server = new McpServer(SERVER_INFO).register({
      name: "all",
      summary: "all",
      tool: {
        name: "all",
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      async run(_args: unknown, ctx: CommandContext) {
        ctx.progress(1);
        ctx.log("info", "said");
        return (await ctx.ask("sure", { message: "Sure?" })).action;
      },
    });
    const { client, _meta } = await connect(revision, server);
    await client.send({
      jsonrpc: "2.0",
      id: "c",
      method: "tools/call",
      params: { name: "all", _meta: { ..._meta, progressToken: "p" } },
    });
    const [progress, log, question] = [
      await client.next(),
      await client.next(),
      await client.next(),
    ];
    assertEquals(progress.method, "notifications/progress");
    assertEquals(log.method, "notifications/message");
    const asked = question.method === "elicitation/create"
      ? "request"
      : question.result.resultType === "input_required"
      ? "in the result"
      : "–";
    if (asked === "request") {
      const { id } = question;
      await client.send({ jsonrpc: "2.0", id, result: { action: "decline" } });
      assertEquals((await client.next()).result.content[0].text, "decline");
    }
    await client.send([{
      jsonrpc: "2.0",
      id: "b",
      method: "tools/list",
      params: { _meta },
    }]);
    const batch = await client.next();
    assertEquals(await client.close(), []);
    assertEquals(
      [
        rows.get("a batch")![i],
        rows.get("progress, log messages")![i],
        rows.get("elicitation, roots, sampling")![i],
      ],
      [Array.isArray(batch) ? "yes" : "–", "yes", asked],
      revision,
    );
  }
});

Deno.test("README's table names tests that are there, and speak of the method", async () => {
  for (const [name, cells] of await table()) {
    const files = [...cells.at(-1)!.matchAll(/`(\w+)`/g)].map(([, file]) =>
      file!
    );
    assert(files.length > 0, name);
    for (const file of files) {
      const text = await Deno.readTextFile(
        new URL(`${file}.ts`, import.meta.url),
      );
      const method = /^`(.+)`$/.exec(name)?.[1];
      if (method) assert(text.includes(method), `${file} ${method}`);
    }
  }
});
