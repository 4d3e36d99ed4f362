/**
 * The program `rousseau`: its tree of commands, and what each is given of the world.
 *
 * @module
 */
import about from "../deno.json" with { type: "json" };
import type { RunOptions } from "./cli.ts";
import {
  type AnyCommand,
  command,
  type CommandContext,
  type OptionHints,
  type PropertySchema,
  UsageError,
} from "./command.ts";
import type { CommandLine } from "./command_line.ts";
import { completeCommand, completionsCommand } from "./completions.ts";
import { HOSTS } from "./hosts.ts";
import type { Launch } from "./hosts.ts";
import { exposedCommands, MCP_INPUT, terminalOf } from "./mcp_command.ts";
import type { Platform } from "./platform.ts";
import { serveWorld } from "./serve.ts";
import { sessionsCommand } from "./sessions_cli.ts";
import { type Setting, SETTINGS } from "./settings.ts";
import type { ToolContext } from "./tool.ts";
import { builtInTools, modeRefusal, selectTools } from "./tools.ts";
import { openWorld, type World } from "./world.ts";

/** The version of this program. */
export const VERSION: string = about.version;

/** The machine that the program runs on. `main.ts` makes the real one; tests make others. */
export interface Machine {
  /** The process's surroundings. */
  platform: Platform;
  /** How this program is started: the executable, or Deno with its flags and `main.ts`. */
  launch: Launch;
  /** Standard error. */
  writeLog(bytes: Uint8Array): Promise<void>;
}

/** A tree to run, and how. */
export interface Program {
  /** The root of the tree. */
  root: AnyCommand;
  /** What `run` needs to know beside it. */
  options: RunOptions;
}

interface Openable {
  tools: readonly AnyCommand[];
  open(ctx: CommandContext): Promise<World>;
}

/** The program on a machine. Touches nothing yet. */
export function buildProgram(machine: Machine): Program {
  const { platform } = machine;
  let opened: World | undefined;
  const open = async (flags: Record<string, unknown>): Promise<World> =>
    opened ??= await openWorld({
      flags,
      platform,
      writeLog: (bytes) => machine.writeLog(bytes),
    });
  const tools = builtInTools(platform);
  const version = versionCommand(platform);
  const doctor = doctorCommand(machine, {
    tools,
    open: (ctx) => open(ctx.terminal?.globals ?? {}),
  });
  const withoutWorld: readonly AnyCommand[] = [
    version,
    doctor,
    completionsCommand,
    completeCommand,
  ];
  const root: AnyCommand = {
    name: "rousseau",
    summary: "Files, a shell and recorded sessions for any MCP host",
    description:
      "Gives an MCP host's model tools for files and a shell, keeps every call in a local database, and hands the past sessions back. The same commands work here.",
    ...rootOptions(),
    commands: [
      ...tools,
      serveCommand(tools),
      sessionsCommand,
      doctor,
      hostCommand(machine),
      version,
      completionsCommand,
      completeCommand,
    ],
    examples: [
      "rousseau config claude-desktop --root ~/project",
      "rousseau mcp --root ~/project",
      "rousseau sessions list",
    ],
  };
  return {
    root,
    options: {
      version: VERSION,
      uncheckedGlobals: true,
      async extend(base: CommandContext, line: CommandLine) {
        const command = line.path.at(-1)!;
        if (withoutWorld.includes(command)) return base;
        const world = await open(base.terminal!.globals);
        const refusal = command.tool &&
          modeRefusal(command.tool.name, world.config.mode);
        if (refusal !== undefined) {
          throw new UsageError(`${command.name}: ${refusal}`);
        }
        return world.extend(base);
      },
      finish: async () => await opened?.close(),
    },
  };
}

/** The root's options: one for each setting that has one. */
function rootOptions(): Pick<AnyCommand, "input" | "options"> {
  const shown = SETTINGS.filter(({ option }) => option !== undefined);
  const properties: Record<string, PropertySchema> = {
    config: {
      type: "string",
      format: "path",
      description: "Configuration file instead of the user's.",
    },
    // deno-lint-ignore camelcase -- the flag is --no-record
    no_record: { type: "boolean", description: "Record nothing." },
  };
  const options: Record<string, OptionHints> = {
    config: { env: "ROUSSEAU_CONFIG", value: "FILE" },
  };
  for (const setting of shown) {
    properties[setting.option!] = propertyOf(setting);
    options[setting.option!] = {
      shownEnv: setting.env,
      config: setting.key,
      ...(setting.value === undefined ? {} : { value: setting.value }),
    };
  }
  return {
    input: { type: "object", properties, additionalProperties: false },
    options,
  };
}

function propertyOf({ kind, about }: Setting): PropertySchema {
  const description = about;
  switch (kind.of) {
    case "choice":
      return { enum: kind.choices, description };
    case "list":
    case "places":
      return { type: "array", items: { type: "string" }, description };
    case "paths":
      return {
        type: "array",
        items: { type: "string", format: "path" },
        description,
      };
    case "path":
      return { type: "string", format: "path", description };
    case "number":
      return { type: kind.whole ? "integer" : "number", description };
    case "switch":
      return { type: "boolean", description };
  }
}

function versionCommand(platform: Platform): AnyCommand {
  return command({
    name: "version",
    summary: "Print the version",
    resource: {
      uri: "rousseau://version",
      title: "Version",
      mimeType: "application/json",
    },
    run: () =>
      JSON.stringify({
        name: "rousseau",
        version: VERSION,
        deno: Deno.version.deno,
        os: platform.os,
        arch: Deno.build.arch,
      }),
  });
}

function doctorCommand(machine: Machine, program: Openable): AnyCommand {
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
      const { examine, report } = await import("./doctor.ts");
      const checks = await examine({
        platform: machine.platform,
        version: VERSION,
        open: () => program.open(ctx),
        tools: program.tools,
        ctx,
      });
      return {
        content: json ? JSON.stringify(checks, null, 2) : report(checks),
        exitCode: checks.some(({ verdict }) => verdict === "fail") ? 1 : 0,
      };
    },
  });
}

function hostCommand({ platform, launch }: Machine): AnyCommand {
  return command<typeof HOST_INPUT, ToolContext>({
    name: "config",
    summary: "Print the block that makes a host start this program",
    description:
      "Prints the block for the host's configuration on standard output, and where it goes on standard error. --root names the folder that the host's model may work in.",
    input: HOST_INPUT,
    positionals: ["host"],
    examples: ["rousseau config claude-desktop --root ~/project"],
    run: async ({ host }, ctx) => {
      const [{ hostConfig }, { answer }] = await Promise.all([
        import("./hosts.ts"),
        import("./tool.ts"),
      ]);
      const { roots } = ctx.scope;
      const named = roots.length > 0 ? roots : ["/path/to/your/project"];
      const { title, file, projectFile, block, notes } = hostConfig(
        host,
        platform,
        {
          command: launch.command,
          args: [
            ...launch.args,
            "mcp",
            ...named.flatMap((root) => ["--root", root]),
          ],
        },
      );
      const place = projectFile === undefined
        ? ""
        : `, or ${projectFile} in a project`;
      return answer(block, {
        notes: [
          `for ${title}: merge this into ${file}${place}`,
          ...notes,
          ...(roots.length > 0 ? [] : [
            "put your project's folder in the place of /path/to/your/project",
          ]),
        ],
      });
    },
  }) as AnyCommand;
}

const HOST_INPUT = {
  type: "object",
  properties: { host: { enum: HOSTS, description: "The host." } },
  required: ["host"],
  additionalProperties: false,
} as const;

function serveCommand(tools: readonly AnyCommand[]): AnyCommand {
  return command<typeof MCP_INPUT, ToolContext>({
    name: "mcp",
    summary: "Serve the tools over MCP on standard input and output",
    description:
      "Speaks MCP on standard input and output until the input ends. Without COMMAND everything is served, with it that part of the tree.",
    input: MCP_INPUT,
    positionals: ["command"],
    examples: ["rousseau mcp --root ~/project --tools sessions,bash"],
    run: async ({ command: words = [] }, ctx) => {
      const exposed = exposedCommands(terminalOf(ctx).root, words);
      const { config, scope } = ctx;
      const selection = selectTools(
        tools.filter((tool) => exposed.includes(tool)),
        config,
        scope.roots,
      );
      return await serveWorld(ctx, {
        version: VERSION,
        selection,
        resources: exposed.filter(({ resource }) => resource),
        sessions: words.length === 0 && config.sessions.visible !== "none",
      });
    },
  }) as AnyCommand;
}
