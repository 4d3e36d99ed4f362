/**
 * The sandbox around commands: which one works here, found out once, and how a command is started inside it.
 *
 * @module
 */
import { isolationArgs, worldArgs } from "./bubblewrap.ts";
import type { Isolation } from "./bubblewrap.ts";
import { CommandError } from "./command.ts";
import type { Config } from "./config.ts";
import { type DiskView, diskView } from "./disk_view.ts";
import { NetworkHolder } from "./network_holder.ts";
import { isWithin, posixPaths } from "./paths.ts";
import { fromUser } from "./platform.ts";
import type { Platform } from "./platform.ts";
import { sandboxFault } from "./sandbox_fault.ts";
import { planSandbox } from "./sandbox_plan.ts";
import type { SandboxPlan } from "./sandbox_plan.ts";
import type { ProcessScope } from "./scope.ts";
import { SANDBOX_EXEC, seatbeltProfile } from "./seatbelt.ts";
import { underWarden } from "./warden.ts";

/** Milliseconds that the trial of a sandbox may take. */
export const TRIAL_MS = 5_000;

/** What the operator asks of the sandbox. */
export type SandboxSettings = NonNullable<Config["sandbox"]>;

/** Which layer is around commands. */
export interface SandboxState {
  /**
   * `bubblewrap` and `sandbox-exec` follow the scope's policy; `bubblewrap-root` is the same without a user namespace,
   * where only dropped capabilities keep root inside. `none`: commands run as this process does.
   */
  layer: "bubblewrap" | "bubblewrap-root" | "sandbox-exec" | "none";
  /** Why there is none. */
  reason: string | undefined;
  /** What a person does about that. */
  fix: string | undefined;
  /** What is weaker than it could be, and why; a sentence each. */
  weaknesses: readonly string[];
}

/** What a sandbox is made from. */
export interface SandboxOptions {
  /** The facts of the machine. */
  platform: Platform;
  /** The scope whose policy it follows. */
  scope: ProcessScope;
  /** The operator's choice. */
  settings: SandboxSettings;
  /** Makes the private folder of this process that is `/tmp` for commands; undefined: each command has its own. */
  temp?: () => Promise<string>;
  /** Where package managers' caches are kept; undefined: nowhere. */
  caches?: string;
  /** Folders on the commands' PATH. */
  path?: readonly string[];
}

/** The sandbox of one process. Made once; tried at the first use. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #disk: DiskView = diskView();
  #tried: Promise<Working> | undefined;
  #holder: Promise<NetworkHolder | undefined> | undefined;

  /** Nothing is started yet. */
  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /** Which layer works here. The first call tries, which takes some milliseconds; call it early and do not wait. */
  async state(): Promise<SandboxState> {
    return (await this.#try()).state;
  }

  /**
   * The words to start in place of `command` (program and arguments); the same words where there is no sandbox.
   *
   * @throws {CommandError} when the operator requires a sandbox and there is none.
   */
  async wrap(
    command: readonly string[],
    options: { cwd: string },
  ): Promise<string[]> {
    const { state, start } = await this.#try();
    if (start === undefined) {
      if (this.#options.settings.mode === "require") {
        throw new CommandError(
          `refused: the operator requires a sandbox for commands (--sandbox=require), and there is none: ${state.reason}${
            state.fix === undefined ? "" : `. To get one, ${state.fix}`
          }`,
        );
      }
      return [...command];
    }
    return await start(command, options.cwd);
  }

  /** Lets go of what it started. */
  async close(): Promise<void> {
    await (await this.#holder)?.close();
    this.#holder = undefined;
  }

  #try(): Promise<Working> {
    return this.#tried ??= this.#find();
  }

  async #find(): Promise<Working> {
    const { platform, settings, scope } = this.#options;
    if (settings.mode === "off") {
      return none("it is turned off (--sandbox=off)", undefined);
    }
    if (scope.mode === "full" && settings.mode === "auto") {
      return none("mode full", undefined);
    }
    switch (platform.os) {
      case "linux":
        return await this.#bubblewrap();
      case "darwin":
        return await this.#seatbelt();
      case "windows":
        return none("there is none for Windows", undefined);
    }
  }

  async #bubblewrap(): Promise<Working> {
    const bwrap = await findProgram(this.#disk, "bwrap");
    const container = await inContainer(this.#disk, this.#options.platform);
    if (bwrap === undefined) {
      const fault = sandboxFault({
        errors: undefined,
        container,
        appArmor: false,
      });
      return none(fault.reason, fault.fix);
    }
    const network = this.#options.settings.allowNet ? "shared" : "none";
    const own: Isolation = { userNamespace: true, network };
    const errors = await trial(bwrap, own);
    if (errors === undefined) return await this.#linux(bwrap, own);
    const asRoot: Isolation = { userNamespace: false, network };
    if (
      this.#options.platform.uid === 0 &&
      await trial(bwrap, asRoot) === undefined
    ) {
      return await this.#linux(bwrap, asRoot);
    }
    const fault = sandboxFault({
      errors,
      container,
      appArmor: (await this.#disk.text(APPARMOR))?.trim() === "1",
    });
    return none(fault.reason, fault.fix);
  }

  async #linux(bwrap: string, isolation: Isolation): Promise<Working> {
    const plan = await this.#plan();
    const world = worldArgs(plan);
    const weaknesses: string[] = [];
    if (!isolation.userNamespace) {
      weaknesses.push(
        "user namespaces are refused here: commands stay root of the system, without capabilities",
      );
    }
    const nsenter = await findProgram(this.#disk, "nsenter");
    const joins = isolation.network === "none" && isolation.userNamespace;
    if (joins && nsenter === undefined) {
      weaknesses.push(
        "nsenter (package util-linux) is missing: each command has a network of its own, and cannot reach a server that another started",
      );
    }
    const start = async (command: readonly string[], cwd: string) => {
      if (!isShown(plan, cwd)) {
        throw new CommandError(
          `${cwd} is not there inside the sandbox, where only the roots and what may be read are shown, and /tmp is another one. Take a folder in a root as cwd, or start rousseau with --root ${
            JSON.stringify(cwd)
          }`,
        );
      }
      const holder = joins && nsenter !== undefined
        ? await this.#network(bwrap)
        : undefined;
      return [
        ...(holder?.enter(nsenter!) ?? []),
        bwrap,
        ...isolationArgs(
          holder ? { ...isolation, network: "shared" } : isolation,
        ),
        ...world,
        "--chdir",
        cwd,
        "--",
        ...underWarden(
          command,
          plan.world === "listed" && plan.home !== "/" ? plan.home : undefined,
        ),
      ];
    };
    return {
      state: {
        layer: isolation.userNamespace ? "bubblewrap" : "bubblewrap-root",
        reason: undefined,
        fix: undefined,
        weaknesses,
      },
      start,
    };
  }

  async #seatbelt(): Promise<Working> {
    if (await this.#disk.look(SANDBOX_EXEC) === undefined) {
      return none("sandbox-exec is missing", undefined);
    }
    const { platform, settings } = this.#options;
    const plan = await this.#plan();
    const profile = seatbeltProfile(platform, plan, settings.allowNet);
    const failed = await failureOf(SANDBOX_EXEC, [
      "-p",
      profile,
      "/usr/bin/true",
    ]);
    if (failed !== undefined) {
      return none(
        `sandbox-exec does not work here (${failed.trim()})`,
        undefined,
      );
    }
    const variables = Object.entries(plan.variables)
      .filter(([name]) => name !== "TMPDIR" || plan.temp !== undefined)
      .map(([name, value]) =>
        `${name}=${name === "TMPDIR" ? plan.temp : value}`
      );
    return {
      state: {
        layer: "sandbox-exec",
        reason: undefined,
        fix: undefined,
        weaknesses: [],
      },
      start: (command) =>
        Promise.resolve([
          SANDBOX_EXEC,
          "-p",
          profile,
          "/usr/bin/env",
          ...variables,
          ...command,
        ]),
    };
  }

  async #plan(): Promise<SandboxPlan> {
    const { platform, scope, settings, temp, caches, path = [] } =
      this.#options;
    if (caches !== undefined) {
      await Deno.mkdir(caches, { recursive: true, mode: 0o700 })
        .catch(() => {});
    }
    return await planSandbox({
      platform,
      scope,
      disk: this.#disk,
      writable: settings.writable
        .map((path) => fromUser(platform, path))
        .filter((path) => path !== undefined),
      // Where none can be made, each command has its own.
      temp: await temp?.().catch(() => undefined),
      caches,
      path,
    });
  }

  async #network(bwrap: string): Promise<NetworkHolder | undefined> {
    const current = await (this.#holder ??= NetworkHolder.start(bwrap));
    if (current?.alive !== false) return current;
    this.#holder = undefined;
    return await this.#network(bwrap);
  }
}

interface Working {
  state: SandboxState;
  start?: (command: readonly string[], cwd: string) => Promise<string[]>;
}

function none(reason: string, fix: string | undefined): Working {
  return { state: { layer: "none", reason, fix, weaknesses: [] } };
}

/** Whether a folder is the same one inside. `/tmp` and the home are others. */
function isShown(plan: SandboxPlan, folder: string): boolean {
  if (folder === "/" || folder === "/tmp") return true;
  const under = (path: string) => isWithin(posixPaths, path, folder);
  if ([...plan.readable, ...plan.writable].some(under)) return true;
  return plan.world === "whole" &&
    !["/tmp", "/var/tmp", ...plan.sockets].some(under);
}

const APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/** Only where the system keeps its programs: what a PATH names may be anybody's. */
const PROGRAM_FOLDERS = [
  "/usr/bin",
  "/bin",
  "/usr/local/bin",
  "/run/current-system/sw/bin",
];

async function findProgram(
  disk: DiskView,
  name: string,
): Promise<string | undefined> {
  const paths = PROGRAM_FOLDERS.map((folder) => `${folder}/${name}`);
  const found = await Promise.all(paths.map((path) => disk.look(path)));
  return paths.find((_, i) => found[i] !== undefined && found[i] !== "folder");
}

async function inContainer(
  disk: DiskView,
  platform: Platform,
): Promise<boolean> {
  if (platform.env("container") !== undefined) return true;
  const marks = ["/.dockerenv", "/run/.containerenv"];
  const found = await Promise.all(marks.map((path) => disk.look(path)));
  return found.some((one) => one !== undefined);
}

/** What goes wrong when a command that does nothing is isolated so; undefined when nothing does. */
function trial(
  bwrap: string,
  isolation: Isolation,
): Promise<string | undefined> {
  return failureOf(bwrap, [
    ...isolationArgs(isolation),
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--",
    "/bin/sh",
    "-c",
    ":",
  ]);
}

async function failureOf(
  program: string,
  args: string[],
): Promise<string | undefined> {
  try {
    const { success, stderr } = await new Deno.Command(program, {
      args,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
      cwd: "/",
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(TRIAL_MS),
    }).output();
    return success ? undefined : new TextDecoder().decode(stderr) || "failed";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
