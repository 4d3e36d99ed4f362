/**
 * Sends random and mutated lines to the real program: it may not crash, hang, leave a probe unanswered or write
 * anything but JSON-RPC.
 *
 *     deno task soak              # a million lines
 *     deno run --config tests/deno.json -A tests/soak/fuzz.ts LINES [SEED]
 *
 * @module
 */
import { commandLine, environment, Folders, lines } from "../harness.ts";
import { fuzzLine, Random } from "./fuzz_lines.ts";

/** One probe, a `ping` under an id of its own, after so many lines. */
const PROBE_EVERY = 500;

/** Bytes gathered before they are written. */
const WRITE_SIZE = 64 * 1024;

/** Milliseconds without a line from the server, while a probe is open, that count as a hang. */
const HANG = 60_000;

/** What a run gave. */
export interface FuzzReport {
  lines: number;
  answers: number;
  probes: number;
  seconds: number;
}

/** @throws {Error} on the first thing that should not be, with the seed to repeat it. */
export async function fuzz(count: number, seed: number): Promise<FuzzReport> {
  const begun = performance.now();
  await using folders = await Folders.make();
  await folders.write("a", "one\ntwo\n");
  const [command, ...args] = await commandLine([
    "mcp",
    "--root",
    folders.root,
    "--exclude",
    "shell",
  ]);
  const child = new Deno.Command(command as string, {
    args,
    cwd: folders.root,
    env: await environment(folders),
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const open = new Set<string>();
  const problems: string[] = [];
  let answers = 0;
  let heard = performance.now();
  const watch = setInterval(() => {
    if (performance.now() - heard > HANG) {
      problems.push("the server hangs");
      child.kill("SIGKILL");
    }
  }, 1_000);

  const reading = (async () => {
    for await (const line of lines(child.stdout)) {
      heard = performance.now();
      answers++;
      const wrong = judge(line, open);
      if (wrong && problems.length < 10) {
        problems.push(`${wrong}: ${line.slice(0, 500)}`);
      }
    }
  })();
  const errors = new Response(child.stderr).text();

  let probes = 0;
  try {
    const writer = child.stdin.getWriter();
    const random = new Random(seed);
    for (let sent = 0; sent < count && problems.length === 0;) {
      const parts: Uint8Array[] = [];
      for (let size = 0; size < WRITE_SIZE && sent < count; sent++) {
        let line = fuzzLine(random);
        if (sent % PROBE_EVERY === 0) {
          const id = `probe-${probes++}`;
          open.add(id);
          line = new TextEncoder().encode(
            `{"jsonrpc":"2.0","id":"${id}","method":"ping"}`,
          );
        }
        parts.push(line, NEWLINE);
        size += line.length + 1;
      }
      await writer.write(concat(parts));
    }
    await writer.close();
  } catch (error) {
    problems.push(`the server closed its input: ${error}`);
  }
  const status = await child.status;
  await reading;
  clearInterval(watch);
  const stderr = await errors;
  if (status.code !== 0) problems.push(`exit code ${status.code}`);
  if (open.size > 0) problems.push(`unanswered: ${[...open].slice(0, 5)}`);
  if (/^\s+at .+:\d+|Uncaught|panicked/m.test(stderr)) {
    problems.push(`stderr: ${stderr.slice(0, 2_000)}`);
  }
  if (problems.length > 0) {
    throw new Error(
      `Seed ${seed}, ${count} lines:\n${problems.join("\n")}\n${
        stderr.slice(-2_000)
      }`,
    );
  }
  return {
    lines: count,
    answers,
    probes,
    seconds: (performance.now() - begun) / 1_000,
  };
}

const NEWLINE = new Uint8Array([10]);

/** What is wrong with a line of the server; takes an answered probe off the list. */
function judge(line: string, open: Set<string>): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return "not JSON";
  }
  for (const one of Array.isArray(parsed) ? parsed : [parsed]) {
    const message = one as Record<string, unknown>;
    if (message?.jsonrpc !== "2.0") return "not JSON-RPC 2.0";
    const kinds = ["result", "error", "method"].filter((key) => key in message);
    if (kinds.length !== 1) return "not one of result, error and method";
    const error = message.error as { code?: unknown; message?: unknown };
    if (
      error !== undefined &&
      !(Number.isInteger(error.code) && typeof error.message === "string")
    ) return "not an error object";
    const { id } = message;
    if (typeof id === "string" && id.startsWith("probe-") && !open.delete(id)) {
      return "a probe answered twice";
    }
    if (error?.code === -32603) return "an internal error";
  }
  return undefined;
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

if (import.meta.main) {
  const count = Number(Deno.args[0] ?? 1_000_000);
  const seed = Number(Deno.args[1] ?? Date.now() % 1_000_000);
  const report = await fuzz(count, seed);
  Deno.stdout.write(
    new TextEncoder().encode(
      `${report.lines} lines (seed ${seed}), ${report.answers} answers, ${report.probes} probes, ${
        report.seconds.toFixed(1)
      } s: no crash, no hang, nothing but JSON-RPC\n`,
    ),
  );
}
