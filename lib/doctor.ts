/**
 * `rousseau doctor`: what works here, what does not, and the fix for each.
 *
 * @module
 */
import {
  type AnyCommand,
  command,
  type CommandContext,
  UsageError,
} from "./command.ts";
import { type MayDo, mayDoNow, storeObstacle } from "./grants.ts";
import type { Platform } from "./platform.ts";
import { chooseShell } from "./shell.ts";
import { storeOf } from "./session_tools.ts";
import {
  type CustomSelection,
  missingTools,
  selectCustom,
  selectTools,
} from "./selection.ts";
import { counted } from "./tool.ts";
import { TOOL_NAMES } from "./tool_names.ts";
import type { World } from "./world.ts";

/** How a check ended. */
export type Verdict = "ok" | "warn" | "fail" | "info";

/** One line of the report. */
export interface Check {
  /** What was looked at, such as `store`. */
  name: string;
  /** How it is. */
  verdict: Verdict;
  /** What was found. */
  detail: string;
  /** What to do about it. */
  fix?: string;
}

/** What is examined. */
export interface Patient {
  /** The process's surroundings. */
  platform: Platform;
  /** Version of this program. */
  version: string;
  /** Makes the world; fails where the settings or roots are wrong. */
  open(): Promise<World>;
  /** Asks for a permission without prompting; tests put another in. */
  mayDo?: MayDo;
  /** The context to ask the store in. */
  ctx: CommandContext;
}

/** The command `doctor`. `open` makes the world, and fails where the settings or roots are wrong. */
export function doctorCommand(
  platform: Platform,
  version: string,
  open: (ctx: CommandContext) => Promise<World>,
): AnyCommand {
  return command({
    name: "doctor",
    summary: "Check this installation, and say how to fix what is wrong",
    input: {
      type: "object",
      properties: {
        json: { type: "boolean", default: false, description: "Print JSON." },
      },
      additionalProperties: false,
    },
    run: async ({ json }, ctx) => {
      const checks = await examine({
        platform,
        version,
        open: () => open(ctx),
        ctx,
      });
      return {
        content: json ? JSON.stringify(checks, null, 2) : report(checks),
        exitCode: checks.some(({ verdict }) => verdict === "fail") ? 1 : 0,
      };
    },
  });
}

/** Examines the process that it runs in. Never fails itself. */
export async function examine(patient: Patient): Promise<Check[]> {
  const { version, platform, mayDo = mayDoNow } = patient;
  const checks: Check[] = [
    {
      name: "version",
      verdict: "info",
      detail: `rousseau ${version}, Deno ${Deno.version.deno}, ${platform.os}`,
    },
    ...permissionChecks(platform, mayDo),
  ];
  let world: World;
  try {
    world = await patient.open();
  } catch (error) {
    checks.push({
      name: "config",
      verdict: "fail",
      detail: error instanceof Error ? error.message : String(error),
      fix: error instanceof UsageError
        ? "Correct what the line names."
        : "Report this as a bug.",
    });
    return checks;
  }
  checks.push(
    ...configChecks(world),
    ...rootChecks(world),
    ...toolChecks(world, mayDo),
    ...await shellChecks(platform, world, mayDo),
    await storeCheck(world, patient.ctx, mayDo),
  );
  return checks;
}

/** The report for a person: a mark, the name, the detail, and the fix below. */
export function report(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length)) + 2;
  return checks.flatMap(({ name, verdict, detail, fix }) => [
    `${MARKS[verdict]} ${name.padEnd(width)}${detail}`,
    ...(fix === undefined ? [] : [`${" ".repeat(width + 2)}fix: ${fix}`]),
  ]).join("\n");
}

const MARKS: Readonly<Record<Verdict, string>> = {
  ok: "✔",
  warn: "!",
  fail: "✘",
  info: "·",
};

const PERMISSIONS: readonly {
  name: "read" | "write" | "run" | "env";
  flag: string;
  without: string;
}[] = [
  { name: "read", flag: "--allow-read", without: "files cannot be read" },
  {
    name: "write",
    flag: "--allow-write",
    without: "files cannot be written, and nothing is recorded",
  },
  { name: "run", flag: "--allow-run", without: "bash is not offered" },
  {
    name: "env",
    flag: "--allow-env",
    without: "variables and the home are not known",
  },
];

function permissionChecks(platform: Platform, mayDo: MayDo): Check[] {
  const at = platform.cwd;
  return PERMISSIONS.map(({ name, flag, without }) => {
    if (mayDo({ name })) {
      return {
        name: `permission.${name}`,
        verdict: "ok",
        detail: "granted whole",
      };
    }
    const partly = (name === "read" || name === "write") &&
      at !== undefined && mayDo({ name, path: at });
    return partly
      ? {
        name: `permission.${name}`,
        verdict: "info",
        detail: `granted for ${at}, not whole`,
      }
      : {
        name: `permission.${name}`,
        verdict: "warn",
        detail: `not granted: ${without}`,
        fix: `Start Deno with ${flag}, or use the executable.`,
      };
  });
}

function configChecks({ config, files, warnings }: World): Check[] {
  const { machine, policy = [] } = config;
  return [
    ...(machine
      ? [{
        name: "policy",
        verdict: "ok" as const,
        detail: `${machine.path} bounds these settings`,
      }]
      : []),
    ...policy.map(({ source, rules, otherwise }): Check => ({
      name: "policy",
      verdict: "ok",
      detail: `${
        counted(rules.length, "rule")
      } in ${source}, else ${otherwise}`,
    })),
    {
      name: "config",
      verdict: "ok",
      detail: files.length === 0 ? "no file; defaults" : files.join(", "),
    },
    ...warnings.map((detail): Check => ({
      name: "config",
      verdict: "warn",
      detail,
    })),
  ];
}

function rootChecks({ scope }: World): Check[] {
  return scope.roots.length === 0
    ? [{
      name: "root",
      verdict: "warn",
      detail: scope.describe(),
      fix:
        'Add "--root", "/path/to/your/project" after "mcp" in the host\'s configuration.',
    }]
    : [{
      name: "root",
      verdict: "ok",
      detail: `${scope.roots.join(", ")} (from ${
        scope.origin ?? "nowhere"
      }), mode ${scope.mode}`,
    }];
}

function toolChecks(world: World, mayDo: MayDo): Check[] {
  const selection = selectTools(TOOL_NAMES, world, mayDo);
  const { offered } = selection;
  const names = offered.join(", ");
  return [
    {
      name: "tools",
      verdict: offered.length === 0 ? "fail" : "ok",
      detail: names || "none is offered",
    },
    ...missingTools(selection).map((detail): Check => ({
      name: "tools",
      verdict: "warn",
      detail: `not offered: ${detail}`,
    })),
    ...customCheck(selectCustom(world.config, mayDo)),
  ];
}

function customCheck({ asked, reason }: CustomSelection): Check[] {
  if (asked.length === 0) return [];
  const names = asked.map(({ name }) => name).join(", ");
  return [{
    name: "custom_tools",
    verdict: reason === undefined ? "ok" : "warn",
    detail: reason === undefined ? names : `not offered: ${names} (${reason})`,
  }];
}

/** What runs commands, what is around it, and where it finds programs; one line where nothing may run. */
async function shellChecks(
  platform: Platform,
  world: World,
  mayDo: MayDo,
): Promise<Check[]> {
  const shell = chooseShell(
    platform,
    undefined,
    (command) => mayDo({ name: "run", command }),
  );
  if (!mayDo({ name: "run", command: shell.program })) {
    return [{ name: "shell", verdict: "info", detail: "no program may run" }];
  }
  const found = shell.kind === "posix"
    ? await posixShell(shell.program)
    : `${shell.name} (${shell.program})`;
  return [
    { name: "shell", verdict: "ok", detail: found },
    ...await sandboxChecks(platform, world),
    pathCheck(platform, world, mayDo),
  ];
}

/** The shell that runs commands: bash where there is one, else the `sh` that looked for it. */
async function posixShell(sh: string): Promise<string> {
  try {
    const { stdout } = await new Deno.Command(sh, {
      args: ["-c", "command -v bash"],
      stdin: "null",
      stderr: "null",
    }).output();
    const bash = new TextDecoder().decode(stdout).trim();
    return bash === "" ? `${sh}, since there is no bash` : bash;
  } catch {
    return `bash where there is one, else ${sh}`;
  }
}

async function sandboxChecks(
  platform: Platform,
  { config, scope }: World,
): Promise<Check[]> {
  const settings = config.sandbox;
  if (settings === undefined) return [];
  const name = "sandbox";
  const { Sandbox } = await import("./sandbox.ts");
  const sandbox = new Sandbox({ platform, scope, settings });
  const { layer, reason, fix, weaknesses } = await sandbox.state();
  if (layer === "none") {
    return [{
      name,
      verdict: settings.mode === "require"
        ? "fail"
        : fix === undefined
        ? "info"
        : "warn",
      detail: `none around bash: ${reason}`,
      ...(fix === undefined ? {} : { fix: capital(fix) }),
    }];
  }
  const network = settings.allowNet ? "network open" : "no network";
  return [
    { name, verdict: "ok", detail: `${layer}, ${network}` },
    ...weaknesses.map((detail): Check => ({ name, verdict: "warn", detail })),
  ];
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function pathCheck(
  platform: Platform,
  { config }: World,
  mayDo: MayDo,
): Check {
  if (!mayDo({ name: "env", variable: "PATH" })) {
    return {
      name: "path",
      verdict: "warn",
      detail: "PATH may not be read, so commands may not be found",
      fix: "Start Deno with --allow-env.",
    };
  }
  const path = platform.env("PATH") ?? platform.env("Path");
  if (path !== undefined) {
    return { name: "path", verdict: "ok", detail: path };
  }
  return {
    name: "path",
    verdict: "warn",
    detail: config.bash.loginPath && platform.os !== "windows"
      ? "PATH is not set; the login shell is asked for it"
      : "PATH is not set: commands may not be found",
    fix: "Set PATH in the host's env block.",
  };
}

async function storeCheck(
  world: World,
  ctx: CommandContext,
  mayDo: MayDo,
): Promise<Check> {
  const { config, platform } = world;
  const obstacle = storeObstacle(platform, config.state.path, mayDo);
  if (obstacle !== undefined) {
    return {
      name: "store",
      verdict: config.record === "off" ? "info" : "fail",
      detail: `unavailable: ${obstacle.problem}`,
      fix: `${capital(obstacle.fix).slice(0, -1)}, or pass --no-record.`,
    };
  }
  const { state, path, reason, sessions } = await storeOf(world.extend(ctx))
    .status({ open: true });
  const what = `${sessions === undefined ? "" : `, ${sessions} sessions`}${
    world.config.record === "off" ? ", recording is off" : ""
  }`;
  switch (state) {
    case "open":
      return { name: "store", verdict: "ok", detail: `${path}${what}` };
    case "unopened":
      return {
        name: "store",
        verdict: "info",
        detail: `${path}: not there yet`,
      };
    default:
      return {
        name: "store",
        verdict: "fail",
        detail: `${path || "no folder is known for it"}: ${state}${
          reason === undefined ? "" : `, ${reason}`
        }`,
        fix:
          "Set ROUSSEAU_STATE_PATH to a file in a folder that may be written, or pass --no-record.",
      };
  }
}
