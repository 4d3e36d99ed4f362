import { assert, assertEquals, assertLess } from "@std/assert";
import { SEARCHED_CHARS } from "../lib/drafts.ts";
import {
  KEEP_DAYS,
  prune,
  pruneStep,
  SETTLED,
  takeTurn,
  usedBytes,
} from "../lib/retention.ts";
import { STEP_MESSAGES, STEP_SESSIONS } from "../lib/session_rows.ts";
import type { Sqlite } from "../lib/sqlite.ts";
import type { SessionStore } from "../lib/store.ts";
import { record, withFolder, withStore } from "./sessions.ts";

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 30);

async function titles(store: SessionStore): Promise<string[]> {
  return (await store.list({ limit: 200 })).items.map(({ title }) => title)
    .sort();
}

function run(
  store: SessionStore,
  bounds: { keepDays: number; maxBytes: number },
) {
  return prune(<T>(body: (db: Sqlite) => T) => store.change((db) => body(db)), {
    now: NOW,
    ...bounds,
  });
}

Deno.test("sessions go when their last call is older than the bound, to the millisecond", async () => {
  await withStore({}, async (store) => {
    for (
      const [name, at] of [["old", NOW - KEEP_DAYS * DAY - 2], [
        "edge",
        NOW - KEEP_DAYS * DAY - 1,
      ], ["new", NOW - 1]] as const
    ) {
      record(store, { connectionId: name, arguments: { command: name }, at });
    }
    // A call ends a millisecond after it began.
    assertEquals(
      await run(store, { keepDays: KEEP_DAYS, maxBytes: Infinity }),
      { sessions: 1, bytes: 0 },
    );
    assertEquals(await titles(store), ["bash: edge", "bash: new"]);
    assertEquals((await store.search("old", 5)).length, 0);
  });
});

Deno.test("sessions go in steps, so that no lock is held for long", async () => {
  await withStore({}, async (store) => {
    const step = () =>
      store.change((db) =>
        pruneStep(db, { now: NOW, keepDays: 1, maxBytes: Infinity })
      );
    for (let i = 0; i < STEP_SESSIONS + 5; i++) {
      record(store, { connectionId: `${i}`, at: 1_000 });
    }
    assertEquals(await step(), { sessions: STEP_SESSIONS, isDone: false });
    assertEquals(await step(), { sessions: 5, isDone: false });
    assertEquals(await step(), { sessions: 0, isDone: true });
    for (let i = 0; i < STEP_MESSAGES; i++) record(store, { at: 1_000 });
    assertEquals(await step(), { sessions: 0, isDone: false });
    assertEquals(await step(), { sessions: 0, isDone: false });
    assertEquals(await step(), { sessions: 1, isDone: false });
    // Long messages take longer.
    for (let i = 0; i < 8; i++) {
      record(store, { result: "a".repeat(SEARCHED_CHARS), at: 1_000 });
    }
    assertEquals(await step(), { sessions: 0, isDone: false });
    assertEquals(await step(), { sessions: 1, isDone: false });
    assertEquals(await step(), { sessions: 0, isDone: true });
    for (const table of ["messages", "messages_fts", "bodies"]) {
      const left = await store.query((db) =>
        db.get(`SELECT count(*) AS count FROM ${table}`)
      );
      assertEquals(left, { count: 0 }, table);
    }
  });
});

Deno.test("D11: a file that is too large loses its oldest sessions and gives the space back", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    await withStore({ path, now: () => NOW }, async (store) => {
      for (let i = 0; i < 60; i++) {
        record(store, {
          connectionId: `${i}`,
          arguments: { command: `c${i + 10}` },
          result: `${i}${"x".repeat(200_000)}`,
          at: NOW - 10 * DAY + i * 1_000,
        });
      }
      record(store, {
        connectionId: "live",
        arguments: { command: "live" },
        at: NOW - SETTLED + 1,
      });
      await store.flush({ wait: 5_000 });
      const before = await store.query(usedBytes);
      assert(before > 10_000_000);
      const { sessions, bytes } = await run(store, {
        keepDays: 180,
        maxBytes: 6_000_000,
      });
      assert(sessions >= 20 && sessions < 60, `${sessions}`);
      assert(bytes > 4_000_000, `${bytes}`);
      assertLess(await store.query(usedBytes), 6_000_000);
      const left = await titles(store);
      assert(
        left.includes("bash: live") && left.includes("bash: c69") &&
          !left.includes("bash: c10"),
      );
      await run(store, { keepDays: 180, maxBytes: 1 });
      assertEquals(await titles(store), ["bash: live"]);
    });
    assertLess((await Deno.stat(path)).size, 6_000_000);
  });
});

Deno.test("of several processes one looks after the bounds, once in a while", async () => {
  await withStore({}, async (store) => {
    record(store);
    const turn = (now: number) =>
      store.change((db) => takeTurn(db, now, 1_000));
    assertEquals([await turn(5_000), await turn(5_999), await turn(6_000)], [
      true,
      false,
      true,
    ]);
    // A clock that was ahead does not keep anyone from it.
    assertEquals(await turn(10), true);
  });
});
