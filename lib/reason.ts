/**
 * Why the operating system refused, in the words of Go's standard library, as the first users of these tools know
 * them.
 *
 * @module
 */

/** The reason of an operating-system error, in lower case, without path and number. */
export function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file or directory";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotCapable) {
    return "not permitted by the permissions this process runs with";
  }
  if (error instanceof Deno.errors.IsADirectory) return "is a directory";
  if (error instanceof Deno.errors.NotADirectory) return "not a directory";
  if (error instanceof Deno.errors.AlreadyExists) return "file exists";
  if (error instanceof Deno.errors.FilesystemLoop) {
    return "too many levels of symbolic links";
  }
  if (!(error instanceof Error)) return String(error);
  const known = BY_CODE[errorCode(error) ?? ""];
  return known ?? error.message.replace(/ \(os error \d+\).*$/s, "")
    .toLowerCase();
}

/** The symbolic code of an operating-system error, such as `ENOSPC`; undefined when it has none. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = (error as Error & { code?: unknown }).code;
  return typeof code === "string" ? code : undefined;
}

const BY_CODE: Readonly<Record<string, string>> = {
  ELOOP: "too many levels of symbolic links",
  ENAMETOOLONG: "file name too long",
  ENOSPC: "no space left on device",
  EROFS: "read-only file system",
  EDQUOT: "disk quota exceeded",
  EFBIG: "file too large",
  ENOTEMPTY: "directory not empty",
};
