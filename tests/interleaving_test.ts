/** Requests of both eras on one pipe, in orders and pieces drawn by lot: each answer is what its own era and place ask for. */
import { assert, assertEquals } from "@std/assert";
import type { CommandContext } from "../lib/command.ts";
import { HANDSHAKE_REVISIONS } from "../lib/mcp.ts";
import { McpServer } from "../lib/server.ts";
import { MemoryClient, type Received } from "./fixtures/memory_client.ts";

const ROUNDS = 150;

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

function makeServer(): McpServer {
  const tools = {
    who: (_args: unknown, ctx: CommandContext) => ctx.client.revision ?? "none",
    ask: async (_args: unknown, ctx: CommandContext) =>
      (await ctx.ask("sure", { message: "Sure?" })).action,
  };
  const server = new McpServer({ name: "test", version: "1" });
  for (const [name, run] of Object.entries(tools)) {
    server.register({ name, summary: name, tool: { name, annotations }, run });
  }
  return server;
}

/** Numbers that look random and are the same in every run (mulberry32). */
function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};

/** A message, and what its answer must be when it is sent after (`initialized`) or before the handshake. */
interface Step {
  method: string;
  params?: Record<string, unknown>;
  check(answer: Received, revision: string | undefined): void;
}

const textOf = (answer: Received): unknown => answer.result?.content?.[0]?.text;

/** Served whatever was said before. */
const STATELESS: Step[] = [
  {
    method: "server/discover",
    params: { _meta },
    check: ({ result }) =>
      assertEquals(result.supportedVersions, ["2026-07-28"]),
  },
  {
    method: "tools/call",
    params: { name: "who", _meta },
    check: (answer) => {
      assertEquals(textOf(answer), "2026-07-28");
      assertEquals(answer.result.resultType, "complete");
    },
  },
  {
    method: "tools/call",
    params: { name: "ask", _meta },
    check: ({ result }) => assertEquals(result.resultType, "input_required"),
  },
  {
    method: "tools/list",
    params: { _meta },
    check: ({ result }) => assertEquals(typeof result.ttlMs, "number"),
  },
  {
    method: "initialize",
    params: { _meta, protocolVersion: "2025-11-25" },
    check: ({ error }) => assertEquals(error?.code, -32601),
  },
  {
    method: "ping",
    params: { _meta },
    check: ({ error }) => assertEquals(error?.code, -32601),
  },
  {
    method: "server/discover",
    params: {},
    check: ({ error }) => assertEquals(error?.code, -32602),
  },
];

const ifInitialized = (
  revision: string | undefined,
  answer: Received,
  check: (revision: string) => void,
): void => {
  if (revision === undefined) assertEquals(answer.error?.code, -32600);
  else check(revision);
};

const HANDSHAKE: Step[] = [
  {
    method: "ping",
    check: ({ result }) => assertEquals(result, {}),
  },
  {
    method: "tools/call",
    params: { name: "who" },
    check: (answer, revision) =>
      ifInitialized(
        revision,
        answer,
        (known) => assertEquals(textOf(answer), known),
      ),
  },
  {
    method: "tools/call",
    params: { name: "ask" },
    check: (answer, revision) =>
      ifInitialized(revision, answer, () =>
        assert(
          textOf(answer) === "cancel" || answer.result.isError === true,
          JSON.stringify(answer),
        )),
  },
  {
    method: "tools/list",
    check: (answer, revision) =>
      ifInitialized(revision, answer, () => {
        assertEquals(answer.result.tools.length, 2);
        assertEquals(Object.hasOwn(answer.result, "resultType"), false);
      }),
  },
];

Deno.test("both eras, in any order and in any pieces, are answered each by its own rules", async () => {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const lot = random(seed);
    try {
      await round(lot);
    } catch (error) {
      throw new Error(`round ${seed}`, { cause: error });
    }
  }
});

async function round(lot: (below: number) => number): Promise<void> {
  const client = new MemoryClient(makeServer());
  const checks = new Map<string, (answer: Received) => void>();
  const listening = new Set<string>();
  const acknowledged = new Set<unknown>();
  let revision: string | undefined;
  let text = "";
  for (let i = 0; i < 12; i++) {
    const id = `${i}`;
    const say = (message: Record<string, unknown>) => {
      text += `${JSON.stringify({ jsonrpc: "2.0", id, ...message })}\n`;
    };
    const kind = lot(8);
    if (kind === 0) {
      const asked = HANDSHAKE_REVISIONS[lot(HANDSHAKE_REVISIONS.length)]!;
      revision = asked;
      say({
        method: "initialize",
        params: {
          protocolVersion: asked,
          capabilities: { elicitation: {} },
          clientInfo: { name: "t", version: "1" },
        },
      });
      checks.set(id, ({ result }) => {
        assertEquals(result.protocolVersion, asked);
        assertEquals(Object.hasOwn(result, "resultType"), false);
      });
    } else if (kind === 1) {
      listening.add(id);
      say({
        method: "subscriptions/listen",
        params: { notifications: { resourcesListChanged: true }, _meta },
      });
      checks.set(
        id,
        ({ result }) => assertEquals(result._meta[SUBSCRIPTION], id),
      );
    } else {
      const steps = kind < 5 ? STATELESS : HANDSHAKE;
      const { method, params, check } = steps[lot(steps.length)]!;
      const known = revision;
      say({ method, ...(params ? { params } : {}) });
      checks.set(id, (answer) => check(answer, known));
    }
  }
  const sent = (async () => {
    for (let at = 0; at < text.length;) {
      const size = 1 + lot(400);
      await client.raw(text.slice(at, at + size));
      at += size;
    }
  })();
  let open = checks.size - listening.size;
  let unacknowledged = listening.size;
  while (open > 0 || unacknowledged > 0) {
    const message = await client.next();
    if (message.method === "elicitation/create") {
      const { id } = message;
      // Not into the middle of a line.
      await sent;
      await client.send(
        lot(2) === 0
          ? { jsonrpc: "2.0", id, result: { action: "cancel" } }
          : { jsonrpc: "2.0", id, error: { code: -32601, message: "no" } },
      );
    } else if (message.method !== undefined) {
      assertEquals(
        message.method,
        "notifications/subscriptions/acknowledged",
      );
      acknowledged.add(message.params._meta[SUBSCRIPTION]);
      unacknowledged--;
    } else {
      judge(checks, message);
      open--;
    }
  }
  await sent;
  assertEquals(acknowledged, listening);
  for (const message of await client.close()) judge(checks, message);
  assertEquals([...checks.keys()], []);
}

function judge(
  checks: Map<string, (answer: Received) => void>,
  message: Received,
): void {
  const check = checks.get(message.id);
  assert(check, `answered twice, or unasked: ${JSON.stringify(message)}`);
  checks.delete(message.id);
  try {
    check(message);
  } catch (error) {
    throw new Error(JSON.stringify(message), { cause: error });
  }
}
