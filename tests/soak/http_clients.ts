// deno-lint-ignore-file no-console -- a program of its own
/**
 * Many HTTP clients of both eras at once on one server of the real program: every answer is checked, every request is
 * answered, some clients leave in the middle of a call, and in the end memory and handles are back where they were.
 *
 *     deno run -A --config tests/deno.json tests/soak/http_clients.ts [SECONDS] [CLIENTS]
 *
 * @module
 */
import { Folders } from "../harness.ts";
import { HttpProgram, type Reply } from "./http_program.ts";

/** What a run found. */
export interface ClientsReport {
  requests: number;
  /** Requests that a client left before their answer. */
  left: number;
  wrong: string[];
  /** Descriptors of the server beyond those before the run, when it is over. */
  descriptors: number;
  /** Resident memory after each quarter of the run, in MiB. It levels off; a leak would not. */
  memory: number[];
}

/** Milliseconds that a server has to let go of connections that were closed. */
const SETTLE_MS = 10_000;

/** Runs `clients` clients, every second one of each era, for `seconds`. */
export async function soakClients(
  seconds: number,
  clients: number,
): Promise<ClientsReport> {
  await using folders = await Folders.make();
  for (let i = 0; i < clients; i++) {
    await folders.write(`${i}.txt`, `the text of ${i}\n`);
  }
  await using program = await HttpProgram.start(folders);
  const report: ClientsReport = {
    requests: 0,
    left: 0,
    wrong: [],
    descriptors: 0,
    memory: [],
  };
  // What is loaded at the first use, and the log's and the store's files, belong to the state before.
  await round(program, "stateless", 0, report);
  await round(program, await program.open(), 0, report);
  program.hangUp();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = await program.descriptors();
  const run = async (ms: number) => {
    const end = performance.now() + ms;
    await Promise.all(Array.from({ length: clients }, async (_, i) => {
      const session = i % 2 === 0 ? "stateless" : await program.open();
      do {
        await round(program, session, i, report);
      } while (performance.now() < end);
      if (session !== "stateless") await program.end(session);
    }));
  };
  for (let quarter = 0; quarter < 4; quarter++) {
    await run(seconds * 250);
    report.memory.push(await program.memory());
  }
  program.hangUp();
  const deadline = performance.now() + SETTLE_MS;
  do {
    report.descriptors = await program.descriptors() - before;
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (report.descriptors > 0 && performance.now() < deadline);
  report.wrong = report.wrong.slice(0, 20);
  return report;
}

/** One of each kind of request. */
async function round(
  program: HttpProgram,
  session: string,
  i: number,
  report: ClientsReport,
): Promise<void> {
  const expect = async (
    what: string,
    method: string,
    params: Record<string, unknown>,
    fits: (reply: Reply) => boolean,
  ) => {
    const id = `${i}:${++report.requests}`;
    try {
      const reply = await program.request(session, id, method, params);
      if (reply.id !== id || !fits(reply)) {
        report.wrong.push(`${what}: ${JSON.stringify(reply)}`.slice(0, 500));
      }
    } catch (error) {
      report.wrong.push(`${what}: ${error}`);
    }
  };
  const call = (name: string, args: unknown) => ({ name, arguments: args });
  await expect(
    "read",
    "tools/call",
    call("read", { path: `${i}.txt` }),
    ({ result }) => result?.content[0].text === `the text of ${i}\n`,
  );
  await expect(
    "list",
    "tools/list",
    {},
    ({ result }) => result?.tools.length >= 8,
  );
  await expect(
    "grep",
    "tools/call",
    call("grep", { pattern: "text", path: `${i}.txt` }),
    ({ result }) => result?.content[0].text.includes(`the text of ${i}`),
  );
  await expect(
    "missing",
    "tools/call",
    call("read", { path: `${i}.none` }),
    ({ result }) => result?.isError === true,
  );
  await expect(
    "unknown",
    "tools/call",
    call("nothing", {}),
    ({ error }) => error?.code === (session === "stateless" ? -32602 : -32000),
  );
  if (i % 10 < 2) {
    report.left++;
    const signal = AbortSignal.timeout(20);
    await program.request(
      session,
      `${i}:left${report.left}`,
      "tools/call",
      call("bash", { command: "sleep 0.1" }),
      signal,
    ).catch(() => {});
  }
}

if (import.meta.main) {
  const [seconds = 60, clients = 200] = Deno.args.map(Number);
  const report = await soakClients(seconds, clients);
  console.log(JSON.stringify(report, null, 1));
  if (report.wrong.length > 0 || report.descriptors > 0) Deno.exitCode = 1;
}
