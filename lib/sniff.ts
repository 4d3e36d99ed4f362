/**
 * What a file is, from its first bytes.
 *
 * @module
 */

/** Bytes from the start of a file that {@linkcode sniff} looks at. */
export const SNIFF_BYTES = 8_000;

/** What a file is. `media` can be handed over as a block; `binary` is named where it is known. */
export type Kind =
  | { kind: "text" }
  | { kind: "media"; type: "image" | "audio"; mimeType: string }
  | { kind: "binary"; name: string };

/** Tells text, pictures and sound, and other binary files apart. A NUL byte makes a file binary. */
export function sniff(head: Uint8Array): Kind {
  for (const { at, magic, ...kind } of MEDIA) {
    if (hasMagic(head, magic, at ?? 0) && (kind.also?.(head) ?? true)) {
      return { kind: "media", type: kind.type, mimeType: kind.mimeType };
    }
  }
  for (const { magic, name } of BINARY) {
    if (hasMagic(head, magic, 0)) return { kind: "binary", name };
  }
  const utf16 = (head[0] === 0xff && head[1] === 0xfe) ||
    (head[0] === 0xfe && head[1] === 0xff);
  if (!utf16 && head.subarray(0, SNIFF_BYTES).includes(0)) {
    return { kind: "binary", name: binaryName(head) };
  }
  return { kind: "text" };
}

interface Media {
  magic: string;
  at?: number;
  type: "image" | "audio";
  mimeType: string;
  also?(head: Uint8Array): boolean;
}

/** Magic numbers as one character per byte. */
const MEDIA: readonly Media[] = [
  { magic: "\x89PNG\r\n\x1a\n", type: "image", mimeType: "image/png" },
  { magic: "\xff\xd8\xff", type: "image", mimeType: "image/jpeg" },
  { magic: "GIF87a", type: "image", mimeType: "image/gif" },
  { magic: "GIF89a", type: "image", mimeType: "image/gif" },
  {
    magic: "RIFF",
    type: "image",
    mimeType: "image/webp",
    also: (head) => hasMagic(head, "WEBP", 8),
  },
  {
    magic: "RIFF",
    type: "audio",
    mimeType: "audio/wav",
    also: (head) => hasMagic(head, "WAVE", 8),
  },
  { magic: "ID3", type: "audio", mimeType: "audio/mpeg", also: hasNul },
  { magic: "\xff\xfb", type: "audio", mimeType: "audio/mpeg", also: hasNul },
  { magic: "\xff\xf3", type: "audio", mimeType: "audio/mpeg", also: hasNul },
  { magic: "\xff\xf2", type: "audio", mimeType: "audio/mpeg", also: hasNul },
  { magic: "OggS\0", type: "audio", mimeType: "audio/ogg" },
  { magic: "fLaC\0", type: "audio", mimeType: "audio/flac" },
  { magic: "ftypM4A ", at: 4, type: "audio", mimeType: "audio/mp4" },
];

const BINARY: readonly { magic: string; name: string }[] = [
  { magic: "%PDF-", name: "a PDF document" },
  { magic: "PK\x03\x04", name: "a ZIP archive (or an office document)" },
  { magic: "\x1f\x8b\x08", name: "gzip-compressed data" },
  { magic: "\xfd7zXZ\0", name: "xz-compressed data" },
  { magic: "\x28\xb5\x2f\xfd", name: "zstd-compressed data" },
  { magic: "7z\xbc\xaf\x27\x1c", name: "a 7-Zip archive" },
  { magic: "\x7fELF", name: "an ELF executable or library" },
  { magic: "SQLite format 3\0", name: "an SQLite database" },
  { magic: "\0asm", name: "a WebAssembly module" },
  { magic: "\xff\xfe\0\0", name: "UTF-32 text" },
  { magic: "\0\0\xfe\xff", name: "UTF-32 text" },
];

/** Text in UTF-16 without a byte-order mark has a zero byte in nearly every other place. */
function binaryName(head: Uint8Array): string {
  const zeros = [0, 0];
  for (let i = 0; i < head.length; i++) {
    if (head[i] === 0) zeros[i % 2]!++;
  }
  if (head.length < 4) return "a binary file";
  const half = head.length / 2;
  const [even, odd] = zeros as [number, number];
  if (odd > half * 0.7 && even < half * 0.1) {
    return "UTF-16LE text without a byte-order mark";
  }
  if (even > half * 0.7 && odd < half * 0.1) {
    return "UTF-16BE text without a byte-order mark";
  }
  return "a binary file";
}

function hasMagic(head: Uint8Array, magic: string, at: number): boolean {
  if (head.length < at + magic.length) return false;
  for (let i = 0; i < magic.length; i++) {
    if (head[at + i] !== magic.charCodeAt(i)) return false;
  }
  return true;
}

/** Latin-1 text may begin like an MP3 frame; sound has zero bytes early, text has none. */
function hasNul(head: Uint8Array): boolean {
  return head.includes(0);
}
