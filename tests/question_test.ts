import { assertEquals, assertRejects } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { Printer } from "../lib/printer.ts";
import { askAtTerminal } from "../lib/question.ts";
import type { System } from "../lib/system.ts";

function asked(
  input: string,
  system: Partial<System> = {},
  schema = {},
): { answer: ReturnType<typeof askAtTerminal>; said: string[] } {
  const said: string[] = [];
  const whole = {
    stdin: new Blob([input]).stream(),
    stdinIsTerminal: true,
    stderr: {
      write: (bytes: Uint8Array) => {
        said.push(new TextDecoder().decode(bytes));
        return Promise.resolve();
      },
    },
    ...system,
  } as System;
  const question = { message: "Delete it?", schema };
  const printer = new Printer("prog", whole);
  return { answer: askAtTerminal(whole, printer, question), said };
}

Deno.test("a person at a terminal is asked, and only yes is yes", async () => {
  for (
    const [line, action] of [
      ["y\n", "accept"],
      [" YES \r\nrest", "accept"],
      ["yes", "accept"],
      ["\n", "decline"],
      ["", "decline"],
      ["n\ny\n", "decline"],
      ["yesterday\n", "decline"],
    ] as const
  ) {
    const { answer, said } = asked(line);
    assertEquals(await answer, { action }, line);
    assertEquals(said, ["Delete it? [y/N] "]);
  }
});

Deno.test("nobody is asked off a terminal, or for more than yes", async () => {
  for (
    const { answer, said } of [
      asked("y\n", { stdinIsTerminal: false }),
      asked("y\n", {}, { properties: { name: { type: "string" } } }),
    ]
  ) {
    await assertRejects(
      () => answer,
      CommandError,
      "cannot ask on the command line: say it with options",
    );
    assertEquals(said, []);
  }
});
