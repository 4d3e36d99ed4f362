/**
 * HTTP requests of both eras at one endpoint, without a listener. A request that carries its envelope (2026-07-28) is a
 * connection of its own; the handshake revisions have sessions. What the messages mean is none of its business.
 *
 * @module
 */
import { batchRefusal } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { isObject, own, statelessCaller } from "./era.ts";
import { Cancelled, type Outlet } from "./exchange.ts";
import { checkHeaders } from "./http_headers.ts";
import {
  type GuardOptions,
  plain,
  readBody,
  refuseForeign,
  refuseStranger,
} from "./http_guard.ts";
import { jsonResponse, Reply, statusOf } from "./http_reply.ts";
import { type HttpSession, HttpSessions } from "./http_sessions.ts";
import type { Logger } from "./log.ts";
import { HANDSHAKE_REVISIONS, META, STATELESS_REVISIONS } from "./mcp.ts";
import {
  errorLine,
  type Message,
  parse,
  type RequestMessage,
  RpcError,
} from "./rpc.ts";
import type { McpServer } from "./server.ts";
import { EventStream, SSE_HEADERS } from "./sse.ts";

/** The path of the endpoint. */
export const ENDPOINT = "/mcp";

/** Stateless requests that are served at once, listening ones included. */
export const MAX_STATELESS = 4096;

/** Answers HTTP requests for one server, without a listener of its own. */
export class HttpHandler {
  readonly #server: McpServer;
  readonly #guard: GuardOptions;
  readonly #sessions: HttpSessions;
  readonly #stateless = new Set<Connection>();
  readonly #logger: Logger | undefined;
  #closing = false;

  /** Makes a handler without sessions. */
  constructor(
    server: McpServer,
    options: GuardOptions & { logger?: Logger },
  ) {
    this.#server = server;
    this.#guard = options;
    this.#logger = options.logger?.enabled("debug")
      ? options.logger
      : undefined;
    this.#sessions = new HttpSessions(server);
  }

  /** Answers one request. */
  async handle(request: Request): Promise<Response> {
    const foreign = refuseForeign(request, this.#guard);
    if (foreign) return foreign;
    if (new URL(request.url).pathname !== ENDPOINT) {
      return plain(404, `the endpoint is ${ENDPOINT}`);
    }
    const stranger = await refuseStranger(request, this.#guard);
    if (stranger) return stranger;
    if (this.#closing) return plain(503, "the server stops");
    switch (request.method) {
      case "POST":
        return await this.#post(request);
      case "GET":
        return this.#get(request);
      case "DELETE":
        return this.#delete(request);
      default:
        return notAllowed();
    }
  }

  /** Ends all connections; requests in flight have at most `drainMs` milliseconds. */
  async close(drainMs: number): Promise<void> {
    this.#closing = true;
    const sessions = this.#sessions.values();
    const connections = [
      ...this.#stateless,
      ...sessions.map(({ connection }) => connection),
    ];
    await Promise.all(
      connections.map((connection) => connection.drain(drainMs)),
    );
    for (const session of sessions) this.#sessions.end(session);
  }

  async #post(request: Request): Promise<Response> {
    if (!accepts(request, "application/json", "text/event-stream")) {
      return plain(
        406,
        "the client must accept application/json and text/event-stream",
      );
    }
    const body = await readBody(request);
    if (body instanceof Response) return body;
    this.#logger?.debug("rpc.received", { message: body });
    const message = parse(body);
    return isStateless(request, message)
      ? await this.#postStateless(request, message)
      : await this.#postToSession(request, message);
  }

  async #postStateless(
    request: Request,
    message: Message,
  ): Promise<Response> {
    // 2026-07-28 has no notification that a client sends over HTTP, and no answers.
    if (message.kind === "notification" || message.kind === "response") {
      return accepted();
    }
    if (message.kind !== "request") {
      const error = message.kind === "invalid"
        ? message.error
        : batchRefusal(message.messages, undefined)!;
      const id = message.kind === "invalid" ? message.id : undefined;
      return jsonResponse(errorLine(id, error), 400);
    }
    const refused = this.#refuseEnvelope(request, message);
    if (refused) return refused;
    if (this.#stateless.size >= MAX_STATELESS) {
      return plain(503, "too many requests at once", { "Retry-After": "1" });
    }
    const connection = this.#server.connect(() => {}, clientId(message));
    this.#stateless.add(connection);
    // Deno's `request.signal` also fires after a response that was delivered; the stream tells the truth.
    const gone = () => {
      if (reply.isEnded) return;
      connection.cancel(message.id, new Cancelled("the client disconnected"));
    };
    const reply = new Reply(new EventStream({ onGone: gone }), {
      status: statusOf,
    });
    const ended = () => {
      this.#stateless.delete(connection);
      connection.stop();
    };
    connection.receive(message, this.#logged(reply, ended));
    return await reply.response;
  }

  #refuseEnvelope(
    request: Request,
    { id, method, params }: RequestMessage,
  ): Response | undefined {
    const given = isObject(params) ? params : {};
    const meta = own(given, "_meta");
    const known = isObject(meta) ? meta : {};
    const name = own(given, "name");
    const schema = method === "tools/call" && typeof name === "string"
      ? this.#server.inputSchema(name)
      : undefined;
    try {
      const revision = own(known, META.protocolVersion);
      // Without one, the envelope is at fault, not the header.
      if (revision !== undefined) {
        checkHeaders(
          request.headers,
          { method, params: given, revision },
          schema,
        );
      }
      statelessCaller({
        [META.protocolVersion]: undefined,
        [META.clientInfo]: {},
        ...known,
      });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return jsonResponse(errorLine(id, error), 400);
    }
    return undefined;
  }

  async #postToSession(request: Request, message: Message): Promise<Response> {
    const version = request.headers.get("mcp-protocol-version");
    if (version !== null && !HANDSHAKE_REVISIONS.some((r) => r === version)) {
      return plain(400, `the protocol version "${version}" is not spoken here`);
    }
    const opens = message.kind === "request" && message.method === "initialize";
    const id = request.headers.get("mcp-session-id");
    if (id === null && !opens) {
      // What is no message has no session either; the answer says what is wrong with it.
      if (message.kind === "invalid") {
        return jsonResponse(errorLine(message.id ?? null, message.error), 400);
      }
      return plain(
        400,
        "the header Mcp-Session-Id is missing: send initialize",
      );
    }
    const session = opens ? this.#sessions.make() : this.#sessions.use(id!);
    if (!session) {
      return plain(404, "there is no such session: send initialize");
    }
    const headers: Record<string, string> = opens
      ? { "Mcp-Session-Id": session.id }
      : {};
    const { connection } = session;
    if (
      message.kind === "notification" || message.kind === "response" ||
      (message.kind === "batch" &&
        message.messages.length > 0 &&
        message.messages.every(({ kind }) =>
          kind === "notification" || kind === "response"
        ))
    ) {
      connection.receive(message, SILENT);
      return accepted();
    }
    // The work goes on when the client is gone: it may come back for the rest.
    const reply = new Reply(session.newStream(), {
      headers,
      // An error of a request is an answer like any other; 404 would mean that the session is gone.
      status: () => message.kind === "invalid" ? 400 : 200,
    });
    await connection.room();
    connection.receive(message, this.#logged(reply));
    if (opens) {
      if (connection.caller) this.#sessions.add(session);
      else session.end();
    }
    return await reply.response;
  }

  #get(request: Request): Response {
    const session = this.#sessionOf(request);
    if (session instanceof Response) return session;
    if (!accepts(request, "text/event-stream")) {
      return plain(406, "the client must accept text/event-stream");
    }
    const last = request.headers.get("last-event-id");
    const stream = last === null ? session.own.read() : session.resume(last);
    // Not 404, which would tell the client that the session is gone.
    if (!stream) return plain(400, "no such stream is kept: call again");
    return new Response(stream, { headers: SSE_HEADERS });
  }

  #delete(request: Request): Response {
    const session = this.#sessionOf(request);
    if (session instanceof Response) return session;
    this.#sessions.end(session);
    return new Response(null, { status: 204 });
  }

  /** The outlet itself, with its lines in the log; `onEnd` is called when it is done with. */
  #logged(outlet: Outlet, onEnd: () => void = () => {}): Outlet {
    const log = (line: string) =>
      this.#logger?.debug("rpc.sent", { message: line });
    return {
      answer(line) {
        log(line);
        outlet.answer(line);
        onEnd();
      },
      notify(line) {
        log(line);
        outlet.notify(line);
      },
      drop() {
        outlet.drop();
        onEnd();
      },
    };
  }

  #sessionOf(request: Request): HttpSession | Response {
    const id = request.headers.get("mcp-session-id");
    const version = request.headers.get("mcp-protocol-version");
    if (id === null || STATELESS_REVISIONS.some((r) => r === version)) {
      return notAllowed();
    }
    return this.#sessions.use(id) ??
      plain(404, "there is no such session: send initialize");
  }
}

const SILENT = { answer() {}, notify() {}, drop() {} };

/** What stateless requests of one client have in common, as far as it says who it is; only observers look at it. */
function clientId({ params }: RequestMessage): string {
  const meta = isObject(params) ? own(params, "_meta") : undefined;
  const info = isObject(meta) ? own(meta, META.clientInfo) : undefined;
  const parts = isObject(info) ? [own(info, "name"), own(info, "version")] : [];
  return `http:${parts.filter((part) => typeof part === "string").join("/")}`;
}

/** Whether a POST is one of 2026-07-28, by its body or its header. */
function isStateless(request: Request, message: Message): boolean {
  const version = request.headers.get("mcp-protocol-version");
  if (STATELESS_REVISIONS.some((revision) => revision === version)) return true;
  if (message.kind !== "request") return false;
  if (message.method === "server/discover") return true;
  const meta = isObject(message.params)
    ? own(message.params, "_meta")
    : undefined;
  return isObject(meta) &&
    [META.protocolVersion, META.clientCapabilities, META.clientInfo].some((
      key,
    ) => Object.hasOwn(meta, key));
}

function accepts(request: Request, ...types: string[]): boolean {
  const accept = request.headers.get("accept") ?? "";
  return types.every((type) =>
    accept.includes(type) || accept.includes("*/*") ||
    accept.includes(`${type.split("/")[0]}/*`)
  );
}

function accepted(): Response {
  return new Response(null, { status: 202 });
}

function notAllowed(): Response {
  return plain(405, "use POST", { Allow: "POST" });
}
