/**
 * The program: the one file that names the process's arguments, streams and exit.
 *
 * @module
 */
import { run } from "./lib/cli.ts";
import { launchOf, realPlatform } from "./lib/machine.ts";
import { buildProgram } from "./lib/program.ts";
import { systemFrom } from "./lib/system.ts";

const platform = await realPlatform();
const system = { ...systemFrom(Deno), env: platform.env };
const { root, options } = buildProgram({
  platform,
  launch: launchOf(platform, import.meta.filename ?? "main.ts"),
  writeLog: (bytes) => system.stderr.write(bytes),
});
Deno.exit(await run(root, Deno.args, system, options));
