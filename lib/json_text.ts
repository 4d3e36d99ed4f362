/**
 * JSON as text: the parts of an object or array as they are written, where values would lose digits or memory.
 *
 * @module
 */

/** A member of an object, or an element of an array, as it is written. */
export interface Member {
  /** Its name; undefined in an array. */
  key: string | undefined;
  /** The source text of the value; empty where the text ends before it does. */
  raw: string;
}

/**
 * The members of the object, or the elements of the array, that `text` begins with; the text may end early. It neither recurses nor builds values, so that neither depth nor size matters.
 */
export function* members(text: string): Generator<Member, void, void> {
  let at = text.search(/\S/);
  const inObject = text[at] === "{";
  if (!inObject && text[at] !== "[") return;
  let start = ++at;
  let key: string | undefined;
  let depth = 1;
  for (; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      if (at === -1) break;
    } else if (char === "{" || char === "[") {
      depth++;
    } else if (char === "}" || char === "]") {
      if (--depth > 0) continue;
      yield { key, raw: text.slice(start, at) };
      return;
    } else if (depth === 1 && char === ",") {
      yield { key, raw: text.slice(start, at) };
      key = undefined;
      start = at + 1;
    } else if (depth === 1 && inObject && char === ":" && key === undefined) {
      key = readKey(text.slice(start, at));
      start = at + 1;
    }
  }
  yield { key, raw: "" };
}

/** The index of the quote that closes the string which begins at `open`, or -1. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x5c) at++;
    else if (char === 0x22) return at;
  }
  return -1;
}

function readKey(raw: string): string {
  try {
    return String(JSON.parse(raw));
  } catch {
    return "";
  }
}
