/** What the tests of recorded sessions share: a store in a folder of its own, and calls to record. */
import {
  type AnyCommand,
  type CommandContext,
  CommandError,
  toToolResult,
} from "../lib/command.ts";
import type { Config } from "../lib/config.ts";
import type { CallEnd, CallStart } from "../lib/hooks.ts";
import type { Logger } from "../lib/log.ts";
import type { JsonObject, ToolResult } from "../lib/mcp.ts";
import type { Platform } from "../lib/platform.ts";
import { Printed } from "../lib/results.ts";
import { prepareInput } from "../lib/schema.ts";
import { STORE_KEY } from "../lib/session_tools.ts";
import {
  openSessions,
  type SessionsOptions,
  type SessionStore,
} from "../lib/store.ts";

import { ProcessState, type ToolContext } from "../lib/tool.ts";

/** A logger that keeps what it is told. */
export class TestLog implements Logger {
  readonly entries: {
    level: string;
    event: string;
    fields: Record<string, unknown>;
  }[] = [];
  enabled = () => true;
  debug = (event: string, fields = {}) => this.#add("debug", event, fields);
  info = (event: string, fields = {}) => this.#add("info", event, fields);
  warn = (event: string, fields = {}) => this.#add("warn", event, fields);
  error = (event: string, fields = {}) => this.#add("error", event, fields);
  flush = () => Promise.resolve();

  /** The events of warnings and errors. */
  get warnings(): string[] {
    return this.entries.filter(({ level }) =>
      level === "warn" || level === "error"
    ).map(({ event }) => event);
  }

  #add(level: string, event: string, fields: Record<string, unknown>) {
    this.entries.push({ level, event, fields });
  }
}

/** A Linux whose home is `home`. */
export function testPlatform(
  home: string,
  env: Record<string, string> = {},
): Platform {
  return {
    os: Deno.build.os === "windows"
      ? "windows"
      : Deno.build.os === "darwin"
      ? "darwin"
      : "linux",
    env: (name) => env[name] || undefined,
    home,
    temp: home,
    cwd: home,
    execPath: undefined,
    uid: undefined,
  };
}

/** How a store of the tests is opened. */
export interface TestStoreOptions {
  path?: string;
  roots?: readonly string[];
  record?: Config["record"];
  visible?: Config["sessions"]["visible"];
  env?: Record<string, string>;
  now?: () => number;
  log?: TestLog;
  home?: string;
  /** A server's store, which searches every file in a worker. */
  searchApart?: boolean;
}

/** A store; in memory unless `path` is given. */
export function testStore(
  options: TestStoreOptions = {},
): { store: SessionStore; log: TestLog } {
  const log = options.log ?? new TestLog();
  const all: SessionsOptions = {
    platform: testPlatform(options.home ?? "/home/u", options.env),
    config: {
      state: { path: options.path ?? ":memory:" },
      record: options.record ?? "full",
      sessions: { visible: options.visible ?? "project" },
    } as SessionsOptions["config"],
    logger: log,
    roots: () => options.roots ?? ["/w/project"],
    ...(options.now ? { now: options.now } : {}),
    ...(options.searchApart ? { isServer: true, searchApartFrom: 0 } : {}),
  };
  return { store: openSessions(all), log };
}

/** A call as the server tells of it. */
export interface TestCall {
  tool?: string;
  arguments?: JsonObject;
  /** Text, or the whole result. Undefined: the call was cancelled. */
  result?: string | ToolResult | undefined;
  connectionId?: string;
  meta?: JsonObject;
  at?: number;
  client?: CommandContext["client"];
}

/** Records a call from beginning to end. */
export function record(store: SessionStore, call: TestCall = {}): void {
  const start = callStart(call);
  store.observer.started(start);
  store.observer.ended(callEnd(start, "result" in call ? call.result : "ok"));
}

/** The beginning of a call. */
export function callStart(call: TestCall = {}): CallStart {
  return {
    callId: `call-${counter++}`,
    connectionId: call.connectionId ?? "1",
    tool: call.tool ?? "bash",
    arguments: call.arguments ?? { command: "deno test" },
    context: {
      signal: new AbortController().signal,
      progress() {},
      ...new Printed(),
      log() {},
      client: call.client ??
        {
          name: "test-host",
          version: "1.2",
          revision: "2025-11-25",
          capabilities: {},
        },
      ask: () => Promise.reject(new Error("not asked")),
      meta: call.meta ?? {},
    },
    startedAt: call.at ?? Date.now(),
  };
}

/** The end of a call. */
export function callEnd(
  start: CallStart,
  result: string | ToolResult | undefined,
): CallEnd {
  return {
    ...start,
    isValid: true,
    result: typeof result === "string"
      ? { content: [{ type: "text", text: result }] }
      : result,
    endedAt: start.startedAt + 1,
  };
}

let counter = 0;

/** Runs `body` with a folder that is removed afterwards. */
export async function withFolder(
  body: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs `body` with a store that is closed afterwards. */
export async function withStore(
  options: TestStoreOptions,
  body: (store: SessionStore, log: TestLog) => Promise<void>,
): Promise<void> {
  const { store, log } = testStore(options);
  try {
    await body(store, log);
  } finally {
    await store.close();
  }
}

/** A command's answer: the text of its blocks, and whether it failed. */
export interface CommandAnswer {
  text: string;
  note: string | undefined;
  isError: boolean;
}

/** What handlers of the session commands use of a context. */
export function toolContext(
  store: SessionStore,
  visible: Config["sessions"]["visible"] = "project",
): ToolContext {
  const process = new ProcessState();
  process.get(STORE_KEY, () => store);
  return {
    ...callStart().context,
    process,
    platform: testPlatform("/home/u"),
    config: { limits: { answerChars: 20_000 }, sessions: { visible } },
  } as unknown as ToolContext;
}

/** Runs a command on a store, arguments checked as the server checks them. */
export async function runCommand(
  command: AnyCommand,
  args: JsonObject,
  store: SessionStore,
  visible: Config["sessions"]["visible"] = "project",
): Promise<CommandAnswer> {
  const prepared = prepareInput(command.input, args);
  if (prepared.error !== undefined) {
    return { text: prepared.error, note: undefined, isError: true };
  }
  try {
    const result = toToolResult(
      await command.run?.(prepared.value, toolContext(store, visible)) ?? "",
    );
    const [first, second] = result.content.map((block) =>
      block.type === "text" ? block.text : undefined
    );
    return {
      text: first ?? "",
      note: second,
      isError: result.isError ?? false,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { text: error.message, note: error.notes[0], isError: true };
  }
}
