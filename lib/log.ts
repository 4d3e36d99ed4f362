/**
 * The operator's log: lines on standard error, never on standard output.
 *
 * @module
 */

/** Severity, least first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Writes events for the operator. `event` is a dotted name such as `store.unavailable`. */
export interface Logger {
  /** Whether an event of that severity is written. */
  enabled(level: LogLevel): boolean;
  /** For those who look for a fault. */
  debug(event: string, fields?: Record<string, unknown>): void;
  /** Worth knowing. */
  info(event: string, fields?: Record<string, unknown>): void;
  /** Something does not work as it should, and the rest goes on. */
  warn(event: string, fields?: Record<string, unknown>): void;
  /** A fault. */
  error(event: string, fields?: Record<string, unknown>): void;
  /** Resolves when all that was logged is written. */
  flush(): Promise<void>;
}

/** Log levels, least severe first. */
export const LOG_LEVEL_NAMES: readonly LogLevel[] = [
  "debug",
  "info",
  "warn",
  "error",
];

/** Characters of one line; what is longer is cut, and the line says so. */
export const MAX_LOG_LINE_CHARS = 65_536;

/** Characters that wait for a slow reader of standard error; beyond, lines are dropped and counted. */
export const MAX_LOG_BACKLOG_CHARS = 1_048_576;

/** Records kept while the formatter loads. */
export const MAX_EARLY_RECORDS = 1_000;

/** How a {@linkcode Logger} writes. */
export interface LoggerOptions {
  /** The least severe level that is written. */
  level: LogLevel;
  /** `text`: time, level, event, `key=value`; `json`: one object a line. */
  format: "text" | "json";
  /** Writes one or several whole lines. When it fails, the log falls silent. */
  write(bytes: Uint8Array): Promise<void>;
  /** The clock, in milliseconds since 1970; default `Date.now`. */
  now?: () => number;
}

/**
 * A logger that loads its formatter with the first record that passes the level. Secrets are taken out of every
 * value. Logging neither throws nor waits.
 */
export function createLogger(options: LoggerOptions): Logger {
  const now = options.now ?? Date.now;
  const threshold = LOG_LEVEL_NAMES.indexOf(options.level);
  const encoder = new TextEncoder();
  let format: ((entry: Entry) => string) | undefined;
  let early: Entry[] = [];
  let pending = "";
  let dropped = 0;
  let silent = false;
  let loading: Promise<void> | undefined;
  let writing: Promise<void> | undefined;

  async function load(): Promise<void> {
    try {
      format = await loadFormatter(options.format);
      for (const entry of early) append(entry);
    } catch {
      silent = true;
    }
    early = [];
  }

  function append(entry: Entry): void {
    if (pending.length > MAX_LOG_BACKLOG_CHARS) {
      dropped++;
      return;
    }
    try {
      pending += format!(entry);
    } catch (error) {
      pending += format!({ ...entry, fields: { unprintable: String(error) } });
    }
    writing ??= drain().finally(() => writing = undefined);
  }

  async function drain(): Promise<void> {
    while (pending !== "" && !silent) {
      const text = pending;
      pending = "";
      try {
        await options.write(encoder.encode(text));
      } catch {
        silent = true;
      }
      if (dropped > 0 && !silent) {
        const fields = { lines: dropped };
        dropped = 0;
        pending += format!({
          level: "warn",
          event: "log.dropped",
          fields,
          time: now(),
        });
      }
    }
  }

  function log(
    level: LogLevel,
    event: string,
    fields: Record<string, unknown> = {},
  ): void {
    if (silent || LOG_LEVEL_NAMES.indexOf(level) < threshold) return;
    const entry = { level, event, fields, time: now() };
    if (format) append(entry);
    else if (early.length < MAX_EARLY_RECORDS) {
      early.push(entry);
      loading ??= load();
    } else dropped++;
  }

  return {
    enabled: (level) => !silent && LOG_LEVEL_NAMES.indexOf(level) >= threshold,
    debug: (event, fields) => log("debug", event, fields),
    info: (event, fields) => log("info", event, fields),
    warn: (event, fields) => log("warn", event, fields),
    error: (event, fields) => log("error", event, fields),
    async flush() {
      await loading;
      while (writing) await writing;
    },
  };
}

interface Entry {
  level: LogLevel;
  event: string;
  fields: Record<string, unknown>;
  time: number;
}

async function loadFormatter(
  format: LoggerOptions["format"],
): Promise<(entry: Entry) => string> {
  const [logtape, { redact, redactJson }] = await Promise.all([
    import("@logtape/logtape"),
    import("./redact.ts"),
  ]);
  const lines = format === "json"
    ? logtape.getJsonLinesFormatter({ properties: "flatten" })
    : logtape.getTextFormatter({
      format: ({ record }) =>
        `${
          new Date(record.timestamp).toISOString()
        } ${record.level.toUpperCase()} ${record.rawMessage}${
          textFields(record.properties)
        }`,
    });
  return ({ level, event, fields, time }) => {
    const message = redact(event);
    const render = (properties: Record<string, unknown>) =>
      lines({
        category: ["rousseau"],
        level: level === "warn" ? "warning" : level,
        message: [message],
        rawMessage: message,
        timestamp: time,
        properties,
      }).trimEnd();
    const line = render(redactJson(plain(fields)) as Record<string, unknown>);
    if (line.length <= MAX_LOG_LINE_CHARS) return `${line}\n`;
    if (format === "json") {
      const cut = line.slice(0, MAX_LOG_LINE_CHARS / 2).toWellFormed();
      return `${render({ cut })}\n`;
    }
    const rest = line.length - MAX_LOG_LINE_CHARS;
    return `${
      line.slice(0, MAX_LOG_LINE_CHARS).toWellFormed()
    }… (${rest} more)\n`;
  };
}

/** Fields as JSON would hold them, with errors spelled out. */
function plain(fields: Record<string, unknown>): unknown {
  return JSON.parse(
    JSON.stringify(
      fields,
      (_key, value) =>
        value instanceof Error
          ? value.stack ?? `${value.name}: ${value.message}`
          : typeof value === "bigint"
          ? String(value)
          : value,
    ),
  );
}

/** ` key=value` for each field; what is not a plain word is JSON, so that a value can neither end a line nor start one. */
function textFields(fields: Record<string, unknown>): string {
  return Object.entries(fields).map(([key, value]) =>
    ` ${key}=${
      typeof value === "string" && /^[\w./:@+,-]+$/.test(value)
        ? value
        : escapeC1(JSON.stringify(value))
    }`
  ).join("");
}

/** JSON escapes the C0 controls; DEL and the C1 controls can steer a terminal, too. */
function escapeC1(json: string): string {
  return json.replace(
    /[\x7f-\x9f]/g,
    (c) => `\\u00${c.charCodeAt(0).toString(16)}`,
  );
}
