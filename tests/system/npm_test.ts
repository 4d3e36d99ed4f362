/** The npm package, packed and installed, on Node. */
import { checkExamples, readmeExamples } from "../readme_examples.ts";
import { need } from "./programs.ts";
import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url).pathname;

async function succeed(program: string, args: string[], cwd: string) {
  const { success, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, `${program}: ${new TextDecoder().decode(stderr)}`);
}

Deno.test("the README's examples run on Node as printed, after the packed tarball is installed in an empty folder", async () => {
  await need("node", "npm");
  const folder = await Deno.makeTempDir();
  try {
    await succeed(Deno.execPath(), ["task", "npm"], ROOT);
    const { version } = JSON.parse(
      await Deno.readTextFile(`${ROOT}deno.json`),
    );
    const tarball = `${ROOT}dist/rousseau-${version}.tgz`;
    await succeed(
      "npm",
      ["install", "--offline", "--no-audit", "--no-fund", tarball],
      folder,
    );
    for (const [name, code] of await readmeExamples()) {
      await Deno.writeTextFile(`${folder}/${name}`, code);
    }
    await checkExamples(folder, ["node"]);
    const installed = `${folder}/node_modules/rousseau`;
    for await (const { name } of Deno.readDir(installed)) {
      if (!name.endsWith(".js")) continue;
      const code = await Deno.readTextFile(`${installed}/${name}`);
      assertEquals(code.match(/\bDeno\.(?!errors)\w+/g), null, name);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
