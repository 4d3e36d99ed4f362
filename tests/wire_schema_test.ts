import { assertEquals, assertRejects } from "@std/assert";
import { WireChecker } from "./wire_schema.ts";

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2024-11-05" },
});

function answer(id: unknown, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

Deno.test("WireChecker accepts a valid answer and follows the negotiated revision", async () => {
  const wire = new WireChecker();
  wire.sent(INITIALIZE);
  await wire.check(answer(1, {
    protocolVersion: "2024-11-05",
    serverInfo: { name: "a", version: "1" },
    capabilities: {},
  }));
  assertEquals(wire.revision, "2024-11-05");
});

Deno.test("WireChecker refuses what breaks the schema", async () => {
  const wire = new WireChecker();
  wire.sent(INITIALIZE);
  for (let n = 0; n < 3; n++) {
    wire.sent('{"jsonrpc":"2.0","id":2,"method":"tools/call"}');
  }
  wire.sent('{"jsonrpc":"2.0","id":3,"method":"resources/list"}');
  const bad = [
    "started",
    "{}",
    '{"jsonrpc":"2.0","id":1,"error":{"message":"no code"}}',
    answer(1, { protocolVersion: "2024-11-05", capabilities: {} }),
    answer(2, { content: [{ type: "text" }] }),
    answer(2, { content: [{ type: "image", data: "*", mimeType: "a/b" }] }),
    answer(3, { resources: [{ uri: "version", name: "version" }] }),
    answer(99, {}),
    '{"jsonrpc":"2.0","method":"notifications/nonsense"}',
    '[{"jsonrpc":"2.0","id":2,"result":{"content":[]}}]',
  ];
  for (const line of bad) await assertRejects(() => wire.check(line), Error);
});

Deno.test("WireChecker refuses a second answer to one request", async () => {
  const wire = new WireChecker();
  wire.sent('{"jsonrpc":"2.0","id":0,"method":"ping"}');
  await wire.check(answer(0, {}));
  await assertRejects(() => wire.check(answer(0, {})), Error, "a second");
});

Deno.test("WireChecker exempts errors without a usable id and one URI without a scheme", async () => {
  const wire = new WireChecker({ exemptUri: "version" });
  await wire.check(
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}',
  );
  wire.sent('{"jsonrpc":"2.0","id":3,"method":"resources/list"}');
  wire.sent('{"jsonrpc":"2.0","id":3,"method":"resources/list"}');
  await wire.check(
    answer(3, { resources: [{ uri: "version", name: "version" }] }),
  );
  await assertRejects(
    () => wire.check(answer(3, { resources: [{ uri: "other", name: "o" }] })),
    Error,
    "uri",
  );
});

Deno.test("WireChecker judges a stateless request by its own revision", async () => {
  const wire = new WireChecker();
  const discover = JSON.stringify({
    jsonrpc: "2.0",
    id: "d",
    method: "server/discover",
    params: {
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
    },
  });
  wire.sent(discover);
  wire.sent(discover);
  const result = {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: {},
    ttlMs: 0,
    cacheScope: "private",
  };
  await wire.check(answer("d", result));
  const { ttlMs: _, ...without } = result;
  await assertRejects(() => wire.check(answer("d", without)), Error, "ttlMs");
});
