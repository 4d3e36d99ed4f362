/**
 * Deno's permissions: what this process may do, and how it comes to what it may not.
 *
 * @module
 */
import { type Platform, stateFolder } from "./platform.ts";

/** Asks for one of Deno's permissions without ever prompting. */
export type MayDo = (permission: Deno.PermissionDescriptor) => boolean;

/** {@linkcode MayDo} for this process, now. */
export function mayDoNow(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

/** `mayDo`, asked once for each permission. */
export function remembered(mayDo: MayDo): MayDo {
  const known = new Map<string, boolean>();
  return (permission) => {
    const key = JSON.stringify(permission);
    const answer = known.get(key) ?? mayDo(permission);
    known.set(key, answer);
    return answer;
  };
}

/**
 * How a process gets at a folder that Deno keeps from it. Where reading (and writing) is granted whole, as it is in the
 * executable, no flag that rousseau uses opens it.
 */
export function grantFor(
  folder: string,
  kinds: readonly ("read" | "write")[],
  mayDo: MayDo = mayDoNow,
): string {
  if (kinds.every((name) => mayDo({ name }))) {
    return "Deno opens it to programs with all permissions alone, and rousseau never has those";
  }
  const at = JSON.stringify(folder);
  const flags = kinds.map((name) => `--allow-${name}=${at}`).join(" ");
  return `start Deno with ${flags} beside its other permissions`;
}

/** What is in the way of something, and what takes it out of the way. */
export interface Obstacle {
  /** Such as `Deno may not use /x`. */
  problem: string;
  /** Such as `start Deno with …`. */
  fix: string;
}

/** Both in one sentence. */
export function inWords({ problem, fix }: Obstacle): string {
  return `${problem}: ${fix}`;
}

/** Why no folder for the sessions is known. */
export function unknownFolder(mayDo: MayDo = mayDoNow): Obstacle {
  return mayDo({ name: "env", variable: "ROUSSEAU_STATE_PATH" })
    ? {
      problem: "no folder is known for it",
      fix: "set ROUSSEAU_STATE_PATH to an absolute path",
    }
    : {
      problem: "no folder is known for it, since no variable may be read",
      fix: "start Deno with --allow-env beside its other permissions",
    };
}

/** What keeps this process from the store of sessions, as far as permissions tell; undefined when nothing does. */
export function storeObstacle(
  platform: Platform,
  statePath: string | undefined,
  mayDo: MayDo = mayDoNow,
): Obstacle | undefined {
  if (statePath === ":memory:") return undefined;
  const folder = stateFolder(platform, statePath);
  if (folder === undefined) return unknownFolder(mayDo);
  const kinds = ["read", "write"] as const;
  if (kinds.every((name) => mayDo({ name, path: folder }))) return undefined;
  return {
    problem: `Deno may not use ${folder}`,
    fix: grantFor(folder, kinds, mayDo),
  };
}
