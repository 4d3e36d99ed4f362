/** Conversations of other programs, taken over from where those keep them, then found and read by an SDK client. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Sqlite } from "../../lib/sqlite.ts";
import { commandLine, environment, Folders, run } from "../harness.ts";

/** Fixture, where its program keeps it, a word in it, and the id of its session. */
const FILES = [
  [
    "claude-code-2025-05",
    ".claude/projects/-w-project/55555555-6666-4777-8888-999999999999.jsonl",
    "gooseberry",
    "55555555-6666-4777-8888-999999999999",
  ],
  [
    "claude-code-2026-11",
    ".claude/projects/-w-project/11111111-2222-4333-8444-555555555555.jsonl",
    "marmalade",
    "11111111-2222-4333-8444-555555555555",
  ],
  [
    "codex-2025-07",
    ".codex/sessions/2025/07/01/rollout-2025-07-01T08-00-00-33333333.jsonl",
    "elderberry",
    "33333333-4444-4555-8666-777777777777",
  ],
  [
    "codex-2026-11",
    ".codex/sessions/2026/11/21/rollout-2026-11-21T08-00-00-22222222.jsonl",
    "rhubarb",
    "22222222-3333-4444-8555-666666666666",
  ],
] as const;

const EARLIER = "44444444-5555-4666-8777-888888888888";

async function earlierDatabase(path: string): Promise<void> {
  const at = "2026-07-11T18:00:14.200Z";
  const db = await Sqlite.open(path);
  db.exec(
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL, payload TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL)",
  );
  db.run(
    "INSERT INTO sessions VALUES (?, 'The quince', ?, 1, ?, ?)",
    EARLIER,
    JSON.stringify({
      id: EARLIER,
      messages: [{
        role: "user",
        content: [{ kind: "text", text: "Find the quince" }],
        created_at: at,
      }],
    }),
    at,
    at,
  );
  db.close();
}

Deno.test({
  name:
    "a session of each format is imported, found by search and read as a resource by an SDK client",
  // The SDK's transport keeps a timer and the child's pipes for a moment after close().
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    await using folders = await Folders.make();
    for (const [name, path] of FILES) {
      const target = `${folders.home}/${path}`;
      await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), {
        recursive: true,
      });
      await Deno.copyFile(
        new URL(`../fixtures/import/${name}.jsonl`, import.meta.url),
        target,
      );
    }
    await earlierDatabase(folders.database);
    const before = await Deno.readFile(folders.database);
    const first = await run(folders, ["sessions", "import"]);
    assertEquals(first.code, 0, first.stderr);
    assertStringIncludes(first.stdout, "claude-code: 2 files");
    assertStringIncludes(first.stdout, "codex: 2 files");
    assertStringIncludes(first.stdout, "rousseau: 1 files");
    const again = await run(folders, ["sessions", "import"]);
    assertEquals(again.stdout.match(/, 0 messages/g)?.length, 3, again.stdout);
    assertEquals(await Deno.readFile(folders.database), before);

    const [command, ...args] = await commandLine([
      "mcp",
      "--root",
      folders.root,
      "--sessions",
      "all",
    ]);
    const client = new Client({ name: "sdk", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: command as string,
        args,
        cwd: folders.root,
        env: await environment(folders),
      }),
    );
    try {
      for (
        const [, , word, id] of [...FILES, ["", "", "quince", EARLIER] as const]
      ) {
        // deno-lint-ignore no-explicit-any
        const found: any = await client.callTool({
          name: "rousseau_search_sessions",
          arguments: { query: word },
        });
        assertStringIncludes(found.content[0].text, `session ${id}`);
        const link = found.content.find((
          { type, uri }: Record<string, string>,
        ) => type === "resource_link" && uri?.endsWith(id));
        const { contents: [read] } = await client.readResource({
          uri: link.uri,
        });
        assertStringIncludes((read as { text: string }).text, word);
      }
    } finally {
      await client.close();
    }
  },
});
