/**
 * The words of refusals: what was refused, by which rule, and what would allow it.
 *
 * @module
 */
import type { Mode } from "./config.ts";
import type { DenyRule } from "./deny.ts";

/** What a person does so that this process has a root; for the middle of a sentence. */
export const NAME_A_ROOT =
  'add "--root", "/path/of/the/project" to the "args" of rousseau in the host\'s configuration (`rousseau config HOST` prints the block)';

/** For a path that a deny rule closes. */
export function denyText(real: string, rule: DenyRule, write: boolean): string {
  const what = rule.writeOnly
    ? `path may not be written: ${real}`
    : `path is on the deny list: ${real}`;
  if (rule.origin === "own") {
    return `${what}. It belongs to rousseau itself (its store, its settings or its program), which no tool may ${
      rule.writeOnly || write ? "change" : "read"
    } and no flag opens`;
  }
  const key = rule.writeOnly ? "scope.deny_write" : "scope.deny_read";
  return rule.origin === "configured"
    ? `${what}. The operator's configuration closes "${rule.pattern}" (${key}); only a change there can allow it`
    : `${what}. The rule "${rule.pattern}" protects ${rule.reason}; to allow it, put "!${rule.pattern}" into ${key} in rousseau's configuration file and restart, or start with --mode full`;
}

/** For a write in mode `read-only`. */
export function readOnlyText(real: string): string {
  return `path may not be written: ${real}. The mode is read-only; to allow writing, start rousseau with --mode workspace`;
}

/** For a path that no grant covers. */
export function outsideText(path: {
  real: string;
  /** The folder that would have to be granted. */
  folder: string;
  roots: readonly string[];
  /** Whether it was to be written, and then whether it may be read at least. */
  write: boolean;
  readable: boolean;
}): string {
  const { real, roots, write, readable } = path;
  const quoted = JSON.stringify(grantFor(path));
  if (roots.length === 0) {
    return write
      ? `path may not be written: ${real}. No folder is named as a root, so nothing may be written; ${NAME_A_ROOT}`
      : `path is outside the workspace: ${real}. No folder is named as a root; ${NAME_A_ROOT}, or allow reading this one with --read ${quoted}`;
  }
  const allowed = `Roots: ${roots.join(", ")}`;
  if (!write) {
    return `path is outside the workspace: ${real}. ${allowed}. To allow reading it, start rousseau with --read ${quoted} (or --mode open)`;
  }
  const granted = `start rousseau with --root ${quoted} beside the other roots`;
  return readable
    ? `path may not be written: ${real}. It may only be read. ${allowed}. To allow writing, ${granted}`
    : `path is outside the workspace: ${real}. ${allowed}. To allow it, ${granted}`;
}

/** What is named to be granted: never the whole disk or a whole home for the sake of one path in it. */
function grantFor(
  { real, folder, write }: { real: string; folder: string; write: boolean },
): string {
  const home = HOME.test(folder);
  if (folder !== "/" && !home) return folder;
  return write && home ? `${folder}/FOLDER` : real;
}

/** Where systems keep people's homes. */
const HOME = /^(?:\/root|\/home\/[^/]+|\/Users\/[^/]+)$/;

/** The rules in one or two sentences, for the model and for `doctor`. */
export function describeScope(mode: Mode, roots: readonly string[]): string {
  if (mode === "full") {
    const start = roots[0] === undefined
      ? ""
      : ` Relative paths start at ${roots[0]}.`;
    return `Mode full: every path may be read and written, except rousseau's own store and settings.${start}`;
  }
  const where = roots.length === 0
    ? `No folder is named as a root, so nothing may be written; ${NAME_A_ROOT}.`
    : mode === "read-only"
    ? `Roots: ${
      roots.join(", ")
    }. Nothing may be written (--mode workspace allows it).`
    : `Roots, where files may be written: ${
      roots.join(", ")
    }; also the folder for temporary files.`;
  const reading = mode === "open"
    ? "Everything may be read except keys, credentials and the like."
    : "Elsewhere only the system's and toolchains' folders may be read (--read DIR adds one, --root DIR adds a root).";
  return `${where} ${reading}`;
}
