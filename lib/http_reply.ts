/**
 * The response to one POST: JSON when the answer is there soon and alone, else a stream of events.
 *
 * @module
 */
import type { Outlet } from "./exchange.ts";
import { ErrorCode } from "./rpc.ts";
import { type EventStream, SSE_HEADERS } from "./sse.ts";

/** Milliseconds that an answer is waited for before the response becomes a stream. */
export const SOON_MS = 100;

/** Takes the answer to one request, and what is said before it, as an HTTP response. */
export class Reply implements Outlet {
  /** The response, as soon as its kind is known. */
  readonly response: Promise<Response>;
  readonly #resolve: (response: Response) => void;
  readonly #stream: EventStream;
  readonly #headers: Record<string, string>;
  readonly #status: ((line: string) => number) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #state: "waiting" | "streaming" | "ended" = "waiting";

  /** `stream` is used when the response has to be one; `status` gives the status of a JSON answer, else it is 200. */
  constructor(
    stream: EventStream,
    options: {
      headers?: Record<string, string>;
      status?: (line: string) => number;
    } = {},
  ) {
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#resolve = resolve;
    this.#stream = stream;
    this.#headers = options.headers ?? {};
    this.#status = options.status;
    this.#timer = setTimeout(() => this.#open(), SOON_MS);
  }

  /** Whether the answer has been given. */
  get isEnded(): boolean {
    return this.#state === "ended";
  }

  answer(line: string): void {
    clearTimeout(this.#timer);
    if (this.#state === "waiting") {
      const status = this.#status?.(line) ?? 200;
      this.#resolve(jsonResponse(line, status, this.#headers));
    } else {
      this.#stream.send(line);
    }
    this.#stream.end();
    this.#state = "ended";
  }

  notify(line: string): void {
    if (this.#state === "waiting") this.#open();
    this.#stream.send(line);
  }

  drop(): void {
    if (this.#state === "waiting") this.#open();
    this.#stream.end();
    this.#state = "ended";
  }

  #open(): void {
    clearTimeout(this.#timer);
    this.#state = "streaming";
    this.#resolve(
      new Response(this.#stream.read(), {
        headers: { ...SSE_HEADERS, ...this.#headers },
      }),
    );
  }
}

/** A response with one JSON-RPC message. */
export function jsonResponse(
  line: string,
  status: number,
  headers: Record<string, string> = {},
): Response {
  return new Response(line, {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

/** 2026-07-28, Transports, "Sending Messages": 404 for an unknown method, 400 for what is no proper request. */
export function statusOf(line: string): number {
  const code = ERROR.exec(line)?.[1];
  switch (Number(code)) {
    case ErrorCode.methodNotFound:
      return 404;
    case ErrorCode.parse:
    case ErrorCode.invalidRequest:
    case ErrorCode.headerMismatch:
    case ErrorCode.missingClientCapability:
    case ErrorCode.unsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

const ERROR =
  /^\{"jsonrpc":"2\.0",(?:"id":(?:"(?:[^"\\]|\\.)*"|[^",{]*),)?"error":\{"code":(-?\d+)/;
