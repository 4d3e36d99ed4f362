/**
 * Runs the real command-line hosts against this server with a scripted model on loopback, without a login, and asserts
 * what reaches the model.
 *
 *     deno task hosts             # all of them
 *     deno task hosts codex       # some
 *
 * The hosts are installed from npm into the user's cache, at the versions of `known.ts`, without install scripts. On
 * Linux they run in a network of their own in which there is only loopback; where that cannot be made, they are told of
 * a proxy that does not exist.
 *
 * @module
 */
import { Folders } from "../harness.ts";
import { runHost } from "./host_run.ts";
import { KNOWN_HOSTS } from "./known.ts";
import { FACTS } from "./script.ts";

/** First argument of the run inside the network of its own. */
const INSIDE = "--inside";

/** The installed packages of a host. */
function packagesFolder(name: string): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME")}/.cache`;
  return `${cache}/rousseau-hosts/${name}`;
}

/** Installs a host's packages; undefined when they are there, else why not. */
async function install(name: string): Promise<string | undefined> {
  const folder = packagesFolder(name);
  const wanted = (KNOWN_HOSTS[name]?.packages ?? []).join(" ");
  const marker = `${folder}/installed.txt`;
  if (await Deno.readTextFile(marker).catch(() => "") === wanted) {
    return undefined;
  }
  await Deno.mkdir(folder, { recursive: true });
  const { success, stderr } = await new Deno.Command("npm", {
    args: [
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      ...wanted.split(" "),
    ],
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    return `npm install failed: ${
      new TextDecoder().decode(stderr).trim().slice(-500)
    }`;
  }
  await Deno.writeTextFile(marker, wanted);
  return undefined;
}

/** Command line that runs what follows in a network with nothing but loopback, where there is one. */
async function alone(): Promise<string[]> {
  const line = [
    "unshare",
    "--map-root-user",
    "--net",
    "sh",
    "-c",
    'ip link set lo up && exec "$@"',
    "sh",
  ];
  const [command = "", ...args] = line;
  const { success } = await new Deno.Command(command, {
    args: [...args, "true"],
    stdout: "null",
    stderr: "null",
  }).output().catch(() => ({ success: false }));
  return success ? line : [];
}

/** Runs the hosts one after the other and prints what was found; resolves to whether nothing was wrong. */
async function runAll(names: readonly string[]): Promise<boolean> {
  let wrong = 0;
  let notRun = 0;
  for (const name of names) {
    const host = KNOWN_HOSTS[name];
    if (!host) throw new Error(`No such host: ${name}`);
    const packages = packagesFolder(name);
    const reason = await Deno.stat(`${packages}/installed.txt`).then(
      () => undefined,
      () => "its packages are not installed",
    );
    if (reason !== undefined) {
      notRun++;
      console.log(`${host.title}: not run: ${reason}`);
      continue;
    }
    await using folders = await Folders.make();
    const begun = performance.now();
    const run = await runHost(host, `${packages}/node_modules`, folders);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(`${host.title}: ${seconds} s`);
    let bad = 0;
    for (const fact of FACTS) {
      const problem = run.findings.has(fact)
        ? run.findings.get(fact)
        : "not reached";
      if (problem !== undefined) bad++;
      console.log(
        problem === undefined
          ? `  ok    ${fact}`
          : `  WRONG ${fact}: ${problem}`,
      );
    }
    wrong += bad;
    if (bad > 0) console.log(run.trace.replace(/^/gm, "        "));
  }
  console.log(
    `${
      names.length - notRun
    } of ${names.length} hosts run, ${notRun} not run, ${wrong} facts wrong`,
  );
  return wrong === 0;
}

if (import.meta.main) {
  const inside = Deno.args[0] === INSIDE;
  const asked = inside ? Deno.args.slice(1) : Deno.args;
  const names = asked.length > 0 ? asked : Object.keys(KNOWN_HOSTS);
  if (inside) Deno.exit(await runAll(names) ? 0 : 1);
  for (const name of names) {
    const problem = await install(name);
    if (problem !== undefined) console.log(`${name}: ${problem}`);
  }
  const prefix = await alone();
  if (prefix.length === 0) {
    console.log("No network of their own: the hosts are only told of a proxy");
  }
  const [command = "", ...args] = [
    ...prefix,
    Deno.execPath(),
    "run",
    "--config",
    new URL("../deno.json", import.meta.url).pathname,
    "--allow-all",
    new URL(import.meta.url).pathname,
    INSIDE,
    ...names,
  ];
  const { code } = await new Deno.Command(command, { args }).spawn().status;
  Deno.exit(code);
}
