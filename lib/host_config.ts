/**
 * Where and how each host is told of a server. As of 2026-11-30, like `hosts.ts`.
 *
 * @module
 */
import { pathsOf } from "./paths.ts";
import type { Platform } from "./platform.ts";

/** How to tell a host of this server. */
export interface HostConfig {
  /** The host's name as people write it. */
  title: string;
  /** The file that holds the block, for this platform; `~` stands for the home where that is not known. */
  file: string;
  /** A file of the project instead, relative to it, where the host has one. */
  projectFile: string | undefined;
  /** What the block is written in. */
  language: "json" | "toml";
  /** The block, to be merged into the file. */
  block: string;
  /** What else to do, a sentence each. */
  notes: string[];
}

/** The hosts that {@linkcode hostConfig} knows, by the name used on the command line. */
export const HOSTS = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "opencode",
  "copilot",
  "qwen",
  "zed",
] as const;

/** A name in {@linkcode HOSTS}. */
export type Host = typeof HOSTS[number];

/** The command that a host is to run. */
export interface Launch {
  /** Absolute path of the executable. */
  command: string;
  /** Its arguments, `mcp` and `--root` included. */
  args: readonly string[];
}

/** The exact block for a host, and where it goes. */
export function hostConfig(
  host: Host,
  platform: Platform,
  launch: Launch,
): HostConfig {
  const { command } = launch;
  const args = [...launch.args];
  const at = (folder: string | undefined, name: string) =>
    pathsOf(platform.os).join(
      folder ?? "~",
      platform.os === "windows" ? name.replaceAll("/", "\\") : name,
    );
  const { home } = platform;
  const appData = platform.os === "linux"
    ? at(home, ".config")
    : platform.os === "darwin"
    ? at(home, "Library/Application Support")
    : platform.env("APPDATA") ?? at(home, "AppData/Roaming");
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  switch (host) {
    case "claude-desktop":
      return {
        title: "Claude Desktop",
        file: at(appData, "Claude/claude_desktop_config.json"),
        projectFile: undefined,
        language: "json",
        block: json({ mcpServers: { rousseau: { command, args } } }),
        notes: [
          "Settings > Developer > Edit Config opens the file. Quit Claude Desktop wholly and start it again.",
        ],
      };
    case "claude-code":
      return {
        title: "Claude Code",
        file: at(home, ".claude.json"),
        projectFile: ".mcp.json",
        language: "json",
        block: json({
          mcpServers: { rousseau: { type: "stdio", command, args } },
        }),
        notes: [
          `Or run: claude mcp add --scope user rousseau -- ${
            shellWords([command, ...args])
          }`,
          "Claude Code names its project to the server, so `--root` is needed only for other folders.",
        ],
      };
    case "cursor":
      return {
        title: "Cursor",
        file: at(home, ".cursor/mcp.json"),
        projectFile: ".cursor/mcp.json",
        language: "json",
        block: json({ mcpServers: { rousseau: { command, args } } }),
        notes: [
          'In place of a fixed folder, "${workspaceFolder}" after "--root" means the open project.',
        ],
      };
    case "vscode":
      return {
        title: "VS Code",
        file: at(appData, "Code/User/mcp.json"),
        projectFile: ".vscode/mcp.json",
        language: "json",
        block: json({
          servers: { rousseau: { type: "stdio", command, args } },
        }),
        notes: [
          'In .vscode/mcp.json, "${workspaceFolder}" after "--root" means the open project.',
        ],
      };
    case "codex":
      return {
        title: "Codex",
        file: at(
          platform.env("CODEX_HOME") ?? at(home, ".codex"),
          "config.toml",
        ),
        projectFile: ".codex/config.toml",
        language: "toml",
        block: [
          "[mcp_servers.rousseau]",
          `command = ${tomlString(command)}`,
          `args = [${args.map(tomlString).join(", ")}]`,
        ].join("\n"),
        notes: [
          "Codex passes on few environment variables; name more with `env_vars` in the block.",
        ],
      };
    case "gemini":
    case "qwen":
      return {
        title: host === "gemini" ? "Gemini CLI" : "Qwen Code",
        file: at(home, `.${host}/settings.json`),
        projectFile: `.${host}/settings.json`,
        language: "json",
        block: json({ mcpServers: { rousseau: { command, args } } }),
        notes: [],
      };
    case "copilot":
      return {
        title: "Copilot CLI",
        file: at(home, ".copilot/mcp-config.json"),
        projectFile: undefined,
        language: "json",
        block: json({
          mcpServers: {
            rousseau: { type: "local", command, args, tools: ["*"] },
          },
        }),
        notes: [],
      };
    case "opencode":
      return {
        title: "opencode",
        file: at(
          platform.env("XDG_CONFIG_HOME") ?? at(home, ".config"),
          "opencode/opencode.json",
        ),
        projectFile: "opencode.json",
        language: "json",
        block: json({
          $schema: "https://opencode.ai/config.json",
          mcp: {
            rousseau: {
              type: "local",
              command: [command, ...args],
              enabled: true,
            },
          },
        }),
        notes: [],
      };
    case "zed":
      return {
        title: "Zed",
        file: platform.os === "windows"
          ? at(appData, "Zed/settings.json")
          : at(home, ".config/zed/settings.json"),
        projectFile: ".zed/settings.json",
        language: "json",
        block: json({
          context_servers: { rousseau: { command, args, env: {} } },
        }),
        notes: [],
      };
  }
}

/** A TOML basic string. */
function tomlString(text: string): string {
  // JSON's escapes are a subset of TOML's.
  return JSON.stringify(text);
}

function shellWords(words: readonly string[]): string {
  return words.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
  ).join(" ");
}
