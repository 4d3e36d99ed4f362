/**
 * "Did you mean": the candidate that a mistyped name most resembles.
 *
 * @module
 */

/** Characters of a name that are compared; longer names are not corrected. */
export const MAX_NAME_CHARS = 64;

/**
 * The candidate nearest to `name`, or undefined when none is near: at most a third of the longer word differs (one
 * character in words of two to four, none in words of one). Case, `-` and `_` do not count as differences.
 */
export function nearest(
  name: string,
  candidates: Iterable<string>,
): string | undefined {
  if (name.length > MAX_NAME_CHARS) return undefined;
  const wanted = fold(name);
  let best: string | undefined;
  let least = Infinity;
  for (const candidate of candidates) {
    if (candidate.length > MAX_NAME_CHARS) continue;
    const other = fold(candidate);
    const distance = editDistance(wanted, other);
    const longer = Math.max(wanted.length, other.length);
    // Of one letter nothing would be left that is alike.
    const allowed = Math.min(Math.max(1, Math.floor(longer / 3)), longer - 1);
    if (distance <= allowed && distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

/** `; did you mean "x"?`, or the empty string when nothing is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = nearest(name, candidates);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, "");
}

/** Optimal string alignment: insertions, deletions, replacements and swaps of neighbours count one each. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length]!;
}
