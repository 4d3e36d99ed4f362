/** Types of the npm build of `@std/cli/parse-args`, which ships none: the options that are used. */
export function parseArgs(
  args: readonly string[],
  options?: {
    string?: readonly string[];
    boolean?: readonly string[];
    collect?: readonly string[];
    alias?: Record<string, string | readonly string[]>;
    negatable?: readonly string[];
    stopEarly?: boolean;
    "--"?: boolean;
    unknown?: (arg: string, key?: string, value?: unknown) => unknown;
  },
): Record<string, unknown> & { _: (string | number)[]; "--"?: string[] };
