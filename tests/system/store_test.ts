import { assert, assertEquals } from "@std/assert";
import { Sqlite } from "../../lib/sqlite.ts";
import type { SessionStore } from "../../lib/store.ts";
import { record, withFolder, withStore } from "../sessions.ts";

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args })
    .output();
  assert(success, `${command}: ${new TextDecoder().decode(stderr)}`);
}

/** Runs `body` with a small file system of its own, in memory. */
async function withDisk(
  size: string,
  body: (folder: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    await run("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
    try {
      await body(folder);
    } finally {
      await run("umount", folder);
    }
  });
}

async function count(store: SessionStore): Promise<number> {
  return (await store.list({ limit: 200 })).items.length;
}

Deno.test("D17: on a full disk calls go on, records are dropped with one warning, and return with the space", async () => {
  await withDisk("2m", async (folder) => {
    const path = `${folder}/sessions.db`;
    await withStore({ path }, async (store, log) => {
      record(store, { connectionId: "first" });
      await store.flush();
      await run("dd", "if=/dev/zero", `of=${folder}/fill`, "bs=64k", "count=64")
        .catch(() => {});
      for (let i = 0; i < 20; i++) {
        const before = performance.now();
        record(store, {
          connectionId: `full${i}`,
          result: `${i}${"x".repeat(100_000)}`,
        });
        assert(performance.now() - before < 50);
        await store.flush();
      }
      assertEquals(log.warnings, ["store.disk_full"]);
      const kept = await count(store);
      assert(kept < 21);
      await Deno.remove(`${folder}/fill`);
      record(store, { connectionId: "after" });
      await store.flush();
      assertEquals(await count(store), kept + 1);
      assertEquals(log.warnings, ["store.disk_full"]);
    });
    const db = await Sqlite.open(path);
    assertEquals(db.pragma("integrity_check"), "ok");
    db.close();
  });
});

Deno.test("D17: a disk that is full from the start costs one warning", async () => {
  await withDisk("256k", async (folder) => {
    await run("dd", "if=/dev/zero", `of=${folder}/fill`, "bs=4k", "count=100")
      .catch(() => {});
    let now = Date.now();
    await withStore(
      { path: `${folder}/sessions.db`, now: () => now },
      async (store, log) => {
        for (let i = 0; i < 5; i++) {
          record(store);
          await store.flush();
          now += 60_000;
        }
        assertEquals(log.warnings, ["store.unavailable"]);
        await Deno.remove(`${folder}/fill`);
        now += 60_000;
        record(store);
        await store.flush({ wait: 1_000 });
        assertEquals((await store.status()).state, "open");
      },
    );
  });
});

for (const isClean of [true, false]) {
  Deno.test(`D05: on a read-only mount sessions can be read, ${isClean ? "without" : "with"} a log left behind`, async () => {
    await withDisk("8m", async (folder) => {
      const path = `${folder}/sessions.db`;
      await withStore({ path }, async (store) => {
        record(store, { result: "needle" });
        await store.flush();
        // As a program leaves them that was killed.
        if (!isClean) {
          for (const part of ["", "-wal"]) {
            await Deno.copyFile(path + part, `${folder}/copy${part}`);
          }
        }
      });
      if (!isClean) {
        for (const part of ["", "-wal"]) {
          await Deno.rename(`${folder}/copy${part}`, path + part);
        }
      }
      await run("mount", "-o", "remount,ro", folder);
      await withStore({ path }, async (store, log) => {
        record(store);
        await store.flush();
        const { state } = await store.status({ open: true });
        if (isClean) {
          assertEquals(state, "read-only");
          assertEquals(await count(store), 1);
          assertEquals((await store.search("needle", 5)).length, 1);
          assertEquals(log.warnings, ["store.read_only"]);
        } else {
          assertEquals(log.warnings.length, 1);
          assert(state === "read-only" || state === "unavailable");
        }
      });
    });
  });
}
