/**
 * What the built-in tools need of the world, made from the settings: log, scope, and what lives as long as the process.
 *
 * @module
 */
import type { CommandContext } from "./command.ts";
import type { Config } from "./config.ts";
import type { Jobs } from "./jobs.ts";
import { createLogger, type Logger } from "./log.ts";
import type { Platform } from "./platform.ts";
import type { Roots } from "./roots.ts";
import type { ProcessScope } from "./scope.ts";
import { setUp } from "./setup.ts";
import type { SessionStore } from "./store.ts";
import { ProcessState, type ToolContext } from "./tool.ts";

/** Milliseconds that the last log lines and records have before the process ends without them. */
export const LAST_WORDS_MS = 500;

/** The same after a signal: a host kills 460 ms after its first. */
export const STOPPED_LAST_WORDS_MS = 50;

/** Key of the shells in `ctx.process`; theirs to set. */
export const JOBS_KEY = "jobs";

/** Key of the session store in `ctx.process`; theirs to set. */
export const STORE_KEY = "store";

/** The context of a command that makes the world whole by itself, when it needs to. */
export interface StartContext extends CommandContext {
  /** Perhaps not whole yet. */
  world: World;
}

/** The context of a command that needs more of the world than a tool does. */
export interface WorldContext extends ToolContext {
  /** All of it. */
  world: World;
}

/** What a world is made from. */
export interface WorldOptions {
  /** The root's options by name. */
  flags: Record<string, unknown>;
  /** The process's surroundings. */
  platform: Platform;
  /** Standard error. */
  writeLog(bytes: Uint8Array): Promise<void>;
  /** False for a command that ends by itself; default true. */
  serving?: boolean;
}

/** The world of one process. */
export class World {
  /** Every setting. */
  readonly config: Config;
  /** The files that the settings came from. */
  readonly files: readonly string[];
  /** Paths that belong to rousseau itself, beside those that are always known. */
  readonly own: string[];
  /** The operator's log. */
  readonly logger: Logger;
  /** Where the tools work. */
  readonly roots: readonly string[];
  /** What was passed over while the world was made, a sentence each. */
  readonly warnings: readonly string[];
  /** The process's surroundings. */
  readonly platform: Platform;
  readonly #process = new ProcessState();
  readonly #found: Roots;
  #scope: ProcessScope | undefined;

  /** Takes what {@linkcode startWorld} has made. */
  constructor(
    parts: Pick<World, "config" | "files" | "own" | "logger" | "warnings">,
    found: Roots,
    platform: Platform,
  ) {
    this.config = parts.config;
    this.files = parts.files;
    this.own = parts.own;
    this.logger = parts.logger;
    this.roots = found.roots;
    this.#found = found;
    this.warnings = parts.warnings;
    this.platform = platform;
  }

  /** Makes the world whole: loads what decides on paths. */
  async ready(): Promise<void> {
    if (this.#scope) return;
    const { createScope } = await import("./scope.ts");
    const { scope } = await createScope({
      platform: this.platform,
      config: this.config,
      own: this.own,
      found: this.#found,
    });
    this.#scope ??= scope;
  }

  /** What may be touched. Not there before {@linkcode World.ready}. */
  get scope(): ProcessScope {
    if (!this.#scope) throw new TypeError("Cannot use the scope: not loaded");
    return this.#scope;
  }

  /** A handler's context with the world in it. Only in a whole world. */
  extend(base: CommandContext): WorldContext {
    return {
      ...base,
      world: this,
      scope: this.scope,
      roots: this.roots,
      config: this.config,
      platform: this.platform,
      logger: this.logger,
      process: this.#process,
    };
  }

  /** The shells, when a command was run. */
  get jobs(): Jobs | undefined {
    return this.#process.peek<Jobs>(JOBS_KEY);
  }

  /** The session store, when something was recorded or asked for. */
  get store(): SessionStore | undefined {
    return this.#process.peek<SessionStore>(STORE_KEY);
  }

  /**
   * Ends what still runs, commits what is recorded, writes what is logged. Waits for none of them too long; after a
   * signal (`stopped`) hardly at all, since whoever sent it soon kills.
   */
  async close(stopped: boolean): Promise<void> {
    const ms = stopped ? STOPPED_LAST_WORDS_MS : LAST_WORDS_MS;
    await within(
      ms,
      Promise.allSettled([this.jobs?.close(), this.store?.close()]),
    );
    await within(ms, this.logger.flush());
  }
}

/**
 * Makes the whole world: settings, log, scope, and the project's own tightening.
 *
 * @throws {UsageError} as {@linkcode startWorld}.
 */
export async function openWorld(options: WorldOptions): Promise<World> {
  const world = await startWorld(options);
  await world.ready();
  return world;
}

/**
 * The world without its scope, which takes longer to load than all the rest.
 *
 * @throws {UsageError} for mistakes in the settings, and when a folder that was named as a root cannot be one.
 */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { platform } = options;
  const setup = await setUp(options);
  const { config, found } = setup;
  const logger = createLogger({ ...config.log, write: options.writeLog });
  // That a folder which nobody named is no root matters to a model that works in it, not to `sessions list`.
  const quiet = options.serving === false && config.roots.length === 0 &&
    platform.env("ROUSSEAU_ROOT") === undefined;
  for (const warning of setup.warnings) {
    const level = quiet && found.warnings.includes(warning) ? "info" : "warn";
    logger[level]("start.warning", { warning });
  }
  return new World({ ...setup, logger }, found, platform);
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
