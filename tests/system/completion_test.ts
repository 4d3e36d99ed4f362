/** Completion in real shells. */
import { assertEquals } from "@std/assert";
import { commandLine } from "../harness.ts";
import { need } from "./programs.ts";

/** A folder with `rousseau` in it and the script of a shell. */
async function withScript(
  shell: string,
  body: (folder: string, script: string) => Promise<void>,
): Promise<void> {
  await need(shell);
  const folder = await Deno.makeTempDir();
  try {
    const [program, ...args] = await commandLine([]);
    const words = [program!, ...args].map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(
      `${folder}/rousseau`,
      `#!/bin/sh\nexec ${words} "$@"\n`,
      { mode: 0o755 },
    );
    const { stdout, success } = await new Deno.Command(`${folder}/rousseau`, {
      args: ["completions", shell],
    }).output();
    assertEquals(success, true);
    const script = `${folder}/script`;
    await Deno.writeFile(script, stdout);
    await body(folder, script);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function lines(
  folder: string,
  program: string,
  args: string[],
): Promise<string[]> {
  const { stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: folder,
    env: { PATH: `${folder}:${Deno.env.get("PATH")}`, HOME: folder },
  }).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).split("\n").filter((line) =>
    line !== ""
  );
}

Deno.test("bash completes commands, options and values, those after = included", async () => {
  await withScript("bash", async (folder, script) => {
    const complete = (words: string[]) =>
      lines(folder, "bash", [
        "--norc",
        "-c",
        `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rousseau; printf '%s\\n' "\${COMPREPLY[@]}"`,
        "bash",
        script,
        ...words,
      ]);
    assertEquals(await complete(["rousseau", "doc"]), ["doctor"]);
    assertEquals(await complete(["rousseau", "config", "cl"]), [
      "claude-desktop",
      "claude-code",
    ]);
    assertEquals(await complete(["rousseau", "mcp", "--mo"]), ["--mode"]);
    assertEquals(await complete(["rousseau", "mcp", "--mode", "re"]), [
      "read-only",
    ]);
    assertEquals(await complete(["rousseau", "mcp", "--mode", "=", "re"]), [
      "read-only",
    ]);
    assertEquals(await complete(["rousseau", "mcp", "--mode", "="]), [
      "workspace",
      "open",
      "read-only",
      "full",
    ]);
    assertEquals(await complete(["rousseau", "read", "x"]), []);
  });
});

Deno.test("fish completes commands, options and values, with what they are", async () => {
  await withScript("fish", async (folder, script) => {
    const complete = (line: string) =>
      lines(folder, "fish", [
        "--no-config",
        "-c",
        `source ${script}; complete -C '${line}'`,
      ]);
    assertEquals(await complete("rousseau doc"), [
      "doctor\tCheck this installation, and say how to fix what is wrong",
    ]);
    assertEquals((await complete("rousseau config cl")).toSorted(), [
      "claude-code",
      "claude-desktop",
    ]);
    assertEquals(
      (await complete("rousseau mcp --mo"))[0]?.split("\t")[0],
      "--mode",
    );
    assertEquals(
      (await complete("rousseau mcp --mode=re"))[0],
      "--mode=read-only",
    );
  });
});

Deno.test("zsh completes commands, options and values, with what they are", async () => {
  await withScript("zsh", async (folder, script) => {
    const complete = (words: string[]) =>
      lines(folder, "zsh", [
        "-f",
        "-c",
        // What the completion system would show is printed instead.
        `compdef() { }; _describe() { print -rl -- "\${(@)found}" }; _files() { print FILES }
         script=$1; shift; source $script; words=("$@"); CURRENT=$#; _rousseau`,
        "zsh",
        script,
        ...words,
      ]);
    assertEquals(await complete(["rousseau", "doc"]), [
      "doctor:Check this installation, and say how to fix what is wrong",
    ]);
    assertEquals(await complete(["rousseau", "config", "cl"]), [
      "claude-desktop:",
      "claude-code:",
    ]);
    assertEquals(
      (await complete(["rousseau", "mcp", "--mo"]))[0]?.split(":")[0],
      "--mode",
    );
    assertEquals(await complete(["rousseau", "read", "x"]), ["FILES"]);
  });
});

Deno.test("a tab typed into an interactive shell completes the word", async () => {
  await need("python3");
  const typed = new URL("../fixtures/typed.py", import.meta.url).pathname;
  for (
    const [shell, setup, ...command] of [
      ["bash", "source ./script", "bash", "--norc", "-i"],
      [
        "zsh",
        "autoload -Uz compinit; compinit -u -D; source ./script",
        "zsh",
        "-f",
        "-i",
      ],
      ["fish", "source ./script", "fish", "--no-config", "-i"],
    ] as const
  ) {
    await withScript(shell, async (folder) => {
      const { success, stderr } = await new Deno.Command("python3", {
        args: [typed, setup, "rousseau doc", "rousseau doctor", ...command],
        cwd: folder,
        env: {
          PATH: `${folder}:${Deno.env.get("PATH")}`,
          HOME: folder,
          TERM: "dumb",
        },
      }).output();
      assertEquals([shell, new TextDecoder().decode(stderr), success], [
        shell,
        "",
        true,
      ]);
    });
  }
});
