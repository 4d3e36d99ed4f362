// deno-lint-ignore-file no-console -- a program of its own
/**
 * A database of many sessions, made through the same path as recorded calls.
 *
 *     deno run -A --config tests/deno.json tests/bench/store_generate.ts PATH [SESSIONS]
 *
 * @module
 */
import { append, type Entry, type SessionRef } from "../../lib/append.ts";
import { resultDrafts, useDraft } from "../../lib/drafts.ts";
import { SessionFile } from "../../lib/session_file.ts";
import { callEnd, callStart, TestLog, testPlatform } from "../sessions.ts";

/** What was made, and how long one message took. */
export interface Generated {
  sessions: number;
  messages: number;
  microsecondsEach: number;
}

/** Numbers from a seed, so that every run makes the same text. */
export function random(seed: number): () => number {
  return () => {
    seed = seed * 1103515245 + 12345 & 0x7fffffff;
    return seed / 0x7fffffff;
  };
}

/** A made-up vocabulary; the words at its beginning are common, as in any language. */
export function vocabulary(size: number): string[] {
  const next = random(7);
  return Array.from({ length: size }, () =>
    Array.from(
      { length: 3 + Math.floor(next() * 8) },
      () => String.fromCharCode(97 + Math.floor(next() * 26)),
    ).join(""));
}

/** A session of a project that is not in the file yet. */
export function newSession(project: number): SessionRef {
  return {
    id: crypto.randomUUID(),
    hostKey: undefined,
    clientName: "bench",
    clientVersion: "1",
    protocol: "2025-11-25",
    cwd: "/w",
    roots: [`/w/project${project}`],
    source: undefined,
    n: undefined,
  };
}

/** Fills `path` with `sessions` sessions of ten messages, in 100 projects. */
export async function generate(
  path: string,
  sessions: number,
): Promise<Generated> {
  const file = new SessionFile({
    path,
    platform: testPlatform("/home/u"),
    logger: new TestLog(),
    now: Date.now,
  });
  const db = await file.open();
  if (!db) throw new Error(file.reason);
  const next = random(1);
  const words = vocabulary(30_000);
  const text = (most: number) =>
    Array.from(
      { length: 5 + Math.floor(next() * most) },
      () => words[Math.floor(next() ** 3 * words.length)],
    ).join(" ");
  let spent = 0;
  let messages = 0;
  let batch: Entry[] = [];
  const commit = async () => {
    const before = performance.now();
    append(db, batch);
    await file.tidy();
    spent += performance.now() - before;
    messages += batch.length;
    batch = [];
  };
  for (let s = 0; s < sessions; s++) {
    const session = newSession(s % 100);
    for (let i = 0; i < 5; i++) {
      const start = callStart({
        arguments: { command: text(10) },
        at: 1_700_000_000_000 + s * 1_000 + i,
      });
      const before = performance.now();
      const drafts = [
        useDraft(start, "full", session.roots),
        ...resultDrafts(callEnd(start, text(60)), "full"),
      ];
      spent += performance.now() - before;
      for (const draft of drafts) {
        batch.push({ session, draft, hash: undefined, bodyId: undefined });
      }
    }
    if (batch.length >= 60) await commit();
  }
  await commit();
  await file.close();
  return { sessions, messages, microsecondsEach: spent * 1_000 / messages };
}

if (import.meta.main) {
  const [path, sessions = "100000"] = Deno.args;
  if (!path) throw new Error("Give a path");
  console.log(await generate(path, Number(sessions)));
}
