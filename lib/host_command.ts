/**
 * `rousseau config HOST`: the block that makes a host start this program.
 *
 * @module
 */
import { type AnyCommand, command } from "./command.ts";
import { hostConfig, HOSTS, type Launch } from "./host_config.ts";
import type { Platform } from "./platform.ts";
import { answer, type ToolContext } from "./tool.ts";

/** Stands for the folder that nobody has named. */
export const ROOT_PLACEHOLDER = "/path/to/your/project";

const input = {
  type: "object",
  properties: { host: { enum: HOSTS, description: "The host." } },
  required: ["host"],
  additionalProperties: false,
} as const;

/** The command `config`, for a program that is started as `launch` says. */
export function hostCommand(platform: Platform, launch: Launch): AnyCommand {
  return command<typeof input, ToolContext>({
    name: "config",
    summary: "Print the block that makes a host start this program",
    description:
      "Prints the block for the host's configuration on standard output, and where it goes on standard error. --root names the folder that the host's model may work in.",
    input,
    positionals: ["host"],
    examples: ["rousseau config claude-desktop --root ~/project"],
    run: ({ host }, { scope }) => {
      const isNamed = scope.roots.length > 0;
      const roots = isNamed ? scope.roots : [ROOT_PLACEHOLDER];
      const { title, file, projectFile, block, notes } = hostConfig(
        host,
        platform,
        {
          command: launch.command,
          args: [
            ...launch.args,
            "mcp",
            ...roots.flatMap((root) => ["--root", root]),
          ],
        },
      );
      const or = projectFile === undefined
        ? ""
        : `, or into ${projectFile} in a project`;
      return answer(block, {
        notes: [
          `for ${title}: merge this into ${file}${or}`,
          ...notes,
          ...(isNamed ? [] : [
            `Put your project's folder in the place of ${ROOT_PLACEHOLDER}.`,
          ]),
        ],
      });
    },
  }) as AnyCommand;
}
