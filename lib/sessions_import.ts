/**
 * `rousseau sessions import`: past conversations of other programs, searchable at once.
 *
 * @module
 */
import { type AnyCommand, command, CommandError } from "./command.ts";
import { filesOf, type Imported, importFiles } from "./import.ts";
import { claudeCode } from "./import_claude.ts";
import { codex } from "./import_codex.ts";
import { EARLIER, importEarlier } from "./import_rousseau.ts";
import { fromUser } from "./platform.ts";
import { storeOf } from "./session_tools.ts";
import { inspectFile } from "./sqlite.ts";
import { databasePath } from "./store.ts";
import type { ToolContext } from "./tool.ts";

/** The formats of one conversation a file. */
export const FORMATS = [claudeCode, codex] as const;

/** `sessions import`. */
export const sessionsImport: AnyCommand = command({
  name: "import",
  summary:
    "Take over past conversations of Claude Code, Codex CLI or the earlier rousseau",
  description:
    "Reads what these programs have kept, secrets taken out, and makes sessions of it. Again is cheap: only what is new is read. Sessions belong to the folder in which the conversation took place.",
  input: {
    type: "object",
    properties: {
      source: {
        enum: ["all", "claude-code", "codex", EARLIER],
        default: "all",
        description: "Which program's.",
      },
      path: {
        type: "array",
        items: { type: "string" },
        description:
          "Files or folders instead of the program's own; not with all.",
      },
      json: { type: "boolean", default: false, description: "Print JSON." },
    },
    additionalProperties: false,
  },
  positionals: ["source", "path"],
  examples: [
    "rousseau sessions import",
    "rousseau sessions import claude-code ~/backup/projects",
  ],
  async run({ source, path: given = [], json }, ctx: ToolContext) {
    if (source === "all" && given.length > 0) {
      throw new CommandError("sessions: say which program wrote these files");
    }
    const store = storeOf(ctx);
    const paths = given.map((path) => {
      const absolute = fromUser(ctx.platform, path);
      if (absolute === undefined) {
        throw new CommandError(`sessions: give an absolute path, not ${path}`);
      }
      return absolute;
    });
    const done: ({ source: string } & Imported)[] = [];
    for (const format of FORMATS) {
      if (source !== "all" && source !== format.name) continue;
      const files = await filesOf(
        given.length > 0 ? paths : format.folders(ctx.platform),
      );
      const result = await importFiles(store, format, {
        paths: files,
        signal: ctx.signal,
        progress: (bytes, total) => ctx.progress(bytes, total, format.title),
      });
      done.push({ source: format.name, ...result });
    }
    if (source === "all" || source === EARLIER) {
      const { path: own } = await store.status({ open: true });
      const databases = given.length > 0
        ? paths
        : [databasePath(ctx.platform, ctx.config.state.path)];
      for (const path of databases) {
        if (given.length === 0 && await kindOf(path) !== "foreign") continue;
        done.push({
          source: EARLIER,
          ...await importEarlier(store, {
            path,
            copy: own === ":memory:" ? `${path}.reading` : `${own}.reading`,
            signal: ctx.signal,
          }),
        });
      }
    }
    return json
      ? JSON.stringify(done, null, 2)
      : done.map((each) =>
        `${each.source}: ${each.files} files, ${each.changed} with something new, ${each.messages} messages${
          each.skipped > 0 ? `, ${each.skipped} unreadable` : ""
        }`
      ).join("\n") || "(nothing to import)";
  },
});

async function kindOf(path: string): Promise<string | undefined> {
  return path === "" || path === ":memory:"
    ? undefined
    : await inspectFile(path).catch(() => undefined);
}
