import {
  assert,
  assertEquals,
  assertLess,
  assertLessOrEqual,
  assertStringIncludes,
} from "@std/assert";
import {
  ARGUMENT_CHARS,
  byteLength,
  EXCERPT_CHARS,
  OUTPUT_CHARS,
  resultDrafts,
  SEARCHED_CHARS,
  useDraft,
} from "../lib/drafts.ts";
import type { Message } from "../lib/recorded.ts";
import {
  APPEND_TRIES,
  BATCH_CHARS,
  BATCH_DELAY,
  BATCH_RECORDS,
  IDLE_LIMIT,
  QUEUE_CHARS,
  QUEUE_RECORDS,
  Recorder,
} from "../lib/recorder.ts";
import { SessionFile } from "../lib/session_file.ts";
import type { SessionStore } from "../lib/store.ts";
import { TITLE_CHARS, TITLE_FACTS, titleOf } from "../lib/title.ts";
import {
  callEnd,
  callStart,
  record,
  TestLog,
  testPlatform,
  withFolder,
  withStore,
} from "./sessions.ts";

async function messages(store: SessionStore): Promise<Message[]> {
  const { items: [session] } = await store.list({ limit: 1 });
  return await store.read(session?.id ?? "", 0, (_, found) => [...found]) ?? [];
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** Waits, by the store's own timer, until `test` holds. */
async function until(test: () => Promise<boolean>): Promise<void> {
  while (!await test()) await new Promise((resolve) => setTimeout(resolve, 10));
}

Deno.test("what read and grep gave is kept as an excerpt and a hash, what bash gave whole", async () => {
  await withStore({}, async (store) => {
    const text = `${"line of a file\n".repeat(1_000)}end`;
    for (const tool of ["read", "grep", "bash"]) {
      record(store, { tool, arguments: {}, result: text });
    }
    const [, read, , grep, , bash] = await messages(store);
    for (const part of [read, grep]) {
      assert(part);
      assertEquals(part.bytes, text.length);
      assertLessOrEqual(part.text.length, EXCERPT_CHARS);
      assert(text.startsWith(part.text) && part.text.endsWith("\n"));
      assertEquals(part.hash, await sha256(text));
    }
    assertEquals(bash?.text, text);
    assertEquals(bash?.hash, undefined);
  });
});

Deno.test("an excerpt is cut exactly beyond its limit", () => {
  const call = (length: number) =>
    callEnd(callStart({ tool: "read" }), "x".repeat(length));
  assertEquals(resultDrafts(call(EXCERPT_CHARS), "full")[0]?.hashed, undefined);
  const [cut] = resultDrafts(call(EXCERPT_CHARS + 1), "full");
  assertEquals([cut?.text.length, cut?.hashed?.length], [
    EXCERPT_CHARS,
    EXCERPT_CHARS + 1,
  ]);
});

Deno.test("output beyond the limit keeps its beginning, its end and its hash", () => {
  const call = (text: string) => callEnd(callStart(), text);
  const most = "x".repeat(OUTPUT_CHARS);
  assertEquals(resultDrafts(call(most), "full")[0]?.body, most);
  const [draft] = resultDrafts(call(`first\n${most}\nlast`), "full");
  assertLessOrEqual(draft?.body?.length ?? Infinity, OUTPUT_CHARS);
  assert(draft?.body?.startsWith("first\n") && draft.body.endsWith("\nlast"));
  assertEquals(draft?.hashed?.length, OUTPUT_CHARS + 11);
});

Deno.test("of a long output the beginning and the end are searched, and all of it is read", async () => {
  await withStore({}, async (store) => {
    const text = `${"alpha "}${"filler\n".repeat(5_000)} omega`;
    assert(text.length > SEARCHED_CHARS);
    record(store, { result: text });
    assertEquals((await store.search("alpha", 5)).length, 1);
    assertEquals((await store.search("omega", 5)).length, 1);
    assertEquals((await messages(store))[1]?.text, text);
  });
});

Deno.test("long arguments are cut, and stay JSON", () => {
  const call = callStart({
    tool: "write",
    arguments: {
      path: "/a",
      content: "x".repeat(ARGUMENT_CHARS + 1),
      edits: [{ n: 1, s: "y".repeat(ARGUMENT_CHARS) }],
    },
  });
  const kept = JSON.parse(useDraft(call, "full", []).json ?? "");
  assertEquals(
    kept.content.length,
    ARGUMENT_CHARS + "… [1 more characters]".length,
  );
  assertEquals(kept.edits[0], { n: 1, s: "y".repeat(ARGUMENT_CHARS) });
});

Deno.test("arguments of any size are bounded as a whole", () => {
  const many = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, i) => [`k${i}`, "v".repeat(100)]),
  );
  const draft = useDraft(callStart({ arguments: many }), "full", []);
  assertLessOrEqual(draft.json?.length ?? Infinity, OUTPUT_CHARS);
  JSON.parse(draft.json ?? "");
  assert(draft.bytes > 5_000_000);
});

Deno.test("with record: calls, results are only counted and hashed, and arguments are short", async () => {
  await withStore({ record: "calls" }, async (store) => {
    record(store, {
      arguments: { command: `echo ${"a".repeat(500)}` },
      result: "secret business",
    });
    const [use, result] = await messages(store);
    assertLess(use?.json?.length ?? Infinity, 300);
    assertEquals([result?.text, result?.bytes, result?.hash], [
      "",
      15,
      await sha256("secret business"),
    ]);
    assertEquals(await store.search("business", 5), []);
  });
});

Deno.test("a picture is kept as its type, size and hash, a cancelled call as cancelled", async () => {
  await withStore({}, async (store) => {
    record(store, {
      tool: "read",
      arguments: { path: "/a.png" },
      result: {
        content: [{ type: "image", data: "AAAA", mimeType: "image/png" }],
      },
    });
    record(store, { result: undefined });
    const found = await messages(store);
    assertEquals(found.map(({ kind }) => kind), [
      "tool_use",
      "tool_result",
      "image",
      "tool_use",
      "tool_result",
    ]);
    assertEquals([found[2]?.json, found[2]?.bytes, found[2]?.text], [
      '{"media_type":"image/png"}',
      3,
      "",
    ]);
    assertEquals(found[2]?.hash, await sha256("AAAA"));
    assertEquals([found[4]?.text, found[4]?.isError], ["(cancelled)", true]);
  });
});

Deno.test("asking for sessions does not make the asking findable", async () => {
  await withStore({}, async (store) => {
    record(store, {
      tool: "rousseau_search_sessions",
      arguments: { query: "needle" },
      result: "session with a needle",
    });
    assertEquals(await store.search("needle", 5), []);
    assertEquals((await messages(store)).map(({ kind }) => kind), [
      "tool_use",
      "tool_result",
    ]);
  });
});

Deno.test("a title says what was done, edits first, within its length", () => {
  const draft = (tool: string, args: Record<string, unknown>) =>
    useDraft(callStart({ tool, arguments: args }), "full", ["/w/project"]).fact;
  assertEquals(draft("edit", { path: "/w/project/lib/a.ts" }), {
    kind: "edit",
    what: "lib/a.ts",
  });
  assertEquals(draft("write", { path: "/w/projects/a.ts" }), {
    kind: "edit",
    what: "/w/projects/a.ts",
  });
  assertEquals(draft("bash", { command: "\n  ls -l\nwc" }), {
    kind: "bash",
    what: "ls -l",
  });
  assertEquals(draft("bash", { command: "" }), undefined);
  assertEquals(draft("deploy", {}), { kind: "tool", what: "deploy" });
  assertEquals(draft("rousseau_list_sessions", {}), undefined);
  assertEquals(titleOf({}), "");
  assertEquals(
    titleOf({
      bash: { first: ["deno test"], more: false },
      edit: { first: ["a", "b"], more: true },
      read: { first: ["c"], more: false },
    }),
    "edit a, b, …; bash: deno test",
  );
  const long = titleOf({
    edit: {
      first: Array.from({ length: TITLE_FACTS }, () => "x".repeat(60)),
      more: false,
    },
  });
  assertEquals([long.length, long.endsWith("…")], [TITLE_CHARS, true]);
});

Deno.test("byteLength is the size in UTF-8", () => {
  for (
    const text of [
      "",
      "abc",
      "é",
      "€",
      "𝄞",
      "\ud800",
      "\udc00\ud800",
      "a\ud834\udd1eb",
    ]
  ) {
    assertEquals(byteLength(text), new TextEncoder().encode(text).length, text);
  }
});

Deno.test("a batch is committed by itself, soon after its first call", async () => {
  await withFolder(async (folder) => {
    await withStore({ path: `${folder}/s.db` }, async (store) => {
      assertEquals(BATCH_DELAY, 100);
      record(store);
      await until(async () => (await store.status()).sessions === 1);
    });
  });
});

Deno.test("a full batch does not wait, and more than one is committed in turn", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < BATCH_RECORDS * 2; i++) record(store);
    await until(async () => (await store.status()).sessions === 1);
    await store.flush({ wait: 5_000 });
    assertEquals((await messages(store)).length, BATCH_RECORDS * 4);
  });
});

Deno.test("a batch ends after many records, and after few that are long", async () => {
  for (
    const [result, calls] of [
      ["x", BATCH_RECORDS / 2],
      ["x".repeat(SEARCHED_CHARS - 9), BATCH_CHARS / SEARCHED_CHARS],
      ["x".repeat(OUTPUT_CHARS), BATCH_CHARS / SEARCHED_CHARS],
    ] as const
  ) {
    await withStore({}, async (store) => {
      let batches = 0;
      store.watch(() => batches++);
      for (let i = 0; i < calls; i++) record(store, { result });
      await store.flush({ wait: 5_000 });
      assertEquals(batches, 1);
      for (let i = 0; i < calls + 1; i++) record(store, { result });
      await store.flush({ wait: 5_000 });
      assertEquals(batches, 3, `${result.length}`);
    });
  }
});

Deno.test("recording costs a call less than 50 µs, from its beginning to its end", async () => {
  await withStore({}, async (store) => {
    const result = "x".repeat(100_000);
    const times = Array.from({ length: 200 }, () => {
      const before = performance.now();
      record(store, { result });
      return performance.now() - before;
    }).sort((a, b) => a - b);
    // Half of them, since what else runs here may take the processor from any.
    assertLess(times[100] as number, 0.05);
    await store.flush({ wait: 5_000 });
  });
});

Deno.test("a queue that is full drops what comes, with one warning", async () => {
  await withStore({}, async (store, log) => {
    for (let i = 0; i < QUEUE_RECORDS; i++) record(store);
    assertEquals(log.warnings, ["store.overflow"]);
    await store.flush({ wait: 20_000 });
    assertEquals((await messages(store)).length, QUEUE_RECORDS);
    const half = "x".repeat(QUEUE_CHARS / 2);
    for (let i = 0; i < 3; i++) record(store, { result: half });
    assertEquals(log.warnings, ["store.overflow"]);
  });
});

Deno.test("a connection's session lasts exactly its idle limit", async () => {
  for (
    const [gap, sessions] of [[IDLE_LIMIT, 1], [IDLE_LIMIT + 1, 2]] as const
  ) {
    await withStore({}, async (store) => {
      record(store, { at: 1 });
      record(store, { at: 1 + gap });
      assertEquals((await store.list({ limit: 5 })).items.length, sessions);
    });
  }
});

Deno.test("a call that outlives the idle limit ends in the session in which it began", async () => {
  await withStore({}, async (store) => {
    const start = callStart({ at: 1 });
    store.observer.started(start);
    record(store, { at: IDLE_LIMIT + 2 });
    store.observer.ended(callEnd(start, "late"));
    const { items } = await store.list({ limit: 5 });
    assertEquals(items.map(({ messageCount }) => messageCount), [2, 2]);
  });
});

Deno.test("a clock that goes back moves no session back", async () => {
  await withStore({}, async (store) => {
    record(store, { at: 5_000 });
    record(store, { at: 1_000 });
    const { items: [session] } = await store.list({ limit: 1 });
    assertEquals([
      session?.createdAt,
      session?.updatedAt,
      session?.messageCount,
    ], [5_000, 5_001, 4]);
  });
});

Deno.test("calls that overlap are told apart by their id", async () => {
  await withStore({}, async (store) => {
    const [a, b] = [
      callStart({ arguments: { command: "a" } }),
      callStart({ arguments: { command: "b" } }),
    ];
    store.observer.started(a);
    store.observer.started(b);
    store.observer.ended(callEnd(b, "of b"));
    store.observer.ended(callEnd(a, "of a"));
    const found = await messages(store);
    assertEquals(found.map(({ kind, callId, text }) => [kind, callId, text]), [
      ["tool_use", a.callId, "a"],
      ["tool_use", b.callId, "b"],
      ["tool_result", b.callId, "of b"],
      ["tool_result", a.callId, "of a"],
    ]);
    assertStringIncludes(found[2]?.text ?? "", "b");
  });
});

Deno.test("a batch that no file takes is dropped after so many, with one warning", async () => {
  await withFolder(async (folder) => {
    const log = new TestLog();
    const file = new SessionFile({
      path: `${folder}/sessions.db`,
      platform: testPlatform(folder),
      logger: log,
      now: Date.now,
      // A schema without the tables that records go into.
      migrations: [{ name: "nothing", sql: "CREATE TABLE meta (x)" }],
    });
    const recorder = new Recorder({
      file,
      level: "full",
      roots: () => [],
      cwd: undefined,
      conversation: () => undefined,
      now: Date.now,
      committed: () => {},
    });
    const start = callStart();
    recorder.started(start);
    recorder.ended(callEnd(start, "ok"));
    await recorder.flush(10_000);
    recorder.close();
    await file.close();
    assertEquals(log.warnings, ["store.damaged", "store.record_failed"]);
    assertEquals(
      [...Deno.readDirSync(folder)].filter(({ name }) =>
        name.includes(".damaged-") && !/-(?:wal|shm)$/.test(name)
      ).length,
      APPEND_TRIES + 1,
    );
  });
});
