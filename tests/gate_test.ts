import { assertEquals } from "@std/assert";
import { initializeFirst, MAX_FIRST_LINE_BYTES } from "../lib/gate.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** What comes through, in order, with `|` where the server was completed. */
async function through(chunks: string[]): Promise<string> {
  let seen = "";
  const gated = initializeFirst(
    ReadableStream.from(chunks.map(encode)),
    () => {
      seen += "|";
      return Promise.resolve();
    },
  );
  for await (const chunk of gated) seen += new TextDecoder().decode(chunk);
  return seen;
}

Deno.test("initializeFirst lets initialize pass and holds the rest until the server is complete", async () => {
  const first = '{"method":"initialize"}\n';
  const cases: [string[], string][] = [
    [[first, "a\n", "b\n"], `${first}|a\nb\n`],
    [[`${first}a\nb`, "c\n"], `${first}|a\nbc\n`],
    [['{"method":', '"initialize"}', "\na"], `${first}|a`],
    [["a\n", first], `|a\n${first}`],
    [["a"], "|a"],
    [['{"method":"initialize"}'], '|{"method":"initialize"}'],
    [[first], `${first}|`],
    [[], "|"],
  ];
  for (const [chunks, seen] of cases) {
    assertEquals(await through(chunks), seen);
  }
});

Deno.test("initializeFirst does not hold more than its limit for the end of the first line", async () => {
  const long = "x".repeat(MAX_FIRST_LINE_BYTES);
  assertEquals(await through([long, "y\n"]), `|${long}y\n`);
  const line = `{"method":"initialize"${
    " ".repeat(MAX_FIRST_LINE_BYTES - 24)
  }}\n`;
  assertEquals(line.length, MAX_FIRST_LINE_BYTES);
  assertEquals(await through([line, "a"]), `${line}|a`);
});

Deno.test("initializeFirst passes on what fails and what is cancelled", async () => {
  const failing = initializeFirst(
    new ReadableStream({
      start: (controller) => controller.error(new Error("gone")),
    }),
    () => Promise.resolve(),
  );
  const error = await failing.getReader().read().catch((e: Error) => e.message);
  assertEquals(error, "gone");
  let cancelled: unknown;
  const open = initializeFirst(
    new ReadableStream({ cancel: (reason) => void (cancelled = reason) }),
    () => Promise.resolve(),
  );
  await open.cancel("enough");
  assertEquals(cancelled, "enough");
});
