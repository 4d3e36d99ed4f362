/**
 * Random and mutated lines for a server's input, the same for the same seed.
 *
 * @module
 */

/** A small, fast generator of pseudo-random numbers (mulberry32), so that a failure can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to but not including 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer from 0 up to but not including `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Well-formed messages. None runs a command: what a mutated command would do cannot be told. */
const MESSAGES: readonly object[] = [
  {
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "fuzz", version: "1" },
    },
  },
  { method: "ping" },
  { method: "tools/list", params: {} },
  { method: "tools/list", params: { cursor: "abc" } },
  { method: "tools/list", params: { _meta: META } },
  { method: "server/discover", params: { _meta: META } },
  { method: "resources/list" },
  { method: "resources/templates/list" },
  { method: "resources/read", params: { uri: "rousseau://version" } },
  { method: "resources/read", params: { uri: "rousseau://sessions/0" } },
  { method: "prompts/list" },
  { method: "shutdown" },
  { method: "nonsense", params: [1, 2, 3] },
  { method: "tools/call", params: { name: "read", arguments: { path: "a" } } },
  {
    method: "tools/call",
    params: {
      name: "edit",
      arguments: { path: "a", old_string: "one", new_string: "one\n" },
    },
  },
  {
    method: "tools/call",
    params: {
      name: "grep",
      arguments: { pattern: "o(n|m)e", path: ".", context: 1 },
    },
  },
  {
    method: "tools/call",
    params: {
      name: "rousseau_search_sessions",
      arguments: { query: "one", limit: 3 },
    },
  },
  { method: "tools/call", params: { name: "constructor", arguments: {} } },
  { method: "tools/call", params: { name: "__proto__", arguments: null } },
];

const NOTIFICATIONS: readonly object[] = [
  { method: "notifications/initialized" },
  { method: "notifications/cancelled", params: { requestId: 3 } },
  { method: "notifications/progress", params: { progressToken: 1 } },
  { method: "notifications/unheard-of" },
];

const FRAGMENTS: readonly string[] = [
  "null",
  "true",
  "-1",
  "1e999",
  "1.5",
  "9007199254740993",
  '""',
  "[]",
  "{}",
  '"\\ud800"',
  '"\\u0000"',
  '"\u2028"',
  '"🦀"',
  '{"__proto__":{"a":1}}',
  "[".repeat(2_000),
  "[".repeat(500) + "]".repeat(500),
  '{"a":'.repeat(500) + "1" + "}".repeat(500),
  "Content-Length: 20",
  "\uFEFF",
  "\r",
];

const encoder = new TextEncoder();

/** One line without its newline. It never holds a newline inside. */
export function fuzzLine(random: Random): Uint8Array {
  const kind = random.below(100);
  if (kind < 8) return noise(random);
  if (kind < 14) return encoder.encode(random.pick(FRAGMENTS));
  if (kind < 20) {
    return encoder.encode(JSON.stringify(
      Array.from({ length: random.below(4) }, () => message(random)),
    ));
  }
  const line = encoder.encode(JSON.stringify(message(random)));
  if (kind < 50) return line;
  return kind < 85 ? mutated(line, random) : grafted(line, random);
}

function message(random: Random): object {
  if (random.below(10) === 0) {
    return { jsonrpc: "2.0", ...random.pick(NOTIFICATIONS) };
  }
  const id = random.pick([
    random.below(1_000),
    `s${random.below(1_000)}`,
    0,
    "",
    null,
    1.5,
    true,
    {},
  ]);
  const jsonrpc = random.below(30) === 0 ? "1.0" : "2.0";
  return { jsonrpc, id, ...random.pick(MESSAGES) };
}

function noise(random: Random): Uint8Array {
  return withoutNewlines(
    Uint8Array.from({ length: random.below(80) }, () => random.below(256)),
  );
}

/** Bytes flipped, dropped, doubled, cut off. */
function mutated(line: Uint8Array, random: Random): Uint8Array {
  const bytes = [...line];
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(bytes.length + 1);
    switch (random.below(5)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes.splice(at, 1 + random.below(8));
        break;
      case 2:
        bytes.splice(at, 0, ...bytes.slice(at, at + random.below(40)));
        break;
      case 3:
        bytes.length = Math.min(at, bytes.length);
        break;
      default:
        bytes.splice(at, 0, random.below(256));
    }
  }
  return withoutNewlines(Uint8Array.from(bytes, (byte) => byte ?? 0));
}

/** A value replaced by another. */
function grafted(line: Uint8Array, random: Random): Uint8Array {
  const text = new TextDecoder().decode(line);
  const values = [
    ...text.matchAll(/(?<=:)("[^"]*"|\d+|null|\{\}|\[[^\]]*\])/g),
  ];
  if (values.length === 0) return line;
  const value = random.pick(values);
  return withoutNewlines(encoder.encode(
    text.slice(0, value.index) + random.pick(FRAGMENTS) +
      text.slice(value.index + value[0].length),
  ));
}

function withoutNewlines(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => byte === 10 ? 32 : byte);
}
