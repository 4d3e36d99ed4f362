/**
 * A server under measurement, and the client's end of its pipes: as little work per message as can be, so that
 * the server is what is measured.
 *
 * @module
 */

/** A program to measure. */
export interface Peer {
  name: string;
  command: string[];
  env: Record<string, string>;
  cwd: string;
  /** The path that a read names. */
  file: string;
  /** The name of its tool that reads a text file. */
  readTool: string;
  /** Requests pipelined in the measurement of pings. */
  pings: number;
}

const encoder = new TextEncoder();
const NEWLINE = 10;

/** A started peer. */
export class Run implements AsyncDisposable {
  readonly peer: Peer;
  readonly #child: Deno.ChildProcess;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #id = 1;

  constructor(peer: Peer) {
    this.peer = peer;
    const [command, ...args] = peer.command;
    this.#child = new Deno.Command(command as string, {
      args,
      cwd: peer.cwd,
      env: peer.env,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#reader = this.#child.stdout.getReader();
    this.#writer = this.#child.stdin.getWriter();
  }

  /** The handshake. Resolves to the bytes of the answer. */
  async initialize(): Promise<number> {
    await this.#write([this.#line("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    })]);
    const size = await this.#answers(1);
    await this.#write([
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    ]);
    return size;
  }

  /** Milliseconds that each of `count` reads takes, one after the other. */
  async reads(count: number): Promise<number[]> {
    const times: number[] = [];
    for (let n = 0; n < count; n++) {
      const begun = performance.now();
      await this.#write([this.#readLine()]);
      await this.#answers(1);
      times.push(performance.now() - begun);
    }
    return times;
  }

  /** Reads a second with `flight` of them under way at any time. */
  async readsInFlight(count: number, flight: number): Promise<number> {
    const begun = performance.now();
    let sent = flight;
    let answered = 0;
    await this.#write(Array.from({ length: flight }, () => this.#readLine()));
    while (answered < count) {
      const got = await this.#someAnswers();
      answered += got;
      const more = Math.min(got, count - sent);
      sent += more;
      if (more > 0) {
        await this.#write(Array.from({ length: more }, () => this.#readLine()));
      }
    }
    return count / (performance.now() - begun) * 1_000;
  }

  /** Pings a second when all are sent without waiting. */
  async pings(): Promise<number> {
    const bytes = encoder.encode(
      Array.from({ length: this.peer.pings }, () => this.#line("ping")).join(
        "",
      ),
    );
    const begun = performance.now();
    await Promise.all([
      this.#writer.write(bytes),
      this.#answers(this.peer.pings),
    ]);
    return this.peer.pings / (performance.now() - begun) * 1_000;
  }

  /** Bytes of the answer to `tools/list`. */
  async toolsListSize(): Promise<number> {
    await this.#write([this.#line("tools/list", {})]);
    return await this.#answers(1);
  }

  /** Resident memory in MB. */
  async memory(): Promise<number> {
    const status = await Deno.readTextFile(`/proc/${this.#child.pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close().catch(() => {});
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 3_000);
    await this.#reader.cancel();
    await this.#child.status;
    clearTimeout(timer);
  }

  #line(method: string, params?: unknown): string {
    return JSON.stringify({ jsonrpc: "2.0", id: this.#id++, method, params }) +
      "\n";
  }

  #readLine(): string {
    return this.#line("tools/call", {
      name: this.peer.readTool,
      arguments: { path: this.peer.file },
    });
  }

  async #write(lines: string[]): Promise<void> {
    await this.#writer.write(encoder.encode(lines.join("")));
  }

  /** Waits for `count` lines; resolves to their bytes. */
  async #answers(count: number): Promise<number> {
    let size = 0;
    while (count > 0) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`${this.peer.name} ended`);
      size += value.length;
      count -= newlines(value);
    }
    return size;
  }

  async #someAnswers(): Promise<number> {
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) throw new Error(`${this.peer.name} ended`);
      const count = newlines(value);
      if (count > 0) return count;
    }
  }
}

/** The middle one of some numbers. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (
    let at = bytes.indexOf(NEWLINE);
    at >= 0;
    at = bytes.indexOf(NEWLINE, at + 1)
  ) count++;
  return count;
}
