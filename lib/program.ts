/**
 * The program `rousseau`: its tree of commands, and what each is given of the world.
 *
 * Start-up waits for nothing that the command at hand does not need: an entry of the tree loads its command when it is
 * reached.
 *
 * @module
 */
import type { RunOptions } from "./cli.ts";
import {
  type AnyCommand,
  command,
  type OptionHints,
  type PropertySchema,
  UsageError,
} from "./command.ts";
import { VERSION } from "./instructions.ts";
import type { Launch } from "./host_config.ts";
import { exposedCommands, MCP_INPUT, terminalOf } from "./mcp_command.ts";
import type { Platform } from "./platform.ts";
import { type Served, serveOnStdio } from "./serve.ts";
import { type Setting, SETTINGS } from "./settings.ts";
import { modeRefusal, selectTools, wholeOffer } from "./selection.ts";
import { TOOL_NAMES, type ToolName } from "./tool_names.ts";
import { customEntries, ruled, toolEntries } from "./tools.ts";
import { type StartContext, startWorld, type World } from "./world.ts";

/** The machine that the program runs on. `main.ts` makes the real one; tests make others. */
export interface Machine {
  /** The process's surroundings. */
  platform: Platform;
  /** How this program is started: the executable, or Deno with its flags and `main.ts`. */
  launch: Launch;
  /** Whether the first message on standard input was answered; see `greeting.ts`. */
  greeted?: boolean;
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

/** The program on a machine. Touches nothing yet. */
export function buildProgram(machine: Machine): Program {
  const { platform } = machine;
  let opened: World | undefined;
  const open = async (
    flags: Record<string, unknown>,
    serving = false,
  ): Promise<World> =>
    opened ??= await startWorld({
      flags,
      serving,
      platform,
      writeLog: (bytes) => machine.writeLog(bytes),
    });
  const version = versionCommand(platform);
  const root: AnyCommand = {
    name: "rousseau",
    summary: "Files, a shell and recorded sessions for any MCP host",
    description:
      "Gives an MCP host's model tools for files and a shell, keeps every call in a local database, and hands the past sessions back. The same commands work here.",
    ...rootOptions(),
    more: (args) => customEntries(args, platform),
    commands: [
      ...toolEntries(platform),
      mcpCommand(version, machine.greeted ?? false),
      {
        name: "serve",
        summary: "Serve the tools over MCP on HTTP",
        load: async () =>
          (await import("./serve_http.ts")).httpCommand((ctx) =>
            servedBy(ctx, version, [])
          ),
      },
      {
        name: "sessions",
        summary:
          "List, show, search, export and delete recorded sessions, and more",
        load: async () => (await import("./sessions_cli.ts")).sessionsCommand,
      },
      {
        name: "undo",
        summary: "Put back what write and edit changed in a session",
        load: async () =>
          ruled((await import("./undo.ts")).undoCommand, "rousseau_undo"),
      },
      {
        name: "doctor",
        summary: "Check this installation, and say how to fix what is wrong",
        load: async () => {
          const { doctorCommand } = await import("./doctor.ts");
          return doctorCommand(
            platform,
            VERSION,
            async (ctx) => {
              const world = await open(ctx.terminal?.globals ?? {});
              await world.ready();
              return world;
            },
          );
        },
      },
      {
        name: "config",
        summary: "Print the block that makes a host start this program",
        load: async () => {
          const { hostCommand } = await import("./host_command.ts");
          return hostCommand(platform, machine.launch);
        },
      },
      version,
      {
        name: "completions",
        summary: "Print a completion script for a shell",
        load: async () => (await import("./completions.ts")).completionsCommand,
      },
      {
        name: "complete",
        summary: "Print what may come next, for completion scripts",
        hidden: true,
        load: async () => (await import("./completions.ts")).completeCommand,
      },
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
      checked: true,
      async extend(base, { path }) {
        if (WORLDLESS.has(path[1]?.name ?? "")) return base;
        const world = await open(
          base.terminal!.globals,
          SERVING.has(path[1]?.name ?? ""),
        );
        if (path[1]?.name === "mcp") return { ...base, world } as StartContext;
        await world.ready();
        const { name, tool } = path.at(-1)!;
        const refusal = tool && modeRefusal(tool.name, world.config);
        if (refusal !== undefined) {
          throw new UsageError(`${name}: ${refusal}`);
        }
        return world.extend(base);
      },
      finish: async (stopped) => await opened?.close(stopped),
    },
  };
}

/** Commands that work where the settings do not. */
const WORLDLESS: ReadonlySet<string> = new Set([
  "version",
  "doctor",
  "completions",
  "complete",
]);

/** Commands in whose roots a model works. */
const SERVING: ReadonlySet<string> = new Set(["mcp", "serve"]);

/** The root's options: one for each setting that has one. */
function rootOptions(): Pick<AnyCommand, "input" | "options"> {
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
  for (const setting of SETTINGS) {
    if (setting.option === undefined) continue;
    properties[setting.option] = propertyOf(setting);
    options[setting.option] = {
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

function propertyOf({ kind, about: description }: Setting): PropertySchema {
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
    case "size":
    case "word":
      return { type: "string", description };
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

function mcpCommand(version: AnyCommand, greeted: boolean): AnyCommand {
  return command<typeof MCP_INPUT, StartContext>({
    name: "mcp",
    summary: "Serve the tools over MCP on standard input and output",
    description:
      "Speaks MCP on standard input and output until the input ends. Without COMMAND everything is served, with it that part of the tree.",
    input: MCP_INPUT,
    positionals: ["command"],
    examples: ["rousseau mcp --root ~/project --tools sessions,bash"],
    run: async ({ command: words = [] }, ctx) =>
      await serveOnStdio(ctx, await servedBy(ctx, version, words), greeted),
  }) as AnyCommand;
}

async function servedBy(
  ctx: StartContext,
  version: AnyCommand,
  words: readonly string[],
): Promise<Served> {
  const whole = wholeOffer(ctx.world);
  if (words.length === 0) return { ...whole, resources: [version] };
  const asked = whole.custom.asked.filter(({ name }) =>
    words.length === 1 && name === words[0]
  );
  const { tools, resources } = asked.length > 0
    ? { tools: [], resources: [] }
    : await partOf(terminalOf(ctx).root, words);
  return {
    selection: selectTools(tools, ctx.world),
    custom: { ...whole.custom, asked },
    resources,
    sessions: false,
  };
}

async function partOf(
  root: AnyCommand,
  words: readonly string[],
): Promise<{ tools: ToolName[]; resources: AnyCommand[] }> {
  const exposed = await exposedCommands(root, words);
  const names = exposed.map(({ tool }) => tool?.name);
  return {
    tools: TOOL_NAMES.filter((name) => names.includes(name)),
    resources: exposed.filter(({ resource }) => resource),
  };
}
