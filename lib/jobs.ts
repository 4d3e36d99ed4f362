/**
 * All commands of this process: how many run at once, which run on as jobs, and that none outlives us.
 *
 * @module
 */
import { JOBS_KEY } from "./bash_schema.ts";
import { CommandError } from "./command.ts";
import type { Config } from "./config.ts";
import { Confinement } from "./confinement.ts";
import type { Confined } from "./confinement.ts";
import { Execution } from "./execution.ts";
import { Guardian, MARK_VARIABLE } from "./guardian.ts";
import { Output } from "./output.ts";
import { OutputFiles } from "./output_files.ts";
import type { Platform } from "./platform.ts";
import { ProcessGroup } from "./process_group.ts";
import type { Scope } from "./scope.ts";
import {
  chooseShell,
  invocation,
  loginPath,
  programInvocation,
} from "./shell.ts";
import type { Shell } from "./shell.ts";
import { childEnvironment, wantsLoginPath } from "./shell_env.ts";
import { Slots } from "./slots.ts";
import { osError, prefixed } from "./tool.ts";
import type { ToolContext } from "./tool.ts";

/** Shells that run at once, jobs included. */
export const MAX_SHELLS = 16;

/** Milliseconds after which a command without time limit becomes a job; hosts give a call up after 60 s. */
export const JOB_AFTER_MS = 45_000;

/** Ended jobs whose output can still be asked for. */
export const KEPT_JOBS = 20;

/** What {@linkcode Jobs} is made from; the optional ones are for tests. */
export interface JobsOptions {
  /** Where we run. */
  platform: Platform;
  /** What the operator passes on to commands. */
  config: Pick<Config, "env" | "bash" | "sandbox">;
  /** Instead of the platform's. */
  shell?: Shell;
  /** Instead of {@linkcode MAX_SHELLS}. */
  maxShells?: number;
  /** Instead of {@linkcode JOB_AFTER_MS}. */
  jobAfterMs?: number;
  /** Asks for the login shell's PATH. */
  loginPath?: () => Promise<string | undefined>;
}

/** A command to start. */
export interface StartRequest {
  /** What the shell is to run. */
  command: string;
  /** Instead of that: a program and its arguments, which no shell reads. */
  argv?: readonly string[];
  /** What it reads on standard input; undefined: nothing. */
  input?: string;
  /** The tool's name, for errors; default `bash`. */
  tool?: string;
  /** Where, absolute. */
  cwd: string;
  /** What the sandbox around it follows; without it there is none. */
  scope?: Scope;
  /** The call's own variables. */
  env: Readonly<Record<string, string>>;
  /** Milliseconds after which it is ended; undefined: never. */
  timeoutMs: number | undefined;
  /** Characters of the answer that will be made from the output. */
  budget: number;
  /** Ends the wait for a free place; a started command is the caller's to end. */
  signal: AbortSignal;
  /** Milliseconds to wait for a free place. */
  patienceMs: number;
}

/** A command that runs on after its call was answered. */
export interface Job {
  /** `j1`, `j2`, … */
  id: string;
  /** As the caller gave it. */
  command: string;
  /** The command itself. */
  execution: Execution;
  /** Its time limit in seconds. */
  timeout: number | undefined;
}

/** One per process; made at the first command. */
export class Jobs {
  /** Milliseconds after which a command without time limit becomes a job. */
  readonly jobAfterMs: number;
  readonly #options: JobsOptions;
  readonly #shell: Shell;
  readonly #slots: Slots;
  readonly #files: OutputFiles;
  readonly #confinement: Confinement;
  readonly #running = new Set<Execution>();
  readonly #jobs = new Map<string, Job>();
  #environment: Promise<Record<string, string>> | undefined;
  #guardian: Guardian | undefined;
  readonly #mark = crypto.randomUUID().replaceAll("-", "");
  #made = 0;
  #state: "open" | "ending" | "closed" = "open";

  /** Starts nothing yet. */
  constructor(options: JobsOptions) {
    this.#options = options;
    this.#shell = options.shell ?? chooseShell(options.platform);
    this.#slots = new Slots(options.maxShells ?? MAX_SHELLS);
    this.jobAfterMs = options.jobAfterMs ?? JOB_AFTER_MS;
    this.#files = new OutputFiles(
      options.platform.temp,
      (path) => this.#guardian?.folder(path),
    );
    const { platform, config: { sandbox } } = options;
    this.#confinement = new Confinement({
      platform,
      settings: sandbox,
      folder: () => this.#files.folder(),
    });
  }

  /** The one of this process. */
  static of(ctx: Pick<ToolContext, "process" | "platform" | "config">): Jobs {
    const { platform, config } = ctx;
    return ctx.process.get(JOBS_KEY, () => new Jobs({ platform, config }));
  }

  /** What is around commands. */
  get confinement(): Confinement {
    return this.#confinement;
  }

  /** The private folder, where commands run when there is no root. */
  folder(): Promise<string> {
    return this.#files.folder();
  }

  /**
   * Starts a command as soon as there is a place for it.
   *
   * @throws {CommandError} when there is none in time, the server is stopping, or the shell cannot be started.
   * @throws {unknown} the signal's reason when it is aborted before the start.
   */
  async start(request: StartRequest): Promise<Execution> {
    const release = await this.#slots.take(request.signal, request.patienceMs);
    if (!release) throw new CommandError(this.#crowded());
    try {
      const env = { ...await this.#baseEnvironment(), ...request.env };
      const confined = await this.#confinement.around(
        request.argv
          ? programInvocation(this.#shell, request.argv)
          : invocation(this.#shell, request.command),
        { cwd: request.cwd, path: env.PATH ?? "", scope: request.scope },
      ).catch((error) => {
        throw prefixed(request.tool ?? "bash", error);
      });
      request.signal.throwIfAborted();
      const execution = this.#launch(request, env, confined);
      const ended = () => {
        this.#running.delete(execution);
        this.#guardian?.remove(execution.pid);
        release();
      };
      execution.done.then(ended, ended);
      return execution;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Lets a command run on as a job. */
  adopt(
    execution: Execution,
    command: string,
    timeout: number | undefined,
  ): Job {
    const job = { id: `j${++this.#made}`, command, execution, timeout };
    this.#jobs.set(job.id, job);
    this.#forget();
    // Whoever could ask for it is gone.
    if (this.#state !== "open") execution.end("shutdown").catch(() => {});
    return job;
  }

  /** Whether a command may still become a job. */
  get adopting(): boolean {
    return this.#state === "open";
  }

  /** A job by its id. @throws {CommandError} when there is none, naming those that there are. */
  find(id: string, tool: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    const running = this.#describeRunning();
    const gone = /^j\d+$/.test(id) && Number(id.slice(1)) <= this.#made &&
      Number(id.slice(1)) > 0;
    throw new CommandError(
      `${tool}: ${
        gone
          ? `job ${id} is no longer kept: only the newest ${KEPT_JOBS} ended jobs are`
          : `no job ${JSON.stringify(id)}`
      }; ${running === "" ? "no job is running" : `running: ${running}`}`,
    );
  }

  /** All jobs, oldest first. */
  list(): Job[] {
    return [...this.#jobs.values()];
  }

  /** Ends the jobs, and lets calls that still wait for their command go on: the host has said its last word. */
  async endBackground(): Promise<void> {
    if (this.#state === "open") this.#state = "ending";
    await Promise.all(this.list().map((job) => job.execution.end("shutdown")));
  }

  /** Sends TERM to every group now, and KILL after two seconds; nothing starts any more. Resolves when all ended. */
  async terminateAll(): Promise<void> {
    this.#state = "closed";
    await Promise.all([...this.#running].map((one) => one.end("shutdown")));
  }

  /** Sends KILL to every group now. Resolves when all ended, after a second at the latest. */
  async killAll(): Promise<void> {
    this.#state = "closed";
    await Promise.all([...this.#running].map((one) => one.kill()));
  }

  /** Kills what still runs and removes the files. */
  async close(): Promise<void> {
    await this.killAll();
    await this.#confinement.close();
    await this.#files.close();
    await this.#guardian?.close();
    this.#guardian = undefined;
  }

  #launch(
    request: StartRequest,
    env: Record<string, string>,
    confined: Confined,
  ): Execution {
    if (this.#state === "closed") {
      throw new CommandError("bash: not started: the server is stopping");
    }
    const { os } = this.#options.platform;
    const { program, args, twoPipes, sandboxed } = confined;
    let group: ProcessGroup;
    try {
      group = new ProcessGroup(
        {
          program,
          args,
          cwd: request.cwd,
          env: os === "linux" && !sandboxed
            ? { ...env, [MARK_VARIABLE]: this.#mark }
            : env,
          twoPipes,
          sandboxed,
          input: request.input,
        },
        os,
      );
    } catch (error) {
      throw osError(request.tool ?? "bash", error, "start", program);
    }
    if (os !== "windows") this.#guard(this.#shell.program, group.pid);
    const execution = new Execution(
      group,
      new Output(request.budget, this.#files),
      request.timeoutMs,
      confined.review,
    );
    this.#running.add(execution);
    return execution;
  }

  #guard(program: string, group: number): void {
    if (!this.#guardian) {
      this.#guardian = Guardian.start(program, this.#mark);
      if (this.#files.made) this.#guardian?.folder(this.#files.made);
    }
    this.#guardian?.add(group);
  }

  #baseEnvironment(): Promise<Record<string, string>> {
    this.#environment ??= this.#makeEnvironment();
    return this.#environment;
  }

  async #makeEnvironment(): Promise<Record<string, string>> {
    const { platform, config } = this.#options;
    const names = platform.envNames?.() ?? variableNames();
    const sources = { platform, config, names };
    if (!config.bash.loginPath || !wantsLoginPath(platform)) {
      return childEnvironment(sources);
    }
    const ask = this.#options.loginPath ?? (() => this.#askLoginShell());
    return childEnvironment({ ...sources, loginPath: await ask() });
  }

  #askLoginShell(): Promise<string | undefined> {
    const { platform, config } = this.#options;
    const env = childEnvironment({ platform, config });
    return loginPath(platform, async (program, args, signal) => {
      const group = new ProcessGroup(
        { program, args, cwd: "/", env, twoPipes: false },
        platform.os,
      );
      const execution = new Execution(group, new Output(4096), undefined);
      const stop = () => execution.kill();
      signal.addEventListener("abort", stop);
      const { code } = await execution.done;
      signal.removeEventListener("abort", stop);
      if (code !== 0) throw new Error(`Cannot ask "${program}"`);
      return execution.output.show(4096).text;
    });
  }

  #forget(): void {
    const ended = this.list().filter((job) => job.execution.outcome);
    for (const job of ended.slice(0, -KEPT_JOBS)) this.#jobs.delete(job.id);
  }

  #crowded(): string {
    const running = this.#describeRunning();
    return `bash: not started: ${
      this.#options.maxShells ?? MAX_SHELLS
    } commands are running already${
      running === "" ? "" : ` (jobs: ${running})`
    }; end a job with bash_kill, or try again later`;
  }

  #describeRunning(): string {
    return this.list().filter((job) => !job.execution.outcome)
      .map((job) => `${job.id} \`${job.command.slice(0, 60)}\``).join(", ");
  }
}

/** Names of our variables; none where they may not be listed. */
function variableNames(): string[] {
  try {
    return Object.keys(Deno.env.toObject());
  } catch {
    return [];
  }
}
