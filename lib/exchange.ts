/**
 * One request under way, and what its method may use of the connection.
 *
 * @module
 */
import type { Core } from "./core.ts";
import type { Caller } from "./era.ts";
import type { HandshakeRevision, JsonObject } from "./mcp.ts";
import { ErrorCode, RpcError } from "./rpc.ts";
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
  /** A request to the client (handshake revisions only). Rejects with {@linkcode RpcError} when it is refused. */
  request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<unknown>;
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
  readonly #send: (method: string, params: JsonObject) => void;

  /** `send` takes the notifications that belong to the request. */
  constructor(
    init:
      & Pick<
        Exchange,
        "core" | "peer" | "caller" | "id" | "method" | "params" | "meta"
      >
      & { send: (method: string, params: JsonObject) => void },
  ) {
    this.core = init.core;
    this.peer = init.peer;
    this.caller = init.caller;
    this.id = init.id;
    this.method = init.method;
    this.params = init.params;
    this.meta = init.meta;
    this.#send = init.send;
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
    this.#send(method, params);
  }
}

/** The error for a parameter of the wrong shape, such as `name must be a string`. */
export function badParams(what: string): RpcError {
  return new RpcError(ErrorCode.invalidParams, `invalid params: ${what}`);
}
