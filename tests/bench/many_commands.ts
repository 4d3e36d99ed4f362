/**
 * What many commands cost: a process with 500 tools from its start to the answer to `tools/list`, beside one with 5, in
 * pairs.
 *
 *     deno run --config tests/deno.json --allow-all tests/bench/many_commands.ts [PAIRS]
 *
 * @module
 */
import { command, McpServer } from "../../lib/library.ts";
import { median } from "./peer.ts";

/** How much longer the many may take. */
export const MAX_RATIO = 1.5;

const FEW = 5;
const MANY = 500;
const PAIRS = 30;

/** Medians in milliseconds, and that of the ratios of each pair. */
export interface Cost {
  few: number;
  many: number;
  ratio: number;
}

/** Measures pairs of processes; which of the two goes first alternates. */
export async function measure(pairs: number = PAIRS): Promise<Cost> {
  const times: [number, number][] = [];
  // The first of each kind fills the caches.
  await milliseconds(FEW);
  await milliseconds(MANY);
  for (let i = 0; i < pairs; i++) {
    if (i % 2 === 0) {
      const few = await milliseconds(FEW);
      times.push([few, await milliseconds(MANY)]);
    } else {
      const many = await milliseconds(MANY);
      times.push([await milliseconds(FEW), many]);
    }
  }
  return {
    few: median(times.map(([few]) => few)),
    many: median(times.map(([, many]) => many)),
    ratio: median(times.map(([few, many]) => many / few)),
  };
}

/** The cost in a line. */
export function inWords({ few, many, ratio }: Cost): string {
  return `start to the answer of tools/list: ${FEW} commands ${
    few.toFixed(0)
  } ms, ${MANY} commands ${many.toFixed(0)} ms; ratio in pairs ${
    ratio.toFixed(2)
  }, at most ${MAX_RATIO} is promised`;
}

const INPUT = [
  {
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    },
  },
  { id: 1, method: "tools/list" },
].map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

async function milliseconds(commands: number): Promise<number> {
  const begun = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--config",
      new URL("../../deno.json", import.meta.url).pathname,
      import.meta.filename!,
      "serve",
      `${commands}`,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(INPUT));
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split("\n").length > 2) break;
  }
  const took = performance.now() - begun;
  await writer.close();
  await child.status;
  const { tools } = JSON.parse(text.split("\n")[1]!).result;
  if (tools.length !== commands) throw new Error(`${tools.length} tools`);
  return took;
}

/** The server that is measured. */
async function serve(commands: number): Promise<void> {
  const server = new McpServer({ name: "many", version: "1" });
  for (let i = 0; i < commands; i++) {
    server.register(command({
      name: `command_${i}`,
      summary: `Command ${i}`,
      input: {
        type: "object",
        properties: { value: { type: "string" }, count: { type: "integer" } },
        required: ["value"],
      },
      tool: { name: `command_${i}` },
      run: ({ value }) => value,
    }));
  }
  await server.serve(Deno.stdin.readable, Deno.stdout.writable);
}

if (import.meta.main) {
  const [first, second] = Deno.args;
  if (first === "serve") await serve(Number(second));
  else {
    const cost = await measure(first === undefined ? PAIRS : Number(first));
    Deno.stdout.writeSync(new TextEncoder().encode(`${inWords(cost)}\n`));
    if (cost.ratio > MAX_RATIO) Deno.exit(1);
  }
}
