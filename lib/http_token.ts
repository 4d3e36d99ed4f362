/**
 * The bearer token of the HTTP transport: given by the operator, or made once, so that host configurations that hold it
 * go on working.
 *
 * @module
 */
import { toBase64 } from "./base64.ts";

/** Name of the file in the state folder that holds the token. */
export const TOKEN_FILE = "http-token";

/** Random bytes of a token that is made. */
export const TOKEN_BYTES = 32;

/** Characters that a token has at least; a shorter one could be guessed. */
export const MIN_TOKEN_CHARS = 16;

/** A token, and the file that holds it; undefined when the operator gave it. */
export interface Token {
  /** What requests carry after `Bearer`. */
  token: string;
  /** Where it is kept. */
  file: string | undefined;
}

/**
 * The token: `given` when there is one, else that of the file in `folder`, which is made (0600, in a folder of 0700)
 * where it is missing.
 *
 * @throws {RangeError} for a token that is too short, or holds what a header cannot.
 * @throws what the file system fails with.
 */
export async function loadToken(
  folder: string,
  given: string | undefined,
): Promise<Token> {
  if (given !== undefined) {
    return { token: checked(given, "ROUSSEAU_TOKEN"), file: undefined };
  }
  const file = `${folder}/${TOKEN_FILE}`;
  const made = toBase64(crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)), {
    alphabet: "base64url",
    omitPadding: true,
  });
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  if (!await exists(file)) {
    // Linked when it is whole, so that a server that starts at the same time reads no part of it.
    const whole = `${file}.${crypto.randomUUID()}`;
    await Deno.writeTextFile(whole, `${made}\n`, {
      createNew: true,
      mode: 0o600,
    });
    try {
      await Deno.link(whole, file);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    } finally {
      await Deno.remove(whole);
    }
  }
  const kept = (await Deno.readTextFile(file)).trim();
  return { token: checked(kept, file), file };
}

async function exists(file: string): Promise<boolean> {
  try {
    await Deno.lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function checked(token: string, source: string): string {
  if (token.length >= MIN_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(token)) {
    return token;
  }
  throw new RangeError(
    `Cannot use the token of ${source}: it must have at least ${MIN_TOKEN_CHARS} visible ASCII characters and no spaces`,
  );
}
