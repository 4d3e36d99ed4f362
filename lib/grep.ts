/**
 * The tool `grep`: which lines of which files match a pattern.
 *
 * @module
 */
import { command } from "./command.ts";
import type { Command, CommandOutput, FromSchema } from "./command.ts";
import { GlobError, Globs } from "./glob.ts";
import { readSmall, type SyncFiles } from "./haystack.ts";
import { globalExcludes, IgnoreRules } from "./ignore.ts";
import { pathsOf } from "./paths.ts";
import { PatternError } from "./pattern.ts";
import type { Resolved } from "./scope.ts";
import {
  Search,
  type SearchFile,
  type SearchJob,
  searchTools,
} from "./search.ts";
import { searchAnswer } from "./search_answer.ts";
import { MAX_WORKERS, searchAll } from "./search_pool.ts";
import {
  answerBudget,
  byteBudget,
  counted,
  failure,
  MAX_ANSWER_CHARS,
  osError,
  type ToolContext,
} from "./tool.ts";
import { type Found, walk } from "./walk.ts";

/** Matching lines (or files) in an answer unless `limit` says otherwise. */
export const DEFAULT_MATCHES = 200;

/** The most that `limit` may ask for. */
export const MAX_MATCHES = 10_000;

/** The most lines of context before and after a match. */
export const MAX_CONTEXT = 100;

/** Milliseconds after which a search ends with what it has. */
export const TIME_LIMIT_MS = 20_000;

/** The largest ignore file that is honoured, in bytes. */
export const MAX_IGNORE_FILE = 1_048_576;

/** Arguments of the tool `grep`. */
export const grepInput = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      minLength: 0,
      description: "RE2 syntax; no look-around or back-references.",
    },
    path: { type: "string", description: "Default: the first root." },
    include: {
      type: ["string", "array"],
      items: { type: "string" },
      description: "Globs: *.ts, src/**/*.{c,h}",
    },
    exclude: { type: ["string", "array"], items: { type: "string" } },
    ignore_case: { type: "boolean" },
    context: {
      type: "integer",
      minimum: 0,
      maximum: MAX_CONTEXT,
      description: "Lines around a match.",
    },
    output: {
      enum: ["content", "files", "count"],
      description: "Rows, paths, or matching lines per file.",
    },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: MAX_MATCHES,
      description: `Default ${DEFAULT_MATCHES}.`,
    },
    multiline: { type: "boolean" },
    hidden: { type: "boolean" },
    no_ignore: { type: "boolean" },
  },
  required: ["pattern"],
  additionalProperties: false,
} as const;

/** The command `grep` and the tool of that name. */
export const grep: Command<typeof grepInput, ToolContext> = command({
  name: "grep",
  summary: "Search files for a regular expression",
  description:
    'Search files by regular expression: rows path:line: text. Use it rather than grep, rg or find in bash. Hidden, ignored and binary files are left out and counted in a note: read it before you conclude that something is nowhere. An empty pattern with output "files" lists files.',
  input: grepInput,
  positionals: ["pattern", "path"],
  options: {
    ignore_case: { short: "i" },
    context: { short: "C" },
    include: { short: "g", value: "GLOB" },
    exclude: { value: "GLOB" },
  },
  examples: [
    "rousseau grep 'TODO|FIXME' src --include='*.ts'",
    "rousseau grep '' --output=files --include='*.md'",
  ],
  tool: {
    name: "grep",
    title: "Search files",
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    _meta: {
      "anthropic/maxResultSizeChars": MAX_ANSWER_CHARS,
      "anthropic/alwaysLoad": true,
    },
  },
  run: (args, ctx) => searchWithin(args, ctx, TIME_LIMIT_MS),
});

/** Searches for at most `limitMs` milliseconds; what is found by then is marked as partial. */
export async function searchWithin(
  args: FromSchema<typeof grepInput>,
  ctx: ToolContext,
  limitMs: number,
): Promise<CommandOutput> {
  const started = performance.now();
  const files: SyncFiles = await import("node:fs");
  const maxChars = Math.max(
    NOTE_CHARS,
    answerBudget(ctx.config, args.limit) - NOTE_CHARS,
  );
  const search = compile({
    pattern: args.pattern,
    ignoreCase: args.ignore_case ?? false,
    multiline: args.multiline ?? false,
    output: args.output ?? "content",
    context: args.context ?? 0,
    maxRows: args.limit ?? DEFAULT_MATCHES,
    maxChars,
    maxBytes: byteBudget(maxChars, ctx, args.limit),
  }, files);
  const target = await resolveRoot(args.path, ctx);
  const include = globs("include", args.include, target.real);
  const exclude = globs("exclude", args.exclude, target.real);
  search.last = target.shown;
  const found = target.info?.isDirectory
    ? shownFiles(
      walk({
        root: target.real,
        separator: pathsOf(ctx.platform.os).separator,
        denial: (path) => ctx.scope.denial(path, "read"),
        hidden: args.hidden ?? false,
        ignore: args.no_ignore ? undefined : await ignoreRules(files, ctx),
        include,
        exclude,
        skips: search.skips,
      }),
      target,
    )
    : [{ path: target.real, shown: target.shown, name: target.shown }].values();
  let told = started;
  const whole = await searchAll(search, found, {
    signal: ctx.signal,
    limitMs,
    workers: search.tools.matcher ? workerCount() : 0,
    tick() {
      if (performance.now() - told < PROGRESS_MS) return;
      told = performance.now();
      const { searched } = search;
      const message = `${counted(searched, "file")} searched`;
      ctx.progress(searched, undefined, message);
    },
  }).catch((error) => {
    throw osError("grep", error, "open", target.shown);
  });
  return searchAnswer(search, {
    whole,
    limitMs,
    notes: target.notes,
    durationMs: Math.round(performance.now() - started),
  });
}

function* shownFiles(
  found: Iterable<Found | undefined>,
  target: Resolved,
): Generator<SearchFile | undefined, void, void> {
  for (const file of found) {
    yield file && {
      ...file,
      shown: target.shown + file.path.slice(target.real.length),
    };
  }
}

/** With the main thread as many as there are processors. */
function workerCount(): number {
  return Math.min(navigator.hardwareConcurrency - 1, MAX_WORKERS);
}

function compile(job: SearchJob, files: SyncFiles): Search {
  if (job.pattern === "" && job.output !== "files") {
    throw failure("grep: pattern is required", {
      notes: ['an empty pattern lists files, with output: "files"'],
    });
  }
  try {
    return new Search(job, searchTools(job, files));
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw failure(`grep: compile pattern: ${pointedOut(job.pattern, error)}`);
  }
}

/** The message, and the place in the pattern under it. */
function pointedOut(pattern: string, error: PatternError): string {
  const { position } = error;
  const from = Math.max(0, position - 40);
  const line = pattern.slice(from, position + 40)
    .replace(/[\n\r\t]/g, " ");
  return `${error.message} (at character ${
    [...pattern.slice(0, position)].length + 1
  })\n${line}\n${" ".repeat([...pattern.slice(from, position)].length)}^`;
}

function globs(
  name: string,
  value: unknown,
  root: string,
): Globs | undefined {
  const list = (Array.isArray(value) ? value : [value])
    .filter((glob) => typeof glob === "string" && glob !== "");
  if (list.length === 0) return undefined;
  try {
    return new Globs(list, root);
  } catch (error) {
    if (error instanceof GlobError) {
      throw failure(`grep: bad ${name} glob "${error.glob}": ${error.message}`);
    }
    if (error instanceof PatternError) {
      throw failure(`grep: bad ${name} glob: ${error.message}`);
    }
    throw error;
  }
}

async function resolveRoot(
  path: string | undefined,
  ctx: ToolContext,
): Promise<Resolved> {
  const asked = path ?? ctx.scope.roots[0];
  if (asked === undefined) {
    throw failure(
      "grep: path is required: this process has no root to search by default; start it with --root DIR",
    );
  }
  let target: Resolved;
  try {
    target = await ctx.scope.resolve(asked, "search");
  } catch (error) {
    throw osError("grep", error, "open", asked);
  }
  if (!target.info) {
    throw failure(`grep: open ${target.shown}: no such file or directory`);
  }
  if (!target.info.isDirectory && !target.info.isFile) {
    throw failure(
      `grep: ${target.shown}: neither a regular file nor a folder; nothing was opened`,
    );
  }
  return target;
}

/** The ignore rules that hold in the roots. */
export async function ignoreRules(
  files: SyncFiles,
  ctx: ToolContext,
): Promise<IgnoreRules> {
  const { default: make } = await import("ignore");
  const { platform, scope } = ctx;
  const read = (path: string) => readSmall(files, path, MAX_IGNORE_FILE);
  return new IgnoreRules({
    read: (path) =>
      scope.denial(path, "read") === undefined ? read(path) : undefined,
    exists(path) {
      if (scope.denial(path, "read") !== undefined) return false;
      try {
        Deno.lstatSync(path);
        return true;
      } catch {
        return false;
      }
    },
    rules: (text) => make({ ignorecase: false }).add(text),
    globalExcludes: globalExcludes(
      platform.home,
      platform.env("XDG_CONFIG_HOME"),
      read,
    ),
    separator: pathsOf(platform.os).separator,
  });
}

/** Room kept for the second block; at least as much is for rows. */
const NOTE_CHARS = 1500;

const PROGRESS_MS = 500;
