/**
 * The MCP server over the world: tools with their context, sessions as resources and prompts, recording, and an orderly
 * end.
 *
 * @module
 */
import type { AnyCommand, CommandContext, CommandOutput } from "./command.ts";
import type { CallObserver, ResourceProvider } from "./hooks.ts";
import { introduce } from "./instructions.ts";
import { serveTerminal } from "./mcp_command.ts";
import { McpServer } from "./server.ts";
import type { StdioHooks } from "./stdio.ts";
import type { Surrendered } from "./platform.ts";
import type { ServeParts } from "./serve_parts.ts";
import type { ToolContext } from "./tool.ts";
import type { CustomSelection, Offer } from "./selection.ts";
import { loadCustom, loadTool } from "./tools.ts";
import type { StartContext } from "./world.ts";

/** Milliseconds that the last records may wait for another process's lock after a signal. */
export const LAST_COMMIT_MS = 100;

/** What is served. */
export interface Served extends Offer {
  /** Resources that are commands. */
  resources: readonly AnyCommand[];
}

/** A server that can answer `initialize`, and what makes it whole. */
export interface Assembled {
  /** The server. */
  server: McpServer;
  /** Loads what the rest needs. No message but `initialize` may reach the server before. */
  complete(): Promise<void>;
  /** What is to be ended with the server. */
  hooks: StdioHooks;
}

/** The server for what is served. Loads nothing slow. */
export function assemble(ctx: StartContext, served: Served): Assembled {
  const { world } = ctx;
  const { config, logger } = world;
  const { selection, sessions } = served;
  const late = new Late();
  const { info, instructions } = introduce(world, served);
  const server = new McpServer({
    ...info,
    ...(instructions === undefined ? {} : { instructions }),
    logger,
    extend: (base: CommandContext): ToolContext => world.extend(base),
    resources: sessions ? [late.resources] : [],
    ...(config.record === "off" ? {} : { observer: late.observer }),
    onRootsChanged: () => late.rootsChanged(),
    onEndOfInput: () => void world.jobs?.endBackground(),
  });
  return {
    server,
    async complete() {
      const [tools, parts] = await Promise.all([
        Promise.all(
          selection.offered.map((name) => loadTool(name, world.platform)),
        ),
        import("./serve_parts.ts"),
        world.ready(),
      ]);
      const isReader = config.mode === "read-only" && !runsPrograms(served);
      const surrender = () => world.platform.surrender?.(["write"]);
      late.parts = parts.serveParts(world.extend(ctx), server, {
        sessions,
        undo: selection.offered.includes("rousseau_undo"),
        // The file that is open then goes on being written to.
        ...(isReader ? { committed: surrender } : {}),
      });
      if (isReader && config.record === "off" && !sessions) surrender();
      for (const tool of [...tools, ...await customCommands(served.custom)]) {
        server.register(late.parts.scoped(tool));
      }
      for (const resource of served.resources) server.register(resource);
    },
    hooks: {
      terminate: () => void world.jobs?.terminateAll(),
      kill: () => world.jobs?.killAll(),
      commit: async () => {
        await world.store?.flush({ wait: LAST_COMMIT_MS });
      },
    },
  };
}

/** Serves on the terminal's streams until the input ends or the process is told to stop. */
export async function serveOnStdio(
  ctx: StartContext,
  served: Served,
  greeted: boolean,
): Promise<CommandOutput> {
  const { server, complete, hooks } = assemble(ctx, served);
  return await serveTerminal(server, ctx, {
    drain: ctx.world.config.drain * 1000,
    hooks,
    greeted,
    async complete() {
      if (!greeted) await answersFirst();
      await complete();
      ctx.world.platform.surrender?.(surplus(served));
    },
  });
}

/** Whether something is offered that runs programs. */
function runsPrograms({ selection, custom }: Served): boolean {
  return selection.offered.includes("bash") ||
    (custom.asked.length > 0 && custom.reason === undefined);
}

/** Permissions that nothing needs once everything is loaded and what is to listen listens. */
export function surplus(served: Served): Surrendered[] {
  return [
    "env",
    "net",
    "sys",
    ...(runsPrograms(served) ? [] : ["run" as const]),
  ];
}

/**
 * Lets answers that are ready go out before what keeps the process busy for a while. Any asynchronous operation of the
 * runtime does; the first use of `setTimeout` would itself load its module for 5 ms.
 */
async function answersFirst(): Promise<void> {
  await crypto.subtle.digest("SHA-256", new Uint8Array());
}

async function customCommands(
  { asked, reason }: CustomSelection,
): Promise<AnyCommand[]> {
  return reason === undefined ? await Promise.all(asked.map(loadCustom)) : [];
}

/** Stands in for {@linkcode ServeParts} until they are loaded. No request that needs them comes before. */
class Late {
  parts: ServeParts | undefined;

  readonly observer: CallObserver = {
    started: (call) => this.parts?.observer.started(call),
    ended: (call) => this.parts?.observer.ended(call),
  };

  readonly resources: ResourceProvider = {
    list: (cursor, ctx) => this.#loaded.list(cursor, ctx),
    templates: () => this.#loaded.templates(),
    read: (uri, ctx) => this.#loaded.read(uri, ctx),
    complete: async (template, wanted, ctx) =>
      await this.#loaded.complete?.(template, wanted, ctx) ?? [],
  };

  rootsChanged(): void {
    this.parts?.rootsChanged();
  }

  get #loaded(): ResourceProvider {
    if (!this.parts) throw new TypeError("Cannot use sessions: not loaded");
    return this.parts.resources;
  }
}
