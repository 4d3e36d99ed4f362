/**
 * Base64 by the runtime's own methods, which Deno 2.6 has but does not yet declare.
 *
 * @module
 */

/** The two alphabets (RFC 4648, sections 4 and 5). */
export interface Base64Options {
  /** `base64url` has `-` and `_` in place of `+` and `/`. */
  alphabet?: "base64" | "base64url";
  /** Leaves out `=` at the end when writing. */
  omitPadding?: boolean;
  /** `strict` refuses what is not padded exactly when reading. */
  lastChunkHandling?: "loose" | "strict";
}

/** Bytes as base64. */
export function toBase64(
  bytes: Uint8Array,
  options: Base64Options = {},
): string {
  return (bytes as Uint8Array & Encoder).toBase64(options);
}

/**
 * The bytes of a base64 text.
 *
 * @throws {SyntaxError} when `text` is not base64.
 */
export function fromBase64(
  text: string,
  options: Base64Options = {},
): Uint8Array<ArrayBuffer> {
  return (Uint8Array as unknown as Decoder).fromBase64(text, options);
}

interface Encoder {
  toBase64(options: Base64Options): string;
}

interface Decoder {
  fromBase64(text: string, options: Base64Options): Uint8Array<ArrayBuffer>;
}
