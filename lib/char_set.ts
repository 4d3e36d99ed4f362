/**
 * Sets of Unicode code points, as sorted ranges: what one character of a regular expression may be.
 *
 * @module
 */

/** Sorted, disjoint, inclusive ranges, flat: `[low, high, low, high, …]`. */
export type CharSet = readonly number[];

/** The highest code point. */
export const MAX_CODE_POINT = 0x10ffff;

/** Every character. */
export const ANY: CharSet = [0, MAX_CODE_POINT];

/** `\d`, `\s` and `\w`: ASCII, as in Go's RE2 syntax and in JavaScript. */
export const PERL: Readonly<Record<string, CharSet>> = {
  d: [0x30, 0x39],
  s: [0x09, 0x0d, 0x20, 0x20],
  w: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  h: [0x09, 0x09, 0x20, 0x20],
};

/** `[[:alpha:]]` and its like, by name. */
export const POSIX: Readonly<Record<string, CharSet>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0x00, 0x7f],
  blank: [0x09, 0x09, 0x20, 0x20],
  cntrl: [0x00, 0x1f, 0x7f, 0x7f],
  digit: [0x30, 0x39],
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x09, 0x0d, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

/** The set of all characters in any of `ranges`, which may overlap and be in any order. */
export function charSet(ranges: readonly number[]): CharSet {
  const pairs: [number, number][] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    pairs.push([ranges[i]!, ranges[i + 1]!]);
  }
  pairs.sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [low, high] of pairs) {
    const last = out.length - 1;
    if (last > 0 && low <= out[last]! + 1) {
      if (high > out[last]!) out[last] = high;
    } else {
      out.push(low, high);
    }
  }
  return out;
}

/** All characters that are not in `set`. */
export function complement(set: CharSet): CharSet {
  const out: number[] = [];
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (set[i]! > next) out.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= MAX_CODE_POINT) out.push(next, MAX_CODE_POINT);
  return out;
}

/** The characters of `set` without `code`. */
export function without(set: CharSet, code: number): CharSet {
  return has(set, code)
    ? complement(charSet([...complement(set), code, code]))
    : set;
}

/** Whether `code` is in `set`. */
export function has(set: CharSet, code: number): boolean {
  for (let i = 0; i < set.length; i += 2) {
    if (code < set[i]!) return false;
    if (code <= set[i + 1]!) return true;
  }
  return false;
}

/** `set` and every character that differs from one in it by case only (simple folding). */
export function foldCase(set: CharSet): CharSet {
  const out: number[] = [...set];
  const add = (from: string, to: string) => {
    // A mapping to several characters (ß to SS) is not simple folding.
    const code = to.codePointAt(0)!;
    if (to !== from && to.length === (code > 0xffff ? 2 : 1)) {
      out.push(code, code);
      return to;
    }
    return from;
  };
  for (let i = 0; i < set.length; i += 2) {
    const high = Math.min(set[i + 1]!, LAST_CASED);
    for (let code = set[i]!; code <= high; code++) {
      const char = String.fromCodePoint(code);
      const upper = add(char, char.toUpperCase());
      const lower = add(char, char.toLowerCase());
      add(lower, lower.toUpperCase());
      add(upper, upper.toLowerCase());
      for (const [letter, odd] of ODD_FOLDS) {
        if (lower === letter || upper === letter) out.push(odd, odd);
      }
    }
  }
  return charSet(out);
}

/**
 * The characters with a Unicode property: what JavaScript writes `\p{…}`.
 *
 * @returns undefined for a name that is not known.
 */
export function unicodeProperty(name: string): CharSet | undefined {
  let test: RegExp;
  try {
    test = new RegExp(`^\\p{${name}}$`, "u");
  } catch {
    try {
      test = new RegExp(`^\\p{Script=${name}}$`, "u");
    } catch {
      return undefined;
    }
  }
  const out: number[] = [];
  const add = (low: number, high: number) => {
    if (!test.test(String.fromCodePoint(low))) return;
    const last = out.length - 1;
    if (last > 0 && out[last] === low - 1) out[last] = high;
    else out.push(low, high);
  };
  for (const [from, to] of ASSIGNED) {
    for (let code = from; code <= to; code++) add(code, code);
  }
  // Planes that are unassigned or private, where all but the last two code points are alike.
  for (let plane = 0x40000; plane <= MAX_CODE_POINT; plane += 0x10000) {
    add(plane === 0xe0000 ? 0xe1000 : plane, plane + 0xfffd);
    add(plane + 0xfffe, plane + 0xfffe);
    add(plane + 0xffff, plane + 0xffff);
  }
  return charSet(out);
}

/** Code points that {@linkcode unicodeProperty} looks at one by one; about 10 ms. */
export const PROPERTY_COST = 0x42000;

/** How many code points {@linkcode foldCase} looks at. */
export function foldingCost(set: CharSet): number {
  let cost = 0;
  for (let i = 0; i < set.length && set[i]! <= LAST_CASED; i += 2) {
    cost += Math.min(set[i + 1]!, LAST_CASED) - set[i]! + 1;
  }
  return cost;
}

const ASSIGNED = [
  [0, 0xd7ff],
  [0xe000, 0x3ffff],
  [0xe0000, 0xe0fff],
] as const;

/** No character above this one has a case (Adlam ends here). */
const LAST_CASED = 0x1e943;

/** Characters that fold to a letter which does not map back to them: long s, Kelvin, Angstrom, and Greek forms. */
const ODD_FOLDS: readonly (readonly [string, number])[] = [
  ["s", 0x17f],
  ["k", 0x212a],
  ["å", 0x212b],
  ["ω", 0x2126],
  ["σ", 0x3c2],
  ["µ", 0x3bc],
  ["μ", 0xb5],
];
