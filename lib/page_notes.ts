/**
 * What is said beside a page of a text file.
 *
 * @module
 */
import type { Encoding } from "./encoding.ts";
import type { Page } from "./paging.ts";
import { counted, grouped } from "./tool.ts";

/** A page as its notes need it. */
export interface ShownPage {
  /** What it shows. */
  page: Page;
  /** Number of its first line where that is known. */
  line: number | undefined;
  /** Its first byte. */
  from: number;
  /** The byte behind its last. */
  to: number;
  /** Lines of the file where that is known. */
  total: number | undefined;
  /** Bytes of the file. */
  size: number;
}

/** Which lines and bytes a page shows, and the call that reads on. */
export function position(
  { page, line, from, to, total, size }: ShownPage,
): string {
  const last = line === undefined ? undefined : line + page.lines - 1;
  const lines = line === undefined || last === undefined
    ? counted(page.lines, "line")
    : page.lines === 1
    ? `line ${grouped(line)}`
    : `lines ${grouped(line)}-${grouped(last)}`;
  const where = `${lines}${
    total === undefined ? "" : ` of ${grouped(total)}`
  } (bytes ${grouped(from)}-${grouped(to)} of ${grouped(size)})`;
  if (to >= size) return `${where}, the end`;
  const next = last === undefined
    ? ""
    : `offset=${page.cut ? last : last + 1} `;
  return page.cut
    ? `${where}: the line is longer than a page and is cut; read on in it with ${next}byte_offset=${to}`
    : `${where}; read on with ${next}byte_offset=${to}`;
}

/** What has to be said about the content: that it is empty, decoded, marked or escaped. */
export function contentNotes(
  { shown, size, encoding, start }: {
    /** The path for answers. */
    shown: string;
    size: number;
    encoding: Encoding;
    /** Bytes of the byte-order mark. */
    start: number;
  },
  page: Page,
): string[] {
  const notes: string[] = [];
  if (size <= start) {
    notes.push(
      `${shown} is empty (${counted(size, "byte")})`,
    );
  }
  if (encoding !== "utf-8") {
    notes.push(`decoded from ${encoding.toUpperCase()} (byte-order mark)`);
  } else if (start > 0) {
    notes.push("a UTF-8 byte-order mark at its start is not shown");
  }
  if (page.bad > 0) {
    notes.push(
      `${counted(page.bad, "byte")} ${
        page.bad === 1 ? "is" : "are"
      } not ${encoding.toUpperCase()}, shown as \\xHH${
        encoding === "utf-8"
          ? " (another encoding, such as windows-1252 or Shift-JIS?)"
          : ""
      }`,
    );
  }
  if (page.escaped > 0) {
    notes.push(
      `${counted(page.escaped, "control character")} shown as \\xHH`,
    );
  }
  return notes;
}
