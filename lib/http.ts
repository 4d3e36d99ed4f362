/**
 * The Streamable HTTP transport: a listener for {@linkcode HttpHandler}.
 *
 * @module
 */
import { type GuardOptions, plain } from "./http_guard.ts";
import { ENDPOINT, HttpHandler } from "./http_handler.ts";
import type { Logger } from "./log.ts";
import type { McpServer } from "./server.ts";
import { catchStray } from "./stray.ts";

/** Milliseconds that clients have at most to take the last bytes of what was answered. */
export const CLOSE_WITHIN_MS = 2_000;

/** Milliseconds that they have however little time there was to answer. */
export const LAST_BYTES_MS = 150;

/** How HTTP is served. */
export interface HttpOptions extends GuardOptions {
  /** Default 127.0.0.1. */
  hostname?: string;
  /** 0 takes a free one. */
  port: number;
  /** The operator's log. */
  logger?: Logger;
}

/** A running HTTP server. */
export interface HttpServer {
  /** The endpoint's address. */
  url: string;
  /** Resolves when the server has ended. */
  finished: Promise<void>;
  /**
   * Takes no more requests, waits at most `drainMs` milliseconds for those in flight, gives clients as long again
   * (within {@linkcode LAST_BYTES_MS} and {@linkcode CLOSE_WITHIN_MS}) to take the answers, and closes all connections.
   */
  close(drainMs: number): Promise<void>;
}

/**
 * Listens, and serves `server` until it is closed.
 *
 * @example
 * ```ts
 * import { serveHttp } from "./http.ts";
 * import { McpServer } from "./server.ts";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const server = new McpServer({ name: "example", version: "1.0.0" });
 * const http = serveHttp(server, { port: 0, token: "a-long-random-secret" });
 * const response = await fetch(http.url, {
 *   method: "POST",
 *   headers: {
 *     Authorization: "Bearer a-long-random-secret",
 *     "Content-Type": "application/json",
 *     Accept: "application/json, text/event-stream",
 *   },
 *   body: JSON.stringify({
 *     jsonrpc: "2.0",
 *     id: 1,
 *     method: "initialize",
 *     params: {
 *       protocolVersion: "2025-11-25",
 *       capabilities: {},
 *       clientInfo: { name: "example", version: "1.0.0" },
 *     },
 *   }),
 * });
 * assertStringIncludes(await response.text(), '"name":"example"');
 * await http.close(0);
 * ```
 */
export function serveHttp(
  server: McpServer,
  options: HttpOptions,
): HttpServer {
  const handler = new HttpHandler(server, options);
  const stopCatching = catchStray(options.logger);
  const ended = new AbortController();
  const open = new Set<Promise<void>>();
  const hostname = options.hostname ?? "127.0.0.1";
  const listener = Deno.serve({
    hostname,
    port: options.port,
    signal: ended.signal,
    onListen() {},
    onError(error) {
      options.logger?.error("http.failed", { error: `${error}` });
      return plain(500, "internal error");
    },
  }, (request, { completed }) => {
    const sent = completed.catch(() => {}).finally(() => open.delete(sent));
    open.add(sent);
    return handler.handle(request);
  });
  const { port } = listener.addr;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: `http://${host}:${port}${ENDPOINT}`,
    finished: listener.finished,
    async close(drainMs) {
      await handler.close(drainMs);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(
        resolve,
        Math.min(Math.max(LAST_BYTES_MS, drainMs), CLOSE_WITHIN_MS),
      );
      await Promise.race([late, Promise.all(open)]);
      clearTimeout(timer);
      // Not `shutdown()`: it waits for every connection that has sent half a request.
      ended.abort();
      await listener.finished;
      stopCatching();
    },
  };
}
