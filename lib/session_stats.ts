/**
 * Figures over recorded sessions: calls by tool and by day, and the files that were changed most.
 *
 * @module
 */
import type { Visible } from "./session_search.ts";
import type { Sqlite, SqlValue } from "./sqlite.ts";
import type { Style } from "./style.ts";

/** Files that are named. */
export const MOST_FILES = 10;

/** Columns of the longest bar. */
export const BAR_COLUMNS = 20;

/** Figures of one tool. */
export interface ToolStats {
  /** Its name. */
  tool: string;
  /** Calls that ended. */
  calls: number;
  /** Calls that failed. */
  errors: number;
  /** Calls that were refused: by the scope, a rule, or the person. */
  denied: number;
  /** Time that all calls took together. */
  milliseconds: number;
  /** Bytes of output, kept or not. */
  bytes: number;
}

/** What was done on one day (UTC). */
export interface DayStats {
  /** As `2026-11-30`. */
  day: string;
  /** Calls that ended. */
  calls: number;
  /** Calls that failed. */
  errors: number;
}

/** A file, and how many calls changed it. */
export interface FileStats {
  /** The path as it was given. */
  path: string;
  /** Calls of `write` and `edit` on it. */
  changes: number;
}

/** All figures. */
export interface Stats {
  /** Sessions counted. */
  sessions: number;
  /** Their messages. */
  messages: number;
  /** When the oldest of them began, in milliseconds since 1970. */
  since: number | undefined;
  /** By tool, most calls first. */
  tools: ToolStats[];
  /** By day, oldest first. */
  days: DayStats[];
  /** The files that were changed most. */
  files: FileStats[];
}

/** Counts the visible sessions, or only the one with `id`, from `since` (milliseconds since 1970) on. */
export function countStats(
  db: Sqlite,
  visible: Visible,
  options: { id?: string | undefined; since: number },
): Stats {
  const numbers = options.id === undefined
    ? visible.numbers ?? "SELECT n FROM sessions"
    : "SELECT n FROM sessions WHERE id = ?";
  const values: readonly SqlValue[] = options.id === undefined
    ? visible.values
    : [options.id];
  const ofSessions = `id >> 20 IN (${numbers}) AND created_at >= ?`;
  const all = [...values, options.since];
  const total = db.get<{ sessions: number; since: number | null }>(
    `SELECT count(*) AS sessions, min(created_at) AS since FROM sessions
     WHERE n IN (${numbers}) AND updated_at >= ?`,
    ...all,
  );
  return {
    sessions: total?.sessions ?? 0,
    since: total?.since ?? undefined,
    messages: db.get<{ count: number }>(
      `SELECT count(*) AS count FROM messages WHERE ${ofSessions}`,
      ...all,
    )?.count ?? 0,
    tools: db.all<ToolStats>(
      `SELECT tool, count(*) AS calls, sum(is_error) AS errors,
         sum(json IS NOT NULL AND json ->> '$.decision' = 'denied') AS denied,
         coalesce(sum(duration), 0) AS milliseconds, sum(bytes) AS bytes
       FROM messages WHERE kind = 'tool_result' AND tool IS NOT NULL AND ${ofSessions}
       GROUP BY tool ORDER BY calls DESC, tool`,
      ...all,
    ),
    days: db.all<DayStats>(
      `SELECT date(created_at / 1000, 'unixepoch') AS day, count(*) AS calls, sum(is_error) AS errors
       FROM messages WHERE kind = 'tool_result' AND ${ofSessions} GROUP BY day ORDER BY day`,
      ...all,
    ),
    files: db.all<FileStats>(
      `SELECT json_extract(json, '$.path') AS path, count(*) AS changes FROM messages
       WHERE kind = 'tool_use' AND tool IN ('write', 'edit') AND json_valid(json) AND ${ofSessions}
       GROUP BY path HAVING typeof(path) = 'text' ORDER BY changes DESC, path LIMIT ${MOST_FILES}`,
      ...all,
    ),
  };
}

/** The figures as text, with bars; coloured as `style` has it. */
export function statsText(stats: Stats, style?: Style): string {
  const { sessions, messages, since, tools, days, files } = stats;
  const hasDenied = tools.some(({ denied }) => denied > 0);
  const head = `${plural(sessions, "session")}, ${plural(messages, "message")}${
    since === undefined ? "" : `, since ${dayOf(since)}`
  }`;
  const parts = [
    head,
    table(
      style,
      tools.map(({ tool, calls, errors, denied, milliseconds, bytes }) => ({
        name: tool,
        count: calls,
        rest: [
          plural(errors, "error"),
          ...(hasDenied ? [`${denied} denied`] : []),
          `${(milliseconds / 1000).toFixed(1)} s`,
          sizeText(bytes),
        ],
      })),
    ),
    table(
      style,
      days.map(({ day, calls, errors }) => ({
        name: day,
        count: calls,
        rest: [plural(errors, "error")],
      })),
    ),
    table(
      style,
      files.map(({ path, changes }) => ({
        name: path,
        count: changes,
        rest: [],
      })),
    ),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** A number of bytes for people. */
export function sizeText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit++;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

function table(
  style: Style | undefined,
  rows: readonly { name: string; count: number; rest: string[] }[],
): string {
  const widest = Math.max(0, ...rows.map(({ name }) => name.length));
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const widths =
    rows[0]?.rest.map((_, i) =>
      Math.max(...rows.map(({ rest }) => rest[i]?.length ?? 0))
    ) ?? [];
  const digits = String(most).length;
  return rows.map(({ name, count, rest }) => {
    const bar = "█".repeat(Math.max(1, Math.round(count / most * BAR_COLUMNS)));
    const cells = rest.map((cell, i) => cell.padStart(widths[i] ?? 0));
    return [
      name.padEnd(widest),
      String(count).padStart(digits),
      (style?.good(bar) ?? bar) + " ".repeat(BAR_COLUMNS - bar.length),
      ...cells.map((cell) =>
        /^ *[1-9]\d* errors?$/.test(cell) ? style?.bad(cell) ?? cell : cell
      ),
    ].join("  ").trimEnd();
  }).join("\n");
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
