/**
 * What belongs to rousseau itself, and so to no tool: the store, the settings, the machine's policy, the program.
 *
 * @module
 */
import { pathsOf } from "./paths.ts";
import {
  configFolder,
  dataFolder,
  fromUser,
  machinePolicyFile,
} from "./platform.ts";
import type { Platform } from "./platform.ts";

/** Absolute paths: `own` is closed altogether, `ownReadable` for writing only. */
export function ownPlaces(
  platform: Platform,
  statePath: string | undefined,
  further: readonly string[],
): { own: string[]; ownReadable: string[] } {
  const places = new Set<string>();
  const add = (path: string | undefined) => {
    if (path !== undefined) places.add(path);
  };
  add(dataFolder(platform));
  add(configFolder(platform));
  add(machinePolicyFile(platform).path);
  if (statePath !== undefined && statePath !== ":memory:") {
    const path = fromUser(platform, statePath);
    if (path !== undefined) {
      for (const suffix of ["", "-wal", "-shm", "-journal"]) {
        add(`${path}${suffix}`);
      }
      add(
        pathsOf(platform.os).resolve(
          pathsOf(platform.os).dirname(path),
          "locks",
        ),
      );
    }
  }
  for (const path of further) add(fromUser(platform, path));
  return {
    own: [...places],
    ownReadable: platform.execPath === undefined ? [] : [platform.execPath],
  };
}
