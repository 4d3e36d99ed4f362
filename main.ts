/**
 * The program: the one file that names the process's arguments, streams and exit.
 *
 * @module
 */
import { greet } from "./lib/greeting.ts";
import { launchOf, realPlatform } from "./lib/machine.ts";
import { Input, systemFrom } from "./lib/system.ts";

const { args, stdout } = Deno;
const platform = await realPlatform();
const stdin = new Input(Deno.stdin);
const greeting = stdin.isTerminal() ? undefined : greet(args, {
  platform,
  first: () => stdin.first(),
  write(bytes) {
    for (let at = 0; at < bytes.length;) {
      at += stdout.writeSync(bytes.subarray(at));
    }
  },
});
// While the greeting waits for files and for the host.
const system = systemFrom({
  stdin,
  stdout,
  stderr: Deno.stderr,
  env: { get: platform.env },
  build: Deno.build,
  consoleSize: () => Deno.consoleSize(),
  addSignalListener: (signal, handler) =>
    Deno.addSignalListener(signal, handler),
});
const stopped = new Promise<false>((resolve) => {
  system.signal?.addEventListener("abort", () => resolve(false));
});
const greeted = await Promise.race([greeting ?? false, stopped]);
const [{ run }, { buildProgram }] = await Promise.all([
  import("./lib/cli.ts"),
  import("./lib/program.ts"),
]);
const { root, options } = buildProgram({
  platform,
  launch: launchOf(platform, import.meta.filename ?? "main.ts"),
  greeted,
  writeLog: (bytes) => system.stderr.write(bytes),
});
Deno.exit(await run(root, args, system, options));
