/**
 * `rousseau serve` as a process of its own, and requests to it in both eras.
 *
 * @module
 */
import { commandLine, environment, type Folders } from "../harness.ts";

/** An answer as the server wrote it. */
// deno-lint-ignore no-explicit-any
export type Reply = any;

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1" },
};

/** A running server. */
export class HttpProgram implements AsyncDisposable {
  #client = Deno.createHttpClient({});

  private constructor(
    readonly url: string,
    readonly child: Deno.ChildProcess,
    readonly errors: Promise<void>,
  ) {}

  /** Starts the program over HTTP, without a token. */
  static async start(folders: Folders): Promise<HttpProgram> {
    const [command, ...args] = await commandLine([
      ...["serve", "--root", folders.root, "--port", "0", "--no-auth"],
    ]);
    // The source needs the network that the binary has from its compilation.
    const network = args[0] === "run" ? ["--allow-net=127.0.0.1"] : [];
    const child = new Deno.Command(command!, {
      args: args.toSpliced(1, 0, ...network),
      cwd: folders.root,
      env: await environment(folders),
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const [forUrl, rest] = child.stderr.tee();
    const url = await addressIn(forUrl);
    return new HttpProgram(url, child, rest.pipeTo(new WritableStream()));
  }

  /** Opens a session of the handshake revisions; its id. */
  async open(): Promise<string> {
    const response = await this.#post({
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "soak", version: "1" },
      },
    }, {});
    await response.body?.cancel();
    return response.headers.get("mcp-session-id")!;
  }

  /** Ends a session. */
  async end(session: string): Promise<void> {
    const response = await fetch(this.url, {
      method: "DELETE",
      client: this.#client,
      headers: { "Mcp-Session-Id": session },
    });
    await response.body?.cancel();
  }

  /** The answer to one request: in a session, or `stateless`. */
  async request(
    session: string,
    id: string,
    method: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<Reply> {
    const isStateless = session === "stateless";
    const response = await this.#post(
      {
        jsonrpc: "2.0",
        id,
        method,
        params: isStateless ? { ...params, _meta: META } : params,
      },
      isStateless
        ? {
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": method,
          ...(typeof params.name === "string"
            ? { "Mcp-Name": params.name }
            : {}),
        }
        : { "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session },
      signal,
    );
    const text = await response.text();
    if (!response.headers.get("content-type")?.includes("event-stream")) {
      return JSON.parse(text);
    }
    const data = text.split("\n").filter((line) => line.startsWith("data: {"));
    return JSON.parse(data.at(-1)!.slice("data: ".length));
  }

  /** Closes the client's idle connections. */
  hangUp(): void {
    this.#client.close();
    this.#client = Deno.createHttpClient({});
  }

  /** Open descriptors of the server. */
  async descriptors(): Promise<number> {
    return (await Array.fromAsync(Deno.readDir(`/proc/${this.child.pid}/fd`)))
      .length;
  }

  /** Resident memory of the server, in MiB. */
  async memory(): Promise<number> {
    const status = await Deno.readTextFile(`/proc/${this.child.pid}/status`);
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
    try {
      this.child.kill("SIGTERM");
    } catch { /* It has ended. */ }
    await Promise.all([this.child.status, this.errors]);
  }

  #post(
    message: unknown,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Response> {
    return fetch(this.url, {
      method: "POST",
      client: this.#client,
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(message),
      ...(signal ? { signal } : {}),
    });
  }
}

async function addressIn(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (
    const piece of stream.pipeThrough(
      new TextDecoderStream() as TransformStream<Uint8Array, string>,
    )
  ) {
    text += piece;
    const url = /http:\S+\/mcp/.exec(text)?.[0];
    if (url) return url;
  }
  throw new Error(`The server did not start: ${text}`);
}
