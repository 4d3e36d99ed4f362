/**
 * What people read, as a whole: the help of every command and its usage errors. A change shows as a difference in
 * review. `UPDATE=1 deno test …` writes it anew.
 */
import { assertEquals } from "@std/assert";
import { run } from "../lib/cli.ts";
import type { Platform } from "../lib/platform.ts";
import { buildProgram } from "../lib/program.ts";
import { loadTree, walkCommands } from "../lib/tree.ts";

const SNAPSHOT = new URL("snapshots/help.txt", import.meta.url);

const platform: Platform = {
  os: "linux",
  env: () => undefined,
  home: undefined,
  temp: "/tmp",
  cwd: "/",
  execPath: "/opt/rousseau",
  uid: 1000,
};

async function printed(args: string[]): Promise<string> {
  let text = "";
  const write = (bytes: Uint8Array) =>
    void (text += new TextDecoder().decode(bytes));
  const { root, options } = buildProgram({
    platform,
    launch: { command: "/opt/rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const code = await run(root, args, {
    stdin: new Blob([]).stream(),
    stdinIsTerminal: true,
    stdout: new WritableStream({ write }),
    stderr: new WritableStream({ write }).getWriter(),
  }, options);
  return `$ rousseau ${args.join(" ")}\n${text}${
    code === 0 ? "" : `exit code ${code}\n`
  }`;
}

async function everything(): Promise<string> {
  const { root } = buildProgram({
    platform,
    launch: { command: "/opt/rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const parts: string[] = [];
  for (const { path, command } of walkCommands(await loadTree(root))) {
    const words = path.slice(1).map(({ name }) => name);
    parts.push(await printed([...words, "--help"]));
    parts.push(await printed([...words, "--no-such-option"]));
    if (command.input?.required?.length) parts.push(await printed(words));
  }
  return parts.join("\n");
}

Deno.test("help and usage errors of every command are as they were reviewed", async () => {
  const now = await everything();
  if (Deno.env.get("UPDATE")) await Deno.writeTextFile(SNAPSHOT, now);
  assertEquals(now, await Deno.readTextFile(SNAPSHOT));
});
