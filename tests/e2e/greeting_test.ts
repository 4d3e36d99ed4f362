/** The first answer is the same, whether it is the greeting's or the whole server's. */
import { assertEquals, assertNotEquals } from "@std/assert";
import {
  Folders,
  run,
  type RunResult,
  Server,
  type StartOptions,
} from "../harness.ts";

const HELLO = `${
  JSON.stringify({
    jsonrpc: "2.0",
    id: "é",
    method: "initialize",
    params: { protocolVersion: "2025-06-18" },
  })
}\n`;

/** A blank line before it is skipped by the server, and is too much for the greeting. */
const LEFT_TO_SERVER = `\n${HELLO}`;

const CUSTOM_TOOLS = `mode: open
custom_tools:
  - name: count
    description: Count.
    argv: [wc, -l]
`;

const SIGNALS = [["SIGINT", 2, 130], ["SIGTERM", 15, 143]] as const;

interface Case extends StartOptions {
  name: string;
  args: string[];
  /** Files under the base folder. */
  files?: Record<string, string>;
}

const cases: Case[] = [
  { name: "no options", args: ["mcp"] },
  { name: "a root", args: ["mcp", "--root", "."] },
  { name: "two roots", args: ["mcp", "--root", ".", "--root", "../home"] },
  { name: "no root", args: ["mcp"], cwd: "/" },
  { name: "an unfit root", args: ["mcp"], cwd: "/usr" },
  { name: "a mode", args: ["mcp", "--root", ".", "--mode", "read-only"] },
  { name: "mode full", args: ["mcp", "--mode", "full"] },
  { name: "some tools", args: ["mcp", "--tools", "sessions,bash"] },
  { name: "no sessions", args: ["mcp", "--sessions", "none"] },
  { name: "a sandbox", args: ["mcp", "--sandbox", "require", "--allow-net"] },
  { name: "no record", args: ["mcp", "--no-record"] },
  {
    name: "a named configuration",
    args: ["mcp", "--config=../mine.yaml"],
    files: { "mine.yaml": "mode: open\n" },
  },
  {
    name: "variables",
    args: ["mcp"],
    env: { ROUSSEAU_MODE: "open", ROUSSEAU_EXCLUDE: "grep" },
  },
  {
    name: "a host's folder",
    args: ["mcp"],
    cwd: "/",
    env: { INIT_CWD: "/opt" },
  },
  {
    name: "a configuration with tools without code",
    args: ["mcp", "--root", "."],
    files: { "home/.config/rousseau/config.yaml": CUSTOM_TOOLS },
  },
  {
    name: "a project's file that tightens and one that would widen",
    args: ["mcp", "--root", "."],
    files: { "root/.rousseau.yaml": "mode: read-only\nrecord: off\n" },
  },
  {
    name: "every envelope in the log",
    args: ["mcp"],
    env: { ROUSSEAU_LOG_LEVEL: "debug" },
  },
  { name: "nothing recorded", args: ["mcp"], env: { ROUSSEAU_RECORD: "off" } },
  {
    name: "nothing but what the runtime needs",
    args: ["mcp"],
    bare: true,
    cwd: "/",
  },
];

Deno.test("the greeting and the server answer the first message alike, and each once", async () => {
  const seen = new Set<string>();
  for (const { name, files = {}, ...options } of cases) {
    await using folders = await Folders.make();
    for (const [path, text] of Object.entries(files)) {
      await folders.write(`../${path}`, text);
    }
    const greeting = await run(folders, options.args, {
      ...options,
      input: HELLO,
    });
    const server = await run(folders, options.args, {
      ...options,
      input: LEFT_TO_SERVER,
    });
    assertEquals(timeless(greeting), timeless(server), name);
    assertEquals(greeting.stdout.split("\n").length, 2, name);
    assertEquals(
      greeting.stderr.includes("rpc.sent"),
      options.env?.ROUSSEAU_LOG_LEVEL === "debug",
      name,
    );
    seen.add(greeting.stdout.replaceAll(folders.base, ""));
  }
  assertEquals(seen.size > cases.length / 2, true, "cases differ");
});

function timeless(result: RunResult): RunResult {
  return { ...result, stderr: result.stderr.replace(/^\S+Z /gm, "") };
}

Deno.test("a mistake in the settings is told before anything is answered", async () => {
  await using folders = await Folders.make();
  for (const args of [["--mode", "wide"], ["--root", "missing"]]) {
    const { code, stdout, stderr } = await run(folders, ["mcp", ...args], {
      input: HELLO,
    });
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertNotEquals(stderr, "");
  }
});

Deno.test("messages that come with the first one, or right after, are answered in order", async () => {
  await using server = await Server.start();
  await server.send(
    JSON.parse(HELLO),
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 1, method: "ping" },
  );
  await server.answer("é");
  await server.send({ jsonrpc: "2.0", id: 2, method: "tools/list" });
  await server.answer(2);
  assertEquals(server.messages.map(({ id }) => id), ["é", 1, 2]);
});

for (const [signal, number, expected] of SIGNALS) {
  Deno.test(`${signal} ends the server with ${expected} right after the first answer, and while it is waited for`, async () => {
    {
      await using server = await Server.start();
      await server.send(JSON.parse(HELLO));
      await server.answer("é");
      server.child.kill(signal);
      assertEquals((await server.exit()).code, expected);
    }
    if (Deno.build.os !== "linux") return;
    await using server = await Server.start();
    // Nothing is said by a server that waits: what it catches is all that can be seen of it.
    for (;;) {
      const status = await Deno.readTextFile(
        `/proc/${server.child.pid}/status`,
      );
      const [, caught] = /^SigCgt:\s*(\w+)$/m.exec(status)!;
      if (BigInt(`0x${caught}`) >> BigInt(number - 1) & 1n) break;
    }
    server.child.kill(signal);
    assertEquals((await server.exit()).code, expected);
    assertEquals(server.messages, []);
  });
}
