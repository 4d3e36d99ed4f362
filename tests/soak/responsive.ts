// deno-lint-ignore-file no-console -- a program of its own
/**
 * How soon `ping` is answered while a pathological `grep`, a command that prints 60 MB and a `read` far into a huge
 * text file run at once, and whether the processor is idle a second after each of them has ended. Linux only: it looks
 * into `/proc`.
 *
 * The huge file begins with real text and goes on as a hole: to `read` it is text of which it counts the lines in every
 * byte, and it takes no room on the disk.
 *
 * Run: `deno run --config tests/deno.json -A tests/soak/responsive.ts [GIGABYTES]`
 *
 * @module
 */
import { commandLine, environment, Folders, lines } from "../harness.ts";

/** What was measured. Times in milliseconds. */
export interface Report {
  /** Pings while something ran. */
  pings: number;
  /** How long half of them took at most. */
  half: number;
  /** How long all but one in a hundred took at most. */
  most: number;
  /** How long the slowest took. */
  slowest: number;
  /** Pings that took longer than {@linkcode WITHIN}. */
  late: number;
  /** The same of ten lines of echo, asked at the same moments: what the machine adds by itself. */
  floor: Omit<Report, "pings" | "floor" | "calls">;
  /** What became of each call. */
  calls: Record<string, CallReport>;
}

/** What became of a call. */
export interface CallReport {
  /** Milliseconds to its answer. */
  took: number;
  /** Milliseconds of processor time in the second that begins a second later; undefined where another call ran then. */
  idle: number | undefined;
  /** The end of each block. */
  end: string[];
}

/** The calls. */
export type Name = "grep" | "bash" | "read";

/** Bytes on which a lazily built automaton is at its slowest with the pattern below: minutes of work. */
const SLOW_BYTES = 2_000_000;

/** Bytes of the huge file that are not a hole. */
const TEXT_BYTES = 1_000_000;

/** Milliseconds within which a ping is answered. */
export const WITHIN = 20;

/** Milliseconds between two pings. */
const BETWEEN = 5;

const CALLS: Record<Name, unknown> = {
  grep: { pattern: "(?:a|b)*a(?:a|b){900}[xy]", path: "slow.txt" },
  bash: { command: "yes | head -c 60000000" },
  read: { path: "huge.log", offset: 1e12 },
};

/** Makes the calls `names` at once, and pings until they are answered. */
export async function measure(
  gigabytes: number,
  names: readonly Name[],
): Promise<Report> {
  await using folders = await Folders.make();
  await folders.write(
    "slow.txt",
    Uint8Array.from(
      { length: SLOW_BYTES },
      () => Math.random() < 0.5 ? 0x61 : 0x62,
    ),
  );
  const huge = await folders.write(
    "huge.log",
    "2026-12-01 12:00:00 something happened\n".repeat(TEXT_BYTES / 40),
  );
  await Deno.truncate(huge, gigabytes * 1e9);
  await using server = await Client.start(
    folders,
    await commandLine(["mcp", "--root", folders.root]),
  );
  await using floor = await Client.start(folders, [
    Deno.execPath(),
    "run",
    new URL("../bench/floor.ts", import.meta.url).pathname,
  ]);
  await server.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  // What is loaded and started once is not what is measured.
  await server.call("bash", { command: "true" });
  await floor.request("ping");

  const calls: Report["calls"] = {};
  let running = names.length;
  const began = performance.now();
  const work = names.map(async (name) => {
    const { content } = await server.call(name, CALLS[name]);
    running--;
    const took = Math.round(performance.now() - began);
    await pause(1_000);
    const alone = running === 0;
    const before = await cpuTime(server.pid);
    await pause(1_000);
    calls[name] = {
      took,
      idle: alone ? await cpuTime(server.pid) - before : undefined,
      end: content.map(({ text }: { text: string }) => text.slice(-400)),
    };
  });
  const waits: number[] = [];
  const floors: number[] = [];
  const timed = async (client: Client, into: number[]) => {
    const asked = performance.now();
    await client.request("ping");
    into.push(performance.now() - asked);
  };
  while (running > 0) {
    await Promise.all([timed(server, waits), timed(floor, floors)]);
    await pause(BETWEEN);
  }
  await Promise.all(work);
  return {
    pings: waits.length,
    ...figures(waits),
    floor: figures(floors),
    calls,
  };
}

function figures(waits: number[]) {
  waits.sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round(waits[Math.floor((waits.length - 1) * share)]! * 10) / 10;
  return {
    half: at(0.5),
    most: at(0.99),
    slowest: at(1),
    late: waits.filter((ms) => ms > WITHIN).length,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Milliseconds of processor time that a process and its threads have had. */
async function cpuTime(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // The 14th and 15th field, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A client that does nothing but wait for answers, so that it adds little to what it measures. */
class Client implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  // deno-lint-ignore no-explicit-any
  readonly #waiting = new Map<number, (message: any) => void>();
  #nextId = 1;

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    this.#read();
  }

  static async start(
    folders: Folders,
    [command = "", ...args]: string[],
  ): Promise<Client> {
    return new Client(
      new Deno.Command(command, {
        args,
        cwd: folders.root,
        env: await environment(folders),
        clearEnv: true,
        stdin: "piped",
        stdout: "piped",
        stderr: "null",
      }).spawn(),
    );
  }

  get pid(): number {
    return this.#child.pid;
  }

  // deno-lint-ignore no-explicit-any
  async request(method: string, params?: unknown): Promise<any> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers();
    this.#waiting.set(id, resolve);
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    await this.#writer.write(new TextEncoder().encode(`${line}\n`));
    return await promise;
  }

  // deno-lint-ignore no-explicit-any
  async call(name: string, args: unknown): Promise<any> {
    const message = { name, arguments: args };
    const { result } = await this.request("tools/call", message);
    return result;
  }

  async #read(): Promise<void> {
    for await (const line of lines(this.#child.stdout)) {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close();
    await this.#child.status;
  }
}

/** All calls at once, and each alone, for what the processor does afterwards. */
const RUNS: readonly Name[][] = [
  ["grep", "bash", "read"],
  ["grep"],
  ["bash"],
  ["read"],
];

/** Milliseconds of processor time in a second that count as idle. */
const IDLE = 30;

if (import.meta.main) {
  const gigabytes = Number(Deno.args[0] ?? 30);
  let good = true;
  for (const names of RUNS) {
    const report = await measure(gigabytes, names);
    console.log(JSON.stringify(report, null, 1));
    good &&= report.most <= WITHIN + report.floor.most &&
      Object.values(report.calls).every(({ idle = 0 }) => idle <= IDLE);
  }
  if (!good) Deno.exit(1);
}
