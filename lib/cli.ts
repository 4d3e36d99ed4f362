/**
 * Running a command from a shell: its line taken apart, its handler called, its answer printed, its exit code.
 *
 * Results go to standard output and nothing else does; everything else goes to standard error with the program's
 * name before it. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 130 interrupted, 143 terminated; a
 * command may pass on one of its own.
 *
 * @module
 */
import {
  type AnyCommand,
  type CommandContext,
  CommandError,
  type CommandOutput,
  NO_INPUT,
  type PropertySchema,
  type Terminal,
  UsageError,
} from "./command.ts";
import {
  type CommandLine,
  type Environment,
  fallbackValues,
  parseCommandLine,
} from "./command_line.ts";
import { Printer } from "./printer.ts";
import { ExitCode, Stop, type System } from "./system.ts";
import {
  checkTree,
  JSON_OPTION,
  optionsOf,
  pathWords,
  printsJson,
} from "./tree.ts";

/** Milliseconds that a handler has to end after its signal was aborted. */
export const ABORT_GRACE_MS = 2_000;

/** Milliseconds between two times that a terminal is shown how far a command is. */
export const STATUS_EVERY = 100;

/** Bytes of standard input that a command takes as an argument. */
export const MAX_STDIN_BYTES = 64 * 1024 * 1024;

/** How a tree is run. */
export interface RunOptions {
  /** What `--version` prints after the root's name. */
  version?: string;
  /** Gives handlers what they need of the world beyond {@linkcode CommandContext}. */
  extend?(
    base: CommandContext,
    line: CommandLine,
  ): CommandContext | Promise<CommandContext>;
  /**
   * Called when the handler is through, however it ended, before the exit code is known to the caller. `stopped`: by a
   * signal, so that there is little time.
   */
  finish?(stopped: boolean): Promise<void>;
  /** The configuration as parsed: an option's `config` is looked up in it when its flag and variable are absent. */
  config?: Readonly<Record<string, unknown>>;
  /** The tree makes sense, as tests of the program show: it is not checked at each start, which would take 2 ms. */
  checked?: boolean;
  /** Leaves the values of the root's options to be checked by whoever reads `ctx.terminal.globals`. */
  uncheckedGlobals?: boolean;
}

/**
 * Runs one command line and resolves to the exit code. Never rejects: what is wrong with the tree itself is told, too.
 *
 * @example `systemFrom(Deno)` and, on Node, `nodeSystem(process)` are the real process
 * ```ts
 * import { run } from "./cli.ts";
 * import { assertEquals } from "@std/assert";
 *
 * let out = "";
 * const code = await run(
 *   { name: "hi", summary: "Greet", run: () => "hello" },
 *   [],
 *   {
 *     stdin: new Blob([]).stream(),
 *     stdout: new WritableStream({
 *       write: (bytes) => void (out += new TextDecoder().decode(bytes)),
 *     }),
 *     stderr: { write: () => Promise.resolve() },
 *   },
 * );
 * assertEquals([code, out], [0, "hello\n"]);
 * ```
 */
export async function run(
  root: AnyCommand,
  args: readonly string[],
  system: System,
  options: RunOptions = {},
): Promise<number> {
  const printer = new Printer(root.name, system);
  try {
    if (!options.checked) checkTree(root);
    const environment = environmentOf(system, options);
    const line = await parseCommandLine(root, args, environment);
    const command = line.path.at(-1)!;
    if (line.version) {
      await printer.print(`${root.name} ${options.version ?? "0.0.0"}\n`);
      return ExitCode.done;
    }
    if (line.help) {
      await printer.print(await help(line, system));
      return ExitCode.done;
    }
    if (!command.run) {
      await printer.warn(await help(line, system));
      return ExitCode.usage;
    }
    return await execute(command, line, {
      root,
      args,
      system,
      options,
      printer,
      environment,
    });
  } catch (error) {
    return await printer.failure(error);
  } finally {
    await options.finish?.(system.signal?.aborted ?? false);
  }
}

function environmentOf(system: System, { config }: RunOptions): Environment {
  return {
    env: (name) => system.env?.(name),
    pathSeparator: system.pathSeparator ?? ":",
    config: (key) =>
      key.split(".").reduce<unknown>(
        (at, name) =>
          typeof at === "object" && at !== null && Object.hasOwn(at, name)
            ? (at as Record<string, unknown>)[name]
            : undefined,
        config,
      ),
  };
}

interface Running {
  root: AnyCommand;
  args: readonly string[];
  system: System;
  options: RunOptions;
  printer: Printer;
  environment: Environment;
}

async function execute(
  command: AnyCommand,
  line: CommandLine,
  { root, args: words, system, options, printer, environment }: Running,
): Promise<number> {
  const globals = options.uncheckedGlobals || line.path.length === 1
    ? line.globals
    : await prepared(line.path[0]!, line.globals);
  const asJson = printsJson(command) && line.values[JSON_OPTION] === true;
  if (printsJson(command)) delete line.values[JSON_OPTION];
  await readStdin(command, line, system);
  requireAll(line);
  const args = await prepared(command, line.values);
  // One after the other, in the order in which they were said.
  let said: Promise<void> = Promise.resolve();
  const say = (print: () => Promise<void>) => {
    said = said.then(print);
    said.catch(() => {});
  };
  const terminal: Terminal = {
    stdin: system.stdin,
    stdout: system.stdout,
    warn: (text) => say(() => printer.complain(text)),
    columns: system.columns,
    globals,
    root,
    args: words,
    fallback: (command) => fallbackValues(command, environment),
  };
  for (const warning of deprecations(line)) terminal.warn(warning);
  const signal = system.signal ?? new AbortController().signal;
  const base = baseContext(terminal, signal, system, printer);
  let shown = -Infinity;
  base.progress = (value, total, message) => {
    if (!system.stderrIsTerminal || Date.now() - shown < STATUS_EVERY) return;
    shown = Date.now();
    say(async () => {
      const { progressLine } = await import("./progress_line.ts");
      const line = progressLine(value, total, message);
      await printer.status(line.slice(0, (system.columns ?? 80) - 1));
    });
  };
  // Standard output is the data alone where that was asked for.
  base.print = (text) =>
    say(() => asJson ? printer.warn(text) : printer.print(text));
  const ctx = await options.extend?.(base, line) ?? base;
  let output: CommandOutput | typeof STOPPED;
  try {
    output = await untilStopped(
      Promise.resolve().then(() => command.run!(args, ctx)),
      signal,
    );
  } finally {
    // Whoever stopped it does not wait for a reader.
    if (!signal.aborted) await said;
  }
  if (output === STOPPED) return stopCode(signal);
  // Servers start with this module, and need the other at their end.
  const { checkedResult } = await import("./results.ts");
  const result = await checkedResult(output, command, async (schema, data) => {
    const { InputValidators } = await import("./schema.ts");
    return new InputValidators().misfit(schema, data);
  });
  await printer.output(command, result, asJson);
  if (signal.aborted) return stopCode(signal);
  if (typeof output === "string" || Array.isArray(output)) return ExitCode.done;
  return output.exitCode ?? (output.isError ? ExitCode.failed : ExitCode.done);
}

function baseContext(
  terminal: Terminal,
  signal: AbortSignal,
  system: System,
  printer: Printer,
): CommandContext {
  return {
    signal,
    progress() {},
    print() {},
    warn: (line) => terminal.warn(line),
    stdin: () => terminal.stdin,
    log(level, message, data) {
      if (level === "debug" || level === "info" || level === "notice") return;
      terminal.warn(data ? `${message} ${JSON.stringify(data)}` : message);
    },
    client: { capabilities: {} },
    ask: async (_key, question) => {
      const { askAtTerminal } = await import("./question.ts");
      return await askAtTerminal(system, printer, question);
    },
    meta: {},
    globals: terminal.globals,
    terminal,
  };
}

/** Stands for the output of a handler that was stopped. */
const STOPPED = Symbol("stopped");

/** The handler's output; {@linkcode STOPPED} when it was stopped and threw, or did not end within the grace. */
async function untilStopped(
  running: Promise<CommandOutput>,
  signal: AbortSignal,
): Promise<CommandOutput | typeof STOPPED> {
  const { promise: stopped, resolve } = Promise.withResolvers<typeof STOPPED>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    timer = setTimeout(resolve, ABORT_GRACE_MS, STOPPED);
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([running, stopped]);
  } catch (error) {
    if (signal.aborted) return STOPPED;
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(timer);
    running.catch(() => {});
  }
}

function stopCode(signal: AbortSignal): number {
  return signal.reason instanceof Stop
    ? signal.reason.exitCode
    : ExitCode.interrupted;
}

/** Arguments checked against the command's schema; the validator is loaded only when there is something to check. */
async function prepared(
  command: AnyCommand,
  values: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  if (Object.keys(values).length === 0 && !command.input?.required?.length) {
    const properties: Record<string, PropertySchema> =
      command.input?.properties ?? {};
    const defaults = Object.entries(properties).filter(([, property]) =>
      property.default !== undefined
    );
    return Object.fromEntries(
      defaults.map((
        [name, property],
      ) => [name, structuredClone(property.default)]),
    );
  }
  const { prepareInput } = await import("./schema.ts");
  const { value, error } = prepareInput(command.input ?? NO_INPUT, values);
  if (error !== undefined) throw new UsageError(error);
  return value;
}

/** What on the line is deprecated, and what to use instead. */
function* deprecations(
  { path, values, globals }: CommandLine,
): Generator<string> {
  for (const { name, deprecated } of path) {
    if (deprecated !== undefined) {
      yield `"${name}" is deprecated: use ${deprecated}`;
    }
  }
  for (
    const [owner, given] of [[path[0]!, globals], [
      path.at(-1)!,
      values,
    ]] as const
  ) {
    for (const { name, flag, hints } of optionsOf(owner)) {
      if (hints.deprecated !== undefined && Object.hasOwn(given, name)) {
        yield `--${flag} is deprecated: use ${hints.deprecated}`;
      }
    }
  }
}

/** Missing arguments in the words of the command line rather than of the schema. */
function requireAll({ path, values }: CommandLine): void {
  const missing = optionsOf(path.at(-1)!).filter((
    { name, required, property },
  ) =>
    required && property.default === undefined && !Object.hasOwn(values, name)
  );
  if (missing.length === 0) return;
  const words = missing.map(({ flag, name, isPositional, hints }) =>
    isPositional ? hints.value ?? name.toUpperCase() : `--${flag}`
  );
  throw new UsageError(
    `missing ${words.join(", ")}; see "${pathWords(path)} --help"`,
  );
}

/** Puts standard input in the place of the argument that asks for it. */
async function readStdin(
  command: AnyCommand,
  { values }: CommandLine,
  system: System,
): Promise<void> {
  const option = optionsOf(command).find(({ hints }) => hints.stdin);
  if (!option) return;
  const given = values[option.name];
  const absent = given === undefined && option.required &&
    !system.stdinIsTerminal;
  if (given !== "-" && !absent) return;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of system.stdin) {
    size += chunk.length;
    if (size > MAX_STDIN_BYTES) {
      throw new CommandError(
        `standard input is over the ${MAX_STDIN_BYTES} byte limit`,
      );
    }
    chunks.push(new Uint8Array(chunk));
  }
  try {
    values[option.name] = new TextDecoder("utf-8", {
      fatal: true,
      ignoreBOM: true,
    }).decode(await new Blob(chunks).arrayBuffer());
  } catch {
    throw new CommandError("standard input is not UTF-8 text");
  }
}

async function help(line: CommandLine, { columns }: System): Promise<string> {
  const { helpText } = await import("./help.ts");
  return helpText(line.path, columns);
}
