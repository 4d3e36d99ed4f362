/**
 * What this program says of itself: its name, and what the model is told of it as a whole.
 *
 * @module
 */
import about from "../deno.json" with { type: "json" };
import { clipChars } from "./clip.ts";
import type { Config } from "./config.ts";
import type { Introduction } from "./handshake.ts";
import { describeScope } from "./refusals.ts";
import {
  type CustomSelection,
  missingTools,
  type Offer,
  type Selection,
} from "./selection.ts";
import type { ToolName } from "./tool_names.ts";

/** The version of this program. */
export const VERSION: string = about.version;

/** Characters of the instructions at most; hosts pass them on with every conversation. */
export const MAX_INSTRUCTIONS_CHARS = 1_500;

/** Characters of the scope's own words within them. */
export const MAX_SCOPE_CHARS = 800;

/** Characters of the names of tools without code within them. */
export const MAX_CUSTOM_CHARS = 200;

/** The program's introduction, where that is served. */
export function introduce(
  { config, roots }: { config: Config; roots: readonly string[] },
  { selection, custom, sessions }: Offer,
): Introduction {
  return {
    info: { name: "rousseau", version: VERSION, title: "Rousseau" },
    instructions: instructions({
      scope: describeScope(config.mode, roots),
      config,
      selection,
      custom,
    }),
    findsResources: sessions,
  };
}

/** The facts that the instructions are made of. */
export interface InstructionFacts {
  /** The scope in its own words. */
  scope: string;
  /** The settings in force. */
  config: Config;
  /** What is offered and what is not. */
  selection: Selection;
  /** The tools without code. */
  custom?: CustomSelection | undefined;
}

/** Instructions, the most important first, within {@linkcode MAX_INSTRUCTIONS_CHARS}. */
export function instructions(
  { scope, config, selection, custom }: InstructionFacts,
): string {
  const has = (name: ToolName) => selection.offered.includes(name);
  const missing = [
    ...missingTools(selection),
    ...(custom?.asked.length && custom.reason !== undefined
      ? [`${clip(names(custom), MAX_CUSTOM_CHARS)} (${custom.reason})`]
      : []),
  ];
  const lines = [
    clip(scope, MAX_SCOPE_CHARS),
    "Keys and credentials are closed to the file tools in every mode but full. A refusal names the flag that would lift it; only the person can set it.",
    has("bash") ? shellLine(config) : "",
    config.policy
      ? "The person has set rules on calls: some are refused, for some the person is asked first. A refusal names its rule."
      : "",
    custom?.asked.length && custom.reason === undefined
      ? `Programs that the person has declared as tools, held like bash: ${
        clip(names(custom), MAX_CUSTOM_CHARS)
      }.`
      : "",
    missing.length === 0 ? "" : `Not offered: ${missing.join("; ")}.`,
    config.record === "off" || selection.storeless !== undefined
      ? "Calls are not recorded."
      : `Calls are recorded in a database on this machine, secrets redacted${
        has("rousseau_search_sessions")
          ? "; past sessions: rousseau_list_sessions, rousseau_search_sessions, rousseau_read_session"
          : ""
      }${
        has("rousseau_undo")
          ? "; rousseau_undo puts back what write and edit changed"
          : ""
      }. The person turns that off with --no-record.`,
  ];
  return clip(
    lines.filter((line) => line !== "").join("\n"),
    MAX_INSTRUCTIONS_CHARS,
  );
}

function names({ asked }: CustomSelection): string {
  return asked.map(({ name }) => name).join(", ");
}

/** What holds commands. Whether there is a sandbox is found out only with the first of them. */
function shellLine({ mode, sandbox }: Config): string {
  const loose =
    "bash is not held to these folders and may use the network; use it with the same care.";
  if (sandbox === undefined || sandbox.mode === "off") return loose;
  if (sandbox.mode === "auto" && mode === "full") return loose;
  const network = sandbox.allowNet
    ? ""
    : ", without network (--allow-net opens it)";
  const inside =
    `bash runs in a sandbox: the same folders; its /tmp and what it writes to a home are its own and do not last${network}`;
  return sandbox.mode === "require"
    ? `${inside}.`
    : `${inside}. Where this system has none, its first answer says so; then use it with the same care.`;
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${clipChars(text, max - 1)}…`;
}
