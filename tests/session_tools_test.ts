import {
  assert,
  assertEquals,
  assertLessOrEqual,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { type AnyCommand, toToolResult } from "../lib/command.ts";
import type { JsonObject, ResourceLink, Revision } from "../lib/mcp.ts";
import { RpcError } from "../lib/rpc.ts";
import {
  completeSessionIds,
  MAX_NAMED,
  PAGE_SESSIONS,
  sessionResources,
} from "../lib/session_resources.ts";
import {
  listSessions,
  MAX_LIMIT,
  MAX_LINKS,
  readSession,
  searchSessions,
  sessionTools,
} from "../lib/session_tools.ts";
import type { SessionStore } from "../lib/store.ts";
import { NOT_INSTRUCTIONS } from "../lib/transcript.ts";
import {
  callStart,
  record,
  runCommand,
  toolContext,
  withStore,
} from "./sessions.ts";

const context = callStart().context;

async function onlyId(store: SessionStore): Promise<string> {
  return (await store.list({ limit: 1 })).items[0]?.id ?? "";
}

Deno.test("the session tools have the names, arguments and descriptions that models know", () => {
  assertEquals(sessionTools.map((tool) => tool.tool?.name), [
    "rousseau_list_sessions",
    "rousseau_search_sessions",
    "rousseau_read_session",
  ]);
  const limit = listSessions.input?.properties.limit;
  assertEquals({ ...limit }, {
    type: "integer",
    description: "Cap rows returned. Default 20, at most 200.",
    minimum: 1,
    maximum: 200,
  });
  assertEquals(searchSessions.input?.required, ["query"]);
  assertEquals(readSession.input?.required, ["id"]);
  for (const tool of sessionTools) {
    assertEquals(tool.tool?.annotations?.readOnlyHint, true);
    assertEquals(tool.tool?.annotations?.openWorldHint, false);
  }
});

Deno.test("rousseau_list_sessions gives a line a session", async () => {
  await withStore({}, async (store) => {
    const none = await runCommand(listSessions, {}, store);
    assertEquals(none.text, "(no sessions)");
    assertStringIncludes(none.note ?? "", "--sessions all");
    record(store, { at: Date.UTC(2026, 6, 11, 18, 0, 14, 200) });
    const id = await onlyId(store);
    assertEquals(await runCommand(listSessions, {}, store), {
      text: `${id}  bash: deno test  msgs=2  updated=2026-07-11T18:00:14.201Z`,
      note: undefined,
      isError: false,
    });
  });
});

Deno.test("rousseau_list_sessions keeps its limit within 1 and 200, 20 by default", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < MAX_LIMIT + 1; i++) {
      record(store, { connectionId: `${i}` });
    }
    const rows = async (args: Record<string, unknown>) =>
      (await runCommand(listSessions, args, store)).text.split("\n").length;
    assertEquals(await rows({}), 20);
    assertEquals(await rows({ limit: null }), 20);
    assertEquals(await rows({ limit: 1 }), 1);
    assertEquals(await rows({ limit: MAX_LIMIT }), MAX_LIMIT);
    for (const limit of [0, -1, MAX_LIMIT + 1, 1.5, "x"]) {
      const answer = await runCommand(listSessions, { limit }, store);
      assert(answer.isError);
      assertStringIncludes(answer.text, "limit");
    }
  });
});

Deno.test("rousseau_search_sessions gives rank, title and snippet", async () => {
  await withStore({}, async (store) => {
    record(store, {
      connectionId: "a",
      result: "the parser failed\nat line 3",
    });
    record(store, { connectionId: "b", result: "a parser, a parser" });
    const { text } = await runCommand(
      searchSessions,
      { query: "parser" },
      store,
    );
    const hits = text.split("\n\n");
    assertEquals(hits.length, 2);
    for (const hit of hits) {
      assertMatch(
        hit,
        /^session [0-9a-f-]{36} \(rank -\d+\.\d\d\)\n {4}title: {3}bash: deno test\n {4}snippet: [^\n]*parser[^\n]*$/,
      );
    }
    assertEquals(
      (await runCommand(searchSessions, { query: "absent" }, store)).text,
      "(no matches)",
    );
    assertEquals(await runCommand(searchSessions, { query: "  " }, store), {
      text: "query is required",
      note: undefined,
      isError: true,
    });
    assertEquals(
      (await runCommand(searchSessions, { query: "" }, store)).text,
      "query is required",
    );
    const wrong = await runCommand(
      searchSessions,
      { query: "parser AND" },
      store,
    );
    assert(wrong.isError);
    assertMatch(
      wrong.text,
      /^search: "parser AND" is no query: AND, OR and NOT stand between words/,
    );
  });
});

Deno.test("session tools link to what they name, for revisions that have links", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < MAX_LINKS + 1; i++) {
      record(store, { connectionId: `${i}`, result: "parser" });
    }
    const linksOf = async (
      tool: AnyCommand,
      args: JsonObject,
      revision: Revision | undefined,
    ) => {
      const ctx = {
        ...toolContext(store),
        client: { capabilities: {}, ...(revision ? { revision } : {}) },
      };
      return toToolResult(await tool.run!(args, ctx)).content
        .filter(({ type }) => type === "resource_link") as ResourceLink[];
    };
    const { items } = await store.list({ limit: 1 });
    const uri = `rousseau://sessions/${items[0]!.id}`;
    const listed = await linksOf(listSessions, { limit: 200 }, "2025-06-18");
    assertEquals(listed.length, MAX_LINKS);
    assertEquals(listed[0], {
      type: "resource_link",
      uri,
      name: `session-${items[0]!.id.slice(0, 8)}`,
      title: "bash: deno test",
      mimeType: "text/markdown",
    });
    const found = await linksOf(
      searchSessions,
      { query: "parser", limit: 2 },
      "2026-07-28",
    );
    assertEquals(found.length, 2);
    const read = { id: items[0]!.id };
    assertEquals(
      (await linksOf(readSession, read, "2025-11-25")).map(({ uri }) => uri),
      [uri],
    );
    assertEquals(await linksOf(readSession, read, "2025-03-26"), []);
    assertEquals(await linksOf(readSession, read, undefined), []);
  });
});

Deno.test("rousseau_read_session gives header, calls and results, under a line that says what it is", async () => {
  await withStore({}, async (store) => {
    record(store, {
      arguments: { command: "deno test" },
      result: {
        content: [{ type: "text", text: "one\ntwo\n" }],
        isError: true,
      },
      at: 0,
    });
    const id = await onlyId(store);
    assertEquals(
      (await runCommand(readSession, { id }, store)).text,
      `id:       ${id}
title:    bash: deno test
created:  1970-01-01T00:00:00.000Z
updated:  1970-01-01T00:00:00.001Z
messages: 2

${NOT_INSTRUCTIONS}

[0] assistant
    → bash({"command":"deno test"})

[1] user
    ← error: one
    two

(all of it: rousseau://sessions/${id})`,
    );
    assertEquals(
      (await runCommand(readSession, { id: id.slice(0, 8) }, store)).isError,
      false,
    );
    assertEquals(
      (await runCommand(readSession, { id: "" }, store)).text,
      "id is required",
    );
    assertEquals(
      (await runCommand(readSession, {
        id: "ffffffff-0000-4000-8000-000000000000",
      }, store)).text,
      "state: session not found",
    );
  });
});

Deno.test("rousseau_read_session stays within the budget of an answer and says where to go on", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < 30; i++) {
      record(store, { result: `${i}\n${"x".repeat(99)}\n`.repeat(50) });
    }
    const id = await onlyId(store);
    const seen = new Set<string>();
    let from = 0;
    while (true) {
      const { text } = await runCommand(readSession, { id, from }, store);
      assertLessOrEqual(text.length, 20_000);
      for (const [, seq] of text.matchAll(/^\[(\d+)\]/gm)) {
        seen.add(seq as string);
      }
      const next =
        /\((\d+) of 60 messages left: from=(\d+); all of it: (\S+)\)$/.exec(
          text,
        );
      if (!next) {
        assert(text.endsWith(`(all of it: rousseau://sessions/${id})`));
        break;
      }
      assertEquals(Number(next[1]), 60 - Number(next[2]));
      from = Number(next[2]);
    }
    assertEquals(seen.size, 60);
  });
});

Deno.test("D16: secrets in a call are in no answer about it", async () => {
  await withStore({}, async (store) => {
    const secret = `ghp_${"a1B2c3D4e5".repeat(4)}`;
    record(store, {
      arguments: {
        command: `curl -H "Authorization: Bearer ${secret}"`,
        env: { API_TOKEN: "hunter2hunter2" },
      },
      result: `token is ${secret}\npostgres://u:hunter2hunter2@db/x`,
    });
    const id = await onlyId(store);
    const texts = [
      (await runCommand(readSession, { id }, store)).text,
      (await runCommand(searchSessions, { query: "token" }, store)).text,
      (await runCommand(listSessions, {}, store)).text,
      JSON.stringify(
        await sessionResources(() => store).read(
          `rousseau://sessions/${id}`,
          context,
        ),
      ),
      JSON.stringify(
        await sessionResources(() => store).read(
          `rousseau://sessions/${id}.json`,
          context,
        ),
      ),
    ];
    for (const text of texts) {
      assert(!text.includes(secret) && !text.includes("hunter2"), text);
    }
    assertEquals(await store.search("hunter2hunter2", 5), []);
  });
});

Deno.test("resources are the sessions, newest first, page by page", async () => {
  await withStore({}, async (store) => {
    const provider = sessionResources(() => store);
    assertEquals(await provider.list(undefined, context), { items: [] });
    for (let i = 0; i < PAGE_SESSIONS + 1; i++) {
      record(store, { connectionId: `${i}`, at: 1000 + i });
    }
    const first = await provider.list(undefined, context);
    assertEquals(first.items.length, PAGE_SESSIONS);
    const second = await provider.list(first.next, context);
    assertEquals([second.items.length, second.next], [1, undefined]);
    assertEquals(
      first.items[0]?.annotations?.lastModified,
      new Date(1001 + PAGE_SESSIONS).toISOString(),
    );
    const error = await assertRejects(
      () => provider.list("nonsense", context),
      RpcError,
    );
    assertEquals(error.code, -32602);
  });
});

Deno.test("a resource's size is that of its transcript", async () => {
  await withStore({}, async (store) => {
    const provider = sessionResources(() => store);
    record(store, { result: "größer ```als```\n\x1b[31m𝄞 \ud800 \r\n\x07" });
    record(store, {
      tool: "read",
      arguments: { path: "/w/project/a" },
      result: "line\n".repeat(9_000),
    });
    record(store, {
      tool: "write",
      arguments: { path: "/w/project/a", content: "é".repeat(40_000) },
      result: "ok",
    });
    record(store, {
      result: {
        content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
      },
    });
    record(store, { result: undefined });
    const { items: [item] } = await provider.list(undefined, context);
    const contents = await provider.read(item?.uri ?? "", context);
    assertEquals(contents?.length, 1);
    assertEquals(contents?.[0]?.mimeType, "text/markdown");
    assertEquals(
      item?.size,
      new TextEncoder().encode(contents?.[0]?.text).length,
    );
    assertStringIncludes(contents?.[0]?.text ?? "", NOT_INSTRUCTIONS);
  });
});

Deno.test("a long transcript stops within a mebibyte and names what goes on", async () => {
  await withStore({}, async (store) => {
    const provider = sessionResources(() => store);
    for (let i = 0; i < 12; i++) {
      record(store, { result: `${i} ${"y".repeat(120_000)}` });
    }
    let uri = `rousseau://sessions/${await onlyId(store)}`;
    const seqs: string[] = [];
    let pages = 0;
    while (uri) {
      const text = (await provider.read(uri, context))?.[0]?.text ?? "";
      assertLessOrEqual(
        new TextEncoder().encode(text).length,
        1024 * 1024 + 200,
      );
      for (const [, seq] of text.matchAll(/^## (\d+) ·/gm)) {
        seqs.push(seq as string);
      }
      uri = /\nMore: (\S+)\n$/.exec(text)?.[1] ?? "";
      pages++;
    }
    assertEquals(pages, 2);
    assertEquals(seqs, Array.from({ length: 24 }, (_, i) => String(i)));
  });
});

Deno.test("the JSON of a session has the shape in which the earlier rousseau stored it", async () => {
  await withStore({}, async (store) => {
    record(store, {
      result: { content: [{ type: "text", text: "no" }], isError: true },
      at: 5,
    });
    const id = await onlyId(store);
    const [contents] = await sessionResources(() =>
      store
    ).read(`rousseau://sessions/${id}.json`, context) ?? [];
    const stored = JSON.parse(contents?.text ?? "");
    const callId = stored.messages[0].content[0].tool_use.id;
    assertEquals(contents?.mimeType, "application/json");
    assertEquals(stored, {
      id,
      title: "bash: deno test",
      messages: [
        {
          role: "assistant",
          content: [{
            kind: "tool_use",
            tool_use: {
              id: callId,
              name: "bash",
              input: { command: "deno test" },
            },
          }],
          created_at: "1970-01-01T00:00:00.005Z",
        },
        {
          role: "user",
          content: [{
            kind: "tool_result",
            tool_result: { tool_use_id: callId, output: "no", is_error: true },
          }],
          created_at: "1970-01-01T00:00:00.006Z",
        },
      ],
      created_at: "1970-01-01T00:00:00.005Z",
      updated_at: "1970-01-01T00:00:00.006Z",
    });
  });
});

Deno.test("a URI that names no session is not the provider's", async () => {
  await withStore({}, async (store) => {
    record(store);
    const id = await onlyId(store);
    const provider = sessionResources(() => store);
    for (
      const uri of [
        "rousseau://version",
        "rousseau://sessions/",
        "rousseau://sessions/ffffffff",
        `rousseau://sessions/${id}/..`,
        "rousseau://sessions/ffffffff-0000-4000-8000-000000000000",
      ]
    ) assertEquals(await provider.read(uri, context), undefined);
  });
});

Deno.test("the beginning of an id is no URI of a session, and the error names the ids it begins", async () => {
  await withStore({}, async (store) => {
    // So many that some digit begins more ids than are named.
    for (let i = 0; i < 16 * MAX_NAMED + 1; i++) {
      record(store, { connectionId: `${i}` });
    }
    const [id = "", ...others] = (await store.list({ limit: 200 })).items
      .map(({ id }) => id);
    const provider = sessionResources(() => store);
    for (
      const [revision, code] of [["2025-11-25", -32002], [
        "2026-07-28",
        -32602,
      ]] as const
    ) {
      const ctx = { ...context, client: { capabilities: {}, revision } };
      const uri = `rousseau://sessions/${id.slice(0, 30)}`;
      const error = await assertRejects(
        async () => await provider.read(uri, ctx),
        RpcError,
      );
      assertEquals([error.code, error.data], [code, { uri }]);
      assertEquals(
        error.message,
        `resource not found: ${uri}; an id must be whole here: rousseau://sessions/${id}`,
      );
    }
    const digit = "0123456789abcdef".split("").find((first) =>
      [id, ...others].filter((one) => one.startsWith(first)).length > MAX_NAMED
    );
    const error = await assertRejects(
      async () =>
        await provider.read(`rousseau://sessions/${digit}.json`, context),
      RpcError,
    );
    assertEquals(
      error.message.split("rousseau://sessions/").length - 2,
      MAX_NAMED,
    );
  });
});

Deno.test("a stateless list leaves out what this process records, and reads it all the same", async () => {
  await withStore({}, async (store) => {
    record(store);
    const id = await onlyId(store);
    const stateless = {
      ...context,
      client: { capabilities: {}, revision: "2026-07-28" as const },
    };
    const provider = sessionResources(() => store);
    assertEquals((await provider.list(undefined, stateless)).items, []);
    assertEquals((await provider.list(undefined, context)).items.length, 1);
    assert(await provider.read(`rousseau://sessions/${id}`, stateless));
  });
});

Deno.test("session ids are completed from their beginning", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < 3; i++) record(store, { connectionId: `${i}` });
    assertEquals((await completeSessionIds(store, "")).length, 3);
    const [id = ""] = await completeSessionIds(store, "");
    assert((await completeSessionIds(store, id.slice(0, 6))).includes(id));
    assertEquals(await completeSessionIds(store, "x"), []);
  });
});

Deno.test("a store that cannot be opened is an empty list of resources, and tools that say why", async () => {
  await withStore({ path: "/dev/null/sessions.db" }, async (store, log) => {
    record(store);
    const provider = sessionResources(() => store);
    assertEquals(await provider.list(undefined, context), { items: [] });
    for (
      const [tool, args] of [[listSessions, {}], [searchSessions, {
        query: "x",
      }], [readSession, { id: "aa" }]] as const
    ) {
      const answer = await runCommand(tool, args, store);
      assert(answer.isError);
      assertStringIncludes(
        answer.text,
        "state: cannot open the session store /dev/null/sessions.db: ",
      );
    }
    assertEquals(log.warnings, ["store.unavailable"]);
  });
});
