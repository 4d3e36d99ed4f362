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
  Server,
} from "../harness.ts";
import type { KnownHost } from "./known.ts";
import { Model } from "./model.ts";
import {
  EDIT_FILE,
  FACTS,
  type Findings,
  LAST_WORD,
  PAGE_FILE,
  script,
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
  await folders.write(EDIT_FILE.name, EDIT_FILE.text);
  const page = await firstPage(folders);
  await using model = new Model(() => script(page, new Map()), host.search);
  const own = await environment(folders);
  const { PATH = "", HOME = "", LANG = "", ...server } = own;
  const start = host.start({
    packages,
    home: folders.home,
    project: folders.root,
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
  const timer = setTimeout(() => child.kill("SIGKILL"), HOST_TIME);
  const output = await child.output();
  clearTimeout(timer);

  const findings: Findings = new Map();
  const conversation = script(page, findings);
  let step = conversation.next();
  for (const result of model.last.results) {
    if (!step.done) step = conversation.next(result);
  }
  findings.set(
    FACTS[5],
    step.done
      ? await whatIsLeft(folders)
      : `the conversation ended early: ${
        output.signal ?? `exit code ${output.code}`
      }`,
  );
  const decoder = new TextDecoder();
  const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) =>
    decoder.decode(bytes).slice(-TRACE_CHARS)
  );
  if (step.done && !stdout?.includes(LAST_WORD)) {
    findings.set(FACTS[5], "the host did not print the model's last word");
  }
  return {
    findings,
    trace: [
      `exit code ${output.code}, signal ${output.signal}`,
      `requests: ${model.requests.join(", ")}`,
      `tools: ${
        model.last.tools.map(({ namespace, name }) =>
          namespace === undefined ? name : `${namespace} ${name}`
        ).join(", ")
      }`,
      `stdout: ${stdout}`,
      `stderr: ${stderr}`,
    ].join("\n"),
  };
}

/** Discards what it is told, at a port where nobody listens. */
const NOWHERE = "http://127.0.0.1:9";

/** What `read` answers for the first page, asked of the server itself. */
async function firstPage(folders: Folders): Promise<string[]> {
  await using server = await Server.open({ folders });
  const { content } = await server.call("read", { path: PAGE_FILE.name });
  return content.map(({ text }: { text: string }) => text);
}

/** Processes in the folders some seconds after the host has ended; undefined when there are none. */
async function whatIsLeft(folders: Folders): Promise<string | undefined> {
  const deadline = Date.now() + CLOSING_TIME;
  for (;;) {
    const left = await leftovers(folders.base);
    if (left.length === 0) return undefined;
    if (Date.now() > deadline) return left.join("; ");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
