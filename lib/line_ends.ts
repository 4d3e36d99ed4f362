/**
 * The line ends of text that is put into a file: those of the place where it goes.
 *
 * @module
 */
import type { Span } from "./spans.ts";

/**
 * `newText` with the line ends of the place where it goes. What `oldText` and `newText` have in common at their
 * beginnings and ends stays as it is there, so that only lines that change can get another line end, and they get
 * those of the lines that they replace.
 */
export function withLineEnds(
  text: string,
  span: Span,
  oldText: string,
  newText: string,
): string {
  if (!newText.includes("\n") || oldText.includes("\r")) return newText;
  const matched = text.slice(span.start, span.end);
  if (newText.includes("\r")) {
    return withEndsOf(newText, matched, text, span);
  }
  const { prefix, suffix } = commonEnds(oldText, newText);
  // Where the two meet inside the match: as many line ends in, with as many carriage returns.
  const head = expanded(matched, prefix);
  const tail = expanded(matched, oldText.length - suffix);
  return matched.slice(0, head) + withEndsOf(
    newText.slice(prefix, newText.length - suffix),
    matched.slice(head, tail),
    text,
    { start: span.start + head, end: span.start + tail },
  ) + matched.slice(tail);
}

/** The index in `matched` of what stands at `index` in it without carriage returns before line feeds. */
function expanded(matched: string, index: number): number {
  let removed = 0;
  for (
    let pair = matched.indexOf("\r\n");
    pair !== -1 && pair - removed < index;
    pair = matched.indexOf("\r\n", pair + 2)
  ) {
    removed++;
  }
  return index + removed;
}

/** The n-th bare line feed becomes the n-th line end of `replaced`, later ones its last, or the nearest of the file. */
function withEndsOf(
  inserted: string,
  replaced: string,
  text: string,
  span: Span,
): string {
  const ends = replaced.match(/\r?\n/g) ?? [nearestLineEnd(text, span)];
  let n = 0;
  return inserted.replace(
    /\r?\n/g,
    (end) => {
      const own = ends[Math.min(n++, ends.length - 1)]!;
      return end === "\n" ? own : end;
    },
  );
}

/** The line end of the line that ends after the span, else of the one before; `\n` in a text of one line. */
function nearestLineEnd(text: string, { start, end }: Span): string {
  let feed = text.indexOf("\n", end);
  if (feed === -1) feed = start === 0 ? -1 : text.lastIndexOf("\n", start - 1);
  return feed > 0 && text[feed - 1] === "\r" ? "\r\n" : "\n";
}

/** How many characters two texts have in common at their beginnings and, beyond those, at their ends. */
export function commonEnds(
  a: string,
  b: string,
): { prefix: number; suffix: number } {
  const shorter = Math.min(a.length, b.length);
  let prefix = 0;
  while (prefix < shorter && a[prefix] === b[prefix]) prefix++;
  let suffix = 0;
  while (
    suffix < shorter - prefix &&
    a[a.length - 1 - suffix] === b[b.length - 1 - suffix]
  ) {
    suffix++;
  }
  return { prefix, suffix };
}
