// deno-lint-ignore-file no-console -- a program of its own
/**
 * Many connections that say nothing, or half a request, while a client works: its requests are still answered, and
 * when the others have gone their descriptors are back.
 *
 *     deno run -A --config tests/deno.json tests/soak/http_idle.ts [CONNECTIONS]
 *
 * @module
 */
import { Folders } from "../harness.ts";
import { HttpProgram } from "./http_program.ts";

/** What a run found. */
export interface IdleReport {
  open: number;
  /** Milliseconds of the slowest `ping`, and of `server/discover`, while they were open. */
  ping: number;
  discover: number;
  wrong: string[];
  /** Descriptors of the server beyond those before, when all have gone. */
  descriptors: number;
  /** Resident memory with the connections and without, in MiB. */
  during: number;
  after: number;
  /** Milliseconds from SIGTERM to the exit, with half of the connections open again. */
  exit: number;
}

/** Requests of each kind. */
const TIMES = 20;

/** Milliseconds that a server has to let go of connections that were closed. */
const SETTLE_MS = 10_000;

/** Opens `count` connections, of which every other one has sent half of a request's head. */
export async function soakIdle(count: number): Promise<IdleReport> {
  await using folders = await Folders.make();
  await using program = await HttpProgram.start(folders);
  const { hostname, port } = new URL(program.url);
  const session = await program.open();
  const report: IdleReport = {
    open: 0,
    ping: 0,
    discover: 0,
    wrong: [],
    descriptors: 0,
    during: 0,
    after: 0,
    exit: 0,
  };
  const work = async () => {
    for (let i = 0; i < TIMES; i++) {
      for (const kind of ["ping", "discover"] as const) {
        const startedAt = performance.now();
        const reply = kind === "ping"
          ? await program.request(session, `p${i}`, "ping", {})
          : await program.request("stateless", `d${i}`, "server/discover", {});
        if (!reply.result) report.wrong.push(JSON.stringify(reply));
        report[kind] = Math.max(report[kind], performance.now() - startedAt);
      }
    }
  };
  await work();
  report.ping = report.discover = 0;
  program.hangUp();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const before = await program.descriptors();
  const half = new TextEncoder().encode("POST /mcp HTTP/1.1\r\nHost: local");
  const open = async (n: number): Promise<Deno.Conn[]> => {
    const connections: Deno.Conn[] = [];
    while (connections.length < n) {
      connections.push(
        ...await Promise.all(
          Array.from(
            { length: Math.min(200, n - connections.length) },
            async (_, i) => {
              const connection = await Deno.connect({
                hostname,
                port: Number(port),
              });
              if (i % 2 === 0) await connection.write(half);
              return connection;
            },
          ),
        ),
      );
    }
    return connections;
  };
  const connections = await open(count);
  report.open = connections.length;
  await work();
  report.during = await program.memory();
  for (const connection of connections) connection.close();
  program.hangUp();
  const deadline = performance.now() + SETTLE_MS;
  do {
    report.descriptors = await program.descriptors() - before;
    await new Promise((resolve) => setTimeout(resolve, 50));
  } while (report.descriptors > 0 && performance.now() < deadline);
  report.after = await program.memory();
  const again = await open(Math.ceil(count / 2));
  const startedAt = performance.now();
  program.child.kill("SIGTERM");
  await program.child.status;
  report.exit = performance.now() - startedAt;
  for (const connection of again) connection.close();
  return report;
}

if (import.meta.main) {
  const [count = 10_000] = Deno.args.map(Number);
  const report = await soakIdle(count);
  console.log(JSON.stringify(report, null, 1));
  if (report.wrong.length > 0 || report.descriptors > 0) Deno.exitCode = 1;
}
