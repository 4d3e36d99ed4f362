import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { completionScript, SHELLS } from "../lib/completion_script.ts";
import { candidates, withBlock } from "../lib/completions.ts";
import { completeCommand, completionsCommand } from "../lib/library.ts";
import type { AnyCommand, CommandContext } from "../lib/command.ts";
import { program, shell } from "./three_ways.ts";

const BLOCK = "# >>> prog completion >>>\nS\n# <<< prog completion <<<\n";

Deno.test("withBlock adds its block at the end, and replaces only its own", () => {
  const cases: [string, string][] = [
    ["", BLOCK],
    ["a\n", `a\n${BLOCK}`],
    ["a", `a\n${BLOCK}`],
    [BLOCK, BLOCK],
    [`a\r\n${BLOCK.replace("S", "old\nlines")}b`, `a\r\n${BLOCK}b`],
    [`${BLOCK.replace("S", "old")}\n\nb\n`, `${BLOCK}\n\nb\n`],
    [
      BLOCK.replaceAll("prog", "other"),
      BLOCK.replaceAll("prog", "other") + BLOCK,
    ],
  ];
  for (const [before, after] of cases) {
    assertEquals(withBlock(before, "prog", "S\n"), after);
    assertEquals(withBlock(after, "prog", "S\n"), after);
  }
});

Deno.test("withBlock refuses marks that do not pair up", () => {
  const [begin, , end] = BLOCK.split("\n") as [string, string, string];
  for (
    const text of [
      begin,
      end,
      `${end}\n${begin}`,
      `${BLOCK}${BLOCK}`,
      `${begin}\n${BLOCK}`,
    ]
  ) {
    assertThrows(
      () => withBlock(text, "prog", "S"),
      CommandError,
      "do not pair up",
    );
  }
});

Deno.test("--install changes the file that a link leads to, keeps its mode, and is done once", async () => {
  const folder = await Deno.makeTempDir();
  const root: AnyCommand = { name: "prog", summary: "P", run: () => "" };
  const ctx = { terminal: { root } } as unknown as CommandContext;
  const install = (path: string) =>
    completionsCommand.run!({ shell: "bash", install: path } as never, ctx);
  try {
    const [file, link] = [`${folder}/dotfiles`, `${folder}/.bashrc`];
    await Deno.writeTextFile(file, "alias a=b\n", { mode: 0o600 });
    await Deno.symlink(file, link);
    await install(link);
    await install(link);
    const text = await Deno.readTextFile(file);
    assertEquals(
      text,
      `alias a=b\n# >>> prog completion >>>\n${
        completionScript("bash", "prog")
      }# <<< prog completion <<<\n`,
    );
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    assertEquals((await Deno.lstat(link)).isSymlink, true);
    await install(`${folder}/new`);
    assertEquals(
      (await Deno.readTextFile(`${folder}/new`)).split("\n")[0],
      "# >>> prog completion >>>",
    );
    await assertRejects(async () => await install(folder), CommandError);
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 3);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("every shell's script asks the program by its name", () => {
  for (const shell of SHELLS) {
    const script = completionScript(shell, "my-prog");
    assertEquals(script.includes("my-prog"), true, shell);
    assertEquals(script.includes(" complete -- "), true, shell);
    assertEquals(script.endsWith("\n"), true, shell);
  }
});

const tree: AnyCommand = {
  name: "prog",
  summary: "P",
  input: { type: "object", properties: { root: { type: "string" } } },
  commands: [{
    name: "paint",
    aliases: ["p"],
    summary: "Paint\nit",
    input: {
      type: "object",
      properties: {
        colour: { enum: ["red", "rose", "blue"] },
        tags: { type: "array", items: { enum: ["a", "b"] } },
        loud: { type: "boolean", description: "Say it" },
        secret: { type: "string" },
      },
    },
    positionals: ["colour", "tags"],
    options: { loud: { short: "l" }, secret: { hidden: true } },
    run: () => "",
  }],
};

Deno.test("a program of one's own completes by the library's commands", async () => {
  const root = program([
    ...tree.commands!,
    completionsCommand,
    completeCommand,
  ]);
  assertEquals(
    await shell(root, ["complete", "--", "paint", "--colour=r"]),
    { code: 0, out: "--colour=red\t\n--colour=rose\t\n", err: "" },
  );
  const { out } = await shell(root, ["completions", "bash"]);
  assertEquals(out, completionScript("bash", "prog"));
  assertEquals(
    (await shell(root, ["completions", "fihs"])).err,
    'prog: shell: must be one of "bash", "zsh", "fish", "powershell", got string "fihs"; did you mean "fish"?\n',
  );
  assertEquals(
    completionScript("powershell", "prog").split("\n")[0],
    "# Untested.",
  );
});

Deno.test("candidates know where they are", async () => {
  const words = async (...line: string[]) =>
    (await candidates(tree, line)).map(({ word }) => word);
  assertEquals(await words(), ["paint"]);
  assertEquals(await words("p", "r"), ["red", "rose"]);
  assertEquals(await words("paint", "red", ""), ["a", "b"]);
  assertEquals(await words("paint", "--"), ["--root", "--loud", "--help"]);
  assertEquals(await words("paint", "-l", "bl"), ["blue"]);
  assertEquals(await words("paint", "--root", "r"), []);
  assertEquals(await words("help", "pa"), ["paint"]);
  assertEquals(await words("unknown", ""), []);
});
