/**
 * Recorded sessions as MCP tools and resources.
 *
 * @module
 */
import type { AnyCommand } from "./command.ts";
import type { ResourceProvider } from "./hooks.ts";
import type { SessionStore } from "./store.ts";

/** Key of the {@linkcode SessionStore} in `ctx.process`. */
export const STORE_KEY = "store";

/** The tools `rousseau_list_sessions`, `rousseau_search_sessions` and `rousseau_read_session`. */
export const sessionTools: readonly AnyCommand[] = [];

/** Every visible session as a resource `rousseau://sessions/<id>`. */
export function sessionResources(
  _store: () => SessionStore,
): ResourceProvider {
  throw new Error("not yet");
}

/** Ids of visible sessions that begin with `prefix`, for `completion/complete`; at most `limit`. */
export function completeSessionIds(
  _store: SessionStore,
  _prefix: string,
  _limit = 100,
): Promise<string[]> {
  throw new Error("not yet");
}
