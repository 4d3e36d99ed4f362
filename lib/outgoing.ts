/**
 * Requests to the client, and the answers that come for them (handshake revisions).
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { isObject, own } from "./era.ts";
import type { JsonObject } from "./mcp.ts";
import {
  ErrorCode,
  idKey,
  notificationLine,
  requestLine,
  type ResponseMessage,
  RpcError,
} from "./rpc.ts";

/** The requests to one client that wait for their answers. */
export class Outgoing {
  readonly #waiting = new Map<
    string | number | bigint,
    PromiseWithResolvers<unknown>
  >();
  #lastId = 0;
  #closed = false;

  /**
   * Sends a request by `send`, and resolves with its result.
   *
   * @throws {RpcError} when the client refuses.
   * @throws {CommandError} when the client can no longer answer.
   * @throws the reason of `signal` when that is aborted first; the request is then withdrawn.
   */
  request(
    send: (line: string) => void,
    call: { method: string; params: JsonObject; signal: AbortSignal },
  ): Promise<unknown> {
    const { method, params, signal } = call;
    if (this.#closed || signal.aborted) {
      return Promise.reject(
        new CommandError(`the client can no longer answer ${method}`),
      );
    }
    const id = ++this.#lastId;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    const withdraw = () => {
      if (!this.#waiting.delete(id)) return;
      send(notificationLine("notifications/cancelled", { requestId: id }));
      waiting.reject(signal.reason);
    };
    signal.addEventListener("abort", withdraw, { once: true });
    send(requestLine(id, method, params));
    return waiting.promise.finally(() =>
      signal.removeEventListener("abort", withdraw)
    );
  }

  /** Takes an answer. One that nobody waits for is dropped. */
  settle({ id, result, error }: ResponseMessage): void {
    if (id === undefined) return;
    const key = idKey(id);
    const waiting = this.#waiting.get(key);
    if (!waiting) return;
    this.#waiting.delete(key);
    if (error === undefined) return waiting.resolve(result);
    const known = isObject(error) ? error : {};
    waiting.reject(
      new RpcError(
        Number(own(known, "code")) || ErrorCode.internal,
        String(own(known, "message") ?? "the client refused"),
      ),
    );
  }

  /** No answer will come any more. */
  close(): void {
    this.#closed = true;
    for (const { reject } of this.#waiting.values()) {
      reject(new CommandError("the client has closed the connection"));
    }
    this.#waiting.clear();
  }
}
