import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { CommandContext } from "../lib/command.ts";
import { IMPORT_BATCH, importFiles } from "../lib/import.ts";
import { claudeCode } from "../lib/import_claude.ts";
import { codex } from "../lib/import_codex.ts";
import { linesFrom, MAX_LINE_BYTES } from "../lib/import_lines.ts";
import type { Message } from "../lib/recorded.ts";
import { McpServer } from "../lib/server.ts";
import { sessionsCommand } from "../lib/sessions_cli.ts";
import { sessionsImport } from "../lib/sessions_import.ts";
import { Sqlite } from "../lib/sqlite.ts";
import type { SessionStore } from "../lib/store.ts";
import { MemoryClient } from "./fixtures/memory_client.ts";
import { runCommand, toolContext, withFolder, withStore } from "./sessions.ts";

const fixture = (name: string) =>
  new URL(`fixtures/import/${name}.jsonl`, import.meta.url).pathname;

async function run(store: SessionStore, args: Record<string, unknown>) {
  const command = sessionsCommand.commands?.find(({ name }) =>
    name === "import"
  );
  assert(command);
  return await runCommand(command, args, store);
}

function importing(
  store: SessionStore,
  format: typeof codex,
  ...paths: string[]
) {
  return importFiles(store, format, {
    paths,
    signal: new AbortController().signal,
    progress: () => {},
  });
}

async function messages(store: SessionStore, id: string): Promise<Message[]> {
  return await store.read(id, 0, (_, found) => [...found]) ?? [];
}

Deno.test("a conversation of Claude Code becomes a session of its project", async () => {
  await withStore({}, async (store) => {
    const answer = await run(store, {
      source: "claude-code",
      path: [fixture("claude-code-2026-11")],
    });
    assertEquals(
      answer.text,
      "claude-code: 1 files, 1 with something new, 7 messages, 2 unreadable",
    );
    const { items: [session] } = await store.list({ limit: 5 });
    assertEquals({ ...session, bytes: 0 }, {
      id: "11111111-2222-4333-8444-555555555555",
      title: "Mend the parser",
      client: { name: "Claude Code", version: "2.1.332" },
      protocol: undefined,
      cwd: "/w/project",
      roots: ["/w/project"],
      createdAt: Date.UTC(2026, 10, 20, 10),
      updatedAt: Date.UTC(2026, 10, 20, 10, 0, 14),
      messageCount: 7,
      bytes: 0,
    });
    const found = await messages(store, session?.id ?? "");
    assertEquals(
      found.map((
        { kind, role, tool, text },
      ) => [kind, role, tool, text.split("\n")[0]]),
      [
        ["text", "user", undefined, "Why does the parser fail on empty input?"],
        ["text", "assistant", undefined, "Let me look."],
        ["tool_use", "assistant", "Bash", "deno test parser"],
        ["tool_result", "user", "Bash", "FAILED with marmalade"],
        ["tool_use", "assistant", "Read", "/w/project/parser.ts"],
        ["tool_result", "user", "Read", "export function parse"],
        ["text", "assistant", undefined, "Empty input has no first token."],
      ],
    );
    assertEquals(found[3]?.isError, true);
    assertEquals((await store.search("marmalade", 5)).length, 1);
    assertEquals((await store.search("hidden thought", 5)).length, 0);
  });
});

Deno.test("conversations of Codex become sessions, wrapped records and bare ones", async () => {
  await withStore({ visible: "all" }, async (store) => {
    await importing(
      store,
      codex,
      fixture("codex-2026-11"),
      fixture("codex-2025-07"),
    );
    const { items } = await store.list({ limit: 5 });
    assertEquals(
      items.map((
        { id, title, cwd, messageCount },
      ) => [id.slice(0, 4), title, cwd, messageCount]),
      [
        ["2222", "Count the lines", "/w/project", 7],
        ["3333", "An older question", undefined, 4],
      ],
    );
    const found = await messages(store, items[0]?.id ?? "");
    assertEquals(
      found.map((
        { kind, tool, text, isError },
      ) => [kind, tool, text.split("\n")[0], isError]).slice(2),
      [
        ["tool_use", "shell", "bash", false],
        ["tool_result", "shell", "42 total rhubarb", true],
        ["tool_use", "apply_patch", "*** Begin Patch", false],
        ["tool_result", "apply_patch", "Success", false],
        ["text", undefined, "There are 42 lines.", false],
      ],
    );
    for (const word of ["rhubarb", "elderberry"]) {
      assertEquals((await store.search(word, 5)).length, 1);
    }
  });
});

Deno.test("a conversation of an older Claude Code is read, too", async () => {
  await withStore({}, async (store) => {
    await importing(store, claudeCode, fixture("claude-code-2025-05"));
    const { items: [session] } = await store.list({ limit: 5 });
    assertEquals(
      [session?.title, session?.client.version, session?.messageCount],
      ["Rename the module", "1.0.3", 4],
    );
    assertEquals((await store.search("gooseberry", 5)).length, 1);
  });
});

for (
  const [format, name, word] of [
    [claudeCode, "claude-code-2026-11", "marmalade"],
    [codex, "codex-2026-11", "rhubarb"],
  ] as const
) {
  Deno.test(`what is odd in a file of ${format.title} costs no more than its line`, async () => {
    await withFolder(async (folder) => {
      const text = await Deno.readTextFile(fixture(name));
      const odd = [
        "\ufeff",
        text.replaceAll("\n", "\r\n"),
        'null\n"text"\n17\n{}\n{"type":null}\n{"type":"user"}\n',
        '{"type":"user","message":{"role":"user","content":[null,7,{"type":"x"}]}}\n',
        '{"type":"response_item","payload":{"type":"new_kind","x":1}}\n',
        '{"type":"response_item","payload":null}\n',
        "\u2028\n\n   \n{\n",
      ].join("");
      const file = `${folder}/odd.jsonl`;
      const bytes = new TextEncoder().encode(odd);
      const broken = new Uint8Array([...bytes, 0x7b, 0xff, 0xc3, 0x0a]);
      await Deno.writeFile(file, broken);
      await withStore({}, async (store) => {
        const plain = await importing(store, format, fixture(name));
        const { items: [before] } = await store.list({ limit: 1 });
        await store.delete(undefined);
        const found = await importing(store, format, file);
        assertEquals(found.messages, plain.messages);
        const { items: [session] } = await store.list({ limit: 1 });
        assertEquals(session?.messageCount, before?.messageCount);
        assertEquals((await store.search(word, 5)).length, 1);
      });
    });
  });
}

Deno.test("D15: a torn last line waits for its rest, and importing again adds only what is new", async () => {
  await withFolder(async (folder) => {
    await withStore({}, async (store) => {
      const text = await Deno.readTextFile(fixture("claude-code-2026-11"));
      const path = `${folder}/a.jsonl`;
      let last = 0;
      // At every length, as if the program were being watched while it writes; in the middle of characters, too.
      for (let size = 1; size <= text.length; size += 97) {
        await Deno.writeTextFile(path, text.slice(last, size), {
          append: true,
        });
        last = size;
        await importing(store, claudeCode, path);
      }
      await Deno.writeTextFile(path, text.slice(last), { append: true });
      await importing(store, claudeCode, path);
      const { items } = await store.list({ limit: 5 });
      assertEquals(
        items.map(({ title, messageCount }) => [title, messageCount]),
        [["Mend the parser", 7]],
      );
      assertEquals(await importing(store, claudeCode, path), {
        files: 1,
        changed: 0,
        messages: 0,
        skipped: 0,
      });
      const tools = (await messages(store, items[0]?.id ?? "")).map((
        { tool },
      ) => tool);
      assertEquals(tools, [
        undefined,
        undefined,
        "Bash",
        "Bash",
        "Read",
        "Read",
        undefined,
      ]);
    });
  });
});

Deno.test("a file that was replaced is imported anew, without doubles", async () => {
  await withFolder(async (folder) => {
    await withStore({}, async (store) => {
      const path = `${folder}/a.jsonl`;
      await Deno.copyFile(fixture("claude-code-2026-11"), path);
      await importing(store, claudeCode, path);
      const lines = (await Deno.readTextFile(path)).split("\n");
      await Deno.writeTextFile(path, lines.slice(0, 3).join("\n") + "\n");
      await importing(store, claudeCode, path);
      const { items } = await store.list({ limit: 5 });
      assertEquals(
        items.map(({ id, messageCount }) => [id.slice(0, 8), messageCount]),
        [["11111111", 1]],
      );
    });
  });
});

Deno.test("secrets are taken out on the way in", async () => {
  await withFolder(async (folder) => {
    await withStore({ visible: "all" }, async (store) => {
      const secret = `ghp_${"a1B2c3D4e5".repeat(4)}`;
      const record = (content: unknown) =>
        JSON.stringify({
          type: "user",
          sessionId: "s",
          timestamp: "2026-01-01T00:00:00Z",
          message: { role: "user", content },
        });
      await Deno.writeTextFile(
        `${folder}/a.jsonl`,
        [
          JSON.stringify({ type: "summary", summary: `about ${secret}` }),
          record(`my token is ${secret}`),
          record([{
            type: "tool_use",
            id: "1",
            name: "x",
            input: { password: "hunter22", text: secret },
          }]),
          record([{ type: "tool_result", tool_use_id: "1", content: secret }]),
        ].join("\n"),
      );
      await importing(store, claudeCode, `${folder}/a.jsonl`);
      const all = await store.query((db) =>
        JSON.stringify([
          db.all("SELECT * FROM sessions"),
          db.all("SELECT text, json FROM messages"),
          db.all("SELECT * FROM imports"),
        ])
      );
      assertStringIncludes(all, "[redacted: GitHub token]");
      assert(!all.includes(secret) && !all.includes("hunter22"), all);
    });
  });
});

Deno.test("lines are read whole across chunks; one that is too long is skipped", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/lines`;
    const long = new Uint8Array(MAX_LINE_BYTES + 1).fill(120);
    const rest = new TextEncoder().encode(
      `\n${"é".repeat(300_000)}\n\r\n\ufefflast`,
    );
    await Deno.writeFile(
      path,
      new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0a]),
    );
    await Deno.writeFile(path, long, { append: true });
    await Deno.writeFile(path, rest, { append: true });
    using file = await Deno.open(path);
    const found: [number | undefined, boolean][] = [];
    let end = 0;
    for await (const line of linesFrom(file, 0)) {
      found.push([line.text?.length, line.isWhole]);
      end = line.end;
    }
    assertEquals(found, [[2, true], [undefined, true], [300_000, true], [
      1,
      true,
    ], [4, false]]);
    assertEquals(end, (await file.stat()).size);
  });
});

for (const schema of ["payload", "rows"]) {
  Deno.test(`the earlier rousseau's sessions are taken over from its database (${schema})`, async () => {
    await withFolder(async (folder) => {
      const path = `${folder}/sessions.db`;
      const id = "44444444-5555-4666-8777-888888888888";
      const at = "2026-07-11T18:00:14.200Z";
      const list = [
        {
          role: "user",
          content: [{ kind: "text", text: "Find the quince" }],
          created_at: at,
        },
        {
          role: "assistant",
          content: [{
            kind: "tool_use",
            tool_use: { id: "t1", name: "grep", input: { pattern: "quince" } },
          }],
          created_at: at,
        },
        {
          role: "user",
          content: [{
            kind: "tool_result",
            tool_result: {
              tool_use_id: "t1",
              output: "a:1: quince",
              is_error: false,
            },
          }],
          created_at: at,
        },
      ];
      const db = await Sqlite.open(path);
      db.exec(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL, payload TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)",
      );
      db.run(
        "INSERT INTO sessions VALUES (?, 'The quince', ?, 3, ?, ?)",
        id,
        schema === "payload" ? JSON.stringify({ id, messages: list }) : "{}",
        at,
        at,
      );
      if (schema === "rows") {
        db.exec(
          "CREATE TABLE session_messages (session_id TEXT, seq INTEGER, message JSON, hash TEXT, body TEXT, created_at TEXT, PRIMARY KEY (session_id, seq))",
        );
        for (const [seq, message] of list.entries()) {
          db.run(
            "INSERT INTO session_messages VALUES (?, ?, ?, '', '', ?)",
            id,
            seq,
            JSON.stringify(message),
            at,
          );
        }
      }
      db.close();
      const before = await Deno.readFile(path);
      await withStore({ path, visible: "all" }, async (store) => {
        const args = { source: "rousseau", path: [path], json: true };
        assertEquals(JSON.parse((await run(store, args)).text), [{
          source: "rousseau",
          files: 1,
          changed: 1,
          messages: 3,
          skipped: 0,
        }]);
        assertEquals(JSON.parse((await run(store, args)).text)[0].messages, 0);
        const { items } = await store.list({ limit: 5 });
        assertEquals(
          items.map(({ id, title, messageCount }) => [id, title, messageCount]),
          [[id, "The quince", 3]],
        );
        assertEquals(
          (await messages(store, id)).map(({ kind, tool }) => [kind, tool]),
          [["text", undefined], ["tool_use", "grep"], ["tool_result", "grep"]],
        );
        assertEquals((await store.search("quince", 5)).length, 1);
      });
      assertEquals(await Deno.readFile(path), before);
    });
  });
}

Deno.test("sessions import says what it cannot read", async () => {
  await withFolder(async (folder) => {
    await withStore({}, async (store) => {
      assertStringIncludes(
        (await run(store, { source: "all", path: [folder] })).text,
        "say which program",
      );
      await Deno.writeTextFile(`${folder}/x.db`, "no database".repeat(100));
      const wrong = await run(store, {
        source: "rousseau",
        path: [`${folder}/x.db`],
      });
      assert(wrong.isError);
      assertMatch(
        wrong.text,
        /^sessions: cannot read .*x\.db: file is not a database$/,
      );
      assertEquals(
        (await run(store, { source: "codex", path: [folder] })).text,
        "codex: 0 files, 0 with something new, 0 messages",
      );
    });
  });
});

Deno.test("an import exposed as a tool tells its caller how far it is", async () => {
  await withStore({}, async (store) => {
    await withFolder(async (folder) => {
      const file = `${folder}/a.jsonl`;
      const line = (i: number) =>
        JSON.stringify({
          type: "user",
          sessionId: "11111111-2222-4333-8444-555555555555",
          timestamp: "2026-11-01T10:00:00.000Z",
          message: { role: "user", content: `line ${i}` },
        });
      await Deno.writeTextFile(
        file,
        Array.from({ length: IMPORT_BATCH * 3 }, (_, i) => line(i)).join("\n"),
      );
      const server = new McpServer({ name: "s", version: "1" });
      server.register({
        ...sessionsImport,
        tool: {
          name: "import",
          annotations: {
            readOnlyHint: false,
            destructiveHint: false,
            idempotentHint: true,
            openWorldHint: false,
          },
        },
        run: (args: unknown, ctx: CommandContext) =>
          sessionsImport.run!(args, { ...toolContext(store), ...ctx }),
      });
      const client = new MemoryClient(server);
      await client.initialize();
      await client.send({
        jsonrpc: "2.0",
        id: "i",
        method: "tools/call",
        params: {
          name: "import",
          arguments: { source: "claude-code", path: [file] },
          _meta: { progressToken: "p" },
        },
      });
      const told = [];
      for (
        let message = await client.next();
        message.id !== "i";
        message = await client.next()
      ) told.push(message.params);
      await client.close();
      const total = (await Deno.stat(file)).size;
      assert(told.length > 0);
      for (const [i, params] of told.entries()) {
        assertEquals([params.progressToken, params.total, params.message], [
          "p",
          total,
          "Claude Code",
        ]);
        assert(params.progress > (told[i - 1]?.progress ?? 0));
      }
    });
  });
});
