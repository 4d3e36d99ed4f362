/**
 * File names that a person would call the same, and names that are near a wrong one.
 *
 * @module
 */
import { nearest } from "./nearest.ts";

/** Near names that are offered at most. */
export const MAX_NEAR_NAMES = 3;

/** True when two names are equal after Unicode composition (NFC) and with every kind of space as a plain one. */
export function sameName(a: string, b: string): boolean {
  return fold(a) === fold(b);
}

/** Whether a name can have others that are the same: it holds a space or a character beyond ASCII. */
export function hasVariants(name: string): boolean {
  return /[^\x21-\x7e]/.test(name);
}

/** The existing names that a missing one most likely meant, best first. */
export function nearestNames(
  names: readonly string[],
  wanted: string,
): string[] {
  const found: string[] = [];
  const add = (name: string | undefined) => {
    if (name !== undefined && !found.includes(name)) found.push(name);
  };
  const lower = wanted.toLowerCase();
  const stem = stemOf(lower);
  names.filter((name) => name.toLowerCase() === lower).forEach(add);
  const others = names.filter((name) => !found.includes(name));
  add(nearest(wanted, others));
  for (const name of others) {
    if (found.length >= MAX_NEAR_NAMES) break;
    if (stem !== "" && stemOf(name.toLowerCase()) === stem) add(name);
  }
  return found.slice(0, MAX_NEAR_NAMES);
}

function fold(name: string): string {
  return name.normalize("NFC").replace(/\p{Zs}/gu, " ");
}

function stemOf(name: string): string {
  const at = name.lastIndexOf(".");
  return at > 0 ? name.slice(0, at) : name;
}
