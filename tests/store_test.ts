import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { RpcError } from "../lib/rpc.ts";
import type { Message } from "../lib/recorded.ts";
import { START } from "../lib/session_cursor.ts";
import { placesBefore } from "../lib/session_rows.ts";
import type { Sqlite, SqlValue } from "../lib/sqlite.ts";
import { databasePath, type SessionStore } from "../lib/store.ts";
import {
  record,
  testPlatform,
  testStore,
  withFolder,
  withStore,
} from "./sessions.ts";

async function messages(
  store: SessionStore,
  id: string,
  from = 0,
): Promise<Message[]> {
  return await store.read(id, from, (_, found) => [...found]) ?? [];
}

Deno.test("a session begins with its first call and holds the call and its result", async () => {
  await withStore({}, async (store) => {
    assertEquals((await store.list({ limit: 10 })).items, []);
    record(store, {
      arguments: { command: "deno test" },
      result: "ok | 3 passed",
      at: 1000,
    });
    const { items, next } = await store.list({ limit: 10 });
    assertEquals(next, undefined);
    assertEquals(items.length, 1);
    const [session] = items;
    assert(session);
    assertEquals({ ...session, id: "", bytes: 0 }, {
      id: "",
      bytes: 0,
      title: "bash: deno test",
      client: { name: "test-host", version: "1.2" },
      protocol: "2025-11-25",
      cwd: "/home/u",
      roots: ["/w/project"],
      messageCount: 2,
      createdAt: 1000,
      updatedAt: 1001,
    });
    assertEquals(session.id.length, 36);
    assertEquals([...store.own], [session.id]);
    const [use, result] = await messages(store, session.id);
    assertEquals([use?.kind, use?.role, use?.tool, use?.json], [
      "tool_use",
      "assistant",
      "bash",
      '{"command":"deno test"}',
    ]);
    assertEquals([result?.kind, result?.role, result?.text, result?.isError], [
      "tool_result",
      "user",
      "ok | 3 passed",
      false,
    ]);
    assertEquals(use?.callId, result?.callId);
    assertEquals(await store.find(session.id.toUpperCase()), session);
    assertEquals((await messages(store, session.id, 1)).map((m) => m.seq), [1]);
  });
});

Deno.test("a session is the host's conversation where it tells, else the connection", async () => {
  await withStore({}, async (store) => {
    record(store, { meta: { threadId: "a" }, connectionId: "1" });
    record(store, { meta: { threadId: "b" }, connectionId: "1" });
    record(store, { meta: { threadId: "a" }, connectionId: "2" });
    record(store, { connectionId: "1" });
    record(store, { connectionId: "2" });
    record(store, { connectionId: "1" });
    const { items } = await store.list({ limit: 10 });
    assertEquals(items.map((s) => s.messageCount).sort(), [2, 2, 4, 4]);
  });
});

Deno.test("a connection's session ends after two hours without a call", async () => {
  await withStore({}, async (store) => {
    const hour = 3_600_000;
    for (const at of [0, 2 * hour, 4 * hour + 1]) record(store, { at: at + 1 });
    const { items } = await store.list({ limit: 10 });
    assertEquals(items.map((s) => s.messageCount), [2, 4]);
  });
});

Deno.test("two processes with one conversation write one session", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    const env = { CLAUDE_CODE_SESSION_ID: "c1" };
    await withStore({ path, env }, async (a) => {
      await withStore({ path, env }, async (b) => {
        record(a);
        await a.flush({ wait: 5_000 });
        record(b);
        await b.flush({ wait: 5_000 });
        record(a);
        const { items } = await a.list({ limit: 10 });
        assertEquals(items.map((s) => s.messageCount), [6]);
        assertEquals(
          (await messages(b, items[0]?.id ?? "")).map((m) => m.seq),
          [0, 1, 2, 3, 4, 5],
        );
      });
    });
  });
});

Deno.test("sessions are seen by processes that share a root, or by all, or by none", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    for (const roots of [["/w/a"], ["/w/a", "/w/b"], ["/w/b"], []]) {
      await withStore({ path, roots }, async (store) => {
        record(store, { result: "needle" });
        await store.flush({ wait: 5_000 });
      });
    }
    const seen = async (
      roots: string[],
      visible: "project" | "all" | "none" = "project",
    ) => {
      let count = -1;
      await withStore({ path, roots, visible }, async (store) => {
        const { items } = await store.list({ limit: 10 });
        count = items.length;
        assertEquals((await store.search("needle", 10)).length, count);
        assertEquals((await store.withPrefix("", 10)).length, count);
        for (const { id } of items) assert(await store.find(id));
      });
      return count;
    };
    assertEquals(await seen(["/w/a"]), 2);
    assertEquals(await seen(["/w/b"]), 2);
    assertEquals(await seen(["/w/a", "/w/b"]), 3);
    assertEquals(await seen(["/w"]), 0);
    assertEquals(await seen(["/w/ab"]), 0);
    assertEquals(await seen([]), 1);
    assertEquals(await seen(["/x"], "all"), 4);
    assertEquals(await seen(["/w/a"], "none"), 0);
    await withStore({ path, visible: "all" }, async (all) => {
      const { items } = await all.list({ limit: 10 });
      await withStore({ path, roots: ["/w/c"] }, async (other) => {
        for (const { id } of items) {
          assertEquals(await other.find(id), undefined);
          assertEquals(await other.read(id, 0, () => 1), undefined);
        }
      });
    });
  });
});

Deno.test("a list is paged, newest first, and does not move while sessions are added", async () => {
  for (const visible of ["project", "all"] as const) {
    await withStore({ visible, roots: ["/w/a", "/w/b"] }, async (store) => {
      for (let i = 0; i < 25; i++) {
        record(store, { connectionId: `c${i}`, at: 1000 + i % 3 });
      }
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list({
          limit: 7,
          ...(cursor ? { cursor } : {}),
        });
        assert(page.items.length <= 7 && page.items.length > 0);
        ids.push(...page.items.map((s) => s.id));
        cursor = page.next;
        record(store, { connectionId: `new${ids.length}`, at: 2000 });
      } while (cursor);
      assertEquals(new Set(ids).size, 25);
      assertEquals(ids.length, 25);
      const all = (await store.list({ limit: 200 })).items;
      assertEquals(all.slice(4).map((s) => s.id), ids);
    });
  }
});

Deno.test("a page of the list walks an index from its place on, however many sessions there are", async () => {
  await withStore({}, async (store) => {
    record(store);
    for (const roots of [undefined, ["/w/project"]]) {
      const plans = await store.query((db) => {
        const asked: [string, SqlValue[]][] = [];
        const all = (sql: string, ...values: SqlValue[]) => {
          asked.push([sql, values]);
          return [];
        };
        placesBefore({ all } as unknown as Sqlite, roots, START, 100);
        return asked.map(([sql, values]) =>
          db.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
            .map(({ detail }) => detail).join("; ")
        );
      });
      assertEquals(plans.length, 1);
      assertMatch(
        plans[0] ?? "",
        /SEARCH sessions? USING (?:COVERING )?INDEX|SEARCH session_roots USING (?:COVERING )?INDEX/,
      );
      assertEquals(/SCAN|TEMP B-TREE/.test(plans[0] ?? ""), false, plans[0]);
    }
  });
});

Deno.test("a page can leave sessions out and is still full", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < 6; i++) {
      record(store, { connectionId: `c${i}`, at: 1000 + i });
    }
    const all = (await store.list({ limit: 10 })).items.map((s) => s.id);
    const page = await store.list({
      limit: 2,
      except: new Set(all.slice(0, 3)),
    });
    assertEquals(page.items.map((s) => s.id), all.slice(3, 5));
    const rest = await store.list({
      limit: 2,
      except: new Set(all.slice(0, 3)),
      ...(page.next ? { cursor: page.next } : {}),
    });
    assertEquals(rest.items.map((s) => s.id), all.slice(5));
    assertEquals(rest.next, undefined);
  });
});

Deno.test("a cursor that was not made here is refused", async () => {
  await withStore({}, async (store) => {
    for (
      const cursor of [
        "",
        "x",
        "!!!",
        btoa("s1:a:b"),
        btoa("s2:1:1"),
        btoa("s1:1:1:1"),
      ]
    ) {
      const error = await assertRejects(
        () => store.list({ limit: 1, cursor }),
        RpcError,
      );
      assertEquals(error.code, -32602);
    }
  });
});

Deno.test("search finds words in arguments, output and titles, best first, one hit a session", async () => {
  await withStore({}, async (store) => {
    record(store, {
      connectionId: "1",
      arguments: { command: "cargo build" },
      result: "compiling parser",
    });
    record(store, {
      connectionId: "2",
      arguments: { command: "ls" },
      result: "parser parser parser\nparser",
    });
    record(store, {
      connectionId: "2",
      arguments: { command: "ls -l" },
      result: "a parser",
    });
    record(store, {
      connectionId: "3",
      tool: "edit",
      arguments: { path: "/w/project/lib/lexer.ts", old_string: "a" },
      result: "edited",
    });
    const hits = await store.search("parser", 10);
    assertEquals(hits.length, 2);
    assertEquals(hits[0]?.session.title, "bash: ls · ls -l");
    assert((hits[0]?.rank ?? 0) <= (hits[1]?.rank ?? 0));
    assertStringIncludes(hits[1]?.snippet ?? "", "compiling parser");
    assertEquals((await store.search("cargo", 10)).length, 1);
    assertEquals(
      (await store.search("lexer", 10))[0]?.session.title,
      "edit lib/lexer.ts",
    );
    assertEquals((await store.search("pars*", 1)).length, 1);
    assertEquals((await store.search("command tool_use kind", 10)).length, 0);
  });
});

Deno.test("search takes what is not FTS5 as plain words, and tells of operators used wrongly", async () => {
  await withStore({}, async (store) => {
    record(store, { result: `the foo-bar of a:b said "hi" at 10% in C++ (x` });
    for (
      const query of [
        "foo-bar",
        "a:b",
        '"hi',
        "10%",
        "C++",
        "(x",
        "foo-bar a:b",
        'say"hi"',
        "c++ ' foo-bar",
      ]
    ) {
      await store.search(query, 5);
    }
    for (
      const query of [
        "foo-bar",
        "a:b",
        '"hi',
        "10%",
        "C++",
        "(x",
        "foo-bar a:b",
      ]
    ) {
      assertEquals((await store.search(query, 5)).length, 1, query);
    }
    for (const query of ["***", "'", '""', "bar-foo"]) {
      assertEquals((await store.search(query, 5)).length, 0, query);
    }
    for (const query of ["foo AND", "NOT", "foo OR (bar"]) {
      const error = await assertRejects(
        () => store.search(query, 5),
        CommandError,
      );
      assertStringIncludes(
        error.message,
        "is no query: AND, OR and NOT stand between words",
      );
      assertStringIncludes(error.message, "double quotes");
    }
    const error = await assertRejects(
      () => store.search("  \n", 5),
      CommandError,
    );
    assertEquals(error.message, "query is required");
  });
});

Deno.test("a query cannot reach out of its project", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    for (const roots of [["/w/a"], ["/w/b"]]) {
      await withStore({ path, roots }, async (store) => {
        record(store, { result: `needle of ${roots[0]}` });
        await store.flush({ wait: 5_000 });
      });
    }
    await withStore({ path, roots: ["/w/a"] }, async (store) => {
      for (
        const query of [
          "needle",
          "needle OR r2",
          "x) OR ({scope} : (r2)",
          "x)) OR ({scope} : (r2 OR r1)) OR (({text} : (needle",
          "scope : r2",
          '"needle") OR {scope} : ("r2"',
        ]
      ) {
        for (const hit of await store.search(query, 9).catch(() => [])) {
          assertEquals(hit.session.roots, ["/w/a"], query);
        }
      }
      assertEquals((await store.search("needle", 9)).length, 1);
    });
  });
});

Deno.test("a session that another project joins is found there whole", async () => {
  await withFolder(async (folder) => {
    const options = (root: string) => ({
      path: `${folder}/s.db`,
      roots: [root],
      env: { CLAUDE_CODE_SESSION_ID: "c" },
    });
    await withStore(options("/w/a"), async (a) => {
      record(a, { result: "early" });
      await a.flush({ wait: 5_000 });
      await withStore(options("/w/b"), async (b) => {
        assertEquals((await b.search("early", 9)).length, 0);
        record(b, { result: "late" });
        assertEquals((await b.search("early", 9)).length, 1);
        assertEquals((await b.search("late", 9)).length, 1);
      });
      assertEquals((await a.search("late", 9))[0]?.session.roots, [
        "/w/a",
        "/w/b",
      ]);
    });
  });
});

Deno.test("who watches is told of each commit, and of new sessions", async () => {
  await withStore({}, async (store) => {
    const told: [number, boolean][] = [];
    const stop = store.watch((ids, isNew) => told.push([ids.size, isNew]));
    record(store, { connectionId: "a" });
    record(store, { connectionId: "b" });
    await store.flush({ wait: 5_000 });
    record(store, { connectionId: "a" });
    await store.flush({ wait: 5_000 });
    stop();
    record(store, { connectionId: "c" });
    await store.flush({ wait: 5_000 });
    assertEquals(told, [[2, true], [1, false]]);
  });
});

Deno.test("ids are found by prefix", async () => {
  await withStore({}, async (store) => {
    record(store);
    const id = (await store.list({ limit: 1 })).items[0]?.id ?? "";
    for (
      const prefix of [id, id.slice(0, 8), id.slice(0, 1).toUpperCase(), ""]
    ) {
      assertEquals((await store.withPrefix(prefix, 2)).map((s) => s.id), [id]);
    }
    for (const prefix of ["zz", "%", "_", `${id}0`]) {
      assertEquals(await store.withPrefix(prefix, 2), []);
    }
  });
});

Deno.test("a store whose folder is unknown says so, and costs nothing but one warning", async () => {
  const { store, log } = testStore({ path: "relative.db", home: "/home/u" });
  await store.close();
  assertEquals(log.warnings, []);
  const platform = { ...testPlatform("/h"), home: undefined, cwd: undefined };
  assertEquals(databasePath(platform, undefined), "");
  assertEquals(databasePath(platform, "x.db"), "");
  assertEquals(databasePath(platform, "/x.db"), "/x.db");
  assertEquals(databasePath(platform, ":memory:"), ":memory:");
});

Deno.test("the database lies in the data folder, which only its owner may open", async () => {
  await withFolder(async (home) => {
    await withStore(
      { home, path: `${home}/.local/share/rousseau/sessions.db` },
      async (store) => {
        assertEquals(await store.status(), {
          state: "unopened",
          path: `${home}/.local/share/rousseau/sessions.db`,
          reason: undefined,
          sessions: undefined,
        });
        record(store);
        await store.flush({ wait: 5_000 });
        const { state, path, sessions } = await store.status();
        assertEquals([state, sessions], ["open", 1]);
        assertEquals(
          databasePath(testPlatform(home), undefined).startsWith(home),
          true,
        );
        if (Deno.build.os === "windows") return;
        const mode = async (path: string) =>
          ((await Deno.stat(path)).mode ?? 0) & 0o777;
        assertEquals(await mode(`${home}/.local/share/rousseau`), 0o700);
        for (const file of [path, `${path}-wal`, `${path}-shm`]) {
          assertEquals(await mode(file), 0o600);
        }
      },
    );
  });
});

Deno.test({
  name: "a store that others may read is closed to them when it is opened",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFolder(async (home) => {
      const folder = `${home}/.local/share/rousseau`;
      const path = `${folder}/sessions.db`;
      const mode = async (path: string) =>
        ((await Deno.stat(path)).mode ?? 0) & 0o777;
      await withStore({ home, path }, async (store) => {
        record(store);
        await store.flush({ wait: 5_000 });
        const files = [path, `${path}-wal`, `${path}-shm`];
        await Deno.chmod(folder, 0o755);
        for (const file of files) await Deno.chmod(file, 0o644);
        await withStore({ home, path }, async (other, log) => {
          record(other);
          await other.flush({ wait: 5_000 });
          assertEquals(await mode(folder), 0o700);
          for (const file of files) assertEquals(await mode(file), 0o600);
          assertEquals(log.warnings, []);
        });
      });
      // A folder that the operator named may hold other things.
      await Deno.chmod(folder, 0o755);
      await Deno.chmod(path, 0o664);
      await withStore({ home: "/home/u", path }, async (store) => {
        record(store);
        await store.flush({ wait: 5_000 });
        assertEquals([await mode(folder), await mode(path)], [0o755, 0o600]);
      });
    });
  },
});

Deno.test("nothing is recorded when recording is off, and reading still works", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    await withStore({ path }, async (store) => {
      record(store);
      await store.flush({ wait: 5_000 });
    });
    await withStore({ path, record: "off" }, async (store) => {
      record(store);
      await store.flush({ wait: 5_000 });
      assertEquals((await store.list({ limit: 5 })).items.length, 1);
    });
  });
});

Deno.test("a store that is closed says so", async () => {
  const { store } = testStore();
  record(store);
  await store.close();
  await store.close();
  record(store);
  await store.flush({ wait: 5_000 });
  const error = await assertRejects(
    () => store.list({ limit: 1 }),
    CommandError,
  );
  assertStringIncludes(error.message, "closed");
});
