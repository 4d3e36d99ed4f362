/**
 * Where an exact text occurs in another.
 *
 * @module
 */

/** A stretch of text, the end exclusive. */
export interface Span {
  /** Index of the first character. */
  start: number;
  /** Index behind the last. */
  end: number;
}

/**
 * Where `pattern` occurs, not overlapping, in order; at most `max`. A line feed in `pattern` also matches a carriage
 * return with a line feed, unless `pattern` has carriage returns of its own. An empty pattern occurs nowhere.
 */
export function findSpans(
  text: string,
  pattern: string,
  max: number,
): Span[] {
  const eitherLineEnd = pattern.includes("\n") && !pattern.includes("\r") &&
    text.includes("\r\n");
  if (!eitherLineEnd) {
    return indexesOf(text, pattern, max).map((start) => ({
      start,
      end: start + pattern.length,
    }));
  }
  const starts = indexesOf(text.replaceAll("\r\n", "\n"), pattern, max);
  const spans: Span[] = [];
  // An index into the text without carriage returns is one too small for each of those that stand before it.
  let pair = text.indexOf("\r\n");
  let removed = 0;
  const original = (index: number) => {
    while (pair !== -1 && pair - removed < index) {
      removed++;
      pair = text.indexOf("\r\n", pair + 2);
    }
    return index + removed;
  };
  for (const start of starts) {
    spans.push({
      start: original(start),
      end: original(start + pattern.length),
    });
  }
  return spans;
}

/** A second place for a text that repeats itself: `aa` in `aaa` is not unique either. */
export function overlapping(text: string, pattern: string, only: Span): Span[] {
  const step = text[only.start] === "\r" && pattern[0] === "\n" ? 2 : 1;
  const from = only.start + step;
  // A second occurrence that does not overlap would have been found, so it ends within one length of this one's end.
  const window = text.slice(from, only.end + 2 * pattern.length);
  return findSpans(window, pattern, 1).map(({ start, end }) => ({
    start: start + from,
    end: end + from,
  }));
}

/** The line of each span's start, counted from 1; spans in order. */
export function lineNumbers(text: string, spans: readonly Span[]): number[] {
  const numbers: number[] = [];
  let line = 1;
  let at = 0;
  for (const { start } of spans) {
    for (
      let feed = text.indexOf("\n", at);
      feed !== -1 && feed < start;
      feed = text.indexOf("\n", feed + 1)
    ) {
      line++;
      at = feed + 1;
    }
    numbers.push(line);
  }
  return numbers;
}

function indexesOf(text: string, pattern: string, max: number): number[] {
  const indexes: number[] = [];
  if (pattern === "") return indexes;
  for (
    let at = text.indexOf(pattern);
    at !== -1 && indexes.length < max;
    at = text.indexOf(pattern, at + pattern.length)
  ) {
    indexes.push(at);
  }
  return indexes;
}
