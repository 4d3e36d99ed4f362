// deno-lint-ignore-file no-console -- a program of its own
/**
 * How long the store takes on 100,000 sessions with 1,000,000 messages. Prints figures, gates on nothing.
 *
 *     deno run -A --config tests/deno.json tests/bench/store_bench.ts [SESSIONS] [DATABASE]
 *
 * With DATABASE, that one is used, and grows; it is made when it does not exist.
 *
 * @module
 */
import process from "node:process";
import { append } from "../../lib/append.ts";
import { resultDrafts, useDraft } from "../../lib/drafts.ts";
import { BATCH_RECORDS } from "../../lib/recorder.ts";
import { SessionFile } from "../../lib/session_file.ts";
import { openSessions, type SessionStore } from "../../lib/store.ts";
import {
  callEnd,
  callStart,
  record,
  TestLog,
  testPlatform,
} from "../sessions.ts";
import { generate, newSession, random, vocabulary } from "./store_generate.ts";

const sessions = Number(Deno.args[0] ?? "100000");
const folder = await Deno.makeTempDir();
const path = Deno.args[1] ?? `${folder}/sessions.db`;
if (!await Deno.stat(path).then(() => true, () => false)) {
  const made = await generate(path, sessions);
  console.log(
    `made ${made.sessions} sessions with ${made.messages} messages, ${
      made.microsecondsEach.toFixed(1)
    } µs a message`,
  );
}
await appends();

for (const visible of ["all", "project"] as const) {
  const open = (): SessionStore =>
    openSessions({
      platform: testPlatform("/home/u"),
      config: { state: { path }, record: "full", sessions: { visible } },
      logger: new TestLog(),
      roots: () => ["/w/project7"],
    });
  const store = open();
  const before = performance.now();
  await store.status({ open: true });
  console.log(
    `${visible}: open and count ${(performance.now() - before).toFixed(1)} ms`,
  );
  let cursor: string | undefined;
  const pages: number[] = [];
  do {
    const start = performance.now();
    const page = await store.list({ limit: 100, cursor });
    pages.push(performance.now() - start);
    cursor = page.next;
  } while (cursor);
  report(`${visible}: page of 100`, pages);
  const next = random(3);
  const words = vocabulary(30_000);
  const word = () => words[Math.floor(next() ** 3 * words.length)] as string;
  const searches: number[] = [];
  for (let i = 0; i < 300; i++) {
    const query = [
      word(),
      `${word()} ${word()}`,
      `"${word()} ${word()}"`,
      `${word().slice(0, 4)}*`,
    ][i % 4] as string;
    const start = performance.now();
    await store.search(query, 20);
    searches.push(performance.now() - start);
  }
  report(`${visible}: search`, searches);
  const ids = (await store.list({ limit: 100 })).items.map(({ id }) => id);
  const reads: number[] = [];
  for (const id of ids) {
    const start = performance.now();
    await store.read(id, 0, (_, messages) => [...messages].length);
    reads.push(performance.now() - start);
  }
  report(`${visible}: read`, reads);
  const calls: number[] = [];
  for (let i = 0; i < 1_000; i++) {
    const start = performance.now();
    record(store, { result: "ok" });
    calls.push(performance.now() - start);
  }
  report(`${visible}: a call, from its beginning to its end`, calls);
  await store.close();
}
await Deno.remove(folder, { recursive: true });

/** Full batches of one conversation, as they are recorded; and what is written back between them. */
async function appends(): Promise<void> {
  const file = new SessionFile({
    path,
    platform: testPlatform("/home/u"),
    logger: new TestLog(),
    now: Date.now,
  });
  const db = await file.open();
  if (!db) throw new Error(file.reason);
  const { sessions, messages } = db.get<{ sessions: number; messages: number }>(
    "SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM messages) AS messages",
  ) ?? { sessions: 0, messages: 0 };
  console.log(
    `${sessions} sessions, ${messages} messages, ${
      Math.round((await Deno.stat(path)).size / 1e6)
    } MB`,
  );
  const next = random(9);
  const words = vocabulary(30_000);
  const text = (most: number) =>
    Array.from(
      { length: 5 + Math.floor(next() * most) },
      () => words[Math.floor(next() ** 3 * words.length)],
    ).join(" ");
  const session = newSession(7);
  const batches: number[] = [];
  const written: number[] = [];
  let cpu = 0;
  for (let i = 0; i < 200; i++) {
    const calls = Array.from({ length: BATCH_RECORDS / 2 }, () => {
      const start = callStart({ arguments: { command: text(10) } });
      return { start, end: callEnd(start, text(60)) };
    });
    const used = process.cpuUsage();
    const before = performance.now();
    const batch = calls.flatMap(({ start, end }) => [
      useDraft(start, "full", session.roots),
      ...resultDrafts(end, "full"),
    ]).map((draft) => ({
      session,
      draft,
      hash: undefined,
      bodyId: undefined,
    }));
    append(db, batch);
    batches.push(performance.now() - before);
    const { user, system } = process.cpuUsage(used);
    cpu += user + system;
    const start = performance.now();
    await file.tidy();
    written.push(performance.now() - start);
  }
  const records = batches.length * BATCH_RECORDS;
  const sum = (times: number[]) => times.reduce((a, b) => a + b, 0);
  console.log(
    `append, redaction and index included: ${
      (sum(batches) * 1_000 / records).toFixed(1)
    } µs a record, ${(cpu / records).toFixed(1)} µs of processor time; ${
      (sum(written) * 1_000 / records).toFixed(1)
    } µs to write the log back`,
  );
  report(`batch of ${BATCH_RECORDS}`, batches);
  report("log written back", written);
  await file.close();
}

function report(what: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
      .toFixed(2);
  console.log(
    `${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${
      at(1)
    } ms, ${times.length} times`,
  );
}
