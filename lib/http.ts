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

/** Milliseconds that open responses have to end after the server was told to stop. */
export const CLOSE_WITHIN_MS = 2_000;

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
  /** Takes no more requests, waits at most `drainMs` milliseconds for those in flight, and ends. */
  close(drainMs: number): Promise<void>;
}

/** Listens, and serves `server` until it is closed. */
export function serveHttp(
  server: McpServer,
  options: HttpOptions,
): HttpServer {
  const handler = new HttpHandler(server, options);
  const stopCatching = catchStray(options.logger);
  const hostname = options.hostname ?? "127.0.0.1";
  const listener = Deno.serve({
    hostname,
    port: options.port,
    onListen() {},
    onError(error) {
      options.logger?.error("http.failed", { error: `${error}` });
      return plain(500, "internal error");
    },
  }, (request) => handler.handle(request));
  const { port } = listener.addr;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: `http://${host}:${port}${ENDPOINT}`,
    finished: listener.finished,
    async close(drainMs) {
      await handler.close(drainMs);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_WITHIN_MS);
      });
      await Promise.race([listener.shutdown(), late]);
      clearTimeout(timer);
      stopCatching();
    },
  };
}
