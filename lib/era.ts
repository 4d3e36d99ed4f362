/**
 * Under which revision a request is served, decided for each message by itself: one whose `_meta` names a revision is
 * served by that alone (2026-07-28, "Request envelope"), any other by what `initialize` agreed on.
 *
 * @module
 */
import type { Client } from "./command.ts";
import { negotiated } from "./handshake.ts";
import {
  type HandshakeRevision,
  type Implementation,
  type JsonObject,
  LOG_LEVELS,
  type McpLogLevel,
  META,
  type Revision,
  STATELESS_REVISIONS,
} from "./mcp.ts";
import { ErrorCode, RpcError } from "./rpc.ts";

/** Who makes a request, and under which revision. */
export interface Caller {
  /** The revision whose rules the request follows. */
  revision: Revision;
  /** Whether the request stands for itself: nothing is inferred from others on the same connection. */
  stateless: boolean;
  /** What the client says of itself. */
  client: Client;
  /** The least severe log messages that the caller wants; undefined when it wants none. */
  logLevel: McpLogLevel | undefined;
}

/**
 * The caller of a request that carries an envelope; undefined for a request without one.
 *
 * @throws {RpcError} -32602 for an incomplete envelope, -32022 for a revision that is not spoken.
 */
export function statelessCaller(meta: JsonObject): Caller | undefined {
  const revision = own(meta, META.protocolVersion);
  const capabilities = own(meta, META.clientCapabilities);
  const info = own(meta, META.clientInfo);
  if (revision === undefined) {
    if (capabilities === undefined && info === undefined) return undefined;
    throw missing(META.protocolVersion, "a string");
  }
  if (typeof revision !== "string") {
    throw missing(META.protocolVersion, "a string");
  }
  if (!includes(STATELESS_REVISIONS, revision)) {
    throw new RpcError(
      ErrorCode.unsupportedVersion,
      `unsupported protocol version: ${revision}`,
      { supported: [...STATELESS_REVISIONS], requested: revision },
    );
  }
  if (!isObject(capabilities)) {
    throw missing(META.clientCapabilities, "an object");
  }
  const level = own(meta, META.logLevel);
  return {
    revision,
    stateless: true,
    client: { ...implementation(info), revision, capabilities },
    logLevel: isLogLevel(level) ? level : undefined,
  };
}

/** The error for a request that needs an envelope and has none. */
export function envelopeMissing(): RpcError {
  return missing(META.protocolVersion, "a string");
}

/**
 * The caller that `initialize` describes. A revision that is not spoken is answered with the newest one, never with an
 * error (every handshake revision, Lifecycle, "Version Negotiation").
 *
 * @throws {RpcError} -32602 without `protocolVersion`.
 */
export function handshakeCaller(
  params: JsonObject,
): Caller & { revision: HandshakeRevision } {
  const wanted = own(params, "protocolVersion");
  if (typeof wanted !== "string") {
    throw new RpcError(
      ErrorCode.invalidParams,
      "invalid params: protocolVersion must be a string",
    );
  }
  const revision = negotiated(wanted);
  const capabilities = own(params, "capabilities");
  return {
    revision,
    stateless: false,
    client: {
      ...implementation(own(params, "clientInfo")),
      revision,
      capabilities: isObject(capabilities) ? capabilities : {},
    },
    logLevel: DEFAULT_LOG_LEVEL,
  };
}

/** What a handshake client is sent until it asks for another level by `logging/setLevel`. */
export const DEFAULT_LOG_LEVEL: McpLogLevel = "info";

/** Whether `value` is a level of `logging/setLevel`. */
export function isLogLevel(value: unknown): value is McpLogLevel {
  return typeof value === "string" && includes(LOG_LEVELS, value);
}

/** Whether messages of `level` are for a caller that wants `least` and what is more severe. */
export function isLogged(
  level: McpLogLevel,
  least: McpLogLevel | undefined,
): boolean {
  return least !== undefined &&
    LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

/** How long, in milliseconds, a result may be kept, and by whom (2026-07-28, "Caching"). */
export interface CacheHints {
  /** Milliseconds. */
  ttlMs: number;
  /** `public` when the result is the same for everybody. */
  cacheScope: "public" | "private";
}

/** A result in the shape of 2026-07-28. */
export function statelessResult(
  result: JsonObject,
  server: Implementation,
  cache: CacheHints | undefined,
): JsonObject {
  const { _meta, ...rest } = result;
  const complete = own(result, "resultType") === undefined ||
    result.resultType === "complete";
  return {
    resultType: "complete",
    ...rest,
    ...(complete ? cache : undefined),
    _meta: {
      ...(isObject(_meta) ? _meta : {}),
      [META.serverInfo]: server,
    },
  };
}

/** Whether `value` is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The member that a peer's object has of its own. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function missing(key: string, what: string): RpcError {
  return new RpcError(
    ErrorCode.invalidParams,
    `invalid params: _meta["${key}"] must be ${what}`,
  );
}

function implementation(value: unknown): Partial<Implementation> {
  if (!isObject(value)) return {};
  const known: Partial<Implementation> = {};
  for (const key of ["name", "version", "title"] as const) {
    const text = own(value, key);
    if (typeof text === "string") known[key] = text;
  }
  return known;
}

function includes<T extends string>(
  list: readonly T[],
  value: string,
): value is T {
  return (list as readonly string[]).includes(value);
}
