import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { AnyCommand } from "../lib/command.ts";
import { BAR_COLUMNS, sizeText } from "../lib/session_stats.ts";
import { sessionsCommand } from "../lib/sessions_cli.ts";
import type { SessionStore } from "../lib/store.ts";
import { record, runCommand, withFolder, withStore } from "./sessions.ts";

async function run(
  store: SessionStore,
  name: string,
  args: Record<string, unknown> = {},
) {
  const found: AnyCommand | undefined = sessionsCommand.commands?.find((
    command,
  ) => command.name === name);
  assert(found, name);
  return await runCommand(found, args, store);
}

const DAY = 24 * 60 * 60 * 1000;

Deno.test("sessions stats counts calls, errors, time and bytes by tool, day and file", async () => {
  await withStore({ env: { CLAUDE_CODE_SESSION_ID: "c" } }, async (store) => {
    const at = Date.UTC(2026, 10, 28, 12);
    for (let i = 0; i < 4; i++) {
      record(store, { result: "12345", at: at + (i % 2) * DAY });
    }
    record(store, {
      tool: "edit",
      arguments: { path: "/w/a.ts" },
      result: { content: [], isError: true },
      at,
    });
    record(store, { tool: "write", arguments: { path: "/w/a.ts" }, at });
    record(store, { tool: "read", arguments: { path: "/w/b.ts" }, at });
    const { text } = await run(store, "stats");
    const lines = text.split("\n");
    assertStringIncludes(lines[0] ?? "", ":memory:, ");
    assertEquals(lines[1], "1 session, 14 messages, since 2026-11-28");
    assertEquals(
      lines[3],
      `bash   4  ${"█".repeat(BAR_COLUMNS)}  0 errors  0.0 s  20 B`,
    );
    assertStringIncludes(
      text,
      `edit   1  ${"█".repeat(5).padEnd(BAR_COLUMNS)}   1 error  0.0 s   0 B`,
    );
    assertMatch(text, /2026-11-28 {2}5 .*1 error\n2026-11-29 {2}2 /);
    assertMatch(text, /\/w\/a\.ts {2}2 {2}█+$/);
    const stats = JSON.parse((await run(store, "stats", { json: true })).text);
    assertEquals(stats.files, [{ path: "/w/a.ts", changes: 2 }]);
    assertEquals(stats.tools[0], {
      tool: "bash",
      calls: 4,
      errors: 0,
      denied: 0,
      milliseconds: 4,
      bytes: 20,
    });
    const id = (await store.list({ limit: 1 })).items[0]?.id;
    assertEquals(
      JSON.parse((await run(store, "stats", { id, json: true })).text).messages,
      14,
    );
  });
  await withStore({}, async (store) => {
    record(store, { connectionId: "a", at: Date.now() - 2 * DAY });
    record(store, { connectionId: "b" });
    const { sessions, messages } = JSON.parse(
      (await run(store, "stats", { days: 1, json: true })).text,
    );
    assertEquals([sessions, messages], [1, 2]);
  });
});

Deno.test("stats of an empty store, and of other projects' sessions, are zero", async () => {
  await withStore({}, async (store) => {
    assertStringIncludes(
      (await run(store, "stats")).text,
      "\n0 sessions, 0 messages",
    );
  });
  await withFolder(async (folder) => {
    const path = `${folder}/s.db`;
    await withStore({ path, roots: ["/a"] }, async (store) => {
      record(store);
      await store.flush({ wait: 5_000 });
    });
    for (
      const options of [{ path, roots: ["/b"] }, {
        path,
        visible: "none" as const,
      }]
    ) {
      await withStore(options, async (store) => {
        assertStringIncludes(
          (await run(store, "stats")).text,
          "\n0 sessions, 0 messages",
        );
      });
    }
  });
});

Deno.test("sizes are told in the unit that fits", () => {
  assertEquals([0, 999, 1000, 123_456, 5e6, 2.5e9, 1e13].map(sizeText), [
    "0 B",
    "999 B",
    "1.0 kB",
    "123.5 kB",
    "5.0 MB",
    "2.5 GB",
    "10000.0 GB",
  ]);
});

Deno.test("sessions export prints Markdown, JSON and a page", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < 9; i++) {
      record(store, { result: `${i}${"x".repeat(200_000)}` });
    }
    const id = (await store.list({ limit: 1 })).items[0]?.id ?? "";
    const md = (await run(store, "export", { id: id.slice(0, 8) })).text;
    assertMatch(md, /^# bash: deno test\n/);
    assertStringIncludes(md, "## 17 · user ← bash");
    assertEquals(
      JSON.parse((await run(store, "export", { id, format: "json" })).text)
        .messages.length,
      18,
    );
    assertMatch(
      (await run(store, "export", { id, format: "html" })).text,
      /^<!doctype html>\n[^]*<\/html>\n$/,
    );
    assert((await run(store, "export", { id, format: "pdf" })).isError);
  });
});

Deno.test("the page shows what was recorded as text, whatever it holds, and fetches nothing", async () => {
  await withStore({}, async (store) => {
    const hostile =
      `</pre><script>alert(1)</script><img src=x onerror="alert('2')">&amp;\x1b[31m\x07`;
    record(store, {
      arguments: { command: hostile, note: hostile },
      result: hostile,
    });
    record(store, {
      tool: hostile,
      arguments: { [hostile]: hostile },
      result: {
        content: [{ type: "image", data: "AA==", mimeType: hostile }],
        isError: true,
      },
    });
    record(store, {
      tool: "edit",
      arguments: {
        path: "/a",
        old_string: `a\n${hostile}\n`,
        new_string: "b",
        edits: [{ old_string: "c", new_string: "d" }, null, 5],
      },
    });
    const id = (await store.list({ limit: 1 })).items[0]?.id ?? "";
    const { text } = await run(store, "export", { id, format: "html" });
    assertEquals(text.match(/<script/g)?.length, 1);
    assert(!text.includes("<img") && !text.includes('onerror="'));
    assert(
      !/(?:src|href)="(?!#)/.test(text) && !text.includes("http:") &&
        !text.includes("https:"),
    );
    assert(!text.includes("\x1b") && !text.includes("\x07"));
    assertStringIncludes(
      text,
      "<del>- a</del><del>- &lt;/pre&gt;&lt;script&gt;",
    );
    assertStringIncludes(text, "<ins>+ d</ins>");
    assertStringIncludes(text, "default-src 'none'");
    assertStringIncludes(text, '<td>1</td><td class="bar">');
  });
});

Deno.test("sessions prune needs --yes and tells what it did", async () => {
  await withStore({}, async (store) => {
    record(store, { connectionId: "old", at: Date.now() - 10 * DAY });
    record(store, { connectionId: "new" });
    assertEquals(
      (await run(store, "prune")).text,
      "refusing to delete without --yes",
    );
    assertEquals(
      (await run(store, "prune", { yes: true })).text,
      "deleted 0 sessions, gave back 0 B",
    );
    assertEquals(
      (await run(store, "prune", { yes: true, keep_days: 9 })).text,
      "deleted 1 sessions, gave back 0 B",
    );
    assertEquals((await store.list({ limit: 5 })).items.length, 1);
  });
});

Deno.test("sessions recover takes over what a damaged file still holds, once", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/sessions.db`;
    await withStore({ path }, async (store) => {
      for (let i = 0; i < 40; i++) {
        record(store, {
          connectionId: `${i}`,
          arguments: { command: `cmd${i}` },
          result: `${i} ${"long text ".repeat(4_000)}`,
        });
      }
      record(store, { connectionId: "needle", result: "needle in a haystack" });
      await store.flush({ wait: 5_000 });
    });
    // The beginning overwritten, and a page in the middle.
    using file = await Deno.open(path, { write: true });
    await file.write(new Uint8Array(16).fill(1));
    const { size } = await file.stat();
    await file.seek(Math.floor(size / 2 / 4096) * 4096, Deno.SeekMode.Start);
    await file.write(crypto.getRandomValues(new Uint8Array(4096)));
    await withStore({ path }, async (store, log) => {
      record(store, { connectionId: "fresh" });
      assertEquals((await store.list({ limit: 99 })).items.length, 1);
      assertEquals(log.warnings, ["store.damaged"]);
      const { text } = await run(store, "recover");
      const [, sessions, messages] =
        /: (\d+) sessions with (\d+) messages taken over, 0 were there/.exec(
          text,
        ) ?? [];
      assert(Number(sessions) >= 30 && Number(messages) >= 60, text);
      const { items } = await store.list({ limit: 99 });
      assertEquals(items.length, Number(sessions) + 1);
      assertEquals((await store.search("needle", 5)).length, 1);
      const whole = await store.read(
        items.find(({ title }) => title === "bash: cmd3")?.id ?? "",
        1,
        (_, found) => [...found][0]?.text,
      );
      assertEquals(whole?.length, 40_002);
      assertMatch(
        (await run(store, "recover")).text,
        new RegExp(
          `: 0 sessions with 0 messages taken over, ${sessions} were there`,
        ),
      );
      assertEquals(
        JSON.parse((await run(store, "recover", { json: true })).text)[0]
          .sessions,
        0,
      );
    });
    assertEquals(
      [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
        name.includes("reading")
      ),
      [],
    );
  });
});

Deno.test("sessions recover says when a file cannot be read, or there is none", async () => {
  await withFolder(async (folder) => {
    await withStore({ path: `${folder}/sessions.db` }, async (store) => {
      assertEquals(
        (await run(store, "recover")).text,
        "(no damaged database beside the store)",
      );
      await Deno.writeTextFile(`${folder}/text`, "no database ".repeat(500));
      for (const name of ["text", "missing"]) {
        const answer = await run(store, "recover", {
          file: `${folder}/${name}`,
        });
        assert(answer.isError);
        assertStringIncludes(
          answer.text,
          `sessions: cannot read ${folder}/${name}: `,
        );
      }
    });
  });
});
