/** Types of the npm build of `@std/yaml/parse`, which ships none. */
export function parse(
  content: string,
  options?: { schema?: "failsafe" | "json" | "core" | "default" | "extended" },
): unknown;
