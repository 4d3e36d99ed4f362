/**
 * One connection: messages come in, and each request leaves with exactly one answer. It knows messages and lines, not
 * the transport that carries them.
 *
 * @module
 */
import { answerLine, toRpcError } from "./answers.ts";
import { notificationOf } from "./changes.ts";
import { batchParts, batchRefusal } from "./batch.ts";
import type { Core } from "./core.ts";
import {
  type Caller,
  envelopeMissing,
  isObject,
  own,
  statelessCaller,
} from "./era.ts";
import {
  badParams,
  Cancelled,
  Exchange,
  type Outlet,
  type Peer,
  Stopping,
} from "./exchange.ts";
import { InFlight, MAX_CONCURRENT, MAX_WAITING, Slots } from "./inflight.ts";
import type { HandshakeRevision } from "./mcp.ts";
import { type Method, METHODS } from "./methods.ts";
import { Outgoing } from "./outgoing.ts";
import {
  ErrorCode,
  errorLine,
  isRequestId,
  type Message,
  notificationLine,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  resultLine,
  RpcError,
} from "./rpc.ts";

/** Milliseconds that calls are given to answer after they were aborted because the server stops. */
export const STOP_GRACE_MS = 250;

interface Entry {
  exchange: Exchange;
  /** Gives the place among those that are worked on back; once. */
  release(): void;
}

/** One connection. */
export class Connection implements Peer {
  readonly subscribed = new Set<string>();
  readonly listening = new Set<Exchange>();
  readonly outgoing: Outgoing = new Outgoing();
  caller: (Caller & { revision: HandshakeRevision }) | undefined;
  readonly #core: Core;
  #connectionId: string | undefined;
  readonly #inFlight = new InFlight<Entry>();
  readonly #slots = new Slots(MAX_CONCURRENT);
  readonly #ended = Promise.withResolvers<void>();
  readonly #stopListening: () => void;

  /**
   * `send` takes the lines that belong to no request of the peer's. Connections of one `id` are told apart by nobody;
   * without one, it has an id of its own.
   */
  constructor(core: Core, send: (line: string) => void, id?: string) {
    this.#core = core;
    this.#connectionId = id;
    this.#stopListening = core.changes.listen((change) => {
      if (!this.caller) return;
      const told = notificationOf(change, this.subscribed);
      if (told) send(notificationLine(told.method, told.params));
    });
  }

  get connectionId(): string {
    return this.#connectionId ??= crypto.randomUUID();
  }

  get inputEnded(): Promise<void> {
    return this.#ended.promise;
  }

  /** Takes one message; its answer, if it gets one, goes to `outlet`, now or later. Never throws. */
  receive(message: Message, outlet: Outlet): void {
    switch (message.kind) {
      case "request":
        return this.#request(message, outlet);
      case "notification":
        return this.#notification(message);
      case "response":
        return this.outgoing.settle(message);
      case "invalid":
        return this.refuse(message.error, message.id, outlet);
      case "batch": {
        const { messages } = message;
        const refusal = batchRefusal(messages, this.caller?.revision);
        if (refusal) return this.refuse(refusal, undefined, outlet);
        for (const part of batchParts(messages, outlet)) {
          this.receive(part.message, part.outlet);
        }
      }
    }
  }

  /** Answers what is no request. Without an id, the answer has the id that the revision in force asks for. */
  refuse(error: RpcError, id: RequestId | undefined, outlet: Outlet): void {
    const noId = this.caller?.revision === "2025-11-25" ? undefined : null;
    outlet.answer(errorLine(id ?? noId, error));
  }

  /** Undefined when another message may be taken; else resolves when fewer requests wait for their turn. */
  room(): Promise<void> | undefined {
    return this.#slots.room(MAX_WAITING);
  }

  /** Ends a request so that it is never answered. One that has ended is left as it is. */
  cancel(id: RequestId, reason: DOMException): void {
    const entry = this.#inFlight.cancel(id);
    if (!entry) return;
    // A handler that does not notice keeps no place.
    entry.release();
    entry.exchange.drop(reason);
  }

  /**
   * The input has ended: waits for what is in flight, at most `drainMs` milliseconds. What is not done by then is
   * aborted, and is answered in any case.
   */
  async drain(drainMs: number): Promise<void> {
    this.outgoing.close();
    this.#ended.resolve();
    if (await this.#inFlight.idleWithin(drainMs)) return;
    for (const { exchange } of this.#inFlight.values()) {
      exchange.abort(new Stopping());
    }
    if (await this.#inFlight.idleWithin(STOP_GRACE_MS)) return;
    const seconds = drainMs / 1000;
    const error = new RpcError(
      ErrorCode.internal,
      `not done within ${seconds} s after the end of input: the server stops`,
    );
    for (const entry of this.#inFlight.values()) {
      this.#end(entry, () => errorLine(entry.exchange.id, error));
    }
  }

  /** The connection is gone: everything in flight is aborted, and nothing is answered. */
  stop(): void {
    this.#stopListening();
    for (const { exchange } of this.#inFlight.values()) {
      this.cancel(exchange.id, new Stopping());
    }
    this.outgoing.close();
    this.#ended.resolve();
  }

  #request(message: RequestMessage, outlet: Outlet): void {
    const { id, method: name, params } = message;
    if (this.#inFlight.has(id)) {
      const error = new RpcError(
        ErrorCode.invalidRequest,
        "invalid request: a request of this id is in flight",
      );
      return this.refuse(error, id, outlet);
    }
    // Clients ping often and wait for it; this is the same answer without the machinery.
    if (name === "ping" && params === undefined) {
      return outlet.answer(resultLine(id, {}));
    }
    try {
      const { exchange, method } = this.#admit(message, outlet);
      if (method.work) return this.#start(method, exchange);
      const result = method.answer!(exchange);
      exchange.answer(answerLine(exchange, result, method.cache));
    } catch (error) {
      const known = toRpcError(error, name, this.#core.logger);
      outlet.answer(errorLine(id, known));
    }
  }

  /** @throws {RpcError} for a request that no method answers, or not now. */
  #admit(
    message: RequestMessage,
    outlet: Outlet,
  ): { exchange: Exchange; method: Method } {
    const { id, method: name } = message;
    const method = METHODS.get(name);
    const params = message.params ?? {};
    const meta = isObject(params) ? own(params, "_meta") : undefined;
    const stateless = isObject(meta) ? statelessCaller(meta) : undefined;
    if (!method || !(stateless ? method.stateless : method.handshake)) {
      if (method && !stateless) throw envelopeMissing();
      throw new RpcError(
        ErrorCode.methodNotFound,
        `method not found: ${name}`,
      );
    }
    if (!stateless && !method.early && !this.caller) {
      throw new RpcError(ErrorCode.invalidRequest, "server not initialized");
    }
    if (!isObject(params)) throw badParams("params must be an object");
    if (meta !== undefined && !isObject(meta)) {
      throw badParams("_meta must be an object");
    }
    const caller = stateless ?? this.caller ?? UNKNOWN;
    const exchange = new Exchange({
      core: this.#core,
      peer: this,
      caller,
      id,
      method: name,
      params,
      meta: meta ?? {},
    }, outlet);
    return { exchange, method };
  }

  #start(method: Method, exchange: Exchange): void {
    let held = false;
    const entry: Entry = {
      exchange,
      release: () => {
        if (held) this.#slots.release();
        held = false;
      },
    };
    this.#inFlight.register(exchange.id, entry);
    const run = async () => {
      try {
        const result = await method.work!(exchange);
        this.#end(entry, () => answerLine(exchange, result, method.cache));
      } catch (error) {
        this.#end(entry, () => {
          const { logger } = this.#core;
          const known = toRpcError(error, exchange.method, logger);
          return errorLine(exchange.id, known);
        });
      } finally {
        entry.release();
      }
    };
    if (method.endless) return void run();
    const turn = this.#slots.take(exchange.signal);
    if (!turn) {
      held = true;
      return void run();
    }
    void turn.then((got) => {
      held = got;
      if (exchange.signal.aborted) entry.release();
      else void run();
    });
  }

  /** Answers a request in flight with what `line` gives, unless it has ended. */
  #end(entry: Entry, line: () => string): void {
    const { exchange } = entry;
    if (this.#inFlight.complete(exchange.id, entry)) exchange.answer(line());
  }

  #notification({ method, params }: NotificationMessage): void {
    if (method === "notifications/roots/list_changed" && this.caller) {
      this.#core.rootsChanged(this.connectionId);
    }
    if (method !== "notifications/cancelled" || !isObject(params)) return;
    const id = own(params, "requestId");
    if (isRequestId(id)) this.cancel(id, new Cancelled(own(params, "reason")));
  }
}

/** A client that has said nothing of itself yet. */
const UNKNOWN: Caller = {
  revision: "2025-11-25",
  stateless: false,
  client: { capabilities: {} },
  logLevel: undefined,
};
