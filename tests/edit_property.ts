/**
 * A property of `edit` and `write`, tried on random files: what was not asked for does not change by a byte.
 *
 * The files are put together here from a part before, the part to be edited, and a part after, encoded by this module
 * alone, so that nothing of what is tested says what is right.
 *
 * @module
 */
import { bytesOf, FileWorld, utf16Units } from "./file_world.ts";

/** What a number of runs came to. */
export interface Outcome {
  edited: number;
  refused: number;
  written: number;
}

/**
 * Runs the property `runs` times on files of at most `maxBytes`.
 *
 * @throws {Error} with the seed and what was found, at the first run that breaks it.
 */
export async function tryEdits(
  runs: number,
  options: { seed: number; maxBytes: number },
): Promise<Outcome> {
  await using world = await FileWorld.make();
  const outcome: Outcome = { edited: 0, refused: 0, written: 0 };
  for (let run = 0; run < runs; run++) {
    const random = new Random(options.seed + run);
    try {
      if (random.chance(0.2)) await tryWrite(world, random, outcome);
      else await tryEdit(world, random, outcome, options.maxBytes);
    } catch (error) {
      throw new Error(`seed ${options.seed + run}: ${error}`, { cause: error });
    }
  }
  return outcome;
}

async function tryEdit(
  world: FileWorld,
  random: Random,
  outcome: Outcome,
  maxBytes: number,
): Promise<void> {
  const encoding = random.pick(ENCODINGS);
  const lineEnd = random.pick(LINE_ENDS);
  const size = Math.floor(maxBytes ** random.next());
  const before = randomText(random, encoding, lineEnd, random.below(size + 1));
  const after = randomText(random, encoding, lineEnd, random.below(size + 1));
  const unique = random.chance(0.8) ? `<<${random.below(1e9)}>>` : "";
  const old = randomText(random, ASCII_ONLY, lineEnd, random.below(80)) +
    unique + randomText(random, ASCII_ONLY, lineEnd, random.below(80));
  // A line feed that stands behind a carriage return would make the two one line end.
  if (old === "" || (before.endsWith("\r") && old[0] === "\n")) return;
  const bytes = join(
    encoding.mark,
    ...[before, old, after].map(encoding.encode),
  );
  const path = await world.file("f", bytes);

  // Models send line feeds, whatever the file has.
  const asSent = random.chance(0.7) ? old.replaceAll("\r\n", "\n") : old;
  const sent = randomText(
    random,
    encoding.foreign ? ASCII_ONLY : encoding,
    LINE_FEEDS,
    random.below(120),
  );
  const { isError, text } = await world.edit({
    path,
    old_string: asSent,
    new_string: sent,
  });
  const now = await Deno.readFile(path);
  if (isError) {
    outcome.refused++;
    check(same(now, bytes), `refused, but changed: ${text}`);
    check(
      unique === "" || encoding.foreign || asSent === sent ||
        // Carriage returns of its own make an old text mean all its line ends as they are.
        (asSent !== old && asSent.includes("\r")),
      `refused: ${text}`,
    );
    return;
  }
  outcome.edited++;
  const head = join(encoding.mark, encoding.encode(before));
  const tail = encoding.encode(after);
  if (unique !== "") {
    check(
      same(now.subarray(0, head.length), head) &&
        same(now.subarray(now.length - tail.length), tail) &&
        now.length >= head.length + tail.length,
      "bytes outside the span changed",
    );
    const middle = now.subarray(head.length, now.length - tail.length);
    const wanted = encoding.encode(sent);
    const bare = (part: Uint8Array) => withoutReturns(part, encoding.unit);
    check(
      same(bare(middle), bare(wanted)),
      "the span does not hold the new text",
    );
    if (lineEnd.uniform && asSent === old.replaceAll("\r\n", "\n")) {
      const expected = encoding.encode(
        lineEnd.uniform === "\r\n" && (before + old + after).includes("\r\n")
          ? sent.replaceAll("\n", "\r\n")
          : sent,
      );
      const alone = !(before + old + after).includes("\n");
      check(
        alone || same(middle, expected),
        "the line ends are not the file's",
      );
    }
  }
}

async function tryWrite(
  world: FileWorld,
  random: Random,
  outcome: Outcome,
): Promise<void> {
  const content = randomText(
    random,
    UTF8,
    random.pick(LINE_ENDS),
    random.below(5_000),
  );
  const append = random.chance(0.5);
  const path = world.path("w");
  const before = append
    ? await Deno.readFile(path).catch(() => new Uint8Array())
    : new Uint8Array();
  const keep = before.length < 200_000;
  const { isError, text } = await world.write({
    path,
    content,
    append: append && keep,
  });
  check(!isError, text);
  check(
    same(
      await Deno.readFile(path),
      join(keep ? before : new Uint8Array(), UTF8.encode(content)),
    ),
    "the file does not hold what was written",
  );
  outcome.written++;
}

interface TestEncoding {
  mark: Uint8Array;
  /** Bytes of one ASCII character. */
  unit: "one" | "little" | "big";
  /** Not UTF-8 or UTF-16. */
  foreign?: boolean;
  alphabet: readonly string[];
  encode(text: string): Uint8Array;
}

const LETTERS = [..."abcdefghij (){};=\"'\\$&|\t^*.[]"];
const WIDE = ["ä", "é", "\u00a0", "€", "日", "本", "😀", "e\u0301", "\u2028"];
const NONE = new Uint8Array();

const UTF8: TestEncoding = {
  mark: NONE,
  unit: "one",
  alphabet: [...LETTERS, ...WIDE],
  encode: (text) => new TextEncoder().encode(text),
};

const ASCII_ONLY: TestEncoding = { ...UTF8, alphabet: LETTERS };

/** Every character one byte, as in Latin-1; the alphabet makes runs that are no UTF-8. */
const SINGLE_BYTES: TestEncoding = {
  mark: NONE,
  unit: "one",
  foreign: true,
  alphabet: [...LETTERS, "\xe9", "\xff", "\x80", "\x93\xfa", "\x83\x5c"],
  encode: (text) => bytesOf(text),
};

function utf16Encoding(little: boolean): TestEncoding {
  return {
    mark: little ? bytesOf("\xff\xfe") : bytesOf("\xfe\xff"),
    unit: little ? "little" : "big",
    alphabet: [...LETTERS, ...WIDE, "\u0a0a", "\u0d0d"],
    encode: (text) => utf16Units(text, little),
  };
}

const ENCODINGS: readonly TestEncoding[] = [
  UTF8,
  ASCII_ONLY,
  { ...UTF8, mark: bytesOf("\xef\xbb\xbf") },
  utf16Encoding(true),
  utf16Encoding(false),
  SINGLE_BYTES,
];

interface LineEnds {
  ends: readonly string[];
  /** The only line end, when there is one. */
  uniform?: "\n" | "\r\n";
}

const LINE_FEEDS: LineEnds = { ends: ["\n"], uniform: "\n" };

const LINE_ENDS: readonly LineEnds[] = [
  LINE_FEEDS,
  { ends: ["\r\n"], uniform: "\r\n" },
  { ends: ["\n", "\r\n"] },
  { ends: ["\n", "\r\n", "\r"] },
];

function randomText(
  random: Random,
  { alphabet }: TestEncoding,
  { ends }: LineEnds,
  length: number,
): string {
  const parts: string[] = [];
  // A long text repeats a short one, so that making it is not what takes the time.
  const own = Math.min(length, 2_000);
  for (let i = 0; i < own; i++) {
    parts.push(random.chance(0.06) ? random.pick(ends) : random.pick(alphabet));
  }
  return parts.join("").repeat(own === 0 ? 0 : Math.ceil(length / own));
}

function withoutReturns(
  bytes: Uint8Array,
  unit: TestEncoding["unit"],
): Uint8Array {
  if (unit === "one") return bytes.filter((byte) => byte !== 0x0d);
  const low = unit === "little" ? 0 : 1;
  const kept: number[] = [];
  for (let i = 0; i < bytes.length; i += 2) {
    if (bytes[i + low] === 0x0d && bytes[i + 1 - low] === 0) continue;
    kept.push(bytes[i]!, bytes[i + 1]!);
  }
  return Uint8Array.from(kept);
}

function join(...parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((n, { length }) => n + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Random numbers from a seed (mulberry32), so that a failure can be run again. */
class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  chance(p: number): boolean {
    return this.next() < p;
  }
  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }
}
