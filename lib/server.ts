/**
 * An MCP server: a table of commands, served over any number of connections at once.
 *
 *     readable -> lines -> parse -> Connection -> Exchange -> method -> answer -> LineWriter -> writable
 *
 * Every request is answered exactly once, a cancelled one and a notification never. A bad line is answered and never
 * ends the connection; the end of input always does. Only the writer touches the output.
 *
 * @module
 */
import type { Ahead } from "./ahead.ts";
import type { AnyCommand } from "./command.ts";
import { Core, type ServerOptions } from "./core.ts";
import type { Outlet } from "./exchange.ts";
import { type BadLine, type Line, MAX_LINE_BYTES, readLines } from "./lines.ts";
import type { JsonObject } from "./mcp.ts";
import type { AnyPrompt } from "./prompt.ts";
import { ErrorCode, idFromEnds, parse, RpcError } from "./rpc.ts";
import { Connection } from "./connection.ts";
import { LineWriter } from "./writer.ts";

export type { ServerOptions } from "./core.ts";

/** Milliseconds that requests in flight have to finish after the end of input, unless {@linkcode ServeOptions} says otherwise. */
export const DRAIN_MS = 10_000;

/** Milliseconds that a peer has to take the last answers. */
export const LAST_WRITE_MS = 2_000;

/** How one connection is served. */
export interface ServeOptions {
  /** Ends the connection at once: what is in flight is aborted and not answered. */
  signal?: AbortSignal;
  /** Milliseconds that requests in flight have to finish after the end of input; default {@linkcode DRAIN_MS}. */
  drain?: number;
  /**
   * Gives the server what `initialize` does not need: hosts time that answer. Called once, when the first `initialize` is
   * answered or another message comes before it; no other message is taken until it is done.
   */
  complete?(): Promise<void>;
  /** The first message is an `initialize` that was answered already: it is taken in, and not answered again. */
  greeted?: boolean;
  /** Leaves `writable` open at the end. */
  preventClose?: boolean;
}

/**
 * A server over streams of lines.
 *
 * @example
 * ```ts
 * import { McpServer } from "./server.ts";
 * import { command } from "./command.ts";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const server = new McpServer({ name: "example", version: "1.0.0" });
 * server.register(command({
 *   name: "shout",
 *   summary: "Say it louder",
 *   input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   tool: {
 *     name: "shout",
 *     annotations: {
 *       readOnlyHint: true,
 *       destructiveHint: false,
 *       idempotentHint: true,
 *       openWorldHint: false,
 *     },
 *   },
 *   run: ({ text }) => text.toUpperCase(),
 * }));
 *
 * const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
 * const served = server.serve(
 *   new Blob(['{"jsonrpc":"2.0","id":1,"method":"ping"}\n']).stream(),
 *   writable,
 * );
 * assertStringIncludes(await new Response(readable).text(), '"result":{}');
 * await served;
 * ```
 */
export class McpServer {
  readonly #core: Core;

  /** Makes a server without commands. */
  constructor(options: ServerOptions) {
    this.#core = new Core(options);
  }

  /**
   * Adds a tool or a resource to the table of all connections.
   *
   * @throws {TypeError} when the command is neither, and when its name or URI is taken, empty or malformed.
   */
  register(command: AnyCommand): this {
    this.#core.registry.register(command);
    return this;
  }

  /**
   * Adds a prompt.
   *
   * @throws {TypeError} when its name is empty or taken.
   */
  registerPrompt(prompt: AnyPrompt): this {
    this.#core.registry.registerPrompt(prompt);
    return this;
  }

  /**
   * A connection for a transport of one's own: it takes messages by {@linkcode Connection.receive}, and `send` takes
   * the lines that belong to no request of the client's. The transport ends it by {@linkcode Connection.stop}. A
   * transport that makes a connection for each request gives those of one client the same `id`, so that observers see
   * one client.
   */
  connect(send: (line: string) => void, id?: string): Connection {
    return new Connection(this.#core, send, id);
  }

  /** The input schema of a tool; undefined when there is none of that name. */
  inputSchema(tool: string): JsonObject | undefined {
    return this.#core.registry.tool(tool)?.input;
  }

  /** Tells the clients that asked for it that the resource at `uri` has changed. */
  resourceUpdated(uri: string): void {
    this.#core.changes.tell({ kind: "resource", uri });
  }

  /** Tells the clients that there are other resources than before. */
  resourceListChanged(): void {
    this.#core.changes.tell({ kind: "resources" });
  }

  /**
   * Serves one connection until its input ends, its output is closed, or `signal` is aborted. May be called for
   * several connections at once. Never rejects for what a peer does.
   */
  async serve(
    readable: ReadableStream<Uint8Array>,
    writable: WritableStream<Uint8Array>,
    options: ServeOptions = {},
  ): Promise<void> {
    const core = this.#core;
    // Aborted when the caller says so and when the peer no longer listens.
    const gone = new AbortController();
    const stop = () => gone.abort(options.signal?.reason);
    if (options.signal?.aborted) stop();
    options.signal?.addEventListener("abort", stop);
    const writer = new LineWriter(writable, stop);
    const debug = core.logger.enabled("debug");
    const log = (line: string) =>
      core.logger.debug("rpc.sent", { message: line });
    const send = debug
      ? (line: string) => {
        log(line);
        writer.write(line);
      }
      : (line: string) => writer.write(line);
    const outlet: Outlet = { answer: send, notify: send, drop() {} };
    const written: Outlet = { answer: log, notify: log, drop() {} };
    const connection = new Connection(core, send);
    gone.signal.addEventListener("abort", () => connection.stop());
    let completing: Promise<void> | undefined;
    const complete = () => completing ??= options.complete!();
    let isComplete = options.complete === undefined;
    const batches = readLines(readable, gone.signal);
    let source: AsyncIterator<Line[], void, void> = batches;
    let ahead: Ahead | undefined;
    let { greeted = false } = options;
    try {
      for (;;) {
        const { value: lines, done } = await source.next();
        if (done || gone.signal.aborted) break;
        for (const line of lines) {
          if (debug) logReceived(core, line);
          const message = typeof line === "string" ? parse(line) : undefined;
          const isInitialize = message?.kind === "request" &&
            message.method === "initialize";
          if (!isComplete && !isInitialize) {
            await complete();
            isComplete = true;
            if (gone.signal.aborted) break;
          }
          if (message) connection.receive(message, greeted ? written : outlet);
          else refuseLine(connection, line as BadLine, outlet);
          greeted = false;
          // A failure is met where it is waited for.
          if (!isComplete) complete().catch(() => {});
        }
        const room = connection.room() ?? writer.room();
        if (!room) continue;
        source = ahead ??= new (await import("./ahead.ts")).Ahead(batches);
        await ahead.until(room);
      }
      if (!gone.signal.aborted) await completing;
    } catch (error) {
      // A stream that fails has ended.
      core.logger.warn("input.failed", { error: `${error}` });
    } finally {
      batches.return().catch(() => {});
    }
    if (!gone.signal.aborted) {
      callHook(core);
      await Promise.race([
        connection.drain(options.drain ?? DRAIN_MS),
        aborted(gone.signal),
      ]);
    }
    connection.stop();
    await within(LAST_WRITE_MS, writer.flush());
    options.signal?.removeEventListener("abort", stop);
    await within(
      LAST_WRITE_MS,
      writer.end({ close: options.preventClose !== true }),
    );
  }
}

function refuseLine(
  connection: Connection,
  line: BadLine,
  outlet: Outlet,
): void {
  if (line.problem === "too long") {
    const error = new RpcError(
      ErrorCode.invalidRequest,
      `invalid request: the line is longer than ${MAX_LINE_BYTES} bytes; send less at a time`,
    );
    return connection.refuse(error, idFromEnds(line.head, line.tail), outlet);
  }
  const error = new RpcError(
    ErrorCode.parse,
    line.problem === "not UTF-8"
      ? "parse error: the line is not valid UTF-8"
      : "parse error: the line begins with a NUL",
  );
  connection.refuse(error, undefined, outlet);
}

function logReceived(core: Core, line: Line): void {
  core.logger.debug(
    "rpc.received",
    typeof line === "string" ? { message: line } : { ...line },
  );
}

function callHook(core: Core): void {
  try {
    core.options.onEndOfInput?.();
  } catch (error) {
    core.logger.error("end_of_input.failed", { error: `${error}` });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    work,
    new Promise<void>((resolve) => timer = setTimeout(resolve, ms)),
  ]);
  clearTimeout(timer);
}
