/**
 * One connection: messages come in, and each request leaves with exactly one answer. It knows messages and lines, not
 * the transport that carries them.
 *
 * @module
 */
import { errorResult } from "./calls.ts";
import { CommandError } from "./command.ts";
import type { Core } from "./core.ts";
import {
  type Caller,
  envelopeMissing,
  isObject,
  own,
  statelessCaller,
  statelessResult,
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
import type { HandshakeRevision, JsonObject } from "./mcp.ts";
import { type Method, METHODS } from "./methods.ts";
import {
  type BatchMessage,
  ErrorCode,
  errorLine,
  idKey,
  isRequestId,
  type Message,
  notificationLine,
  type NotificationMessage,
  type RequestId,
  requestLine,
  type RequestMessage,
  type ResponseMessage,
  resultLine,
  RpcError,
} from "./rpc.ts";
import { notificationOf } from "./subscriptions.ts";

/** An answer may have this many bytes; current clients drop the connection at 10 MiB. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Milliseconds that calls are given to answer after they were aborted because the server stops. */
export const STOP_GRACE_MS = 250;

interface Entry {
  exchange: Exchange;
  outlet: Outlet;
  release(): void;
}

/** One connection. */
export class Connection implements Peer {
  readonly connectionId: string = crypto.randomUUID();
  readonly subscribed = new Set<string>();
  readonly listening = new Set<Exchange>();
  caller: (Caller & { revision: HandshakeRevision }) | undefined;
  readonly #core: Core;
  readonly #inFlight = new InFlight<Entry>();
  readonly #slots = new Slots(MAX_CONCURRENT);
  readonly #outgoing = new Map<
    string | number | bigint,
    PromiseWithResolvers<unknown>
  >();
  readonly #send: (line: string) => void;
  #lastId = 0;
  readonly #ended = Promise.withResolvers<void>();
  readonly #stopListening: () => void;
  #inputEnded = false;
  #onChange: (() => void)[] = [];

  /** `send` takes the lines that belong to no request of the peer's. */
  constructor(core: Core, send: (line: string) => void) {
    this.#core = core;
    this.#send = send;
    this.#stopListening = core.changes.listen((change) => {
      if (!this.caller) return;
      const told = notificationOf(change, this.subscribed);
      if (told) send(notificationLine(told.method, told.params));
    });
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
        return this.#response(message);
      case "invalid":
        return this.refuse(message.error, message.id, outlet);
      case "batch":
        return this.#batch(message, outlet);
    }
  }

  /** Answers what is no request. Without an id, the answer has the id that the revision in force asks for. */
  refuse(error: RpcError, id: RequestId | undefined, outlet: Outlet): void {
    const noId = this.caller?.revision === "2025-11-25" ? undefined : null;
    outlet.answer(errorLine(id ?? noId, error));
  }

  /** Undefined when another message may be taken; else resolves when fewer requests wait for their turn. */
  room(): Promise<void> | undefined {
    return this.#slots.waiting > MAX_WAITING ? this.#waitForRoom() : undefined;
  }

  request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (this.#inputEnded || signal.aborted) {
      return Promise.reject(
        new CommandError(`the client can no longer answer ${method}`),
      );
    }
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<unknown>();
    this.#outgoing.set(id, waiting);
    const onAbort = () => {
      if (!this.#outgoing.delete(id)) return;
      this.#send(
        notificationLine("notifications/cancelled", { requestId: id }),
      );
      waiting.reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    this.#send(requestLine(id, method, params));
    return waiting.promise.finally(() =>
      signal.removeEventListener("abort", onAbort)
    );
  }

  /**
   * The input has ended: waits for what is in flight, at most `drainMs` milliseconds. What is not done by then is
   * aborted, and is answered in any case.
   */
  async drain(drainMs: number): Promise<void> {
    this.#endInput();
    if (await this.#idleWithin(drainMs)) return;
    this.#abort(new Stopping());
    if (await this.#idleWithin(STOP_GRACE_MS)) return;
    for (const entry of this.#inFlight.values()) {
      this.#fail(
        entry,
        new RpcError(
          ErrorCode.internal,
          `not done within ${
            drainMs / 1000
          } s after the end of input: the server stops`,
        ),
      );
    }
  }

  /** The connection is gone: everything in flight is aborted, and nothing is answered. */
  stop(): void {
    this.#stopListening();
    for (const { exchange } of this.#inFlight.values()) {
      this.#cancel(exchange.id, new Stopping());
    }
    this.#endInput();
  }

  #endInput(): void {
    this.#inputEnded = true;
    this.#ended.resolve();
    for (const { reject } of this.#outgoing.values()) {
      reject(new CommandError("the client has closed the connection"));
    }
    this.#outgoing.clear();
  }

  #request(message: RequestMessage, outlet: Outlet): void {
    const { id, method: name } = message;
    if (this.#inFlight.has(id)) {
      return this.refuse(
        new RpcError(
          ErrorCode.invalidRequest,
          "invalid request: a request of this id is in flight",
        ),
        id,
        outlet,
      );
    }
    const { params: given } = message;
    // Clients ping often and wait for it; this is the same answer without the machinery.
    if (name === "ping" && given === undefined) {
      return outlet.answer(resultLine(id, {}));
    }
    try {
      const method = METHODS.get(name);
      const params = given ?? {};
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
        throw new RpcError(
          ErrorCode.invalidRequest,
          "server not initialized",
        );
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
        send: (notification, params) => {
          if (this.#inFlight.has(id)) {
            outlet.notify(notificationLine(notification, params));
          }
        },
      });
      if (method.work) this.#start(method, exchange, outlet);
      else this.#answer(exchange, method.answer!(exchange), method, outlet);
    } catch (error) {
      outlet.answer(errorLine(id, this.#rpcError(error, name)));
    }
  }

  #start(method: Method, exchange: Exchange, outlet: Outlet): void {
    let held = false;
    const entry: Entry = {
      exchange,
      outlet,
      release: () => {
        if (!held) return;
        held = false;
        this.#slots.release();
        this.#changed();
      },
    };
    this.#inFlight.register(exchange.id, entry);
    const turn = method.endless ? undefined : this.#slots.take(exchange.signal);
    const run = async () => {
      try {
        const result = await method.work!(exchange);
        if (this.#inFlight.complete(exchange.id, entry)) {
          this.#answer(exchange, result, method, outlet);
        }
      } catch (error) {
        this.#fail(entry, this.#rpcError(error, exchange.method));
      } finally {
        entry.release();
        this.#changed();
      }
    };
    if (!turn) {
      held = !method.endless;
      void run();
    } else {
      void turn.then((got) => {
        if (!got) return;
        held = true;
        if (exchange.signal.aborted) entry.release();
        else void run();
      });
    }
  }

  #fail(entry: Entry, error: RpcError): void {
    const { exchange, outlet } = entry;
    if (!this.#inFlight.complete(exchange.id, entry)) return;
    outlet.answer(errorLine(exchange.id, error));
    this.#changed();
  }

  #answer(
    exchange: Exchange,
    result: object,
    method: Method,
    outlet: Outlet,
  ): void {
    const { id, caller } = exchange;
    let line: string;
    try {
      line = this.#line(exchange, result, method);
      // No character takes more than three bytes a code unit, so that most lines need no counting.
      if (
        line.length * 3 > MAX_ANSWER_BYTES &&
        byteLength(line) > MAX_ANSWER_BYTES
      ) {
        const bytes = byteLength(line);
        const text =
          `the answer has ${bytes} bytes, more than the ${MAX_ANSWER_BYTES} that clients take; ask for less`;
        line = exchange.method === "tools/call"
          ? this.#line(exchange, errorResult(text), method)
          : errorLine(id, new RpcError(ErrorCode.internal, text));
      }
    } catch (error) {
      // A result that JSON cannot hold: a cycle, a BigInt, a depth beyond the stack.
      this.#core.logger.error("answer.failed", {
        method: exchange.method,
        revision: caller.revision,
        error: `${error}`,
      });
      line = errorLine(id, new RpcError(ErrorCode.internal, "internal error"));
    }
    outlet.answer(line);
  }

  #line(exchange: Exchange, result: object, method: Method): string {
    return resultLine(
      exchange.id,
      exchange.caller.stateless
        ? statelessResult(result as JsonObject, this.#core.info, method.cache)
        : result,
    );
  }

  /** Whatever a method threw, as the peer is told it; a fault of the code without its insides. */
  #rpcError(error: unknown, method: string): RpcError {
    if (error instanceof RpcError) return error;
    if (error instanceof CommandError) {
      return new RpcError(ErrorCode.internal, error.message);
    }
    this.#core.logger.error("method.failed", {
      method,
      error: error instanceof Error ? error.stack ?? `${error}` : `${error}`,
    });
    return new RpcError(ErrorCode.internal, "internal error");
  }

  #notification({ method, params }: NotificationMessage): void {
    if (method === "notifications/roots/list_changed" && this.caller) {
      this.#core.rootsChanged(this.connectionId);
    }
    if (method !== "notifications/cancelled" || !isObject(params)) return;
    const id = own(params, "requestId");
    if (isRequestId(id)) {
      this.#cancel(id, new Cancelled(own(params, "reason")));
    }
  }

  #cancel(id: RequestId, reason: DOMException): void {
    const entry = this.#inFlight.cancel(id);
    if (!entry) return;
    entry.exchange.abort(reason);
    // A handler that does not notice keeps no place.
    entry.release();
    entry.outlet.drop();
    this.#changed();
  }

  #abort(reason: DOMException): void {
    for (const entry of this.#inFlight.values()) {
      entry.exchange.abort(reason);
    }
  }

  #response({ id, result, error }: ResponseMessage): void {
    if (id === undefined) return;
    const key = idKey(id);
    const waiting = this.#outgoing.get(key);
    if (!waiting) return;
    this.#outgoing.delete(key);
    if (error === undefined) return waiting.resolve(result);
    const known = isObject(error) ? error : {};
    waiting.reject(
      new RpcError(
        Number(own(known, "code")) || ErrorCode.internal,
        String(own(known, "message") ?? "the client refused"),
      ),
    );
  }

  /** 2025-03-26, Base Protocol, "Batching": the answers leave as one array, when the last of them is there. */
  #batch({ messages }: BatchMessage, outlet: Outlet): void {
    if (this.caller?.revision !== "2025-03-26") {
      return this.refuse(
        new RpcError(
          ErrorCode.invalidRequest,
          "invalid request: JSON-RPC batches are no longer part of MCP; send each message on a line of its own",
        ),
        undefined,
        outlet,
      );
    }
    if (messages.length === 0) {
      return this.refuse(
        new RpcError(
          ErrorCode.invalidRequest,
          "invalid request: the batch is empty",
        ),
        undefined,
        outlet,
      );
    }
    const lines: string[] = [];
    let bytes = 2;
    let open = messages.length;
    const close = () => {
      if (--open > 0) return;
      if (lines.length > 0) outlet.answer(`[${lines.join(",")}]`);
      else outlet.drop();
    };
    for (const message of messages) {
      if (message.kind === "notification" || message.kind === "response") {
        this.receive(message, outlet);
        close();
        continue;
      }
      const part: Outlet = {
        answer: (line) => {
          bytes += byteLength(line) + 1;
          if (bytes > MAX_ANSWER_BYTES && message.id !== undefined) {
            line = errorLine(
              message.id,
              new RpcError(
                ErrorCode.internal,
                "the answers of this batch have more bytes than clients take; send the requests one by one",
              ),
            );
          }
          lines.push(line);
          close();
        },
        notify: (line) => outlet.notify(line),
        drop: close,
      };
      if (message.kind === "request" && message.method === "initialize") {
        this.refuse(
          new RpcError(
            ErrorCode.invalidRequest,
            "invalid request: initialize cannot be part of a batch",
          ),
          message.id,
          part,
        );
      } else {
        this.receive(message, part);
      }
    }
  }

  async #waitForRoom(): Promise<void> {
    while (this.#slots.waiting > MAX_WAITING) await this.#change();
  }

  async #idleWithin(ms: number): Promise<boolean> {
    if (this.#inFlight.size === 0) return true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    let over = false;
    void late.then(() => over = true);
    while (this.#inFlight.size > 0 && !over) {
      await Promise.race([this.#change(), late]);
    }
    clearTimeout(timer);
    return this.#inFlight.size === 0;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #changed(): void {
    const waiting = this.#onChange;
    if (waiting.length === 0) return;
    this.#onChange = [];
    for (const resolve of waiting) resolve();
  }
}

/** A client that has said nothing of itself yet. */
const UNKNOWN: Caller = {
  revision: "2025-11-25",
  stateless: false,
  client: { capabilities: {} },
  logLevel: undefined,
};

const encoder = new TextEncoder();

/** The length in UTF-8. */
function byteLength(line: string): number {
  return encoder.encode(line).length;
}
