/** The library's examples in the README, on Deno. */
import { assert, assertEquals } from "@std/assert";
import { checkExamples, readmeExamples } from "./readme_examples.ts";

const CONFIG = new URL("../deno.json", import.meta.url).pathname;

Deno.test("the README's examples have fewer than 25 lines each", async () => {
  for (const [name, code] of await readmeExamples()) {
    const lines = code.trimEnd().split("\n").length;
    assert(lines < 25, `${name} has ${lines} lines`);
  }
});

Deno.test("the README's examples run on Deno as printed, in an empty folder, by this project's import map", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, code] of await readmeExamples()) {
      await Deno.writeTextFile(`${folder}/${name}`, code);
    }
    await checkExamples(folder, [
      Deno.execPath(),
      "run",
      "--no-prompt",
      "--config",
      CONFIG,
      "--allow-read",
      "--allow-env",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  assertEquals((await readmeExamples()).size, 2);
});
