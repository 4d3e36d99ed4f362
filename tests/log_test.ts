import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  createLogger,
  type LoggerOptions,
  MAX_EARLY_RECORDS,
  MAX_LOG_BACKLOG_CHARS,
  MAX_LOG_LINE_CHARS,
} from "../lib/log.ts";

function collected(options: Partial<LoggerOptions> = {}) {
  const chunks: string[] = [];
  const logger = createLogger({
    level: "warn",
    format: "text",
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    write: (bytes) => {
      chunks.push(new TextDecoder().decode(bytes));
      return Promise.resolve();
    },
    ...options,
  });
  return { logger, text: () => chunks.join(""), chunks };
}

Deno.test("a record below the level is neither written nor enabled", async () => {
  const { logger, text } = collected();
  assert(!logger.enabled("info") && logger.enabled("warn"));
  logger.debug("a");
  logger.info("b");
  await logger.flush();
  assertEquals(text(), "");
});

Deno.test("records come out in order, those before the formatter was loaded included", async () => {
  const { logger, text } = collected({ level: "debug" });
  for (let i = 0; i < 5; i++) logger.debug("early", { i });
  await logger.flush();
  logger.error("late");
  await logger.flush();
  assertEquals(
    text().trimEnd().split("\n").map((line) => line.slice(25)),
    [
      "DEBUG early i=0",
      "DEBUG early i=1",
      "DEBUG early i=2",
      "DEBUG early i=3",
      "DEBUG early i=4",
      "ERROR late",
    ],
  );
  assert(text().startsWith("2026-01-02T03:04:05.006Z "));
});

Deno.test("text values can neither end a line nor steer a terminal", async () => {
  const { logger, text } = collected();
  logger.warn("x", {
    path: "/a/b.ts",
    odd: "a\nb\x1b[2J\x9b2J",
    list: [1, "b"],
  });
  await logger.flush();
  assertEquals(
    text().slice(25),
    'WARNING x path=/a/b.ts odd="a\\nb\\u001b[2J\\u009b2J" list=[1,"b"]\n',
  );
});

Deno.test("json gives one object a line with the fields in it", async () => {
  const { logger, text } = collected({ format: "json" });
  logger.warn("store.unavailable", {
    reason: "a\nb",
    error: new Error("boom"),
  });
  await logger.flush();
  const entry = JSON.parse(text());
  assertEquals(text().split("\n").length, 2);
  assertEquals(entry.level, "WARN");
  assertEquals(entry.message, "store.unavailable");
  assertEquals(entry.reason, "a\nb");
  assertStringIncludes(entry.error, "boom");
});

Deno.test("a line at the limit is whole, a longer one is cut and says so", async () => {
  for (const format of ["text", "json"] as const) {
    const { logger, text } = collected({ format });
    logger.warn("x", { v: "y".repeat(MAX_LOG_LINE_CHARS - 200) });
    await logger.flush();
    assert(!text().includes("more") && !text().includes('"cut"'));
    logger.warn("x", { v: "y".repeat(MAX_LOG_LINE_CHARS * 3) });
    await logger.flush();
    const last = text().trimEnd().split("\n").at(-1)!;
    assert(last.length < MAX_LOG_LINE_CHARS + 200, String(last.length));
    assert(format === "text" ? last.endsWith("more)") : JSON.parse(last).cut);
  }
});

Deno.test("a reader that does not read costs lines, not memory, and is told how many", async () => {
  let go = () => {};
  const gate = new Promise<void>((resolve) => go = resolve);
  const chunks: string[] = [];
  const logger = createLogger({
    level: "warn",
    format: "text",
    write: async (bytes) => {
      chunks.push(new TextDecoder().decode(bytes));
      await gate;
    },
  });
  logger.warn("first");
  await new Promise((resolve) => setTimeout(resolve, 0));
  while (chunks.length === 0) await new Promise((r) => setTimeout(r, 1));
  const big = "z".repeat(10_000);
  const sent = Math.ceil(MAX_LOG_BACKLOG_CHARS / 10_000) + 50;
  for (let i = 0; i < sent; i++) logger.warn("more", { big });
  go();
  await logger.flush();
  const all = chunks.join("");
  assert(all.length < MAX_LOG_BACKLOG_CHARS + 30_000, String(all.length));
  const lines = Number(/log\.dropped lines=(\d+)/.exec(all)?.[1]);
  assertEquals(all.split(" more ").length - 1 + lines, sent);
});

Deno.test("records beyond the early limit are counted as dropped", async () => {
  const { logger, text } = collected();
  for (let i = 0; i < MAX_EARLY_RECORDS + 7; i++) logger.warn("e");
  await logger.flush();
  assertStringIncludes(text(), "log.dropped lines=7");
});

Deno.test("a closed standard error silences the log and harms nothing", async () => {
  const { logger } = collected({
    write: () => Promise.reject(new Deno.errors.BrokenPipe("gone")),
  });
  logger.warn("a");
  await logger.flush();
  logger.warn("b");
  assert(!logger.enabled("error"));
  await logger.flush();
});

Deno.test("fields that cannot be printed do not throw", async () => {
  const { logger, text } = collected();
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  logger.warn("x", loop);
  logger.warn("big", { n: 5n });
  await logger.flush();
  assertStringIncludes(text(), "unprintable=");
  assertStringIncludes(text(), "big n=5");
});
