import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  APPLICATION_ID,
  faultOf,
  inspectFile,
  isNetworkFolder,
  Sqlite,
} from "../lib/sqlite.ts";
import { withFolder } from "./sessions.ts";

function faultIn(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    return faultOf(error);
  }
  return "none";
}

Deno.test("faultOf tells SQLite's errors apart", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    const db = await Sqlite.open(path);
    const other = await Sqlite.open(path);
    const reader = await Sqlite.open(path, { readOnly: true }).catch(() =>
      undefined
    );
    try {
      db.exec("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL) STRICT");
      db.exec("CREATE VIRTUAL TABLE f USING fts5 (x)");
      db.exec("BEGIN IMMEDIATE");
      assertEquals(faultIn(() => other.transaction(() => 1)), "busy");
      db.exec("COMMIT");
      assertEquals(
        faultIn(() => db.run("INSERT INTO t VALUES (1, NULL)")),
        "constraint",
      );
      assertEquals(faultIn(() => db.exec("SELEC 1")), "sql");
      assertEquals(
        faultIn(() => db.all("SELECT * FROM f WHERE f MATCH 'a-b'")),
        "sql",
      );
      assertEquals(faultIn(() => reader?.exec("DELETE FROM t")), "read-only");
      const missing = await Sqlite.open(`${folder}/no/a.db`).catch((error) =>
        error
      );
      assertEquals(faultOf(missing), "cannot-open");
      await Deno.writeTextFile(
        `${folder}/text.db`,
        "no database\n".repeat(100),
      );
      const text = await Sqlite.open(`${folder}/text.db`);
      assertEquals(
        faultIn(() => text.pragma("user_version")),
        "not-a-database",
      );
      text.close();
    } finally {
      for (const open of [db, other, reader]) open?.close();
    }
  });
});

Deno.test("faultOf is undefined for what SQLite did not throw", () => {
  for (
    const error of [
      new TypeError("database is locked"),
      "database is locked",
      undefined,
      null,
    ]
  ) {
    assertEquals(faultOf(error), undefined);
  }
});

Deno.test("a transaction is undone whole when its body throws", async () => {
  const db = await Sqlite.open(":memory:");
  db.exec("CREATE TABLE t (a INTEGER)");
  assertThrows(
    () =>
      db.transaction(() => {
        db.run("INSERT INTO t VALUES (1)");
        throw new Error("no");
      }),
    Error,
    "no",
  );
  assertEquals(db.get<{ n: number }>("SELECT count(*) AS n FROM t")?.n, 0);
  assertEquals(
    db.transaction(() => db.run("INSERT INTO t VALUES (1), (2)")),
    2,
  );
  db.close();
  db.close();
});

Deno.test("inspectFile knows our files, other databases, and what is none", async () => {
  await withFolder(async (folder) => {
    const make = async (name: string, sql: string) => {
      const db = await Sqlite.open(`${folder}/${name}`);
      db.exec(sql);
      db.close();
    };
    await make("ours", `PRAGMA application_id = ${APPLICATION_ID}`);
    await make("foreign", "CREATE TABLE t (a)");
    await make(
      "wal",
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL; CREATE TABLE t (a)`,
    );
    await Deno.writeTextFile(`${folder}/empty`, "");
    await Deno.writeTextFile(`${folder}/short`, "SQLite format 3");
    await Deno.writeTextFile(`${folder}/text`, "x".repeat(5_000));
    const kinds = [
      "ours",
      "foreign",
      "wal",
      "empty",
      "short",
      "text",
      "absent",
    ];
    const found = await Promise.all(
      kinds.map((name) => inspectFile(`${folder}/${name}`)),
    );
    assertEquals(found, [
      "ours",
      "foreign",
      "ours",
      "empty",
      "damaged",
      "damaged",
      "absent",
    ]);
    await assertRejects(() => inspectFile(folder));
  });
});

Deno.test("our file tells what it is before its log is written back", async () => {
  await withFolder(async (folder) => {
    const db = await Sqlite.open(`${folder}/a.db`);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("CREATE TABLE t (a)");
    assertEquals(await inspectFile(`${folder}/a.db`), "ours");
    db.close();
  });
});

Deno.test("D10: a folder on a network file system is recognised by the mount it lies on", () => {
  const mounts = [
    "overlay / overlay rw 0 0",
    "server:/export /home nfs4 rw 0 0",
    "tmpfs /home/me/local tmpfs rw 0 0",
    "//nas/share /mnt/my\\040share cifs rw 0 0",
    "me@host:/ /mnt/ssh fuse.sshfs rw 0 0",
    "share /mnt/over 9p rw 0 0",
    "tmpfs /mnt/over tmpfs rw 0 0",
    "",
  ].join("\n");
  const cases: [string, boolean][] = [
    ["/", false],
    ["/var/lib", false],
    ["/home", true],
    ["/home/me/.local/share/rousseau", true],
    ["/homework", false],
    ["/home/me/local/x", false],
    ["/mnt/my share/x", true],
    ["/mnt/ssh", true],
    ["/mnt/over/x", false],
  ];
  for (const [folder, wanted] of cases) {
    assertEquals(isNetworkFolder(mounts, folder), wanted, folder);
  }
  assertEquals(isNetworkFolder("", "/home"), false);
});

Deno.test("a database works with permission for its folder alone, and says so without", async () => {
  await withFolder(async (folder) => {
    const script = `
      import { Sqlite, faultOf } from ${
      JSON.stringify(new URL("../lib/sqlite.ts", import.meta.url).href)
    };
      try {
        const db = await Sqlite.open(${JSON.stringify(`${folder}/a.db`)});
        db.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (7)");
        console.log(db.get("SELECT a FROM t").a);
        db.close();
      } catch (error) { console.log(faultOf(error)); }`;
    const file = `${folder}/script.ts`;
    await Deno.writeTextFile(file, script);
    const run = async (...grants: string[]) => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--no-check",
          "--no-lock",
          "--no-config",
          ...grants,
          file,
        ],
      }).output();
      return new TextDecoder().decode(stdout) +
        new TextDecoder().decode(stderr);
    };
    assertEquals(
      await run(`--allow-read=${folder}`, `--allow-write=${folder}`),
      "7\n",
    );
    assertEquals(await run(), "not-permitted\n");
    assertEquals(await run(`--allow-read=${folder}`), "not-permitted\n");
  });
});
