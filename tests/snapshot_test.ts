/**
 * What people read, as a whole: the help of every command, its usage errors and its completion, and the completion
 * scripts. A change shows as a difference in review. `UPDATE=1 deno test …` writes it anew.
 */
import { assertEquals } from "@std/assert";
import { run } from "../lib/cli.ts";
import { candidates } from "../lib/completions.ts";
import { completionScript, SHELLS } from "../lib/completion_script.ts";
import type { Platform } from "../lib/platform.ts";
import { buildProgram } from "../lib/program.ts";
import { loadTree, optionsOf, walkCommands } from "../lib/tree.ts";

const SNAPSHOT = new URL("snapshots/help.txt", import.meta.url);
const COMPLETION = new URL("snapshots/completion.txt", import.meta.url);

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

async function everyCompletion(): Promise<string> {
  const { root } = buildProgram({
    platform,
    launch: { command: "/opt/rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const whole = await loadTree(root);
  const above = optionsOf(whole).map(({ flag }) => `--${flag}`);
  const parts: string[] = [];
  for (const { path } of walkCommands(whole)) {
    const words = path.slice(1).map(({ name }) => name);
    for (const last of ["", "--"]) {
      const found = await candidates(root, [...words, last]);
      // The root's own are there with every command: its own lines tell them.
      const shown = found.filter(({ word }) =>
        words.length === 0 || !above.includes(word)
      );
      parts.push(
        `rousseau ${[...words, last].join(" ")}`.trimEnd(),
        ...shown.map(({ word, about }) => `    ${word}  ${about}`.trimEnd()),
      );
      // All of the root's are there, too, unless the command has one of that name.
      if (words.length > 0 && last === "--") {
        assertEquals(
          above.filter((flag) => !found.some(({ word }) => word === flag)),
          [],
        );
      }
    }
  }
  for (const shell of SHELLS) {
    parts.push(`# ${shell}`, completionScript(shell, "rousseau"));
  }
  return parts.join("\n");
}

Deno.test("completion of every command and its scripts are as they were reviewed", async () => {
  const now = await everyCompletion();
  if (Deno.env.get("UPDATE")) await Deno.writeTextFile(COMPLETION, now);
  assertEquals(now, await Deno.readTextFile(COMPLETION));
});

Deno.test("help and usage errors of every command are as they were reviewed", async () => {
  const now = await everything();
  if (Deno.env.get("UPDATE")) await Deno.writeTextFile(SNAPSHOT, now);
  assertEquals(now, await Deno.readTextFile(SNAPSHOT));
});
