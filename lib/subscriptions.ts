/**
 * Changes told to clients: `resources/subscribe` in the handshake revisions, `subscriptions/listen` in 2026-07-28.
 *
 * @module
 */
import { notificationOf } from "./changes.ts";
import { isObject, own } from "./era.ts";
import { badParams, type Exchange } from "./exchange.ts";
import { type JsonObject, META } from "./mcp.ts";

/** URIs that one connection, or one listening request, may subscribe to. */
export const MAX_SUBSCRIPTIONS = 1000;

/** Requests of one connection that may listen at once. */
export const MAX_LISTENING = 64;

/** Characters of a URI that may be subscribed to. */
export const MAX_SUBSCRIBED_CHARS = 4096;

/** Adds a URI to those whose changes the client hears of. Nothing need be there yet. */
export function subscribe({ params, peer }: Exchange): object {
  const uri = uriOf(params);
  if (peer.subscribed.size >= MAX_SUBSCRIPTIONS && !peer.subscribed.has(uri)) {
    throw badParams(
      `one connection may subscribe to ${MAX_SUBSCRIPTIONS} URIs; unsubscribe from some first`,
    );
  }
  peer.subscribed.add(uri);
  return {};
}

/** Takes a URI out again. */
export function unsubscribe({ params, peer }: Exchange): object {
  peer.subscribed.delete(uriOf(params));
  return {};
}

/**
 * Tells of the changes that `params.notifications` asks for, until the request is cancelled or the input ends. The
 * tools and prompts of a process never change, so that these wishes are not among the accepted ones.
 */
export async function listen(exchange: Exchange): Promise<object> {
  const { core, params, peer, id } = exchange;
  const wishes = own(params, "notifications");
  if (!isObject(wishes)) throw badParams("notifications must be an object");
  const uris = own(wishes, "resourceSubscriptions") ?? [];
  if (
    !Array.isArray(uris) || uris.length > MAX_SUBSCRIPTIONS ||
    !uris.every((uri) =>
      typeof uri === "string" && uri.length <= MAX_SUBSCRIBED_CHARS
    )
  ) {
    throw badParams(
      `resourceSubscriptions must be a list of at most ${MAX_SUBSCRIPTIONS} URIs`,
    );
  }
  if (peer.listening.size >= MAX_LISTENING) {
    throw badParams(
      `one connection may listen ${MAX_LISTENING} times at once; cancel another first`,
    );
  }
  const subscribed = new Set<string>(uris);
  const listChanged = own(wishes, "resourcesListChanged") === true;
  const _meta = { [META.subscriptionId]: id };
  exchange.notify("notifications/subscriptions/acknowledged", {
    notifications: {
      ...(listChanged ? { resourcesListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: [...subscribed] } : {}),
    },
    _meta,
  });
  const stopListening = core.changes.listen((change) => {
    if (change.kind === "resources" && !listChanged) return;
    const told = notificationOf(change, subscribed);
    if (told) exchange.notify(told.method, { ...told.params, _meta });
  });
  peer.listening.add(exchange);
  try {
    await Promise.race([peer.inputEnded, aborted(exchange.signal)]);
  } finally {
    stopListening();
    peer.listening.delete(exchange);
  }
  return { _meta };
}

function uriOf(params: JsonObject): string {
  const uri = own(params, "uri");
  if (typeof uri !== "string" || uri.length > MAX_SUBSCRIBED_CHARS) {
    throw badParams(
      `uri must be a string of at most ${MAX_SUBSCRIBED_CHARS} characters`,
    );
  }
  return uri;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
