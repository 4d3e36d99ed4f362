/**
 * One run of one host.
 *
 * @module
 */
import {
  commandLine,
  environment,
  Folders,
  leftovers,
  REVISION,
  Server,
} from "../harness.ts";
import type { KnownHost } from "./known.ts";
import { Model, replay } from "./model.ts";
import {
  EDIT_FILE,
  FACTS,
  type Findings,
  LAST_WORD,
  PAGE_FILE,
  script,
  WIDE_FILE,
} from "./script.ts";

/** Milliseconds that a host has for the conversation; 70 s of them are spent in one command. */
const HOST_TIME = 300_000;

/** Milliseconds within which everything has ended after the host did. */
const CLOSING_TIME = 5_000;

/** Characters of a host's own output that are shown when something is wrong. */
const TRACE_CHARS = 3_000;

/** What a run gave. */
export interface HostRun {
  findings: Findings;
  /** What the host printed and asked for, for the report of a failure. */
  trace: string;
}

/** Runs a host through the whole conversation, in folders made for it. */
export async function runHost(
  host: KnownHost,
  packages: string,
  folders: Folders,
): Promise<HostRun> {
  await folders.write(PAGE_FILE.name, PAGE_FILE.text);
  await folders.write(WIDE_FILE.name, WIDE_FILE.text);
  await folders.write(EDIT_FILE.name, EDIT_FILE.text);
  const pages = await firstPages(folders, host.client ?? "test");
  await using model = new Model(() => script(pages, new Map()), host.detour);
  const own = await environment(folders);
  const { PATH = "", HOME = "", LANG = "", ...server } = own;
  const start = host.start({
    packages,
    home: folders.home,
    model: model.url,
    server: await commandLine(["mcp", "--root", folders.root]),
    env: server,
  });
  for (const [path, text] of Object.entries(start.files)) {
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  const [command = "", ...args] = start.command;
  const child = new Deno.Command(command, {
    args,
    cwd: folders.root,
    clearEnv: true,
    env: {
      PATH,
      HOME,
      LANG,
      TERM: "dumb",
      HTTP_PROXY: NOWHERE,
      HTTPS_PROXY: NOWHERE,
      NO_PROXY: "127.0.0.1,localhost",
      ...start.env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdout = new Tail(child.stdout);
  const stderr = new Tail(child.stderr);
  const timer = setTimeout(() => child.kill("SIGKILL"), HOST_TIME);
  // Not the end of its output: whoever it left behind may hold that open.
  const { code, signal } = await child.status;
  clearTimeout(timer);

  const findings: Findings = new Map();
  const { step } = replay(
    script(pages, findings),
    model.last.results,
    host.detour,
  );
  const closing = step.done
    ? findings.get(FACTS[5]) ?? await whatIsLeft(folders)
    : `the conversation ended early: ${signal ?? `exit code ${code}`}`;
  findings.set(FACTS[5], closing);
  await Promise.all([stdout.close(), stderr.close()]);
  if (step.done && !stdout.text.includes(LAST_WORD)) {
    findings.set(FACTS[5], "the host did not print the model's last word");
  }
  return {
    findings,
    trace: [
      `exit code ${code}, signal ${signal}`,
      `requests: ${model.requests.join(", ")}`,
      `tools: ${
        model.last.tools.map(({ namespace, name }) =>
          namespace === undefined ? name : `${namespace} ${name}`
        ).join(", ")
      }`,
      `stdout: ${stdout.text}`,
      `stderr: ${stderr.text}`,
    ].join("\n"),
  };
}

/** Discards what it is told, at a port where nobody listens. */
const NOWHERE = "http://127.0.0.1:9";

/** What `read` answers `client` for the first page of each file, asked of the server itself. */
async function firstPages(
  folders: Folders,
  client: string,
): Promise<string[][]> {
  await using server = await Server.start({ folders });
  await server.request("initialize", {
    protocolVersion: REVISION,
    capabilities: {},
    clientInfo: { name: client, version: "1" },
  });
  const pages: string[][] = [];
  for (const { name } of [PAGE_FILE, WIDE_FILE]) {
    const { content } = await server.call("read", { path: name });
    pages.push(content.map(({ text }: { text: string }) => text));
  }
  return pages;
}

/** The end of what a host prints. */
class Tail {
  text = "";
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #done: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    this.#done = this.#read();
  }

  /** Reads no more; what was printed so far has some time to come. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#reader.cancel(), 1_000);
    await this.#done;
    clearTimeout(timer);
  }

  async #read(): Promise<void> {
    for (
      let chunk = await this.#reader.read();
      !chunk.done;
      chunk = await this.#reader.read()
    ) {
      this.text = (this.text + chunk.value).slice(-TRACE_CHARS);
    }
  }
}

/** Processes of the folders some seconds after the host has ended, then killed; undefined when there were none. */
async function whatIsLeft({ base }: Folders): Promise<string | undefined> {
  const deadline = Date.now() + CLOSING_TIME;
  for (;;) {
    const left = [...await leftovers(base), ...await naming(base)];
    if (left.length === 0) return undefined;
    if (Date.now() > deadline) {
      for (const line of left) kill(Number(/\d+/.exec(line)?.[0]));
      return left.join("; ");
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function kill(id: number): void {
  try {
    Deno.kill(id, "SIGKILL");
  } catch { /* It has ended, or was named twice. */ }
}

/** Processes that have the folder on their command line. */
async function naming(base: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const command = await Deno.readTextFile(`/proc/${name}/cmdline`)
      .catch(() => "");
    if (!command.includes(base)) continue;
    found.push(`Left running: ${name} ${command.replaceAll("\0", " ")}`);
  }
  return found;
}
