/**
 * The MCP server over the world: tools with their context, sessions as resources, recording, and an orderly end.
 *
 * @module
 */
import type { AnyCommand, CommandContext, CommandOutput } from "./command.ts";
import { initializeFirst } from "./gate.ts";
import type { CallObserver, ResourceProvider } from "./hooks.ts";
import { instructions } from "./instructions.ts";
import type { Jobs } from "./jobs.ts";
import { serveTerminal } from "./mcp_command.ts";
import { McpServer } from "./server.ts";
import type { SessionStore } from "./store.ts";
import type { ToolContext } from "./tool.ts";
import { loadTool, type Selection } from "./tools.ts";
import { JOBS_KEY, STORE_KEY } from "./world.ts";

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
  const late = new Late(ctx);
  const jobs = () => process.peek<Jobs>(JOBS_KEY);
  const server = new McpServer({
    name: "rousseau",
    title: "Rousseau",
    version,
    instructions: instructions({ scope: scope.describe(), config, selection }),
    logger,
    extend,
    resources: sessions ? [late.resources] : [],
    ...(config.record === "off" ? {} : { observer: late.observer }),
    onEndOfInput: () => void jobs()?.endBackground(),
  });
  const complete = async () => {
    await answersFirst();
    const tools = await Promise.all([
      ...selection.offered.map((name) => loadTool(name, platform)),
      late.load(),
    ]);
    for (const each of [...tools, ...resources]) {
      if (each) server.register(each);
    }
  };
  const terminal = ctx.terminal && {
    ...ctx.terminal,
    stdin: initializeFirst(ctx.terminal.stdin, complete),
  };
  return await serveTerminal(
    server,
    { ...ctx, ...(terminal && { terminal }) },
    {
      drain: config.drain * 1000,
      hooks: {
        terminate: () => void jobs()?.terminateAll(),
        kill: () => jobs()?.killAll(),
        commit: async () =>
          await process.peek<SessionStore>(STORE_KEY)?.flush({
            wait: LAST_COMMIT_MS,
          }),
      },
    },
  );
}

/**
 * Lets answers that are ready go out before what keeps the process busy for a while. Any asynchronous operation of the
 * runtime does; the first use of `setTimeout` would itself load its module for 5 ms.
 */
async function answersFirst(): Promise<void> {
  await crypto.subtle.digest("SHA-256", new Uint8Array());
}

/** What needs the session store, loaded after the handshake. */
class Late {
  readonly #ctx: ToolContext;
  #provider: ResourceProvider | undefined;
  #store: (() => SessionStore) | undefined;
  #ids: ((prefix: string) => Promise<string[]>) | undefined;

  constructor(ctx: ToolContext) {
    this.#ctx = ctx;
  }

  async load(): Promise<undefined> {
    const [{ completeSessionIds, sessionResources }, { storeOf }] =
      await Promise.all([
        import("./session_resources.ts"),
        import("./session_tools.ts"),
      ]);
    this.#store = () => storeOf(this.#ctx);
    this.#provider = sessionResources(this.#store);
    this.#ids = (prefix) => completeSessionIds(storeOf(this.#ctx), prefix);
  }

  /** The store's observer; the store is made at the first call. */
  readonly observer: CallObserver = {
    started: (call) => this.#store?.().observer.started(call),
    ended: (call) => this.#store?.().observer.ended(call),
  };

  /** Recorded sessions. No request for them comes before they are loaded. */
  readonly resources: ResourceProvider = {
    list: (cursor, ctx) => this.#loaded.list(cursor, ctx),
    templates: () => this.#loaded.templates(),
    read: (uri, ctx) => this.#loaded.read(uri, ctx),
    complete: async (uriTemplate, wanted, ctx) =>
      await this.#loaded.complete?.(uriTemplate, wanted, ctx) ??
        await this.#ids?.(wanted.value) ?? [],
  };

  get #loaded(): ResourceProvider {
    if (!this.#provider) throw new TypeError("Cannot use sessions: not loaded");
    return this.#provider;
  }
}
