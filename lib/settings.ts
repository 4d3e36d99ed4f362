/**
 * The settings as data: key, flag, environment variable, kind of value, default. Help, the command line, the
 * configuration file and the environment are all read by this table.
 *
 * @module
 */

import { UsageError } from "./failure.ts";
import { didYouMean } from "./nearest.ts";
import { expandHome, type Platform } from "./platform.ts";

/**
 * What values a setting takes. A list in one text is separated by commas; `paths` and `places`, which may hold commas,
 * are not. `paths` and `path` may begin with `~`.
 */
export type Kind =
  | { of: "choice"; choices: readonly string[] }
  | { of: "list" }
  | { of: "paths" }
  | { of: "places" }
  | { of: "path" }
  | { of: "word" }
  | { of: "number"; minimum: number; maximum: number; whole: boolean }
  | { of: "size" }
  | { of: "switch" };

/** One setting. */
export interface Setting {
  /** Dotted key in the configuration file. */
  key: string;
  /** Name of the root's option, when there is one. */
  option?: string;
  /** Environment variable. */
  env: string;
  /** What values it takes. */
  kind: Kind;
  /** One sentence for help. */
  about: string;
  /** The word in help for its value. */
  value?: string;
}

/** Characters of an answer at least. */
export const MIN_ANSWER_CHARS = 1_000;

/** Seconds that `drain` may ask for. */
export const MAX_DRAIN_S = 600;

/** Seconds that `bash.timeout` may ask for: a day. */
export const MAX_BASH_TIMEOUT_S = 86_400;

/** Bytes that `sessions.max_size` must allow at least. */
export const MIN_SIZE = 1_000_000;

/** The key of tools without code, which only the operator's file can hold. */
export const CUSTOM_TOOLS_KEY = "custom_tools";

/** The key of rules on calls, which files alone can hold. */
export const POLICY_KEY = "policy";

const choice = (...choices: string[]): Kind => ({ of: "choice", choices });
const list: Kind = { of: "list" };
const paths: Kind = { of: "paths" };
const places: Kind = { of: "places" };

/** Every setting that exists. */
export const SETTINGS: readonly Setting[] = [
  {
    key: "mode",
    option: "mode",
    env: "ROUSSEAU_MODE",
    kind: choice("workspace", "open", "read-only", "full"),
    about: "What the tools may touch.",
  },
  {
    key: "roots",
    option: "root",
    env: "ROUSSEAU_ROOT",
    kind: paths,
    value: "DIR",
    about: "Folder that the tools work in; relative paths start in the first.",
  },
  {
    key: "read",
    option: "read",
    env: "ROUSSEAU_READ",
    kind: paths,
    value: "DIR",
    about: "Further folder that may be read.",
  },
  {
    key: "env",
    option: "env",
    env: "ROUSSEAU_ENV",
    kind: list,
    value: "NAME",
    about: "Environment variable that commands in bash get.",
  },
  {
    key: "scope.deny_read",
    env: "ROUSSEAU_SCOPE_DENY_READ",
    kind: places,
    about: "Places that are closed.",
  },
  {
    key: "scope.deny_write",
    env: "ROUSSEAU_SCOPE_DENY_WRITE",
    kind: places,
    about: "Places that are closed for writing.",
  },
  {
    key: "sandbox",
    option: "sandbox",
    env: "ROUSSEAU_SANDBOX",
    kind: choice("auto", "require", "off"),
    about: "The sandbox around bash: where it works, or always, or never.",
  },
  {
    key: "allow_net",
    option: "allow_net",
    env: "ROUSSEAU_ALLOW_NET",
    kind: { of: "switch" },
    about: "Open the network inside the sandbox.",
  },
  {
    key: "sandbox_writable",
    env: "ROUSSEAU_SANDBOX_WRITABLE",
    kind: paths,
    about: "Further folders that commands in the sandbox may write.",
  },
  {
    key: "limits.answer_chars",
    env: "ROUSSEAU_LIMITS_ANSWER_CHARS",
    kind: {
      of: "number",
      minimum: MIN_ANSWER_CHARS,
      maximum: 262_144,
      whole: true,
    },
    about: "Characters of one answer.",
  },
  {
    key: "expose",
    option: "tools",
    env: "ROUSSEAU_EXPOSE",
    kind: list,
    value: "NAMES",
    about: "Tools to offer: files, shell, sessions, all, or names.",
  },
  {
    key: "exclude",
    option: "exclude",
    env: "ROUSSEAU_EXCLUDE",
    kind: list,
    value: "NAMES",
    about: "Tools to leave out.",
  },
  {
    key: "bash.timeout",
    env: "ROUSSEAU_BASH_TIMEOUT",
    kind: {
      of: "number",
      minimum: 0.1,
      maximum: MAX_BASH_TIMEOUT_S,
      whole: false,
    },
    about: "Seconds after which a command in bash is killed.",
  },
  {
    key: "bash.env_passthrough",
    env: "ROUSSEAU_BASH_ENV_PASSTHROUGH",
    kind: list,
    about: "Environment variables that commands in bash get, or PREFIX*.",
  },
  {
    key: "bash.login_path",
    env: "ROUSSEAU_BASH_LOGIN_PATH",
    kind: { of: "switch" },
    about: "Ask the login shell for its PATH.",
  },
  {
    key: "state.path",
    env: "ROUSSEAU_STATE_PATH",
    kind: { of: "path" },
    about: "The database of recorded sessions, or :memory:.",
  },
  {
    key: "record",
    env: "ROUSSEAU_RECORD",
    kind: choice("full", "calls", "off"),
    about: "How much of a call is recorded.",
  },
  {
    key: "sessions.visible",
    option: "sessions",
    env: "ROUSSEAU_SESSIONS_VISIBLE",
    kind: choice("project", "all", "none"),
    about: "Which recorded sessions can be seen.",
  },
  {
    key: "sessions.keep_days",
    env: "ROUSSEAU_SESSIONS_KEEP_DAYS",
    kind: { of: "number", minimum: 1, maximum: 36_500, whole: true },
    about: "Days after which a recorded session is removed.",
  },
  {
    key: "sessions.max_size",
    env: "ROUSSEAU_SESSIONS_MAX_SIZE",
    kind: { of: "size" },
    about: "What recorded sessions may take together, such as 500MB.",
  },
  {
    key: "log.level",
    option: "log_level",
    env: "ROUSSEAU_LOG_LEVEL",
    kind: choice("debug", "info", "warn", "error"),
    about: "The least severe messages on standard error.",
  },
  {
    key: "log.format",
    option: "log_format",
    env: "ROUSSEAU_LOG_FORMAT",
    kind: choice("text", "json"),
    about: "How they are written.",
  },
  {
    key: "serve.port",
    env: "ROUSSEAU_SERVE_PORT",
    kind: { of: "number", minimum: 0, maximum: 65_535, whole: true },
    about: "Port of the HTTP server.",
  },
  {
    key: "serve.host",
    env: "ROUSSEAU_SERVE_HOST",
    kind: { of: "word" },
    about: "Address that the HTTP server listens on.",
  },
  {
    key: "drain",
    option: "drain",
    env: "ROUSSEAU_DRAIN",
    kind: { of: "number", minimum: 0, maximum: MAX_DRAIN_S, whole: false },
    value: "SECONDS",
    about: "How long calls may go on after the end of input.",
  },
];

/**
 * A value as its kind has it.
 *
 * @throws {UsageError} that begins with `source` and says what the value should be.
 */
export function settingValue(
  kind: Kind,
  raw: unknown,
  source: string,
  platform: Platform,
): unknown {
  const fail = (what: string, hint = ""): never => {
    throw new UsageError(
      `${source}: must be ${what}, got ${JSON.stringify(raw)}${hint}`,
    );
  };
  switch (kind.of) {
    case "choice": {
      const { choices } = kind;
      const word = raw === "warning" && choices.includes("warn") ? "warn" : raw;
      if (typeof word === "string" && choices.includes(word)) return word;
      return fail(
        `one of ${choices.join(", ")}`,
        typeof raw === "string" ? didYouMean(raw, choices) : "",
      );
    }
    case "list":
    case "paths":
    case "places": {
      const items = typeof raw === "string" ? [raw] : raw;
      if (
        !Array.isArray(items) ||
        !items.every((item) => typeof item === "string" && item !== "")
      ) return fail("a list of strings");
      if (kind.of === "list" && typeof raw === "string") {
        return trimmed(raw.split(","));
      }
      return kind.of === "paths"
        ? trimmed(items).map((item) => expandHome(platform, item))
        : trimmed(items);
    }
    case "path":
      if (typeof raw !== "string" || raw === "") return fail("a path");
      return expandHome(platform, raw);
    case "word":
      return typeof raw === "string" && raw !== "" ? raw : fail("a string");
    case "number": {
      const { minimum, maximum, whole } = kind;
      if (
        typeof raw === "number" && raw >= minimum && raw <= maximum &&
        (!whole || Number.isInteger(raw))
      ) return raw;
      return fail(
        `a${whole ? " whole" : ""} number from ${minimum} to ${maximum}`,
      );
    }
    case "size": {
      const bytes = typeof raw === "number" ? raw : sizeFrom(`${raw}`);
      return bytes !== undefined && bytes >= MIN_SIZE
        ? Math.floor(bytes)
        : fail("a size of at least 1MB, such as 500MB or 1GiB");
    }
    case "switch":
      return typeof raw === "boolean" ? raw : fail("true or false");
  }
}

function trimmed(items: readonly string[]): string[] {
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

/** Bytes from `500MB`, `1 GiB`, `1048576`; undefined for other texts. */
function sizeFrom(text: string): number | undefined {
  const [, digits, unit = "b"] =
    /^(\d+(?:\.\d+)?)\s*([kmg]?i?b)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return undefined;
  const power = ["b", "k", "m", "g"].indexOf(unit[0]!.toLowerCase());
  return Number(digits) * (/i/i.test(unit) ? 1024 : 1000) ** power;
}
