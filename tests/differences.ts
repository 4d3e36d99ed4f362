/** JSON pointers at which two values differ; a missing or added member is one difference. */
export function differences(a: unknown, b: unknown, path = ""): string[] {
  if (
    isContainer(a) && isContainer(b) && Array.isArray(a) === Array.isArray(b)
  ) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      key in a && key in b
        ? differences(a[key], b[key], `${path}/${key}`)
        : [`${path}/${key}`]
    );
  }
  return Object.is(a, b) ? [] : [path];
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
