// deno-lint-ignore-file no-console -- a program of its own
/**
 * Imports one conversation of a gigabyte with the real program: its memory must not grow with the file, all messages
 * must be there, and importing again must read nothing. Linux only: it looks into `/proc`.
 *
 *     deno run -A --config tests/deno.json tests/soak/import_soak.ts [MEGABYTES]
 *
 * @module
 */
import { Sqlite } from "../../lib/sqlite.ts";
import { commandLine, environment, Folders } from "../harness.ts";

/** Megabytes of memory that an import may take, however large the file is. */
const MOST_MEMORY = 192;

/** What one run of the program took. */
interface Run {
  seconds: number;
  /** The most resident memory, in megabytes, in the first and in the last quarter. */
  early: number;
  most: number;
  output: string;
}

const megabytes = Number(Deno.args[0] ?? "1000");
await using folders = await Folders.make();
const path = `${folders.base}/conversation.jsonl`;
const lines = await generate(path, megabytes);
const args = ["sessions", "import", "claude-code", path];
const first = await measured(args);
const again = await measured(args);
const db = await Sqlite.open(folders.database);
const messages = db.get<{ count: number }>(
  "SELECT count(*) AS count FROM messages",
)?.count;
const integrity = db.pragma("integrity_check");
db.close();
const size = (await Deno.stat(folders.database)).size;
console.log(
  `${megabytes} MB, ${lines} lines: ${first.seconds.toFixed(1)} s, memory ${
    first.early.toFixed(0)
  } MB in the first quarter, ${
    first.most.toFixed(0)
  } MB at most; ${messages} messages, database ${
    (size / 1e6).toFixed(0)
  } MB, integrity ${integrity}`,
);
console.log(first.output.trim());
console.log(`again: ${again.seconds.toFixed(1)} s: ${again.output.trim()}`);
if (
  messages !== lines || integrity !== "ok" || first.most > MOST_MEMORY ||
  !again.output.includes("0 with something new") || again.seconds > 5
) Deno.exit(1);

/** Writes a conversation of calls and results; how many lines it has. */
async function generate(path: string, megabytes: number): Promise<number> {
  using file = await Deno.create(path);
  const encoder = new TextEncoder();
  let written = 0;
  let lines = 0;
  while (written < megabytes * 1e6) {
    let text = "";
    for (let i = 0; i < 200; i++, lines++) {
      const isCall = lines % 2 === 0;
      const id = `toolu_${Math.floor(lines / 2)}`;
      const content = isCall
        ? [{
          type: "tool_use",
          id,
          name: "Bash",
          input: { command: `make part${lines}` },
        }]
        : [{
          type: "tool_result",
          tool_use_id: id,
          content: `${lines} ${
            "some words of output ".repeat(
              lines % 97 === 1 ? 5_000 : lines % 800,
            )
          }`,
        }];
      text += JSON.stringify({
        type: isCall ? "assistant" : "user",
        uuid: `u${lines}`,
        sessionId: "11111111-2222-4333-8444-555555555555",
        cwd: folders.root,
        version: "2.1.332",
        timestamp: new Date(1_790_000_000_000 + lines).toISOString(),
        message: { role: isCall ? "assistant" : "user", content },
      }) + "\n";
    }
    const bytes = encoder.encode(text);
    for (let at = 0; at < bytes.length;) {
      at += await file.write(bytes.subarray(at));
    }
    written += bytes.length;
  }
  return lines;
}

async function measured(args: readonly string[]): Promise<Run> {
  const [program, ...rest] = await commandLine(args);
  const started = performance.now();
  const child = new Deno.Command(program as string, {
    args: rest,
    cwd: folders.root,
    env: await environment(folders),
    clearEnv: true,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const memory: number[] = [];
  const watch = setInterval(async () => {
    const status = await Deno.readTextFile(`/proc/${child.pid}/status`)
      .catch(() => "");
    const [, kib] = /VmRSS:\s+(\d+)/.exec(status) ?? [];
    if (kib) memory.push(Number(kib) / 1024);
  }, 100);
  const { stdout } = await child.output();
  clearInterval(watch);
  return {
    seconds: (performance.now() - started) / 1_000,
    early: Math.max(0, ...memory.slice(0, Math.ceil(memory.length / 4))),
    most: Math.max(0, ...memory),
    output: new TextDecoder().decode(stdout),
  };
}
