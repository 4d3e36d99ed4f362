/**
 * The answer to a host's first message, given before the server is loaded: hosts time `initialize`, and to load what
 * serves everything else takes longer than the answer.
 *
 * Only the ordinary start is answered here, `mcp` with plain options and one whole `initialize` in the first bytes.
 * Nothing is logged, and nothing that is wrong is told: any other start, and any failure, is left to the server, which
 * gets the same bytes. It gets them after an answer, too, so that it knows its client, and leaves that answer out.
 *
 * @module
 */
import { initializeResult, negotiated } from "./handshake.ts";
import { introduce } from "./instructions.ts";
import type { Platform } from "./platform.ts";
import { wholeOffer } from "./selection.ts";
import { SETTINGS } from "./settings.ts";
import { setUp } from "./setup.ts";

/** The process, as far as a greeting needs it. */
export interface Door {
  /** The process's surroundings. */
  platform: Platform;
  /** The first bytes of standard input, once they come; empty at its end. */
  first(): Promise<Uint8Array>;
  /** Writes to standard output, whole. */
  write(bytes: Uint8Array): void;
}

/**
 * Answers the first message where it is an ordinary one, and resolves to whether it did. Never rejects.
 */
export async function greet(
  args: readonly string[],
  door: Door,
): Promise<boolean> {
  const flags = plainFlags(args);
  if (!flags) return false;
  try {
    const first = door.first();
    first.catch(() => {});
    const { platform } = door;
    const { config, found: { roots } } = await setUp({ flags, platform });
    const world = { config, roots, platform };
    const introduction = introduce(world, wholeOffer(world));
    const hello = helloIn(await first);
    if (!hello) return false;
    const result = initializeResult(negotiated(hello.wanted), introduction);
    const line = JSON.stringify({ jsonrpc: "2.0", id: hello.id, result });
    door.write(new TextEncoder().encode(`${line}\n`));
    return true;
  } catch {
    return false;
  }
}

/**
 * The root's options on the line `mcp [--OPTION VALUE]...` by name, as the whole parser gives them; undefined for any
 * line that says more than that, or says it less plainly.
 */
export function plainFlags(
  [verb, ...words]: readonly string[],
): Record<string, unknown> | undefined {
  if (verb !== "mcp") return undefined;
  const flags: Record<string, unknown> = {};
  while (words.length > 0) {
    const [, flag, inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(words.shift()!) ??
      [];
    const name = flag?.replaceAll("-", "_");
    const kind = name === "config"
      ? "path"
      : name === "no_record"
      ? "switch"
      : SETTINGS.find(({ option }) => option === name)?.kind.of;
    if (name === undefined || kind === undefined) return undefined;
    if (kind === "switch") {
      if (inline !== undefined) return undefined;
      flags[name] = true;
      continue;
    }
    const value = inline ?? words.shift();
    if (!value || value.startsWith("-")) return undefined;
    if (kind === "choice" || kind === "path") flags[name] = value;
    else if (kind === "list" || kind === "paths") {
      flags[name] = [...flags[name] as string[] ?? [], value];
    } else return undefined;
  }
  return flags;
}

/** The `initialize` that the first line is; undefined when it is anything else, or not whole. */
function helloIn(
  bytes: Uint8Array,
): { id: string | number; wanted: string } | undefined {
  const end = bytes.indexOf(0x0a);
  if (end < 0) return undefined;
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
    .decode(bytes.subarray(0, end));
  const message = JSON.parse(text);
  const { jsonrpc, id, method, params } = message;
  const wanted = params?.protocolVersion;
  const ordinary = jsonrpc === "2.0" && method === "initialize" &&
    (typeof id === "string" || Number.isSafeInteger(id)) &&
    typeof wanted === "string" && params._meta === undefined;
  return ordinary ? { id, wanted } : undefined;
}
