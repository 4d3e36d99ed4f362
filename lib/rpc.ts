/**
 * JSON-RPC 2.0 messages: what a line may be, and what may be answered.
 *
 * @module
 */
import { members } from "./json_text.ts";

/** A request id: a string, or an integer. An integer beyond 2^53 is kept as {@linkcode BigId}. */
export type RequestId = string | number | BigId;

/** An integer id that a JavaScript number cannot hold: its digits as they came. */
export class BigId {
  /** The digits, with a sign before them if any. */
  readonly digits: string;
  /** `digits` is the id's source text. */
  constructor(digits: string) {
    this.digits = digits;
  }
  /** The id written back into JSON digit for digit. */
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(
      this.digits,
    );
  }
}

/** Error codes of JSON-RPC 2.0 (section 5.1) and of MCP, each with the revision that defines it. */
export const ErrorCode = {
  /** JSON-RPC 2.0: the line is not JSON. */
  parse: -32700,
  /** JSON-RPC 2.0: the JSON is not a request. */
  invalidRequest: -32600,
  /** JSON-RPC 2.0: no such method. */
  methodNotFound: -32601,
  /** JSON-RPC 2.0: `params` of the wrong shape; 2026-07-28 also unknown tools and resources. */
  invalidParams: -32602,
  /** JSON-RPC 2.0: a fault of the server. */
  internal: -32603,
  /** Handshake revisions: no tool of that name. */
  toolNotFound: -32000,
  /** Handshake revisions: no resource at that URI. */
  resourceNotFound: -32002,
  /** 2026-07-28 (HTTP): a header and the body disagree. */
  headerMismatch: -32020,
  /** 2026-07-28: the request needs a client capability that was not declared. */
  missingClientCapability: -32021,
  /** 2026-07-28: the revision asked for is not spoken. */
  unsupportedVersion: -32022,
} as const;

/** A failure that the peer is told as a JSON-RPC error object. */
export class RpcError extends Error {
  /** One of {@linkcode ErrorCode}, or a code of the program's own. */
  readonly code: number;
  /** What programs may read beside the message; undefined for none. */
  readonly data: unknown;
  /** `message` is shown to people and models. */
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/** A call that wants an answer. `params` is as it came; methods check its shape. */
export interface RequestMessage {
  /** The discriminant. */
  kind: "request";
  /** Comes back with the answer. */
  id: RequestId;
  /** The method's name. */
  method: string;
  /** As they came. */
  params: unknown;
}

/** A call that wants none, and gets none. */
export interface NotificationMessage {
  /** The discriminant. */
  kind: "notification";
  /** The method's name. */
  method: string;
  /** As they came. */
  params: unknown;
}

/** The peer's answer to a request of ours: a result, or an error object. */
export interface ResponseMessage {
  /** The discriminant. */
  kind: "response";
  /** Absent when the peer could not tell which request it answers. */
  id: RequestId | undefined;
  /** What was asked for; undefined beside an error. */
  result: unknown;
  /** The error object, as it came. */
  error: unknown;
}

/** What is not a message, with the error to answer, and the id where one could be read. */
export interface InvalidMessage {
  /** The discriminant. */
  kind: "invalid";
  /** The id to answer to; undefined when none could be read. */
  id: RequestId | undefined;
  /** What is wrong. */
  error: RpcError;
}

/** A JSON array of messages. */
export interface BatchMessage {
  /** The discriminant. */
  kind: "batch";
  /** The elements, in order; none when the array is empty. */
  messages: SingleMessage[];
}

/** Anything but a batch. */
export type SingleMessage =
  | RequestMessage
  | NotificationMessage
  | ResponseMessage
  | InvalidMessage;

/** What one line holds. */
export type Message = SingleMessage | BatchMessage;

/**
 * Reads one line. Never throws: what is not a message comes back as {@linkcode InvalidMessage}.
 *
 * @example
 * ```ts
 * import { parse } from "./rpc.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parse('{"jsonrpc":"2.0","id":1,"method":"ping"}'), {
 *   kind: "request",
 *   id: 1,
 *   method: "ping",
 *   params: undefined,
 * });
 * ```
 */
export function parse(line: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return invalid(
      undefined,
      ErrorCode.parse,
      /^content-length\s*:|content-length\s*:\s*\d+\s*$/i.test(line)
        ? "parse error: Content-Length framing is not spoken here; send each message as one line of JSON that ends with a newline"
        : `parse error: ${(error as Error).message}`,
    );
  }
  if (!Array.isArray(value)) return classify(value, line);
  const raw = lazy(() => [...members(line)]);
  return {
    kind: "batch",
    messages: value.map((item, index) =>
      classify(item, () => raw()[index]?.raw ?? "")
    ),
  };
}

/**
 * The id of a request of which only the two ends are known, where one of them shows it: a top-level member within
 * the head, or the last member of the whole. Undefined also for an answer, whose id is ours and not the peer's.
 */
export function idFromEnds(head: string, tail: string): RequestId | undefined {
  let id: RequestId | undefined;
  for (const { key, raw } of members(head)) {
    if (key === "result" || key === "error") return undefined;
    if (key === "id") id = readId(raw);
  }
  if (id !== undefined) return id;
  // A brace that ends the line closes the outermost object, so the member before it is a top-level one.
  const last = /(?<!\\)"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*\}\s*$/.exec(
    tail,
  );
  return last ? readId(last[1]!) : undefined;
}

/** Equal for equal ids and different for different ones, the string `"1"` and the number `1` included. */
export function idKey(id: RequestId): string | number | bigint {
  return id instanceof BigId ? BigInt(id.digits) : id;
}

/** Whether `value` may be an id or a progress token. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value) ||
    value instanceof BigId;
}

/** The line that answers request `id` with `result`. */
export function resultLine(id: RequestId, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${encodeId(id)},"result":${
    JSON.stringify(result)
  }}`;
}

/** The line that answers request `id` with an error. An id of `null` is written, an undefined one left out. */
export function errorLine(
  id: RequestId | null | undefined,
  error: RpcError,
): string {
  const body = JSON.stringify({
    code: error.code,
    message: error.message,
    ...(error.data === undefined ? {} : { data: error.data }),
  });
  const member = id === undefined
    ? ""
    : `"id":${id === null ? "null" : encodeId(id)},`;
  return `{"jsonrpc":"2.0",${member}"error":${body}}`;
}

/** The line of a notification. */
export function notificationLine(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** The line of a request of ours. */
export function requestLine(
  id: RequestId,
  method: string,
  params: unknown,
): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

function encodeId(id: RequestId): string {
  return typeof id === "number"
    ? String(id)
    : typeof id === "string"
    ? JSON.stringify(id)
    : id.digits;
}

type JsonRecord = Record<string, unknown>;

function classify(
  value: unknown,
  source: string | (() => string),
): SingleMessage {
  if (!isRecord(value)) {
    return invalid(
      undefined,
      ErrorCode.invalidRequest,
      "invalid request: a message is a JSON object",
    );
  }
  const message = value;
  const hasId = Object.hasOwn(message, "id");
  const id = hasId ? exactId(message.id, source, ["id"]) : undefined;
  const method = own(message, "method");
  if (
    method === undefined &&
    (Object.hasOwn(message, "result") || Object.hasOwn(message, "error"))
  ) {
    return {
      kind: "response",
      id,
      result: own(message, "result"),
      error: own(message, "error"),
    };
  }
  // Without an id nobody waits for an answer, whatever else is wrong.
  if (!hasId && typeof method === "string") {
    return {
      kind: "notification",
      method,
      params: exactParams(message, source),
    };
  }
  if (hasId && id === undefined) {
    return invalid(
      undefined,
      ErrorCode.invalidRequest,
      "invalid request: id must be a string or an integer",
    );
  }
  if (own(message, "jsonrpc") !== "2.0") {
    return invalid(
      id,
      ErrorCode.invalidRequest,
      'invalid request: jsonrpc must be "2.0"',
    );
  }
  if (id === undefined || typeof method !== "string") {
    return invalid(
      id,
      ErrorCode.invalidRequest,
      "invalid request: method must be a string",
    );
  }
  return { kind: "request", id, method, params: exactParams(message, source) };
}

function invalid(
  id: RequestId | undefined,
  code: number,
  message: string,
): InvalidMessage {
  return { kind: "invalid", id, error: new RpcError(code, message) };
}

/** `params`, with the two ids that it may hold exact. */
function exactParams(
  message: JsonRecord,
  source: string | (() => string),
): unknown {
  const params = own(message, "params");
  if (!isRecord(params)) return params ?? undefined;
  const requestId = own(params, "requestId");
  if (isInexact(requestId)) {
    params.requestId = exactId(requestId, source, ["params", "requestId"]);
  }
  const meta = own(params, "_meta");
  if (isRecord(meta)) {
    const token = own(meta, "progressToken");
    if (isInexact(token)) {
      meta.progressToken = exactId(token, source, [
        "params",
        "_meta",
        "progressToken",
      ]);
    }
  }
  return params;
}

function isInexact(value: unknown): boolean {
  return typeof value === "number" && !Number.isSafeInteger(value);
}

/** The id at `path`, from the source text where a number could not hold it. */
function exactId(
  value: unknown,
  source: string | (() => string),
  path: readonly string[],
): RequestId | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "number") return undefined;
  if (Number.isSafeInteger(value)) return value;
  let raw = typeof source === "string" ? source : source();
  for (const step of path) {
    // As in JSON.parse, the last of several members of one name counts.
    raw = [...members(raw)].findLast(({ key }) => key === step)?.raw ?? "";
  }
  return readId(raw);
}

/** An id from its own source text. */
function readId(raw: string): RequestId | undefined {
  const text = raw.trim();
  if (text.startsWith('"')) {
    try {
      return JSON.parse(text) as string;
    } catch {
      return undefined;
    }
  }
  if (!/^-?\d+$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : new BigId(text);
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
