/**
 * What goes around each command of the shell tools: the sandbox where there is one, and a look at what the command left
 * for others to run.
 *
 * @module
 */
import type { Config } from "./config.ts";
import { gitState, reviewGit } from "./git_guard.ts";
import type { Logger } from "./log.ts";
import { pathsOf } from "./paths.ts";
import { cacheFolder } from "./platform.ts";
import type { Platform } from "./platform.ts";
import { Sandbox } from "./sandbox.ts";
import type { SandboxState } from "./sandbox.ts";
import type { ProcessScope, Scope } from "./scope.ts";
import type { Invocation } from "./shell.ts";

/** What a confinement is made from. */
export interface ConfinementOptions {
  /** The facts of the machine. */
  platform: Platform;
  /** The operator's choice; undefined: no sandbox. */
  settings: Config["sandbox"];
  /** Makes the private folder of this process. */
  folder: () => Promise<string>;
}

/** What is started in place of the shell. */
export interface Confined extends Invocation {
  /** The program is a sandbox that runs the shell in a group of its own. */
  sandboxed: boolean;
  /** Looks at what the command left, once nothing of it runs any more; what is to be told. */
  review?: () => Promise<readonly string[]>;
}

/** Scopes whose sandboxes are kept; each client may have one of its own. */
export const MAX_SANDBOXES = 8;

/** A command's surroundings. */
export interface Surroundings {
  /** The folder it starts in. */
  cwd: string;
  /** Its PATH. */
  path: string;
  /** What the sandbox follows; without it there is none. */
  scope: Scope | undefined;
}

/** One per process; a sandbox is tried with the first command. */
export class Confinement {
  readonly #options: ConfinementOptions;
  readonly #sandboxes = new Map<string, Sandbox>();
  #state: SandboxState | undefined;
  readonly #hinted = new Set<string>();
  #told = false;

  /** Starts nothing yet. */
  constructor(options: ConfinementOptions) {
    this.#options = options;
  }

  /** The layer around commands, once one was started; `off` where none was asked for. */
  get layer(): string {
    return this.#state?.layer ?? "off";
  }

  /**
   * Why there is no sandbox, or a weak one, and what would change that. Not empty only once; the operator is told at
   * the same time, also when all is well.
   */
  tell(logger: Pick<Logger, "info" | "warn">): string[] {
    const state = this.#state;
    if (state === undefined || this.#told) return [];
    this.#told = true;
    const { layer, reason, fix, weaknesses } = state;
    if (layer !== "none") {
      logger.info("bash.sandbox", { layer, weaknesses });
      return [...weaknesses];
    }
    logger[fix === undefined ? "info" : "warn"]("bash.sandbox", {
      layer,
      reason,
      ...(fix === undefined ? {} : { fix }),
    });
    const remedy = fix === undefined ? "" : `; to get one, ${fix}`;
    return [`commands run without a sandbox: ${reason}${remedy}`];
  }

  /** What a failed command's output hides: that the sandbox was in its way, and what would open it. Each told once. */
  hints(command: string, output: string): string[] {
    if (!SANDBOXES.includes(this.layer)) return [];
    const found: string[] = [];
    for (const { name, fits, text } of HINTS) {
      if (this.#hinted.has(name)) continue;
      if (name === "network" && this.#options.settings?.allowNet) continue;
      if (!fits(command, output)) continue;
      this.#hinted.add(name);
      found.push(text);
    }
    return found;
  }

  /**
   * What to start so that `invocation` runs confined.
   *
   * @throws {CommandError} when a sandbox is required and there is none.
   */
  async around(
    invocation: Invocation,
    { cwd, path, scope }: Surroundings,
  ): Promise<Confined> {
    if (scope === undefined) return { ...invocation, sandboxed: false };
    const sandbox = this.#sandboxFor(scope, path);
    if (sandbox === undefined) return { ...invocation, sandboxed: false };
    this.#state = await sandbox.state();
    // Without a root a command runs in the private folder, of which only `/tmp` is shown inside.
    const privately = scope.roots.length === 0 &&
      cwd === await this.#options.folder().catch(() => undefined);
    const [program, ...args] = await sandbox.wrap(
      [invocation.program, ...invocation.args],
      { cwd: privately ? "/tmp" : cwd },
    );
    if (this.#state.layer === "none") {
      return { ...invocation, sandboxed: false };
    }
    return {
      program: program!,
      args,
      twoPipes: invocation.twoPipes,
      sandboxed: true,
      review: await this.#review(scope.roots),
    };
  }

  /** Lets go of what the sandboxes started. */
  async close(): Promise<void> {
    const all = [...this.#sandboxes.values()];
    this.#sandboxes.clear();
    await Promise.all(all.map((sandbox) => sandbox.close()));
  }

  async #review(
    roots: readonly string[],
  ): Promise<() => Promise<readonly string[]>> {
    const paths = pathsOf(this.#options.platform.os);
    const before = await Promise.all(
      roots.map((root) => gitState(paths, root)),
    );
    return async () => {
      const found = roots.map((root, i) => reviewGit(paths, root, before[i]!));
      return (await Promise.all(found)).flat();
    };
  }

  /** Clients with the same roots share one, and with it the network inside. */
  #sandboxFor(scope: Scope, path: string): Sandbox | undefined {
    const { platform, settings, folder } = this.#options;
    if (settings === undefined || !isWhole(scope)) return undefined;
    const key = [scope.mode, ...scope.roots].join("\0");
    const known = this.#sandboxes.get(key);
    if (known !== undefined) return known;
    for (const [oldest, sandbox] of this.#sandboxes) {
      if (this.#sandboxes.size < MAX_SANDBOXES) break;
      this.#sandboxes.delete(oldest);
      // What still runs in its network keeps that open.
      sandbox.close().catch(() => {});
    }
    const caches = cacheFolder(platform);
    const made = new Sandbox({
      platform,
      scope,
      settings,
      path: path.split(pathsOf(platform.os).listSeparator),
      temp: async () => {
        // Not the folder itself: what commands printed lies in it.
        const temp = `${await folder()}/tmp`;
        await Deno.mkdir(temp, { recursive: true, mode: 0o700 });
        return temp;
      },
      ...(caches === undefined ? {} : { caches }),
    });
    this.#sandboxes.set(key, made);
    return made;
  }
}

const SANDBOXES: readonly string[] = [
  "bubblewrap",
  "bubblewrap-root",
  "sandbox-exec",
];

interface Hint {
  name: string;
  fits(command: string, output: string): boolean;
  text: string;
}

const HINTS: readonly Hint[] = [
  {
    name: "network",
    fits: (_, output) =>
      /network is unreachable|could ?n[o']t resolve|name or service not known|temporary failure in name resolution|nodename nor servname|no such host|getaddrinfo|ENOTFOUND|EAI_AGAIN|dns error|failed to lookup address/i
        .test(output),
    text:
      "the network is closed inside the sandbox; the person opens it by starting rousseau with --allow-net",
  },
  {
    name: "writing",
    fits: (_, output) => /read-only file system|EROFS/i.test(output),
    text:
      "inside the sandbox only the roots, /tmp and package caches can be written; the person adds a folder with --root DIR, or with sandbox_writable in the configuration file",
  },
  {
    name: "temporary",
    fits: (command, output) =>
      /(^|[^\w.-])\/(var\/)?tmp\//.test(command) &&
      /no such file or directory|ENOENT/i.test(output),
    text:
      "/tmp of commands is another folder than that of the file tools: hand files over in a root",
  },
];

function isWhole(scope: Scope): scope is ProcessScope {
  return "ready" in scope && "closed" in scope;
}
