// deno-lint-ignore-file no-console -- a program of its own
/**
 * Many programs on one database: writers that record fifty calls a second, readers that list, search and read. Every
 * committed record must be there in the end, nobody may be told of trouble, and the log must stay bounded.
 *
 *     deno run -A --config tests/deno.json tests/soak/store_soak.ts [SECONDS] [WRITERS] [READERS]
 *
 * @module
 */
import { Sqlite } from "../../lib/sqlite.ts";
import { record, testStore } from "../sessions.ts";

/** What one program reports when its time is over. */
interface Report {
  calls: number;
  warnings: string[];
  errors: string[];
  /** The longest that a timer of 5 ms was late, in milliseconds. */
  blocked: number;
}

const [role, ...rest] = Deno.args;
if (role === "writer" || role === "reader") {
  console.log(
    JSON.stringify(await work(role, rest[0] as string, Number(rest[1]))),
  );
} else {
  const numbers = Deno.args.map(Number);
  await lead(numbers[0] ?? 30, numbers[1] ?? 8, numbers[2] ?? 4);
}

async function work(
  role: "writer" | "reader",
  path: string,
  seconds: number,
): Promise<Report> {
  const { store, log } = testStore({
    path,
    env: { CLAUDE_CODE_SESSION_ID: crypto.randomUUID() },
  });
  const report: Report = { calls: 0, warnings: [], errors: [], blocked: 0 };
  let last = performance.now();
  const clock = setInterval(() => {
    const now = performance.now();
    report.blocked = Math.max(report.blocked, now - last - 5);
    last = now;
  }, 5);
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    try {
      if (role === "writer") {
        for (let i = 0; i < 10; i++) {
          record(store, {
            result: `${report.calls} ${
              "some words of output ".repeat(report.calls % 200)
            }`,
          });
          report.calls++;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      } else {
        const { items } = await store.list({ limit: 20 });
        await store.search("output words", 10);
        const id = items[report.calls % Math.max(1, items.length)]?.id;
        if (id) await store.read(id, 0, (_, messages) => [...messages].length);
        report.calls++;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    } catch (error) {
      report.errors.push(error instanceof Error ? error.message : `${error}`);
    }
  }
  clearInterval(clock);
  await store.flush({ wait: 15_000 });
  await store.close();
  report.warnings = log.warnings;
  return report;
}

async function lead(
  seconds: number,
  writers: number,
  readers: number,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/sessions.db`;
  const start = (role: string) =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--config",
        new URL("../deno.json", import.meta.url).pathname,
        import.meta.filename ?? "",
        role,
        path,
        String(seconds),
      ],
      stderr: "inherit",
    }).output().then(({ stdout }) => ({
      role,
      ...JSON.parse(new TextDecoder().decode(stdout)) as Report,
    }));
  const running = [
    ...Array(writers).fill("writer"),
    ...Array(readers).fill("reader"),
  ].map(start);
  let longest = 0;
  const watch = setInterval(async () => {
    longest = Math.max(
      longest,
      await Deno.stat(`${path}-wal`).then(({ size }) => size, () => 0),
    );
  }, 250);
  const reports = await Promise.all(running);
  clearInterval(watch);
  const db = await Sqlite.open(path);
  const found = Number(
    db.get<{ count: number }>("SELECT count(*) AS count FROM messages")?.count,
  );
  const calls = reports.filter(({ role }) => role === "writer").reduce(
    (sum, { calls }) => sum + calls,
    0,
  );
  const integrity = db.pragma("integrity_check");
  db.close();
  const trouble = reports.flatMap((
    { warnings, errors },
  ) => [...warnings, ...errors]);
  const blocked = (role: string) =>
    Math.max(
      ...reports.filter((each) => each.role === role).map((each) =>
        each.blocked
      ),
    ).toFixed(0);
  console.log(
    `${writers} writers, ${readers} readers, ${seconds} s: ${calls} calls, ${found} of ${
      calls * 2
    } messages, integrity ${integrity}`,
  );
  console.log(
    `log at most ${(longest / 1e6).toFixed(1)} MB, blocked at most ${
      blocked("writer")
    } ms in a writer, ${blocked("reader")} ms in a reader`,
  );
  console.log(trouble.length === 0 ? "no trouble" : trouble.join("\n"));
  await Deno.remove(folder, { recursive: true });
  if (trouble.length > 0 || found !== calls * 2 || integrity !== "ok") {
    Deno.exit(1);
  }
}
