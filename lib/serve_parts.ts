/**
 * What a server gets after the handshake: the session store behind it, and the scope of each client.
 *
 * @module
 */
import { ClientScopes } from "./client_scope.ts";
import type { AnyCommand, CommandContext } from "./command.ts";
import type { CallObserver, ResourceProvider } from "./hooks.ts";
import type { McpServer } from "./server.ts";
import { resumeSession } from "./session_prompts.ts";
import { sessionResources } from "./session_resources.ts";
import { storeOf } from "./session_tools.ts";
import type { SessionStore } from "./store.ts";
import { sessionUri } from "./transcript.ts";
import { reviewChanges, undoPrompt } from "./undo_prompts.ts";
import type { WorldContext } from "./world.ts";

/** What is loaded after the handshake. */
export interface ServeParts {
  /** Recorded sessions. */
  resources: ResourceProvider;
  /** Records calls. */
  observer: CallObserver;
  /** The tool with each client's own scope. */
  scoped(tool: AnyCommand): AnyCommand;
  /** A client's folders have changed. */
  rootsChanged(): void;
}

/**
 * The parts for a server. With `sessions`, whoever watches a session is told when it grows; with `undo`, the tool is
 * there that the prompt `undo` speaks of.
 */
export function serveParts(
  ctx: WorldContext,
  server: McpServer,
  { sessions, undo }: { sessions: boolean; undo: boolean },
): ServeParts {
  const { platform, config, world, logger } = ctx;
  const { scope, own } = world;
  const scopes = new ClientScopes({ platform, config, scope, logger, own });
  let opened: SessionStore | undefined;
  const store = () => {
    if (!opened) {
      opened = storeOf(ctx);
      if (sessions) {
        opened.watch((ids, isNew) => {
          for (const id of ids) server.resourceUpdated(sessionUri(id));
          if (isNew) server.resourceListChanged();
        });
      }
    }
    return opened;
  };
  if (sessions) {
    server.registerPrompt(resumeSession);
    server.registerPrompt(reviewChanges);
    if (undo) server.registerPrompt(undoPrompt);
  }
  return {
    resources: sessionResources(store),
    observer: {
      started: (call) => store().observer.started(call),
      ended: (call) => store().observer.ended(call),
    },
    scoped: (tool: AnyCommand): AnyCommand => ({
      ...tool,
      run: async (args: unknown, base: CommandContext) =>
        await tool.run!(args, { ...base, scope: await scopes.of(base) }),
    }),
    rootsChanged: () => scopes.forget(),
  };
}
