/**
 * `rousseau sessions export|stats|prune|recover`: recorded sessions taken out, counted, thinned and saved.
 *
 * @module
 */
import { type AnyCommand, command, CommandError } from "./command.ts";
import { fromUser } from "./platform.ts";
import { recover } from "./recover.ts";
import { KEEP_DAYS, MAX_BYTES, prune, usedBytes } from "./retention.ts";
import { html } from "./session_html.ts";
import { countStats, sizeText, statsText } from "./session_stats.ts";
import { sessionNamed, storeOf } from "./session_tools.ts";
import { styleOf } from "./style.ts";
import type { ToolContext } from "./tool.ts";
import { markdownHead, markdownMessage, payload } from "./transcript.ts";

/**
 * Asks the person at the terminal before something is deleted, unless told not to.
 *
 * @throws {CommandError} when the answer is no, or nobody can be asked.
 */
export async function confirmDeletion(
  ctx: ToolContext,
  message: string,
): Promise<void> {
  const { action } = await ctx.ask("delete", { message }).catch(() => {
    throw new CommandError("refusing to delete without --yes");
  });
  if (action !== "accept") throw new CommandError("nothing was deleted");
}

const DAY = 24 * 60 * 60 * 1000;

const json = {
  type: "boolean",
  default: false,
  description: "Print JSON.",
} as const;

/** `sessions export`. */
export const sessionsExport: AnyCommand = command({
  name: "export",
  summary: "Print a session as Markdown, JSON or one HTML page",
  input: {
    type: "object",
    properties: {
      id: {
        type: "string",
        description: "A session's id, or the beginning of one.",
      },
      format: {
        enum: ["md", "json", "html"],
        default: "md",
        description: "What to print.",
      },
    },
    required: ["id"],
    additionalProperties: false,
  },
  positionals: ["id"],
  examples: ["rousseau sessions export 1a2b3c4d --format html > session.html"],
  async run({ id, format }, ctx: ToolContext) {
    const store = storeOf(ctx);
    const session = await sessionNamed(store, id);
    const text = await store.read(session.id, 0, (session, messages) => {
      if (format === "json") {
        return JSON.stringify(payload(session, messages, Infinity), null, 2);
      }
      if (format === "html") return [...html(session, messages)].join("");
      let out = markdownHead(session);
      for (const message of messages) out += markdownMessage(message);
      return out;
    });
    if (text === undefined) throw new CommandError("state: session not found");
    return text;
  },
});

/** `sessions stats`. */
export const sessionsStats: AnyCommand = command({
  name: "stats",
  summary: "Count calls by tool and day, errors, time, bytes and files",
  input: {
    type: "object",
    properties: {
      id: {
        type: "string",
        description: "Only this session; the beginning of its id is enough.",
      },
      days: {
        type: "integer",
        minimum: 1,
        description: "Only the last days.",
      },
      json,
    },
    additionalProperties: false,
  },
  positionals: ["id"],
  async run({ id, days, json }, ctx: ToolContext) {
    const store = storeOf(ctx);
    const only = id === undefined
      ? undefined
      : (await sessionNamed(store, id)).id;
    const since = days === undefined ? 0 : Date.now() - days * DAY;
    const { stats, used } = await store.query((db, visible) => ({
      stats: countStats(db, visible, { id: only, since }),
      used: usedBytes(db),
    }));
    const { path } = await store.status();
    return json
      ? JSON.stringify({ path, database_bytes: used, ...stats }, null, 2)
      : `${path}, ${sizeText(used)} of all projects\n${
        statsText(stats, styleOf(ctx))
      }`;
  },
});

/** `sessions prune`. */
export const sessionsPrune: AnyCommand = command({
  name: "prune",
  summary: "Delete old sessions of all projects, and give their space back",
  input: {
    type: "object",
    properties: {
      keep_days: {
        type: "integer",
        minimum: 1,
        description:
          "Days that a session is kept after its last call; default as configured.",
      },
      max_size: {
        type: "integer",
        minimum: 1,
        description: "MiB that the database may have; default as configured.",
      },
      yes: { type: "boolean", default: false, description: "Do not ask." },
      json,
    },
    additionalProperties: false,
  },
  options: { yes: { short: "y" } },
  async run(
    { keep_days: keepDays, max_size: maxSize, yes, json },
    ctx: ToolContext,
  ) {
    const store = storeOf(ctx);
    const configured = ctx.config.sessions;
    const days = keepDays ?? configured.keepDays ?? KEEP_DAYS;
    if (!yes) {
      await confirmDeletion(
        ctx,
        `Delete the sessions of all projects without a call for ${days} days, and the oldest beyond the size allowed?`,
      );
    }
    const { sessions, bytes } = await prune(
      (body) => store.change((db) => body(db)),
      {
        now: Date.now(),
        keepDays: days,
        maxBytes: maxSize === undefined
          ? configured.maxBytes ?? MAX_BYTES
          : maxSize * 1024 ** 2,
      },
    );
    return json
      ? JSON.stringify({ deleted: sessions, bytes }, null, 2)
      : `deleted ${sessions} sessions, gave back ${sizeText(bytes)}`;
  },
});

/** `sessions recover`. */
export const sessionsRecover: AnyCommand = command({
  name: "recover",
  summary: "Take over what can be read from a damaged database",
  input: {
    type: "object",
    properties: {
      file: {
        type: "string",
        description:
          "The damaged file; default every one that was moved aside.",
      },
      json,
    },
    additionalProperties: false,
  },
  positionals: ["file"],
  async run({ file, json }, ctx: ToolContext) {
    const store = storeOf(ctx);
    const { path } = await store.status({ open: true });
    const asked = file === undefined ? undefined : fromUser(ctx.platform, file);
    if (file !== undefined && asked === undefined) {
      throw new CommandError(`sessions: give an absolute path, not ${file}`);
    }
    const files = asked === undefined ? await movedAside(path) : [asked];
    if (files.length === 0) {
      return json ? "[]" : "(no damaged database beside the store)";
    }
    const done = [];
    for (const each of files) {
      const result = await recover(
        each,
        (body) => store.change((db) => body(db)),
      );
      done.push({ file: each, ...result });
    }
    return json
      ? JSON.stringify(done, null, 2)
      : done.map((each) =>
        `${each.file}: ${each.sessions} sessions with ${each.messages} messages taken over, ${each.known} were there, ${each.unreadable} rows unreadable`
      ).join("\n");
  },
});

/** The damaged databases that were moved aside from `path`, oldest first. */
async function movedAside(path: string): Promise<string[]> {
  const slash = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  const [folder, name] = [path.slice(0, slash + 1), path.slice(slash + 1)];
  const found: string[] = [];
  if (folder === "") return found;
  for await (const entry of Deno.readDir(folder)) {
    if (
      entry.isFile && entry.name.startsWith(`${name}.damaged-`) &&
      !/-(?:wal|shm|journal)$|\.reading$/.test(entry.name)
    ) found.push(folder + entry.name);
  }
  return found.sort();
}
