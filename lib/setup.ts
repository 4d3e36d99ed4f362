/**
 * What a process was told before it does anything: its settings, its roots, and the project's own tightening.
 *
 * @module
 */
import { type Config, loadConfig, tightened } from "./config.ts";
import { CommandError, UsageError } from "./failure.ts";
import type { Platform } from "./platform.ts";
import { startFiles } from "./real_path.ts";
import { findRoots, readFolders, type Roots } from "./roots.ts";
import { TOOL_NAMES } from "./tool_names.ts";

/** The settings and the roots in force. */
export interface Setup {
  /** Every setting, as the project in the first root tightens it. */
  config: Config;
  /** The roots. */
  found: Roots;
  /** The operator's configuration file, when there is one. */
  own: string[];
  /** The files that the settings came from. */
  files: string[];
  /** What was passed over, a sentence each. */
  warnings: string[];
}

/**
 * Reads the settings and finds the roots. Changes and logs nothing.
 *
 * @throws {UsageError} for mistakes in the settings, and when a folder that was named as a root cannot be one.
 */
export async function setUp(
  { flags, platform }: { flags: Record<string, unknown>; platform: Platform },
): Promise<Setup> {
  const loaded = await loadConfig({ flags, platform });
  if (loaded.config.machine) {
    const { withoutStrays } = await import("./machine_policy.ts");
    loaded.config = await withoutStrays(
      loaded.config,
      platform,
      loaded.warnings,
    );
  }
  const found = await foldersOf(platform, loaded.config);
  const root = found.roots[0];
  const project = root === undefined
    ? undefined
    : await tightened(loaded.config, root, { platform });
  const config = project?.config ?? loaded.config;
  const own = loaded.file === undefined ? [] : [loaded.file];
  return {
    config,
    found,
    own,
    files: [
      ...config.machine ? [config.machine.path] : [],
      ...own,
      ...project?.file === undefined ? [] : [project.file],
    ],
    warnings: [
      ...loaded.warnings,
      ...(project?.warnings ?? []),
      ...found.warnings,
      ...config.policy ? await strayRulesOf(config) : [],
    ],
  };
}

/** The roots. Whatever is wrong with a folder that the operator named is told now, and not at the first call. */
async function foldersOf(platform: Platform, config: Config): Promise<Roots> {
  try {
    readFolders(platform, config.read);
    return await findRoots({
      platform,
      files: startFiles,
      named: config.roots,
      clientRoots: undefined,
      within: config.machine?.within.roots,
    });
  } catch (error) {
    if (error instanceof CommandError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * Refuses rules that name a tool which is none: what they were to close would be open. Of the administrator's, who does
 * not know what tools the operator declares, they are only told.
 */
async function strayRulesOf(
  { policy = [], customTools = [], machine }: Config,
): Promise<string[]> {
  const { strayRules } = await import("./rules.ts");
  const tools = [...TOOL_NAMES, ...customTools.map(({ name }) => name)];
  const told: string[] = [];
  for (const layer of policy) {
    for (const stray of strayRules(layer, tools)) {
      if (layer.source !== machine?.path) throw new UsageError(stray);
      told.push(stray);
    }
  }
  return told;
}
