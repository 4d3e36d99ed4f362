/**
 * What the programs that launch this server say by variables: where they name the project, and how a conversation.
 * Hosts change monthly; this and `host_config.ts` are the places that know them.
 *
 * As of 2026-11-30. Claude Code 2.1, Codex 0.171, Gemini CLI 0.61, opencode 1.18, Copilot CLI 1.0 and Qwen Code 0.24
 * tried; the others from their documentation.
 *
 * @module
 */
import type { JsonObject } from "./mcp.ts";
import { fromFileUri, pathsOf } from "./paths.ts";
import type { Platform } from "./platform.ts";

/** Folders that one environment variable names. */
export interface NamedRoots {
  /** The variable. */
  name: string;
  /** The folders, as the variable spells them. */
  folders: string[];
  /** True when a person set it for rousseau: then it is taken as it is, and what is wrong with it is an error. */
  explicit: boolean;
}

/** The environment's folders, the most telling variable first. Those that are not set are left out. */
export function rootsFromEnvironment(platform: Platform): NamedRoots[] {
  const found: NamedRoots[] = [];
  for (const { name, list, explicit } of ROOT_VARIABLES) {
    const value = platform.env(name)?.trim();
    if (!value) continue;
    const folders = list ? splitList(platform, value) : [value];
    found.push({
      name,
      folders: folders.map((folder) => plainPath(platform, folder)),
      explicit,
    });
  }
  return found;
}

/** Whether a value still holds a host's placeholder, such as `${workspaceFolder}`, that nobody filled in. */
export function unexpanded(value: string): string | undefined {
  return /\$\{[^}]*\}/.exec(value)?.[0];
}

/**
 * The host's own name for the conversation that a request belongs to, prefixed by where it was found; undefined where
 * the host does not tell.
 */
export function conversationKey(
  meta: JsonObject,
  env: (name: string) => string | undefined,
): string | undefined {
  const thread = meta.threadId;
  if (typeof thread === "string" && thread !== "") {
    return `threadId:${thread.slice(0, MAX_KEY_CHARS)}`;
  }
  for (const name of CONVERSATION_VARIABLES) {
    const value = env(name);
    if (value) return `${name}:${value.slice(0, MAX_KEY_CHARS)}`;
  }
  return undefined;
}

/**
 * UTF-8 bytes that an answer may have for each of its characters (20,000 by default), so that the client of this name
 * shows the model all of it. Codex cuts at 40,000 bytes, opencode at 50,000, Copilot CLI at about 20,000; the others
 * count characters, and more of them.
 */
export function bytesPerChar(client: string | undefined): number {
  return client === "copilot-cli" ? 1 : 1.9;
}

/** Characters of a conversation's name that are kept. */
export const MAX_KEY_CHARS = 200;

/**
 * `ROUSSEAU_ROOT` is ours, the rest the hosts': Claude Code's project, Cursor's workspace folders, and the folder that
 * `deno task` and `npm run` were called in.
 */
const ROOT_VARIABLES = [
  { name: "ROUSSEAU_ROOT", list: true, explicit: true },
  { name: "CLAUDE_PROJECT_DIR", list: false, explicit: false },
  { name: "WORKSPACE_FOLDER_PATHS", list: true, explicit: false },
  { name: "INIT_CWD", list: false, explicit: false },
] as const;

const CONVERSATION_VARIABLES = [
  "CLAUDE_CODE_SESSION_ID",
  "COPILOT_AGENT_SESSION_ID",
] as const;

/** A list as `PATH` is one, or with commas where every piece is a path of its own. */
function splitList(platform: Platform, value: string): string[] {
  const paths = pathsOf(platform.os);
  if (value.startsWith("[")) {
    try {
      const list: unknown = JSON.parse(value);
      if (Array.isArray(list)) {
        return list.filter((item) => typeof item === "string");
      }
    } catch {
      // Not JSON: a path that begins with a bracket.
    }
  }
  const trimmed = (pieces: string[]) =>
    pieces.map((piece) => piece.trim()).filter((piece) => piece !== "");
  const byComma = trimmed(value.split(","));
  if (
    byComma.length > 1 &&
    byComma.every((piece) =>
      paths.isAbsolute(piece) || piece.startsWith("file:")
    )
  ) {
    return byComma;
  }
  if (value.startsWith("file:")) return [value];
  return trimmed(value.split(paths.listSeparator));
}

/** Without a `file:` scheme, and without the slash that some hosts put before a drive letter. */
function plainPath(platform: Platform, folder: string): string {
  const path = fromFileUri(platform.os, folder) ?? folder;
  return platform.os === "windows"
    ? path.replace(/^[\\/](?=[A-Za-z]:)/, "")
    : path;
}
