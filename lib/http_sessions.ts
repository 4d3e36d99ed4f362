/**
 * Sessions of the handshake revisions over HTTP, each a connection that outlives its requests.
 *
 * @module
 */
import type { Connection } from "./connection.ts";
import type { McpServer } from "./server.ts";
import { EventStream, readEventId } from "./sse.ts";

/** Sessions that are kept at once. Beyond it, the one that was idle longest ends. */
export const MAX_SESSIONS = 1000;

/** Milliseconds without a request after which a session that nobody listens to ends. */
export const SESSION_IDLE_MS = 60 * 60_000;

/** Streams of one session that are kept for a client that comes back. */
export const MAX_KEPT_STREAMS = 32;

/** One session. */
export class HttpSession {
  /** The value of `Mcp-Session-Id`. */
  readonly id: string = crypto.randomUUID();
  /** The connection behind it. */
  readonly connection: Connection;
  /** What the server says of its own accord. */
  readonly own: EventStream = new EventStream({ id: "own" });
  readonly #streams = new Map<string, EventStream>();
  #lastStream = 0;
  /** When the last request came, in milliseconds of a steady clock. */
  usedAt: number = performance.now();

  /** Makes a session that is not initialized yet. */
  constructor(server: McpServer) {
    this.connection = server.connect((line) => this.own.send(line));
  }

  /** A stream for one request. It is kept for a while after its end. */
  newStream(): EventStream {
    const id = `s${++this.#lastStream}`;
    const stream = new EventStream({
      id,
      primed: this.connection.caller?.revision === "2025-11-25",
    });
    this.#streams.set(id, stream);
    for (const [key, old] of this.#streams) {
      if (this.#streams.size <= MAX_KEPT_STREAMS) break;
      if (old.isEnded) this.#streams.delete(key);
    }
    return stream;
  }

  /** The stream that the client lost after that event, from there on; undefined when it is not kept. */
  resume(lastEventId: string): ReadableStream<Uint8Array> | undefined {
    const event = readEventId(lastEventId);
    if (!event) return undefined;
    const stream = event.stream === "own"
      ? this.own
      : this.#streams.get(event.stream);
    return stream?.read(event.number);
  }

  /** Ends the session and everything in it. */
  end(): void {
    this.connection.stop();
    this.own.end();
    for (const stream of this.#streams.values()) stream.end();
    this.#streams.clear();
  }
}

/** The sessions of a server, by id. */
export class HttpSessions {
  readonly #server: McpServer;
  readonly #sessions = new Map<string, HttpSession>();

  /** Makes an empty table. */
  constructor(server: McpServer) {
    this.#server = server;
  }

  /** How many there are. */
  get size(): number {
    return this.#sessions.size;
  }

  /** All sessions. */
  values(): HttpSession[] {
    return [...this.#sessions.values()];
  }

  /** A session that is in no table yet. */
  make(): HttpSession {
    return new HttpSession(this.#server);
  }

  /** Takes a session in, and ends those that are past their time. */
  add(session: HttpSession): void {
    const now = performance.now();
    for (const old of this.#sessions.values()) {
      if (now - old.usedAt > SESSION_IDLE_MS && !old.own.isRead) this.end(old);
    }
    while (this.#sessions.size >= MAX_SESSIONS) {
      const [oldest] = this.#sessions.values();
      this.end(oldest!);
    }
    this.#sessions.set(session.id, session);
  }

  /** The session of that id, which counts as used now. */
  use(id: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (!session) return undefined;
    session.usedAt = performance.now();
    // The table is in the order of use, so that the first is the one that was idle longest.
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Ends a session. */
  end(session: HttpSession): void {
    this.#sessions.delete(session.id);
    session.end();
  }
}
