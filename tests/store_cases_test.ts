import {
  assert,
  assertEquals,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { backUp } from "../lib/database_files.ts";
import { type Migration, MIGRATIONS } from "../lib/migrations.ts";
import { LOCK_WAIT } from "../lib/recorder.ts";
import {
  CHECK_EVERY,
  MAX_WAL_BYTES,
  SessionFile,
} from "../lib/session_file.ts";
import { Sqlite } from "../lib/sqlite.ts";
import type { SessionStore } from "../lib/store.ts";
import {
  callEnd,
  callStart,
  record,
  TestLog,
  testPlatform,
  withFolder,
  withStore,
} from "./sessions.ts";

/** Runs `body` with the path of a database that holds one session. */
async function withDatabase(
  body: (path: string, folder: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/sessions.db`;
    await withStore({ path }, async (store) => {
      record(store, { result: "before" });
      await store.flush({ wait: 5_000 });
    });
    await body(path, folder);
  });
}

async function count(store: SessionStore): Promise<number> {
  return (await store.list({ limit: 200 })).items.length;
}

/** Another program that records; its output is checked to be the warnings that may be, and nothing else. */
function writer(
  path: string,
  sessions: number,
  calls: number,
  allowed = /^$/,
): Promise<void> {
  const url = new URL("sessions.ts", import.meta.url).href;
  const config = new URL("deno.json", import.meta.url).pathname;
  const script = `
    import { record, testStore } from ${JSON.stringify(url)};
    const { store, log } = testStore({ path: ${JSON.stringify(path)} });
    for (let s = 0; s < ${sessions}; s++) {
      for (let i = 0; i < ${calls}; i++) record(store, { connectionId: String(s), result: "line " + i });
      await store.flush({ wait: 10_000 });
    }
    await store.close();
    if (log.warnings.length) console.log(log.warnings.join());`;
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--config",
      config,
      `data:text/typescript,${encodeURIComponent(script)}`,
    ],
  }).output().then(({ stdout, stderr, success }) => {
    assertMatch(
      (new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr))
        .trim(),
      allowed,
    );
    assert(success);
  });
}

async function integrity(path: string): Promise<void> {
  const db = await Sqlite.open(path);
  try {
    assertEquals(db.pragma("integrity_check"), "ok");
    db.exec(
      "INSERT INTO messages_fts (messages_fts, rank) VALUES ('integrity-check', 1)",
    );
    db.exec(
      "INSERT INTO titles_fts (titles_fts, rank) VALUES ('integrity-check', 1)",
    );
  } finally {
    db.close();
  }
}

Deno.test("D01: a call is recorded once another process lets the lock go, and never waits for it", async () => {
  await withDatabase(async (path) => {
    const other = await Sqlite.open(path);
    await withStore({ path }, async (store, log) => {
      await count(store);
      other.exec("BEGIN IMMEDIATE");
      const before = performance.now();
      const start = callStart();
      store.observer.started(start);
      store.observer.ended(callEnd(start, "ok"));
      assertLess(performance.now() - before, 50);
      await store.flush({ wait: 50 });
      // Readers are not in the way of a writer, nor a writer in theirs.
      assertEquals((await store.search("before", 5)).length, 1);
      other.exec("COMMIT");
      await store.flush({ wait: 2_000 });
      assertEquals(await count(store), 2);
      assertEquals(log.warnings, []);
    });
    other.close();
  });
});

Deno.test("D01: after fifteen seconds of lock the batch is dropped with one warning, and recording goes on", async () => {
  await withDatabase(async (path) => {
    const other = await Sqlite.open(path);
    let now = Date.now();
    await withStore({ path, now: () => now }, async (store, log) => {
      await count(store);
      other.exec("BEGIN IMMEDIATE");
      record(store, { connectionId: "lost" });
      await store.flush({ wait: 20 });
      now += LOCK_WAIT - 1_000;
      await store.flush({ wait: 20 });
      assertEquals(log.warnings, []);
      now += 1_000;
      await store.flush({ wait: 20 });
      assertEquals(log.warnings, ["store.locked"]);
      other.exec("COMMIT");
      record(store, { connectionId: "kept" });
      await store.flush({ wait: 2_000 });
      assertEquals(await count(store), 2);
      assertEquals(log.warnings, ["store.locked"]);
    });
    other.close();
  });
});

Deno.test("D01, D02: four programs that start at once on a new file record everything", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/new/sessions.db`;
    await Promise.all([1, 2, 3, 4].map(() => writer(path, 5, 40)));
    await withStore({ path }, async (store) => {
      const { items } = await store.list({ limit: 200 });
      assertEquals(
        items.map(({ messageCount }) => messageCount),
        Array(20).fill(80),
      );
    });
    await integrity(path);
  });
});

Deno.test("D02: stores of one process open a new file at once", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/sessions.db`;
    await Promise.all(
      Array.from(
        { length: 8 },
        () =>
          withStore({ path }, async (store, log) => {
            record(store);
            await store.flush({ wait: 5_000 });
            assertEquals(log.warnings, []);
          }),
      ),
    );
    await withStore(
      { path },
      async (store) => assertEquals(await count(store), 8),
    );
  });
});

Deno.test("D03: the write-ahead log stays bounded while there is always a reader", async () => {
  await withDatabase(async (path) => {
    const reader = await Sqlite.open(path);
    await withStore({ path }, async (store) => {
      for (let i = 0; i < 12; i++) {
        reader.exec("BEGIN");
        reader.get("SELECT count(*) FROM messages");
        for (let j = 0; j < 16; j++) {
          record(store, { result: `${i} ${j} ${"z".repeat(200_000)}` });
        }
        await store.flush({ wait: 5_000 });
        reader.exec("COMMIT");
      }
      record(store);
      await store.flush({ wait: 5_000 });
      assertLessOrEqual(
        (await Deno.stat(`${path}-wal`)).size,
        MAX_WAL_BYTES + 8 * 1024 * 1024,
      );
    });
    reader.close();
  });
});

Deno.test("D04: a store that has nothing to write holds no lock", async () => {
  await withDatabase(async (path) => {
    await withStore({ path }, async (store) => {
      record(store);
      await store.search("before", 5);
      const other = await Sqlite.open(path);
      other.exec("BEGIN EXCLUSIVE; DELETE FROM sessions; COMMIT");
      other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      other.close();
      assertEquals(await count(store), 0);
      assertEquals((await Deno.stat(`${path}-wal`)).size, 0);
    });
  });
});

Deno.test("D08: a file whose beginning was overwritten is moved aside, and sessions start empty", async () => {
  await withDatabase(async (path, folder) => {
    const file = await Deno.open(path, { write: true });
    await file.write(new Uint8Array(16).fill(0x58));
    file.close();
    const damaged = await Deno.readFile(path);
    await withStore({ path }, async (store, log) => {
      record(store);
      assertEquals(await count(store), 1);
      assertEquals(log.warnings, ["store.damaged"]);
      assertStringIncludes(
        String(log.entries[0]?.fields.fix),
        "sessions recover",
      );
    });
    const moved = [...Deno.readDirSync(folder)].map(({ name }) => name).find((
      name,
    ) => /^sessions\.db\.damaged-\d{8}T\d{6}Z$/.test(name));
    assertEquals(await Deno.readFile(`${folder}/${moved}`), damaged);
  });
});

Deno.test("D08: a file that is no database, or a cut one, is moved aside", async () => {
  for (const content of ["not a database\n".repeat(50), "SQLite format 3\0"]) {
    await withFolder(async (folder) => {
      const path = `${folder}/sessions.db`;
      await Deno.writeTextFile(path, content);
      await withStore({ path }, async (store, log) => {
        record(store);
        assertEquals(await count(store), 1);
        assertEquals(log.warnings, ["store.damaged"]);
      });
      const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
      const moved = names.find((name) => name.includes("damaged"));
      assertEquals(await Deno.readTextFile(`${folder}/${moved}`), content);
    });
  }
});

Deno.test("D08: a database damaged inside is moved aside when that shows, and recording goes on", async () => {
  await withDatabase(async (path, folder) => {
    const { size } = await Deno.stat(path);
    const file = await Deno.open(path, { write: true });
    await file.seek(4_096, Deno.SeekMode.Start);
    await file.write(
      crypto.getRandomValues(
        new Uint8Array(size - 4_096 > 65_536 ? 65_536 : size - 4_096),
      ),
    );
    file.close();
    await withStore({ path }, async (store, log) => {
      record(store);
      await store.flush({ wait: 2_000 });
      await store.list({ limit: 5 }).catch(() => {});
      record(store);
      await store.flush({ wait: 2_000 });
      assert(await count(store) >= 1);
      assertEquals(log.warnings, ["store.damaged"]);
    });
    assert(
      [...Deno.readDirSync(folder)].some(({ name }) =>
        name.includes("damaged")
      ),
    );
    await integrity(path);
  });
});

Deno.test("D08: who asks while the file is being opened gets it with its tables", async () => {
  await withFolder(async (folder) => {
    const begun = Promise.withResolvers<void>();
    const looked = Promise.withResolvers<string>();
    const file = new SessionFile({
      path: `${folder}/sessions.db`,
      platform: testPlatform(folder),
      logger: new TestLog(),
      now: Date.now,
      mounts() {
        begun.resolve();
        return looked.promise;
      },
    });
    const count = () =>
      file.read((db) => db.all("SELECT * FROM session_roots").length);
    const first = count();
    await begun.promise;
    const second = count();
    looked.resolve("");
    assertEquals(await Promise.all([first, second]), [0, 0]);
    await file.close();
  });
});

Deno.test("D08: a file that lacks a table it should have is moved aside", async () => {
  await withDatabase(async (path, folder) => {
    const db = await Sqlite.open(path);
    db.exec("DROP TABLE session_roots");
    db.close();
    await withStore({ path }, async (store, log) => {
      await store.list({ limit: 5 }).catch(() => {});
      record(store);
      assertEquals(await count(store), 1);
      assertEquals(log.warnings, ["store.damaged"]);
    });
    assert(
      [...Deno.readDirSync(folder)].some(({ name }) =>
        name.includes("damaged")
      ),
    );
  });
});

for (const damage of ["text", "tables"]) {
  Deno.test(`D08: of several programs that find one damaged file (${damage}), one moves it, and none loses a record`, async () => {
    await withDatabase(async (path, folder) => {
      if (damage === "text") {
        await Deno.writeTextFile(path, "not a database\n".repeat(50));
      } else {
        // All open it before any finds that it lacks what it should have.
        const db = await Sqlite.open(path);
        db.exec("DROP TABLE messages");
        db.close();
      }
      await Promise.all(
        [1, 2, 3, 4].map(() =>
          writer(path, 3, 5, /^(store\.(damaged|replaced),?)*$/)
        ),
      );
      await withStore({ path }, async (store) => {
        assertEquals(await count(store), 12);
      });
      assertEquals(
        [...Deno.readDirSync(folder)].filter(({ name }) =>
          /^sessions\.db\.damaged-[^-]+$/.test(name)
        ).length,
        1,
      );
      await integrity(path);
    });
  });
}

Deno.test("D09: a file of a newer program is only read, and not changed", async () => {
  await withDatabase(async (path) => {
    const db = await Sqlite.open(path);
    db.exec(
      `PRAGMA user_version = ${
        MIGRATIONS.length + 5
      }; UPDATE meta SET value = '${
        MIGRATIONS.length + 3
      }' WHERE key = 'min_writer'`,
    );
    db.close();
    const before = await Deno.readFile(path);
    await withStore({ path }, async (store, log) => {
      record(store);
      await store.flush({ wait: 5_000 });
      assertEquals(await count(store), 1);
      assertEquals(log.warnings, ["store.newer_schema"]);
      assertEquals((await store.status()).state, "read-only");
      const error = await assertRejects(
        () => store.delete(undefined),
        CommandError,
      );
      assertStringIncludes(error.message, "newer rousseau");
    });
    assertEquals(await Deno.readFile(path), before);
  });
});

Deno.test("D09: an older program goes on recording where the newer one allows it", async () => {
  await withDatabase(async (path) => {
    const db = await Sqlite.open(path);
    db.exec(
      `PRAGMA user_version = ${
        MIGRATIONS.length + 5
      }; ALTER TABLE sessions ADD COLUMN extra TEXT`,
    );
    db.close();
    await withStore({ path }, async (store, log) => {
      record(store);
      assertEquals(await count(store), 2);
      assertEquals(log.warnings, []);
    });
    const after = await Sqlite.open(path);
    assertEquals(after.pragma("user_version"), MIGRATIONS.length + 5);
    after.close();
  });
});

Deno.test("D09: an older file is backed up, then brought up step by step", async () => {
  await withDatabase(async (path) => {
    const steps: Migration[] = [
      ...MIGRATIONS,
      { name: "a", sql: "ALTER TABLE sessions ADD COLUMN a TEXT" },
      { name: "b", sql: "CREATE TABLE b (x)" },
    ];
    const log = new TestLog();
    const open = (migrations: Migration[]) =>
      new SessionFile({
        path,
        platform: testPlatform("/"),
        logger: log,
        now: Date.now,
        migrations,
      });
    const file = open(steps);
    await file.read((db) => {
      assertEquals(db.pragma("user_version"), MIGRATIONS.length + 2);
      assertEquals(db.all("SELECT a FROM sessions").length, 1);
    });
    await file.close();
    const backup = await Sqlite.open(`${path}.backup-v${MIGRATIONS.length}`, {
      readOnly: true,
    });
    assertEquals(backup.pragma("user_version"), MIGRATIONS.length);
    assertEquals(backup.all("SELECT * FROM messages").length, 2);
    backup.close();
    const broken = open([...steps, {
      name: "c",
      sql: "CREATE TABLE c (x); CREATE TABLE b (x)",
    }]);
    assertEquals(await broken.open(), undefined);
    assertEquals(log.warnings, ["store.unavailable"]);
    await broken.close();
    const db = await Sqlite.open(path);
    assertEquals(db.pragma("user_version"), MIGRATIONS.length + 2);
    assertEquals(db.all("SELECT name FROM sqlite_schema WHERE name = 'c'"), []);
    db.close();
  });
});

Deno.test("D09: the backup is whole, whether or not the log could be emptied for it", async () => {
  for (const isRead of [false, true]) {
    await withDatabase(async (path) => {
      const reader = await Sqlite.open(path);
      const writer = await Sqlite.open(path);
      if (isRead) {
        reader.exec("BEGIN");
        reader.get("SELECT count(*) FROM sessions");
      }
      writer.exec("UPDATE sessions SET title = 'in the log'");
      const target = `${path}.copy`;
      await backUp(writer, target);
      const copy = await Sqlite.open(target, { readOnly: true });
      assertEquals(copy.pragma("integrity_check"), "ok");
      assertEquals(copy.get("SELECT title FROM sessions"), {
        title: "in the log",
      });
      copy.close();
      // Nothing is held any more.
      writer.exec("BEGIN IMMEDIATE; ROLLBACK");
      if (Deno.build.os !== "windows") {
        assertEquals(((await Deno.stat(target)).mode ?? 0) & 0o777, 0o600);
      }
      reader.close();
      writer.close();
    });
  }
});

Deno.test("another program's database is left alone, byte for byte, and ours is beside it", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/sessions.db`;
    const db = await Sqlite.open(path);
    db.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE sessions (id TEXT PRIMARY KEY, payload TEXT)",
    );
    db.close();
    const before = await Deno.readFile(path);
    for (let i = 0; i < 2; i++) {
      await withStore({ path }, async (store, log) => {
        record(store);
        assertEquals(await count(store), i + 1);
        assertEquals(log.warnings, ["store.foreign"]);
        assertStringIncludes(
          String(log.entries[0]?.fields.fix),
          "sessions import",
        );
        assertEquals((await store.status()).path, `${folder}/sessions-2.db`);
      });
    }
    assertEquals(await Deno.readFile(path), before);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), [
      "sessions-2.db",
      "sessions.db",
    ]);
  });
});

Deno.test("a file deleted while it is open is made anew, with one warning", async () => {
  await withDatabase(async (path) => {
    let now = Date.now();
    await withStore({ path, now: () => now }, async (store, log) => {
      assertEquals(await count(store), 1);
      for (const part of ["", "-wal", "-shm"]) {
        await Deno.remove(path + part).catch(() => {});
      }
      record(store);
      await store.flush({ wait: 5_000 });
      now += CHECK_EVERY;
      record(store);
      await store.flush({ wait: 5_000 });
      assertEquals(log.warnings, ["store.replaced"]);
      assertEquals(await count(store), 1);
    });
    await integrity(path);
  });
});

Deno.test("a folder in the database's place is told, and nothing is lost but the recording", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/sessions.db`);
    await withStore({ path: `${folder}/sessions.db` }, async (store, log) => {
      record(store);
      await store.flush({ wait: 5_000 });
      record(store);
      await store.flush({ wait: 5_000 });
      assertEquals(log.warnings, ["store.unavailable"]);
      assertEquals((await store.status()).state, "unavailable");
      await assertRejects(
        () => count(store),
        CommandError,
        `${folder}/sessions.db`,
      );
    });
  });
});

Deno.test("D15: a program killed while it records leaves a sound file with every committed call", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/sessions.db`;
    const url = new URL("sessions.ts", import.meta.url).href;
    const script = `
      import { record, testStore } from ${JSON.stringify(url)};
      const { store } = testStore({ path: ${JSON.stringify(path)} });
      for (let i = 0; ; i++) {
        record(store, { result: "call " + i + " " + "x".repeat(i % 30_000) });
        await store.flush({ wait: 5_000 });
        Deno.stdout.writeSync(new TextEncoder().encode((i + 1) + "\\n"));
      }`;
    let committed = 0;
    for (let round = 0; round < 3; round++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--no-check",
          "--config",
          new URL("deno.json", import.meta.url).pathname,
          `data:text/typescript,${encodeURIComponent(script)}`,
        ],
        stdout: "piped",
        stderr: "null",
      }).spawn();
      let text = "";
      for await (
        const chunk of child.stdout.pipeThrough(new TextDecoderStream())
      ) {
        text += chunk;
        if (text.split("\n").length > 40 + round * 17) {
          child.kill("SIGKILL");
          break;
        }
      }
      await child.status;
      committed += text.split("\n").length - 1;
    }
    await integrity(path);
    await withStore({ path }, async (store) => {
      const { items } = await store.list({ limit: 10 });
      const messages = items.reduce(
        (sum, { messageCount }) => sum + messageCount,
        0,
      );
      assert(messages >= committed * 2, `${messages} of ${committed * 2}`);
    });
  });
});

Deno.test("D10: on a network file system the log is a rollback journal, also for a file that had another", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/sessions.db`;
    const open = (table: string) =>
      new SessionFile({
        path,
        platform: testPlatform(folder),
        logger: new TestLog(),
        now: Date.now,
        mounts: () => Promise.resolve(table),
      });
    const network = `server:/export ${folder} nfs4 rw 0 0\n`;
    for (
      const [table, mode, synchronous] of [
        [network, "delete", 2],
        ["", "wal", 1],
        [network, "delete", 2],
      ] as const
    ) {
      const file = open(table);
      await file.write((db) =>
        db.run("INSERT OR REPLACE INTO meta VALUES ('k', ?)", mode)
      );
      assertEquals(
        await file.read((db) => [
          db.pragma("journal_mode"),
          db.pragma("synchronous"),
          db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'k'")
            ?.value,
        ]),
        [mode, synchronous, mode],
      );
      await file.close();
    }
    const left = [...Deno.readDirSync(folder)].map(({ name }) => name);
    assertEquals(left, ["sessions.db"]);
  });
});

Deno.test("a store in memory works and leaves nothing", async () => {
  await withFolder(async (folder) => {
    await withStore({ path: ":memory:", home: folder }, async (store, log) => {
      record(store);
      assertEquals(await count(store), 1);
      assertEquals(log.warnings, []);
    });
    assertEquals([...Deno.readDirSync(folder)], []);
  });
});

Deno.test("a store works with permission for its folder alone, and without any the tools go on", async () => {
  await withFolder(async (folder) => {
    const url = new URL("sessions.ts", import.meta.url).href;
    const script = `
      import { record, testStore } from ${JSON.stringify(url)};
      const { store, log } = testStore({ path: ${
      JSON.stringify(`${folder}/state/sessions.db`)
    }, home: "/nowhere" });
      record(store);
      await store.flush({ wait: 2_000 });
      const { state, sessions, reason } = await store.status();
      console.log(state, sessions, log.warnings.join(), reason ?? "");
      await store.close();`;
    const run = async (...grants: string[]) => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--no-check",
          ...grants,
          "--config",
          new URL("deno.json", import.meta.url).pathname,
          `data:text/typescript,${encodeURIComponent(script)}`,
        ],
      }).output();
      return new TextDecoder().decode(stdout) +
        new TextDecoder().decode(stderr);
    };
    assertEquals(
      await run(
        `--allow-read=${folder}/state`,
        `--allow-write=${folder}/state`,
      ),
      "open 1  \n",
    );
    const denied = await run();
    assertStringIncludes(denied, "unavailable undefined store.unavailable ");
    assertStringIncludes(denied, `--allow-write="${folder}/state"`);
  });
});
