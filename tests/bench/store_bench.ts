// deno-lint-ignore-file no-console -- a program of its own
/**
 * How long the store takes on 100,000 sessions with 1,000,000 messages. Prints figures, gates on nothing.
 *
 *     deno run -A --config tests/deno.json tests/bench/store_bench.ts [SESSIONS]
 *
 * @module
 */
import { openSessions, type SessionStore } from "../../lib/store.ts";
import { record, TestLog, testPlatform } from "../sessions.ts";
import { generate, random, vocabulary } from "./store_generate.ts";

const sessions = Number(Deno.args[0] ?? "100000");
const folder = await Deno.makeTempDir();
const path = `${folder}/sessions.db`;
const made = await generate(path, sessions);
console.log(
  `${made.sessions} sessions, ${made.messages} messages, ${
    Math.round((await Deno.stat(path)).size / 1e6)
  } MB`,
);
console.log(
  `append, redaction included: ${
    made.microsecondsEach.toFixed(1)
  } µs a message`,
);

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
  const start = performance.now();
  for (let i = 0; i < 1_000; i++) record(store, { result: "ok" });
  console.log(
    `${visible}: a call pays ${(performance.now() - start).toFixed(2)} µs`,
  );
  await store.close();
}
await Deno.remove(folder, { recursive: true });

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
