/**
 * Programs that the system tests need beside Deno.
 *
 * @module
 */

/** @throws {Error} naming the programs that are not on the PATH. */
export async function need(...names: string[]): Promise<void> {
  const missing: string[] = [];
  for (const name of names) {
    const { success } = await new Deno.Command("sh", {
      args: ["-c", 'command -v "$0"', name],
      stdout: "null",
    }).output();
    if (!success) missing.push(name);
  }
  if (missing.length > 0) {
    throw new Error(
      `Cannot run this test: not installed: ${missing.join(", ")}`,
    );
  }
}
