/**
 * The tools as entries of a tree. A tool's own module is loaded when the tool is reached.
 *
 * @module
 */
import type { AnyCommand } from "./command.ts";
import type { CustomTool } from "./custom_tool.ts";
import type { Platform } from "./platform.ts";
import { CUSTOM_TOOLS_KEY } from "./settings.ts";
import type { ToolContext } from "./tool.ts";
import { TOOL_NAMES, type ToolName } from "./tool_names.ts";

/** The built-in tools as entries of a tree, not yet loaded. */
export function toolEntries(platform: Platform): AnyCommand[] {
  return TOOL_NAMES.map((name) => {
    const summary = SUMMARIES[name];
    return {
      name,
      summary: summary ?? "",
      // What jobs and `sessions` do on the command line needs no second way.
      hidden: summary === undefined,
      tool: { name },
      load: () => loadTool(name, platform),
    };
  });
}

/**
 * The tools without code as entries of a tree. They stand in the file that a command line names, else in the user's.
 *
 * @throws {UsageError} for mistakes in the file.
 */
export async function customEntries(
  args: readonly string[],
  platform: Platform,
): Promise<AnyCommand[]> {
  const { readSettingsFile } = await import("./settings_file.ts");
  const line = args.slice(0, (args.indexOf("--") + 1 || Infinity) - 1);
  const at = line.findLastIndex((arg) => /^--config(=|$)/.test(arg));
  const named = line[at] === "--config"
    ? line[at + 1]
    : line[at]?.slice("--config=".length);
  const file = await readSettingsFile(
    named ?? platform.env("ROUSSEAU_CONFIG"),
    { platform },
    [],
  );
  const tools = file?.values.get(CUSTOM_TOOLS_KEY) as CustomTool[] | undefined;
  return (tools ?? []).map((tool) => ({
    name: tool.name,
    // Up to the end of the first sentence.
    summary: /^.*?(?=\.?$|\.\s)/s.exec(tool.description)![0],
    tool: { name: tool.name },
    load: async () => ({
      ...await loadCustom(tool),
      verbatim: true,
    }),
  }));
}

/** One tool without code. */
export async function loadCustom(tool: CustomTool): Promise<AnyCommand> {
  return ruled((await import("./custom_run.ts")).customCommand(tool));
}

/** The command held to the rules on calls, where there are some. `tool`: the name that rules know it by. */
export function ruled(
  command: AnyCommand,
  tool = command.tool?.name,
): AnyCommand {
  const { run } = command;
  if (!run || tool === undefined) return command;
  return {
    ...command,
    run: async (args: Record<string, unknown>, ctx: ToolContext) => {
      if (!ctx.config.policy) return await run(args, ctx);
      const { runByRules } = await import("./policy_gate.ts");
      return await runByRules({ tool, run }, args, ctx);
    },
  };
}

/** One built-in tool. */
export async function loadTool(
  name: ToolName,
  platform: Platform,
): Promise<AnyCommand> {
  return ruled(await importTool(name, platform));
}

async function importTool(
  name: ToolName,
  platform: Platform,
): Promise<AnyCommand> {
  switch (name) {
    case "read":
      return { ...(await import("./read.ts")).read, verbatim: true };
    case "write": {
      const { write } = await import("./write.ts");
      const content = { ...write.options?.content, stdin: true };
      return { ...write, options: { ...write.options, content } };
    }
    case "edit":
      return (await import("./edit.ts")).edit;
    case "grep":
      return (await import("./grep.ts")).grep;
    case "bash":
      return {
        ...(await import("./bash.ts")).bashTool(platform),
        verbatim: true,
      };
    case "bash_output":
      return (await import("./bash.ts")).bashOutput;
    case "bash_kill":
      return (await import("./bash.ts")).bashKill;
    case "rousseau_undo":
      return (await import("./undo.ts")).undoTool;
    default: {
      const { sessionTools } = await import("./session_tools.ts");
      return sessionTools.find(({ tool }) => tool?.name === name)!;
    }
  }
}

/** What the list of commands says of those that are shown in it. */
const SUMMARIES: Partial<Record<ToolName, string>> = {
  read: "Print a file, a page at a time, or list a folder",
  write: "Write a file whole, or append to it",
  edit: "Replace exact text in a file",
  grep: "Search files for a regular expression",
  bash: "Run a shell command",
};
