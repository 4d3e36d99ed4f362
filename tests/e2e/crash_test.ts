/** What is left when the server is killed without warning. */
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { Folders, Server } from "../harness.ts";

const FILES = 20;
const WRITES = 200;
/** Large enough that a write that is not atomic would be seen half done. */
const SIZE = 200_000;

for (const killAfter of [1, 60, 140]) {
  Deno.test(`SIGKILL after ${killAfter} of ${WRITES} writes: every file is old or new, never a part, and the database is whole`, async () => {
    await using folders = await Folders.make();
    for (let n = 0; n < FILES; n++) {
      await folders.write(`f${n}.txt`, content("old", n));
    }
    await using server = await Server.open({ folders });
    await server.send(
      ...Array.from({ length: WRITES }, (_, n) => ({
        jsonrpc: "2.0",
        id: n,
        method: "tools/call",
        params: {
          name: "write",
          arguments: {
            path: `f${n % FILES}.txt`,
            content: content(`new${n}`, n),
          },
        },
      })),
    );
    await server.find(
      () => server.messages.length > killAfter,
      `${killAfter} answers`,
    );
    server.child.kill("SIGKILL");
    assertEquals((await server.exit()).signal, "SIGKILL");

    for (let n = 0; n < FILES; n++) {
      const text = await Deno.readTextFile(`${folders.root}/f${n}.txt`);
      const stamp = text.slice(0, text.indexOf("|"));
      const written = stamp === "old" ? n : Number(stamp.slice(3));
      assertEquals(written % FILES, n, "the content is this file's");
      assertEquals(text, content(stamp, written));
    }
    assertWhole(folders.database);
  });
}

function content(stamp: string, n: number): string {
  return `${stamp}|${String.fromCharCode(97 + n % 26).repeat(SIZE)}|`;
}

function assertWhole(path: string): void {
  using database = new DatabaseSync(path);
  assertEquals(
    database.prepare("PRAGMA integrity_check").all().map((row) =>
      Object.values(row as object)[0]
    ),
    ["ok"],
  );
  assert(database.prepare("SELECT count(*) FROM sqlite_master").get());
}
