// deno-lint-ignore-file no-console -- a program of its own
/**
 * Many servers on one database: writers that are called fifty times a second, readers that list, search and read
 * sessions; all of them are pinged meanwhile. No error may reach a client, every call that was answered must be in the
 * file in the end, and the write-ahead log must stay bounded. Then another process holds the lock for a minute, while
 * pings and calls go on.
 *
 * Ten lines of echo are pinged at the same moments: what they take is what the machine adds by itself.
 *
 *     deno run -A --config tests/deno.json tests/soak/store_soak.ts [SECONDS] [WRITERS] [READERS] [LOCK_SECONDS]
 *
 * @module
 */
import { Sqlite } from "../../lib/sqlite.ts";
import { commandLine, environment, Folders, lines } from "../harness.ts";

/** Milliseconds between two pings of a server. */
const BETWEEN_PINGS = 50;

/** Milliseconds within which a ping is to be answered. */
const WITHIN = 20;

const ECHO = `let rest = "";
const decoder = new TextDecoder(), encoder = new TextEncoder();
for await (const chunk of Deno.stdin.readable) {
  const parts = (rest + decoder.decode(chunk, { stream: true })).split("\\n");
  rest = parts.pop();
  for (const part of parts) {
    const { id } = JSON.parse(part);
    await Deno.stdout.write(encoder.encode(JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "\\n"));
  }
}`;

interface Answer {
  id: number;
  result?: { isError?: boolean; content?: { text: string }[] };
  error?: { message: string };
}

/** A running server, as its client sees it. */
class Client {
  calls = 0;
  readonly pings: number[] = [];
  readonly errors: string[] = [];
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<unknown>[];
  #stderr = "";
  #id = 0;

  constructor(command: readonly string[], env: Record<string, string>) {
    const [program, ...args] = command;
    this.#child = new Deno.Command(program as string, {
      args,
      env,
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = [this.#readAnswers(), this.#readErrors()];
  }

  /** What it said to its operator. */
  get stderr(): string {
    return this.#stderr;
  }

  async ask(method: string, params: unknown = {}): Promise<Answer> {
    const id = this.#id++;
    const answer = new Promise<Answer>((resolve) =>
      this.#waiting.set(id, resolve)
    );
    await this.#writer.write(
      new TextEncoder().encode(
        JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n",
      ),
    );
    return await answer;
  }

  async start(): Promise<void> {
    await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "soak", version: "1" },
    });
  }

  /** Calls a tool; the text of its answer. */
  async call(name: string, args: unknown): Promise<string> {
    this.calls++;
    const { result, error } = await this.ask("tools/call", {
      name,
      arguments: args,
    });
    const text = result?.content?.[0]?.text ?? "";
    if (error || result?.isError) {
      this.errors.push(`${name}: ${error?.message ?? text}`);
    }
    return text;
  }

  async ping(until: () => boolean): Promise<void> {
    while (!until()) {
      const before = performance.now();
      await this.ask("ping");
      this.pings.push(performance.now() - before);
      await sleep(BETWEEN_PINGS);
    }
  }

  async end(): Promise<void> {
    await this.#writer.close();
    await this.#child.status;
    await Promise.all(this.#reading);
  }

  async #readAnswers(): Promise<void> {
    for await (const line of lines(this.#child.stdout)) {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    }
  }

  async #readErrors(): Promise<void> {
    for await (const line of lines(this.#child.stderr)) {
      this.#stderr += `${line}\n`;
    }
  }
}

const [seconds = 30, writers = 8, readers = 4, lockSeconds = 60] = Deno.args
  .map(Number);
const ok = await soak();
if (!ok) Deno.exit(1);

async function soak(): Promise<boolean> {
  await using folders = await Folders.make();
  const words = "some words of output ";
  for (let i = 0; i < 200; i++) {
    await folders.write(`f${i}.txt`, `${i} ${words.repeat(i)}\n`);
  }
  const command = await commandLine(["mcp", "--root", folders.root]);
  const env = await environment(folders);
  const clients = Array.from(
    { length: writers + readers },
    () => new Client(command, env),
  );
  const echo = new Client([Deno.execPath(), "eval", ECHO], env);
  await Promise.all(clients.map((client) => client.start()));
  await echo.ask("ping");

  let longest = 0;
  const watch = setInterval(async () => {
    longest = Math.max(longest, await sizeOf(`${folders.database}-wal`));
  }, 100);
  await phase(clients, echo, seconds, `${seconds} s`);
  const size = await sizeOf(folders.database);
  const trouble = clients.flatMap(({ errors, stderr }) => [
    ...errors,
    ...stderr === "" ? [] : [stderr],
  ]);
  const calls = sum(clients.map((client) => client.calls));
  // What was answered in this phase is committed before the lock is taken.
  await sleep(1_000);
  const found = await count(folders.database);

  if (lockSeconds > 0) {
    const locking = await Sqlite.open(folders.database);
    const lock = async () => {
      while (true) {
        try {
          locking.exec("BEGIN IMMEDIATE");
          break;
        } catch {
          await sleep(1);
        }
      }
      await sleep(lockSeconds * 1_000);
      locking.exec("ROLLBACK");
    };
    await Promise.all([
      lock(),
      phase(
        clients,
        echo,
        lockSeconds,
        `${lockSeconds} s with the lock held elsewhere`,
      ),
    ]);
    locking.close();
  }
  clearInterval(watch);
  await Promise.all([...clients, echo].map((client) => client.end()));
  const db = await Sqlite.open(folders.database);
  const integrity = db.pragma("integrity_check");
  db.close();
  const errors = clients.flatMap((client) => client.errors);
  console.log(
    `${writers} writers, ${readers} readers: ${calls} calls before the lock, ${found} in the file; file ${
      (size / 1e6).toFixed(1)
    } MB, log at most ${
      (longest / 1e6).toFixed(1)
    } MB, integrity ${integrity}, errors to clients ${errors.length}`,
  );
  console.log(trouble.length === 0 ? "no trouble" : trouble.join("\n"));
  return trouble.length === 0 && errors.length === 0 && found === calls &&
    integrity === "ok" && longest <= 32 * 1024 ** 2;
}

/** Everybody is at work for a while. */
async function phase(
  clients: readonly Client[],
  echo: Client,
  seconds: number,
  name: string,
): Promise<void> {
  const end = Date.now() + seconds * 1_000;
  const isOver = () => Date.now() >= end;
  for (const client of [...clients, echo]) client.pings.length = 0;
  await Promise.all([
    ...clients.map((client, i) =>
      i < writers ? write(client, isOver) : read(client, isOver)
    ),
    ...[...clients, echo].map((client) => client.ping(isOver)),
  ]);
  report(`${name}: ping`, clients.flatMap(({ pings }) => pings));
  report(`${name}: ten lines of echo`, echo.pings);
}

async function write(client: Client, isOver: () => boolean): Promise<void> {
  for (let i = 0; !isOver();) {
    const calls = Array.from(
      { length: 10 },
      () => client.call("read", { path: `f${i++ % 200}.txt` }),
    );
    await Promise.all([...calls, sleep(200)]);
  }
}

async function read(client: Client, isOver: () => boolean): Promise<void> {
  for (let i = 0; !isOver(); i++) {
    const list = await client.call("rousseau_list_sessions", {});
    await client.call("rousseau_search_sessions", {
      query: i % 2 === 0 ? "output words" : `${i % 200}`,
    });
    const ids = list.split("\n").map((line) => line.split(" ", 1)[0])
      .filter((id) => id?.length === 36);
    const id = ids[i % Math.max(1, ids.length)];
    if (id) await client.call("rousseau_read_session", { id });
    await sleep(50);
  }
}

function report(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
      .toFixed(1);
  const late = times.filter((time) => time > WITHIN).length;
  console.log(
    `${what}: ${times.length} times, p50 ${at(0.5)} ms, p99 ${
      at(0.99)
    } ms, most ${at(1)} ms, ${late} over ${WITHIN} ms (${
      (late / times.length * 100).toFixed(2)
    } %)`,
  );
}

async function count(path: string): Promise<number> {
  const db = await Sqlite.open(path);
  try {
    return Number(
      db.get<{ count: number }>(
        "SELECT count(*) AS count FROM messages WHERE kind = 'tool_result'",
      )?.count,
    );
  } finally {
    db.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return await Deno.stat(path).then(({ size }) => size, () => 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
