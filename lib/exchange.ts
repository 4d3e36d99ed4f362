/**
 * One request under way, and what its method may use of the connection.
 *
 * @module
 */
import type { Core } from "./core.ts";
import { type Caller, own } from "./era.ts";
import type { HandshakeRevision, JsonObject } from "./mcp.ts";
import type { Outgoing } from "./outgoing.ts";
import { ErrorCode, notificationLine, RpcError } from "./rpc.ts";
import type { RequestId } from "./rpc.ts";

/** Where the lines that belong to one message go. */
export interface Outlet {
  /** The answer. */
  answer(line: string): void;
  /** A message before the answer. */
  notify(line: string): void;
  /** There will be no answer: the request was cancelled. */
  drop(): void;
}

/** The connection, as methods see it. */
export interface Peer {
  /** Tells connections of one process apart. */
  readonly connectionId: string;
  /** What `initialize` agreed on; undefined before. */
  caller: (Caller & { revision: HandshakeRevision }) | undefined;
  /** URIs whose changes a handshake client wants to hear of. */
  readonly subscribed: Set<string>;
  /** The requests that listen for changes. */
  readonly listening: Set<Exchange>;
  /** Resolves when no more messages will come. */
  readonly inputEnded: Promise<void>;
  /** Requests to the client (handshake revisions only). */
  readonly outgoing: Outgoing;
}

/** Why a request's signal was aborted: by its caller, who wants no answer. */
export class Cancelled extends DOMException {
  /** `reason` is the caller's own, when it is text. */
  constructor(reason: unknown) {
    super(
      typeof reason === "string" && reason !== ""
        ? `The caller cancelled the request: ${reason}`
        : "The caller cancelled the request",
      "AbortError",
    );
  }
}

/** Why a request's signal was aborted: the server stops. */
export class Stopping extends DOMException {
  constructor() {
    super("The server stops", "AbortError");
  }
}

/** One request under way. */
export class Exchange {
  /** What all connections share. */
  readonly core: Core;
  /** The connection. */
  readonly peer: Peer;
  /** Who asks, under which revision. */
  readonly caller: Caller;
  /** The request's id. */
  readonly id: RequestId;
  /** Its method. */
  readonly method: string;
  /** Its parameters; empty when it has none. */
  readonly params: JsonObject;
  /** `params._meta`; empty when there is none. */
  readonly meta: JsonObject;
  /** What the client has answered so far, by key (2026-07-28 only). */
  readonly answers = new Map<string, unknown>();
  /** What is to be asked of the client before the call can go on (2026-07-28 only). */
  readonly wanted = new Map<string, { method: string; params: JsonObject }>();
  #controller: AbortController | undefined;
  readonly #outlet: Outlet;
  #open = true;

  /** `outlet` takes what belongs to the request. */
  constructor(
    init: Pick<
      Exchange,
      "core" | "peer" | "caller" | "id" | "method" | "params" | "meta"
    >,
    outlet: Outlet,
  ) {
    this.core = init.core;
    this.peer = init.peer;
    this.caller = init.caller;
    this.id = init.id;
    this.method = init.method;
    this.params = init.params;
    this.meta = init.meta;
    this.#outlet = outlet;
  }

  /** Aborted when the caller cancels, the connection ends, or the server stops. */
  get signal(): AbortSignal {
    // Made when asked for: most methods answer at once, and a controller costs more than they do.
    return (this.#controller ??= new AbortController()).signal;
  }

  /** Aborts {@linkcode Exchange.signal}. */
  abort(reason: DOMException): void {
    (this.#controller ??= new AbortController()).abort(reason);
  }

  /** Sends a notification that belongs to this request; none after the request has ended. */
  notify(method: string, params: JsonObject): void {
    if (this.#open) this.#outlet.notify(notificationLine(method, params));
  }

  /** Sends a request to the client on behalf of this one, and resolves with its result. See {@linkcode Outgoing}. */
  request(
    method: string,
    params: JsonObject,
    signal: AbortSignal = this.signal,
  ): Promise<unknown> {
    return this.peer.outgoing.request(
      (line) => this.#outlet.notify(line),
      { method, params, signal },
    );
  }

  /** Ends the request with `line`. */
  answer(line: string): void {
    this.#open = false;
    this.#outlet.answer(line);
  }

  /** Ends the request without an answer. */
  drop(reason: DOMException): void {
    this.#open = false;
    this.abort(reason);
    this.#outlet.drop();
  }
}

/** The error for a parameter of the wrong shape, such as `name must be a string`. */
export function badParams(what: string): RpcError {
  return new RpcError(ErrorCode.invalidParams, `invalid params: ${what}`);
}

/**
 * For lists that come whole: there is no page to go on from.
 *
 * @throws {RpcError} -32602 for any cursor.
 */
export function refuseCursor(exchange: Exchange): void {
  const cursor = own(exchange.params, "cursor");
  if (cursor !== undefined && cursor !== null && cursor !== "") {
    throw badParams("cursor is not one that this list gave");
  }
}
