/**
 * JSON-RPC 2.0 messages: what a line may be, and what may be answered.
 *
 * @module
 */

/** A request id: a string, or an integer. An integer beyond 2^53 is kept as {@linkcode BigId}. */
export type RequestId = string | number | BigId;

/** An integer id that a JavaScript number cannot hold: its digits as they came. */
export class BigId {
  readonly digits: string;
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
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}
