import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { bytesPerChar } from "../../lib/hosts.ts";
import { ANSWER_CHARS } from "../../lib/tool.ts";
import { Server } from "../harness.ts";
import { ProgramWorld, type Taken } from "../program_world.ts";

/** Bytes of an answer that no host cuts. */
const MOST = bytesPerChar("test") * ANSWER_CHARS;

function bytesOf({ text, note }: Taken): number {
  return new TextEncoder().encode(text + note).length;
}

Deno.test("answers of read, grep and bash beyond ASCII stay within the bytes that hosts pass on, and use them", async () => {
  const wide = "日本語の文字\n".repeat(20_000);
  await using world = await ProgramWorld.make({ wide, short: "é".repeat(2e4) });
  const answers = [
    await world.read({ path: "wide" }),
    await world.read({ path: "wide", line_numbers: true }),
    await world.read({ path: "short" }),
    await world.grep({ path: "wide", pattern: "本" }),
    await world.bash("cat wide"),
  ];
  for (const answer of answers) {
    assert(!answer.isError, answer.text);
    assert(bytesOf(answer) <= MOST, `${bytesOf(answer)}`);
    // The default number of rows is what ends grep's.
    const least = answer === answers[3] ? 0 : 0.8 * MOST;
    assert(bytesOf(answer) > least, `${bytesOf(answer)}`);
  }
  assertStringIncludes(answers[0]!.note, "read on with offset=");
  // Whoever says how much is wanted gets it.
  const { text } = await world.read({ path: "wide", limit: 5_000 });
  assertEquals(text, "日本語の文字\n".repeat(5_000));
});

Deno.test("a client that counts few bytes gets no more", async () => {
  await using server = await Server.start();
  await server.folders.write("wide", "日本語の文字\n".repeat(20_000));
  await server.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "copilot-cli", version: "1.0.102" },
  });
  const { content } = await server.call("read", { path: "wide" });
  const text = content.map(({ text }: { text: string }) => text).join("");
  const bytes = new TextEncoder().encode(text).length;
  assert(bytes <= ANSWER_CHARS && bytes > 0.9 * ANSWER_CHARS, `${bytes}`);
});

Deno.test("pages beyond ASCII follow each other without a gap", async () => {
  const lines = Array.from(
    { length: 6_000 },
    (_, i) => `${i} 日本語の文字 😀\n`,
  );
  await using world = await ProgramWorld.make({ wide: lines.join("") });
  let whole = "";
  for (let next: number | undefined = 0; next !== undefined;) {
    const { text, meta }: Taken = await world.read({
      path: "wide",
      byte_offset: next,
    });
    whole += text;
    next = meta.next_byte_offset as number | undefined;
  }
  assertEquals(whole, lines.join(""));
});
