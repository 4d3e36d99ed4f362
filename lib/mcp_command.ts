/**
 * The command `mcp`: a tree, or a part of it, served on the standard streams.
 *
 * @module
 */
import {
  type AnyCommand,
  type Command,
  command,
  type CommandContext,
  CommandError,
  type CommandOutput,
  UsageError,
} from "./command.ts";
import type { Logger } from "./log.ts";
import { didYouMean } from "./nearest.ts";
import type { McpServer } from "./server.ts";
import { serveStdio, type StdioOptions, type StdioSystem } from "./stdio.ts";
import { ExitCode, Stop } from "./system.ts";
import {
  childNamed,
  loadCommand,
  loadTree,
  walkCommands,
  withMore,
} from "./tree.ts";

/** Arguments of `mcp`. */
export const MCP_INPUT = {
  type: "object",
  properties: {
    command: {
      type: "array",
      items: { type: "string" },
      description: "The part of the tree to serve; default all.",
    },
  },
  additionalProperties: false,
} as const;

const names = (description: string) =>
  ({ type: "array", items: { type: "string" }, description }) as const;

/** Arguments of the library's own `mcp`. */
export const PICKING_INPUT = {
  type: "object",
  properties: {
    ...MCP_INPUT.properties,
    tools: names("Tools to serve; default all."),
    exclude: names("Tools to leave out."),
  },
  additionalProperties: false,
} as const;

/** What the server tells of itself. */
export interface McpCommandOptions {
  /** The server's name. */
  name: string;
  /** The server's version. */
  version: string;
  /** What the model is told of the server as a whole. */
  instructions?: string;
  /** Takes what is for the operator; default: warnings and faults, as lines on standard error. */
  logger?: Logger;
}

/**
 * A command `mcp [COMMAND...]` that serves what is exposed in the tree that it is part of.
 *
 * @example
 * ```ts
 * import { mcpCommand } from "./mcp_command.ts";
 * import { command } from "./command.ts";
 * import { run } from "./cli.ts";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const greet = command({
 *   name: "greet",
 *   summary: "Greet",
 *   tool: { name: "greet" },
 *   run: () => "hello",
 * });
 * const about = { name: "example", version: "1.0.0" };
 * const root = {
 *   name: "example",
 *   summary: "An example",
 *   commands: [greet, mcpCommand(about)],
 * };
 * let out = "";
 * await run(root, ["mcp"], {
 *   stdin: new Blob(['{"jsonrpc":"2.0","id":1,"method":"ping"}\n']).stream(),
 *   stdout: new WritableStream({
 *     write: (bytes) => void (out += new TextDecoder().decode(bytes)),
 *   }),
 *   stderr: { write: () => Promise.resolve() },
 * });
 * assertStringIncludes(out, '"result":{}');
 * ```
 */
export function mcpCommand(
  options: McpCommandOptions,
): Command<typeof PICKING_INPUT> {
  return command({
    name: "mcp",
    summary: "Serve the commands over MCP on standard input and output",
    input: PICKING_INPUT,
    positionals: ["command"],
    options: { tools: { value: "NAME" }, exclude: { value: "NAME" } },
    run: async ({ command: words = [], tools, exclude }, ctx) => {
      const { root, args = [], fallback } = terminalOf(ctx);
      const exposed = pick(
        await exposedCommands(await withMore(root, args), words),
        tools,
        exclude,
      );
      const { McpServer } = await import("./server.ts");
      const { globals } = ctx;
      const logger = options.logger ?? faultLog(terminalOf(ctx).warn);
      const server = new McpServer({
        ...options,
        logger,
        ...(fallback ? { fallback } : {}),
        extend: (base) => ({ ...base, ...(globals && { globals }) }),
      });
      for (const each of exposed) server.register(each);
      return await serveTerminal(server, ctx, { logger });
    },
  });
}

/** A log of what went wrong, each event a line by `warn`: a handler's fault is answered without its insides. */
function faultLog(warn: (line: string) => void): Logger {
  const tell = (event: string, fields: Record<string, unknown> = {}) =>
    warn([event, ...Object.values(fields)].join(": "));
  return {
    enabled: (level) => level === "warn" || level === "error",
    debug() {},
    info() {},
    warn: tell,
    error: tell,
    flush: () => Promise.resolve(),
  };
}

/**
 * Of the commands those whose tools are picked; resources stay.
 *
 * @throws {UsageError} for a name that no tool has.
 */
function pick(
  commands: readonly AnyCommand[],
  tools: readonly string[] | undefined,
  exclude: readonly string[] = [],
): AnyCommand[] {
  const known = commands.flatMap(({ tool }) => tool ? [tool.name] : []);
  const named = (words: readonly string[]) =>
    new Set(
      words.flatMap((word) => word.split(",")).map((name) => {
        if (known.includes(name)) return name;
        throw new UsageError(
          `unknown tool "${name}"${didYouMean(name, known)}`,
        );
      }),
    );
  const asked = named(tools ?? known);
  const left = named(exclude);
  return commands.filter(({ tool }) =>
    !tool || (asked.has(tool.name) && !left.has(tool.name))
  );
}

/**
 * The commands under `words` that are tools or resources, loaded.
 *
 * @throws {UsageError} when the words lead nowhere, or to nothing that is exposed.
 */
export async function exposedCommands(
  root: AnyCommand,
  words: readonly string[],
): Promise<AnyCommand[]> {
  let command = await loadCommand(root);
  for (const [i, word] of words.entries()) {
    const child = childNamed(command, word);
    if (!child) {
      const names = (command.commands ?? []).map(({ name }) => name);
      throw new UsageError(
        `command not found: ${words.slice(0, i + 1).join(" ")}${
          didYouMean(word, names)
        }`,
      );
    }
    command = await loadCommand(child);
  }
  const exposed = [...walkCommands(await loadTree(command))]
    .map(({ command }) => command)
    .filter(({ tool, resource }) => tool || resource);
  if (exposed.length === 0) {
    throw new UsageError(
      `nothing to serve: no tool or resource in "${words.join(" ")}"`,
    );
  }
  return exposed;
}

/** The terminal of a command that only makes sense on a command line. */
export function terminalOf(
  ctx: CommandContext,
): NonNullable<CommandContext["terminal"]> {
  if (!ctx.terminal) throw new CommandError("mcp: only runs on a command line");
  return ctx.terminal;
}

/** Serves on the standard streams until the input ends or the process is told to stop. */
export async function serveTerminal(
  server: McpServer,
  ctx: CommandContext,
  options: StdioOptions = {},
): Promise<CommandOutput> {
  const { stdin, stdout } = terminalOf(ctx);
  const { promise: exited, resolve: exit } = Promise.withResolvers<number>();
  const system: StdioSystem = {
    stdin,
    stdout,
    onSignal(handler) {
      const told = () =>
        handler(
          ctx.signal.reason instanceof Stop &&
            ctx.signal.reason.exitCode === ExitCode.terminated
            ? "SIGTERM"
            : "SIGINT",
        );
      ctx.signal.addEventListener("abort", told);
      if (ctx.signal.aborted) told();
      return () => ctx.signal.removeEventListener("abort", told);
    },
    exit,
  };
  const served = serveStdio(server, system, options).then(() => ExitCode.done);
  return { content: [], exitCode: await Promise.race([exited, served]) };
}
