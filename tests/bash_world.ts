/**
 * A context for the shell tools without a server: real processes, a scope of one folder, injected limits.
 *
 * @module
 */
import { bashKill, bashOutput, bashTool } from "../lib/bash.ts";
import { JOBS_KEY } from "../lib/bash_schema.ts";
import { CommandError, toToolResult } from "../lib/command.ts";
import type { Config } from "../lib/config.ts";
import { Jobs } from "../lib/jobs.ts";
import type { JobsOptions } from "../lib/jobs.ts";
import type { JsonObject, ToolResult } from "../lib/mcp.ts";
import type { Platform } from "../lib/platform.ts";
import { Printed } from "../lib/results.ts";
import type { Scope } from "../lib/scope.ts";
import { ProcessState, RESULT_META } from "../lib/tool.ts";
import type { ToolContext } from "../lib/tool.ts";

/** What a test may set. */
export interface WorldOptions extends Partial<Omit<JobsOptions, "config">> {
  /** Instead of a fake one. */
  scope?: Scope;
  mode?: Scope["mode"];
  roots?: readonly string[];
  config?: {
    env?: readonly string[];
    bash?: Partial<Config["bash"]>;
    answerChars?: number;
    sandbox?: Config["sandbox"];
  };
  env?: Readonly<Record<string, string>>;
  denyRead?: boolean;
  terminal?: boolean;
}

/** An answer taken apart. */
export interface Taken {
  text: string;
  note: string;
  isError: boolean;
  meta: JsonObject;
  exitCode: number | undefined;
}

/** One process's worth of shell tools in a temporary folder. */
export class World implements AsyncDisposable {
  readonly root: string;
  readonly jobs: Jobs;
  readonly progress: { value: number; message: string | undefined }[] = [];
  readonly context: (signal?: AbortSignal) => ToolContext;
  readonly #base: string;

  private constructor(base: string, options: WorldOptions) {
    this.#base = base;
    this.root = `${base}/root`;
    const variables = options.env ?? { PATH: Deno.env.get("PATH") ?? "" };
    const platform: Platform = options.platform ?? {
      os: Deno.build.os === "darwin" ? "darwin" : "linux",
      env: (name) => variables[name],
      home: `${base}/home`,
      temp: `${base}/temp`,
      cwd: base,
      execPath: undefined,
      uid: undefined,
    };
    const config = {
      env: options.config?.env ?? [],
      limits: { answerChars: options.config?.answerChars ?? 20_000 },
      bash: {
        timeout: undefined,
        envPassthrough: [],
        loginPath: false,
        ...options.config?.bash,
      },
      sandbox: options.config?.sandbox,
    } as unknown as Config;
    this.jobs = new Jobs({ ...options, platform, config });
    const process = new ProcessState();
    process.get(JOBS_KEY, () => this.jobs);
    const scope = options.scope ??
      fakeScope(options.roots ?? [this.root], options);
    this.context = (signal = new AbortController().signal) => ({
      signal,
      ...new Printed(),
      progress: (value, _total, message) =>
        this.progress.push({ value, message }),
      log: () => {},
      client: { capabilities: {} },
      ask: () => Promise.reject(new Error("nobody to ask")),
      meta: {},
      scope,
      config,
      platform,
      logger: {
        enabled: () => false,
        debug: () => {},
        info: () => {},
        warn: () => {},
        error: () => {},
        flush: () => Promise.resolve(),
      },
      process,
      ...(options.terminal
        ? { terminal: {} as NonNullable<ToolContext["terminal"]> }
        : {}),
    });
  }

  static async make(options: WorldOptions = {}): Promise<World> {
    const base = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "rousseau-test-" }),
    );
    for (const name of ["root", "home", "temp"]) {
      await Deno.mkdir(`${base}/${name}`);
    }
    return new World(base, options);
  }

  /** Calls `bash`. */
  async bash(
    command: string,
    args: JsonObject = {},
    signal?: AbortSignal,
  ): Promise<Taken> {
    const ctx = this.context(signal);
    return await take(() =>
      bashTool(ctx.platform).run!({ command, ...args }, ctx)
    );
  }

  /** Calls `bash_output`. */
  async output(
    job: string,
    args: { since?: number; wait?: number } = {},
    signal?: AbortSignal,
  ): Promise<Taken> {
    return await take(() =>
      bashOutput.run!({ job, since: 0, ...args }, this.context(signal))
    );
  }

  /** Calls `bash_kill`. */
  async kill(job: string): Promise<Taken> {
    return await take(() => bashKill.run!({ job }, this.context()));
  }

  /** Calls `bash_output` until the job has ended. */
  async ended(job: string): Promise<Taken> {
    for (;;) {
      await this.jobs.find(job, "test").execution.done;
      return await this.output(job);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.close();
    await Deno.remove(this.#base, { recursive: true });
  }
}

/** Whether a process still runs; one that ended and was not reaped does not. */
export async function runs(pid: number): Promise<boolean> {
  if (Deno.build.os === "linux") {
    try {
      const line = await Deno.readTextFile(`/proc/${pid}/stat`);
      return !/^[ZX]/.test(line.slice(line.lastIndexOf(")") + 2));
    } catch {
      return false;
    }
  }
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

/** The process ids in a text, one a line. */
export function pidsIn(text: string): number[] {
  return [...text.matchAll(/^(\d+)$/gm)].map(([pid]) => Number(pid));
}

/** Fails the test unless all of these processes end within five seconds. */
export async function allGone(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    await eventually(async () => !await runs(pid), `end of process ${pid}`);
  }
}

/** Resolves when `check` holds; fails the test when it does not within five seconds. */
export async function eventually(
  check: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!await check()) {
    if (performance.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

type Runs = () => ReturnType<NonNullable<typeof bashOutput["run"]>>;

async function take(run: Runs): Promise<Taken> {
  try {
    const output = await run();
    const result = toToolResult(output);
    const exitCode = typeof output === "object" && "exitCode" in output
      ? output.exitCode
      : undefined;
    return taken(result, exitCode);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return {
      text: error.message,
      note: error.notes.join("\n"),
      isError: true,
      meta: error.meta ?? {},
      exitCode: undefined,
    };
  }
}

function taken(result: ToolResult, exitCode: number | undefined): Taken {
  const [text, note] = result.content.map((block) =>
    block.type === "text" ? block.text : ""
  );
  return {
    text: text ?? "",
    note: note ?? "",
    isError: result.isError ?? false,
    meta: (result._meta?.[RESULT_META] ?? {}) as JsonObject,
    exitCode,
  };
}

function fakeScope(roots: readonly string[], options: WorldOptions): Scope {
  return {
    mode: options.mode ?? "workspace",
    roots,
    async resolve(path) {
      if (path === "/denied") {
        throw new CommandError("/denied: outside the roots");
      }
      const real = path.startsWith("/") ? path : `${roots[0]}/${path}`;
      const info = await Deno.lstat(real).catch(() => undefined);
      return { real, shown: real, info, notes: [] };
    },
    denial: () => options.denyRead ? "denied" : undefined,
    describe: () => "",
  } as Scope;
}
