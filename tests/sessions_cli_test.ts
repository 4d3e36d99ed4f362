import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { AnyCommand } from "../lib/command.ts";
import { sessionsCommand } from "../lib/sessions_cli.ts";
import type { SessionStore } from "../lib/store.ts";
import { record, runCommand, toolContext, withStore } from "./sessions.ts";

function sub(name: string): AnyCommand {
  const found = sessionsCommand.commands?.find((command) =>
    command.name === name
  );
  assert(found, name);
  return found;
}

async function run(
  store: SessionStore,
  name: string,
  args: Record<string, unknown> = {},
) {
  return await runCommand(sub(name), args, store);
}

Deno.test("sessions list prints a short id, the count, the time and the title", async () => {
  await withStore({}, async (store) => {
    assertEquals((await run(store, "list")).text, "(no sessions)");
    assertEquals((await run(store, "list", { json: true })).text, "[]");
    for (let i = 0; i < 30; i++) {
      record(store, { connectionId: `${i}`, at: 1000 * i });
    }
    const lines = (await run(store, "list")).text.split("\n");
    assertEquals(lines.length, 20);
    assertMatch(
      lines[0] ?? "",
      /^[0-9a-f]{8} {6}2 {2}1970-01-01T00:00:29\.001Z {2}bash: deno test$/,
    );
    assertEquals(
      (await run(store, "list", { limit: 0 })).text.split("\n").length,
      30,
    );
    assertEquals(
      (await run(store, "list", { limit: 3 })).text.split("\n").length,
      3,
    );
    const [first] = JSON.parse(
      (await run(store, "list", { limit: 1, json: true })).text,
    );
    assertEquals(Object.keys(first), [
      "id",
      "title",
      "client",
      "roots",
      "messages",
      "bytes",
      "created_at",
      "updated_at",
    ]);
    assertEquals(first.messages, 2);
  });
});

Deno.test("sessions show prints a session whole, found by the beginning of its id", async () => {
  await withStore({}, async (store) => {
    record(store, { result: "z".repeat(5_000) });
    const id = (await store.list({ limit: 1 })).items[0]?.id ?? "";
    const { text } = await run(store, "show", { id: id.slice(0, 8) });
    assertStringIncludes(text, `id:       ${id}\n`);
    assertStringIncludes(
      text,
      '[0] assistant\n    → bash({"command":"deno test"})\n',
    );
    assertStringIncludes(text, `[1] user\n    ← ${"z".repeat(5_000)}`);
    assertEquals(
      JSON.parse((await run(store, "show", { id, json: true })).text).id,
      id,
    );
    assertEquals(
      (await run(store, "show", { id: "zz" })).text,
      "state: session not found",
    );
  });
});

Deno.test("an ambiguous beginning of an id is refused with what it could be", async () => {
  await withStore({}, async (store) => {
    for (let i = 0; i < 40; i++) record(store, { connectionId: `${i}` });
    const ids = (await store.list({ limit: 50 })).items.map(({ id }) => id);
    const letter = [..."0123456789abcdef"].find((c) =>
      ids.filter((id) =>
        id.startsWith(c)
      ).length > 1
    ) ?? "";
    const answer = await run(store, "show", { id: letter });
    assert(answer.isError);
    assertStringIncludes(answer.text, `several sessions begin with ${letter}`);
    assertStringIncludes(
      answer.text,
      ids.find((id) => id.startsWith(letter)) ?? "?",
    );
  });
});

Deno.test("sessions search prints title, rank and snippet", async () => {
  await withStore({}, async (store) => {
    record(store, { result: "connection refused by the database" });
    const { text } = await run(store, "search", {
      query: ["connection", "refused"],
    });
    assertMatch(
      text,
      /^[0-9a-f]{8} {2}bash: deno test\n {10}rank=-\d\.\d\d {2}connection refused by the database$/,
    );
    assertEquals(
      (await run(store, "search", { query: ["nothing"] })).text,
      "(no matches)",
    );
    const [hit] = JSON.parse(
      (await run(store, "search", { query: ["refused"], json: true })).text,
    );
    assertEquals([hit.message, hit.title], [1, "bash: deno test"]);
  });
});

Deno.test("a terminal shows in colour what matched, and nothing else does", async () => {
  await withStore({}, async (store) => {
    record(store, { result: "Connections to the database are refused" });
    const output = async (columns: number | undefined) => {
      const ctx = { ...toolContext(store), terminal: { columns } };
      const args = { query: ["connection"], limit: 20, json: false };
      return await sub("search").run!(args, ctx as never) as string;
    };
    const hit = "\x1b[1m\x1b[33mConnections\x1b[39m\x1b[22m to the";
    assertStringIncludes(await output(80), hit);
    assert(!(await output(undefined)).includes("\x1b"));
    const [found] = JSON.parse(
      (await run(store, "search", { query: ["connection"], json: true })).text,
    );
    assertEquals(found.matches, [[0, "Connections".length]]);
  });
});

Deno.test("a hit in the title is said to be one", async () => {
  await withStore({}, async (store) => {
    record(store, {
      arguments: { command: "frobnicate --all" },
      result: "done",
    });
    await store.change((db) =>
      db.run("UPDATE sessions SET title = 'Renaming the widgets'")
    );
    const { text } = await run(store, "search", { query: ["widget"] });
    assertMatch(text, / title: Renaming the widgets$/);
  });
});

Deno.test("every command about sessions can print JSON", () => {
  for (const { name, input } of sessionsCommand.commands ?? []) {
    const { json, format } = input?.properties as Record<
      string,
      { type?: string; enum?: readonly string[] } | undefined
    >;
    assert(json?.type === "boolean" || format?.enum?.includes("json"), name);
  }
});

Deno.test("sessions delete needs --yes, and removes the session, its messages and its long texts", async () => {
  await withStore({}, async (store) => {
    record(store, {
      connectionId: "a",
      result: `needle ${"n".repeat(50_000)}`,
    });
    record(store, {
      connectionId: "b",
      result: `needle ${"n".repeat(50_000)}`,
    });
    const [a, b] = (await store.list({ limit: 2 })).items.map(({ id }) => id);
    assertEquals(await run(store, "delete", { id: a }), {
      text: "refusing to delete without --yes",
      note: undefined,
      isError: true,
    });
    assertEquals((await run(store, "delete", { id: a, yes: true })).text, "");
    assertEquals((await store.list({ limit: 5 })).items.map(({ id }) => id), [
      b,
    ]);
    assertEquals(
      (await store.search("needle", 5)).map((hit) => hit.session.id),
      [b],
    );
    const text = await store.read(
      b ?? "",
      1,
      (_, messages) => [...messages][0]?.text,
    );
    assertEquals(text?.length, 50_007);
    assertEquals(
      (await run(store, "delete", { id: a, yes: true })).text,
      "state: session not found",
    );
    assertEquals((await run(store, "delete", { yes: true })).isError, true);
    assertEquals(
      (await run(store, "delete", { all: true, yes: true })).text,
      "deleted 1 sessions",
    );
    assertEquals((await store.list({ limit: 5 })).items, []);
    assertEquals(
      (await run(store, "delete", { all: true, yes: true, json: true })).text,
      '{\n  "deleted": 0\n}',
    );
  });
});

Deno.test("a deleted session's connection goes on in a new one", async () => {
  await withStore({}, async (store) => {
    record(store);
    const before = (await store.list({ limit: 1 })).items[0]?.id;
    await store.delete(before);
    record(store);
    const { items } = await store.list({ limit: 5 });
    assertEquals(items.map(({ messageCount }) => messageCount), [2]);
    assert(items[0]?.id !== before);
  });
});
