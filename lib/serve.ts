/**
 * The MCP server over the world: tools with their context, sessions as resources, recording, and an orderly end.
 *
 * @module
 */
import type { AnyCommand, CommandContext, CommandOutput } from "./command.ts";
import type { CallObserver } from "./hooks.ts";
import { instructions } from "./instructions.ts";
import { JOBS_KEY } from "./bash_schema.ts";
import type { Jobs } from "./jobs.ts";
import { serveTerminal } from "./mcp_command.ts";
import { McpServer } from "./server.ts";
import { sessionResources } from "./session_resources.ts";
import { STORE_KEY, storeOf } from "./session_tools.ts";
import type { SessionStore } from "./store.ts";
import type { ToolContext } from "./tool.ts";
import type { Selection } from "./tools.ts";

/** Milliseconds that the last records may wait for another process's lock after a signal. */
export const LAST_COMMIT_MS = 100;

/** What is served. */
export interface Served {
  /** The program's version. */
  version: string;
  /** The tools. */
  selection: Selection;
  /** Resources that are commands. */
  resources: readonly AnyCommand[];
  /** Whether recorded sessions are resources, too. */
  sessions: boolean;
}

/** Serves on the terminal's streams until the input ends or the process is told to stop. */
export async function serveWorld(
  ctx: ToolContext,
  { version, selection, resources, sessions }: Served,
): Promise<CommandOutput> {
  const { config, logger, scope, platform, process } = ctx;
  const extend = (base: CommandContext): ToolContext => ({
    ...base,
    config,
    logger,
    scope,
    platform,
    process,
  });
  const jobs = () => process.peek<Jobs>(JOBS_KEY);
  const server = new McpServer({
    name: "rousseau",
    title: "Rousseau",
    version,
    instructions: instructions({ scope: scope.describe(), config, selection }),
    logger,
    extend,
    resources: sessions ? [sessionResources(() => storeOf(ctx))] : [],
    ...(config.record === "off" ? {} : { observer: recording(ctx) }),
    onEndOfInput: () => void jobs()?.endBackground(),
  });
  for (const each of [...selection.offered, ...resources]) {
    server.register(each);
  }
  return await serveTerminal(server, ctx, {
    drain: config.drain * 1000,
    hooks: {
      terminate: () => void jobs()?.terminateAll(),
      kill: () => jobs()?.killAll(),
      commit: () =>
        process.peek<SessionStore>(STORE_KEY)?.flush({
          wait: LAST_COMMIT_MS,
        }) ??
          Promise.resolve(),
    },
  });
}

/** The store's observer; the store is made at the first call. */
function recording(ctx: ToolContext): CallObserver {
  return {
    started: (call) => storeOf(ctx).observer.started(call),
    ended: (call) => storeOf(ctx).observer.ended(call),
  };
}
