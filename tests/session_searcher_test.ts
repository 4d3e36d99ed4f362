import { assertEquals, assertRejects } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { SessionSearcher } from "../lib/session_searcher.ts";
import { record, testStore, withFolder, withStore } from "./sessions.ts";

const ALL = { roots: undefined, numbers: undefined, values: [] };

Deno.test("a large file is searched in a worker, with what a search on the main thread gives", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    await withStore({ path }, async (store) => {
      for (let i = 0; i < 20; i++) {
        record(store, {
          connectionId: `${i}`,
          result: `needle ${"straw ".repeat(i)}`,
        });
      }
      record(store, { connectionId: "other", result: "hay" });
      await store.flush({ wait: 5_000 });
      await withStore({ path, searchApart: true }, async (apart) => {
        for (const query of ["needle", '"needle straw"', "deno", "nothing"]) {
          assertEquals(
            await apart.search(query, 7),
            await store.search(query, 7),
            query,
          );
        }
        await assertRejects(
          () => apart.search("AND needle", 7),
          CommandError,
          "is no query",
        );
        // What this process has just recorded is found, too.
        record(apart, { result: "fresh" });
        assertEquals((await apart.search("fresh", 7)).length, 1);
      });
      await withStore(
        { path, searchApart: true, roots: ["/w/elsewhere"] },
        async (apart) => assertEquals(await apart.search("needle", 7), []),
      );
    });
  });
});

Deno.test("a search in a worker does not keep the event loop", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    await withStore({ path, searchApart: true }, async (store) => {
      for (let i = 0; i < 1_500; i++) {
        record(store, { result: `${i} ${"needle straw ".repeat(100)}` });
      }
      await store.flush({ wait: 20_000 });
      await store.search("warm", 1);
      let turns = 0;
      const clock = setInterval(() => turns++, 1);
      await store.search("needle straw", 20);
      clearInterval(clock);
      assertEquals(turns > 2, true, `${turns}`);
    });
  });
});

Deno.test("a worker that has not been needed for a while ends, and starts again", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    await withStore({ path }, async (store) => {
      record(store, { result: "needle" });
      await store.flush({ wait: 5_000 });
    });
    const searcher = new SessionSearcher(1);
    const search = { path, generation: 0, query: "needle", limit: 5 };
    for (let i = 0; i < 2; i++) {
      const found = await searcher.search({ ...search, visible: ALL });
      assertEquals(found?.length, 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assertEquals(searcher.isRunning, false);
    }
    searcher.close();
  });
});

Deno.test("where the worker fails, the search is made without it", async () => {
  await withFolder(async (folder) => {
    const searcher = new SessionSearcher();
    const search = { path: `${folder}/none/s.db`, generation: 0, limit: 5 };
    assertEquals(
      await searcher.search({ ...search, query: "a", visible: ALL }),
      undefined,
    );
    const waiting = searcher.search({ ...search, query: "a", visible: ALL });
    searcher.close();
    assertEquals(await waiting, undefined);
    const path = `${folder}/s.db`;
    const { store } = testStore({ path, searchApart: true });
    record(store, { result: "needle" });
    assertEquals((await store.search("needle", 5)).length, 1);
    // Another file in its place.
    await store.flush({ wait: 5_000 });
    await Deno.rename(path, `${folder}/moved.db`);
    assertEquals((await store.search("needle", 5)).length, 1);
    await store.close();
  });
});
