/**
 * What a server gets after the handshake: the session store behind it, and the scope of each client.
 *
 * @module
 */
import { ClientScopes } from "./client_scope.ts";
import type { AnyCommand, CommandContext } from "./command.ts";
import { Decisions } from "./decisions.ts";
import type { CallEnd, CallObserver, ResourceProvider } from "./hooks.ts";
import type { McpServer } from "./server.ts";
import { resumeSession } from "./session_prompts.ts";
import { sessionResources } from "./session_resources.ts";
import { storeOf } from "./session_tools.ts";
import type { SessionStore } from "./store.ts";
import { TOOL_NAMES } from "./tool_names.ts";
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
 * there that the prompt `undo` speaks of; `committed` is called when the first calls are in the store.
 */
export function serveParts(
  ctx: WorldContext,
  server: McpServer,
  { sessions, undo, committed }: {
    sessions: boolean;
    undo: boolean;
    committed?: () => void;
  },
): ServeParts {
  const { platform, config, world, logger } = ctx;
  const { scope, own } = world;
  const scopes = new ClientScopes({ platform, config, scope, logger, own });
  const decisions = Decisions.of(ctx);
  let opened: SessionStore | undefined;
  const store = () => {
    if (!opened) {
      opened = storeOf(ctx, true);
      if (committed) {
        const stop = opened.watch(() => {
          stop();
          committed();
        });
      }
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
  let isLooking = false;
  /** Notes what the command changed in git work trees; one look at a time, the others are left out. */
  const lookAtTrees = (call: CallEnd) => {
    if (isLooking) return;
    isLooking = true;
    noteChanges(call, ctx, store()).catch((error) =>
      logger.debug("store.changes_failed", { problem: `${error}` })
    ).finally(() => {
      isLooking = false;
    });
  };
  return {
    resources: sessionResources(store),
    observer: {
      started: (call) => store().observer.started(call),
      ended(call) {
        // Every program runs through the jobs; what holds one is told even where its call was cancelled.
        const isProgram = call.tool === "bash" ||
          !TOOL_NAMES.some((name) => name === call.tool);
        const sandbox = isProgram ? world.jobs?.confinement.layer : undefined;
        const decided = decisions.on(call, { mode: scope.mode, sandbox });
        store().observer.ended({ ...call, decided });
        if (call.tool === "bash" && config.record === "full") {
          lookAtTrees(call);
        }
      },
    },
    scoped: (tool: AnyCommand): AnyCommand => ({
      ...tool,
      run: async (args: unknown, base: CommandContext) =>
        await tool.run!(args, { ...base, scope: await scopes.of(base) }),
    }),
    rootsChanged: () => scopes.forget(),
  };
}

/** Notes with a call which files of each root that is a git work tree were changed while it ran. */
async function noteChanges(
  call: CallEnd,
  ctx: WorldContext,
  store: SessionStore,
): Promise<void> {
  const { changedSince, changesText } = await import("./tree_changes.ts");
  for (const root of ctx.scope.roots.slice(0, MAX_TREES)) {
    const found = await changedSince(root, call.startedAt, ctx);
    const text = found && changesText(root, found);
    if (text !== undefined) store.note(call, text);
  }
}

/** Roots that are looked at after a command. */
const MAX_TREES = 8;
