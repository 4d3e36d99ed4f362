import { assertEquals } from "@std/assert";
import type { AnyCommand } from "../lib/command.ts";
import { run } from "../lib/cli.ts";
import { BAR_COLUMNS, progressLine } from "../lib/progress_line.ts";

Deno.test("how far a command is is a bar where the whole is known", () => {
  assertEquals(progressLine(3, undefined, undefined), "3");
  assertEquals(progressLine(3, 0, "lines"), "lines  3");
  for (
    const [value, full, part] of [
      [-1, 0, 0],
      [0, 0, 0],
      [199, 19, 99],
      [200, 20, 100],
      [500, 20, 100],
    ] as const
  ) {
    assertEquals(
      progressLine(value, 200, "Codex"),
      `Codex  ${"█".repeat(full)}${"░".repeat(BAR_COLUMNS - full)}  ${part} %`,
    );
  }
});

for (const stderrIsTerminal of [true, false]) {
  Deno.test(
    `a command's progress is shown on standard error ${
      stderrIsTerminal
        ? "until something else is printed"
        : "of a terminal only"
    }`,
    async () => {
      const tree = {
        name: "prog",
        summary: "P",
        run(_, ctx) {
          ctx.progress(1, 2, "half");
          ctx.progress(2, 2, "too soon after the first to be shown");
          ctx.warn("careful");
          return "done";
        },
      } as AnyCommand;
      const said: string[] = [];
      const write = (bytes: Uint8Array) => {
        said.push(new TextDecoder().decode(bytes));
        return Promise.resolve();
      };
      await run(tree, [], {
        stdin: new Blob([]).stream(),
        stdout: new WritableStream({ write }),
        stderr: { write },
        stderrIsTerminal,
      });
      assertEquals(said, [
        ...stderrIsTerminal ? [progressLine(1, 2, "half"), "\r\x1b[K"] : [],
        "prog: careful\n",
        "done",
        "\n",
      ]);
    },
  );
}
