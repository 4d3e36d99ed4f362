/**
 * Arrays of messages, which 2025-03-26 alone has (Base Protocol, "Batching").
 *
 * @module
 */
import { byteLength, MAX_ANSWER_BYTES } from "./answers.ts";
import type { Outlet } from "./exchange.ts";
import { ErrorCode, errorLine, RpcError, type SingleMessage } from "./rpc.ts";

/** Why an array cannot be served; undefined when it can. `revision` is what `initialize` agreed on. */
export function batchRefusal(
  messages: readonly SingleMessage[],
  revision: string | undefined,
): RpcError | undefined {
  return revision !== "2025-03-26"
    ? new RpcError(
      ErrorCode.invalidRequest,
      "invalid request: JSON-RPC batches are no longer part of MCP; send each message on a line of its own",
    )
    : messages.length === 0
    ? new RpcError(
      ErrorCode.invalidRequest,
      "invalid request: the batch is empty",
    )
    : undefined;
}

/** Each message with the outlet for its answer. The answers leave as one array, when the last of them is there. */
export function batchParts(
  messages: readonly SingleMessage[],
  outlet: Outlet,
): { message: SingleMessage; outlet: Outlet }[] {
  const lines: string[] = [];
  let bytes = 2;
  let open = messages.filter(isAnswered).length;
  const close = () => {
    if (--open > 0) return;
    if (lines.length > 0) outlet.answer(`[${lines.join(",")}]`);
    else outlet.drop();
  };
  if (open === 0) outlet.drop();
  return messages.map((message) => ({
    message: withoutInitialize(message),
    outlet: {
      answer(line) {
        bytes += byteLength(line) + 1;
        lines.push(
          bytes > MAX_ANSWER_BYTES && "id" in message &&
            message.id !== undefined
            ? errorLine(message.id, tooLarge())
            : line,
        );
        close();
      },
      notify: (line) => outlet.notify(line),
      drop: close,
    },
  }));
}

/** Made when needed: making an error costs milliseconds, for its stack, which start-up need not spend. */
function tooLarge(): RpcError {
  return new RpcError(
    ErrorCode.internal,
    "the answers of this batch have more bytes than clients take; send the requests one by one",
  );
}

function isAnswered({ kind }: SingleMessage): boolean {
  return kind === "request" || kind === "invalid";
}

function withoutInitialize(message: SingleMessage): SingleMessage {
  return message.kind === "request" && message.method === "initialize"
    ? {
      kind: "invalid",
      id: message.id,
      error: new RpcError(
        ErrorCode.invalidRequest,
        "invalid request: initialize cannot be part of a batch",
      ),
    }
    : message;
}
