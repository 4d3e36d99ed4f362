import { assert, assertEquals } from "@std/assert";
import { contentOf } from "../../lib/checkpoints.ts";
import { MIGRATIONS } from "../../lib/migrations.ts";
import { Sqlite } from "../../lib/sqlite.ts";
import { withFolder } from "../sessions.ts";

/** How often the program is killed; the soak kills it 300 times. */
const KILLS = Number(Deno.env.get("KILLS") ?? 25);

Deno.test(`a program killed ${KILLS} times while it writes, keeps and undoes leaves whole files and a sound database`, async () => {
  await withFolder(async (folder) => {
    const root = `${folder}/root`;
    await Deno.mkdir(root);
    const path = `${folder}/state/sessions.db`;
    let steps = 0;
    let committed = 0;
    for (let round = 0; round < KILLS; round++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--no-check",
          "--config",
          new URL("../deno.json", import.meta.url).pathname,
          new URL("../fixtures/undo_worker.ts", import.meta.url).pathname,
          root,
          path,
          String(round * 1_000),
        ],
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const output = child.stdout.pipeThrough(new TextDecoderStream());
      const reader = output.getReader();
      await reader.read();
      await new Promise((resolve) =>
        setTimeout(resolve, 20 + Math.random() * 200)
      );
      child.kill("SIGKILL");
      for (let part = await reader.read(); !part.done;) {
        committed += part.value.split("kept\n").length - 1;
        part = await reader.read();
      }
      const { code } = await child.status;
      const problem = await new Response(child.stderr).text();
      assertEquals([code, problem], [137, ""]);
      for await (const { name } of Deno.readDir(root)) {
        const text = await Deno.readTextFile(`${root}/${name}`);
        if (name.startsWith(".")) continue; // an unfinished temporary file, which nobody takes for the file
        const [, number] = /^(\d+):/.exec(text) ?? [];
        assertEquals(text, `${number}:`.repeat(20_000) + "end");
      }
      // The first may come before there is a database.
      if (!await Deno.stat(path).then(() => true, () => false)) continue;
      const db = await Sqlite.open(path);
      try {
        assertEquals(db.pragma("integrity_check"), "ok");
        // The first may come before there is a table.
        if (Number(db.pragma("user_version")) < MIGRATIONS.length) continue;
        const kept = db.all<{ hash: string }>(
          "SELECT DISTINCT before AS hash FROM steps WHERE before IS NOT NULL",
        );
        for (const { hash } of kept.slice(-20)) {
          await contentOf((query) => Promise.resolve(query(db)), hash);
        }
        const counted = db.get<{ steps: number; calls: number }>(
          `SELECT (SELECT count(*) FROM steps) AS steps,
             (SELECT count(*) FROM messages WHERE kind = 'tool_result') AS calls`,
        );
        steps = counted?.steps ?? 0;
        // What was said to be committed is there.
        assert(Math.min(steps, counted?.calls ?? 0) >= committed);
      } finally {
        db.close();
      }
    }
    assert(committed > KILLS && steps > KILLS, `${committed} ${steps}`);
  });
});
