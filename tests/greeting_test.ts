import { assertEquals } from "@std/assert";
import { parseCommandLine } from "../lib/command_line.ts";
import { greet, plainFlags } from "../lib/greeting.ts";
import type { Platform } from "../lib/platform.ts";
import { buildProgram } from "../lib/program.ts";
import { SETTINGS } from "../lib/settings.ts";
import { Input } from "../lib/system.ts";

const bare: Platform = {
  os: "linux",
  env: () => undefined,
  home: "/home/nobody-here",
  temp: "/tmp",
  cwd: "/",
  execPath: undefined,
  uid: 1000,
};

const { root } = buildProgram({
  platform: bare,
  launch: { command: "rousseau", args: [] },
  writeLog: () => Promise.resolve(),
});

const HELLO =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}\n';

/** What was written, and whether that was a greeting. */
async function greeted(
  first: string | Uint8Array | Promise<Uint8Array>,
  { args = ["mcp"], platform = bare } = {},
): Promise<[boolean, string]> {
  let written = "";
  const answered = await greet(args, {
    platform,
    first: () =>
      Promise.resolve(
        typeof first === "string" ? new TextEncoder().encode(first) : first,
      ),
    write: (bytes) => void (written += new TextDecoder().decode(bytes)),
  });
  return [answered, written];
}

Deno.test("plainFlags gives what the parser gives, for each of the root's options", async () => {
  const lines: string[][] = [
    ["mcp"],
    ["mcp", "--config", "x.yaml", "--no-record"],
    ["mcp", "--config=a=b", "--no-record", "--config", "c"],
    ["mcp", "--root=/a=b\nc", "--tools=bash"],
  ];
  for (const { option, kind } of SETTINGS) {
    if (option === undefined) continue;
    const flag = `--${option.replaceAll("_", "-")}`;
    const [one, two] = kind.of === "choice" ? kind.choices : ["/a b,c", "ü"];
    lines.push(
      kind.of === "switch" ? ["mcp", flag] : ["mcp", flag, one!],
      ["mcp", flag, one!, flag, two!],
      ["mcp", "--root", "/r", flag, one!, "--root", "~/s"],
    );
  }
  let taken = 0;
  for (const line of lines) {
    const flags = plainFlags(line);
    if (flags === undefined) continue;
    taken++;
    assertEquals(
      flags,
      (await parseCommandLine(root, line)).globals,
      `${line}`,
    );
  }
  assertEquals(taken > lines.length / 2, true);
});

Deno.test("plainFlags leaves every other line to the parser", () => {
  for (
    const line of [
      [],
      ["read", "x"],
      ["--root", "/x", "mcp"],
      ["mcp", "read"],
      ["mcp", "--root"],
      ["mcp", "--root", ""],
      ["mcp", "--root", "--mode"],
      ["mcp", "--root="],
      ["mcp", "--root=-x"],
      ["mcp", "--no_record"],
      ["mcp", "--allow-net=true"],
      ["mcp", "--undefined", "x"],
      ["mcp", "--drain", "5"],
      ["mcp", "--no-allow-net"],
      ["mcp", "--allow-net", "true"],
      ["mcp", "--help"],
      ["mcp", "--", "read"],
      ["mcp", "--__proto__", "x"],
      ["mcp", "--constructor", "x"],
    ]
  ) {
    assertEquals(plainFlags(line), undefined, line.join(" "));
  }
});

Deno.test("greet answers an ordinary initialize, whatever follows it", async () => {
  const [answered, line] = await greeted(`${HELLO}{"half`);
  assertEquals(answered, true);
  const { jsonrpc, id, result } = JSON.parse(line);
  assertEquals([jsonrpc, id, result.protocolVersion], ["2.0", 1, "2025-06-18"]);
  assertEquals(line.indexOf("\n"), line.length - 1);
});

Deno.test("greet writes nothing where the first line is anything but an ordinary initialize", async () => {
  const request = (change: Record<string, unknown>) =>
    `${JSON.stringify({ ...JSON.parse(HELLO), ...change })}\n`;
  for (
    const first of [
      "",
      HELLO.trimEnd(),
      `\n${HELLO}`,
      `\ufeff${HELLO}`,
      `[${HELLO.trimEnd()}]\n`,
      "null\n",
      "not JSON\n",
      "Content-Length: 88\r\n\r\n",
      request({ id: null }),
      request({ id: 1.5 }),
      request({ id: undefined }),
      HELLO.replace(":1,", ":9007199254740993,"),
      request({ jsonrpc: "1.0" }),
      request({ method: "ping" }),
      request({ params: {} }),
      request({ params: null }),
      request({ params: { protocolVersion: 1 } }),
      request({ params: { protocolVersion: "2025-06-18", _meta: {} } }),
      new Uint8Array([...new TextEncoder().encode(HELLO), 10]).fill(0xff, 3, 4),
    ]
  ) {
    assertEquals(await greeted(first), [false, ""], `${first}`);
  }
  const closed = Promise.reject(new Error("closed"));
  assertEquals(await greeted(closed), [false, ""]);
});

Deno.test("greet leaves a mistake in the settings to the program, before anything was said", async () => {
  const { promise: never } = Promise.withResolvers<Uint8Array>();
  for (
    const args of [
      ["mcp", "--mode", "wide"],
      ["mcp", "--root", "/nowhere/at/all"],
      ["mcp", "--tools", "raed"],
    ]
  ) {
    assertEquals(await greeted(never, { args }), [false, ""], args.join(" "));
  }
});

Deno.test("greet is no greeting where the output is closed", async () => {
  const answered = await greet(["mcp"], {
    platform: bare,
    first: () => Promise.resolve(new TextEncoder().encode(HELLO)),
    write() {
      throw new Deno.errors.BrokenPipe("closed");
    },
  });
  assertEquals(answered, false);
});

/** A source of `chunks`, as standard input is one. */
function source(...chunks: string[]) {
  const bytes = chunks.map((chunk) => new TextEncoder().encode(chunk));
  return {
    read(buffer: Uint8Array): Promise<number | null> {
      const chunk = bytes.shift();
      if (chunk) buffer.set(chunk);
      return Promise.resolve(chunk?.length ?? null);
    },
    get readable(): ReadableStream<Uint8Array> {
      return ReadableStream.from(bytes.splice(0));
    },
    isTerminal: () => false,
  };
}

Deno.test("Input.readable gives everything, the first bytes looked at or not", async () => {
  const text = (input: Input) => new Response(input.readable).text();
  assertEquals(await text(new Input(source("a", "b", "c"))), "abc");
  const looked = new Input(source("a", "b", "c"));
  const first = await looked.first();
  assertEquals(new TextDecoder().decode(first), "a");
  assertEquals(await looked.first(), first);
  assertEquals(looked.readable, looked.readable);
  assertEquals(await text(looked), "abc");
  const ended = new Input(source());
  assertEquals((await ended.first()).length, 0);
  assertEquals(await text(ended), "");
});

Deno.test("Input.readable can be cancelled while the first bytes are waited for", async () => {
  const input = new Input({
    ...source(),
    read: () => Promise.withResolvers<null>().promise,
  });
  input.first();
  const reader = input.readable.getReader();
  const read = reader.read();
  await reader.cancel();
  assertEquals((await read).done, true);
});
