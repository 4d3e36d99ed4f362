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
import { KNOWN_HOSTS, type KnownHost } from "./known.ts";
import { FACTS } from "./script.ts";

/** First argument of the run inside the network of its own. */
const INSIDE = "--inside";

/** Hosts that run at the same time. */
const AT_ONCE = 3;

/** Where a host's packages are, apart for each version. */
function packagesFolder({ packages }: KnownHost): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME")}/.cache`;
  return `${cache}/rousseau-hosts/${
    packages.join(" ").replace(/[^\w.]+/g, "-")
  }`;
}

/** Installs a host's packages unless they are there; resolves to what went wrong. */
async function install(host: KnownHost): Promise<string | undefined> {
  const folder = packagesFolder(host);
  const marker = `${folder}/installed`;
  if (await Deno.stat(marker).then(() => true, () => false)) return undefined;
  await Deno.mkdir(folder, { recursive: true });
  const { success, stderr } = await new Deno.Command("npm", {
    args: [
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      ...host.packages,
    ],
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) {
    return `npm install failed: ${
      new TextDecoder().decode(stderr).trim().slice(0, 500)
    }`;
  }
  await Deno.writeTextFile(marker, "");
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

/** Runs the hosts and prints what was found; resolves to how many facts are wrong. */
async function runAll(hosts: readonly KnownHost[]): Promise<number> {
  const waiting = [...hosts];
  let wrong = 0;
  // Most of a run is waiting for a slow command.
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let host = waiting.shift(); host; host = waiting.shift()) {
      const found = await runOne(host);
      wrong += found;
    }
  }));
  return wrong;
}

async function runOne(host: KnownHost): Promise<number> {
  await using folders = await Folders.make();
  const begun = performance.now();
  const packages = `${packagesFolder(host)}/node_modules`;
  const { findings, trace } = await runHost(host, packages, folders);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  const problems = FACTS.map((fact) =>
    findings.has(fact) ? findings.get(fact) : "not reached"
  );
  const wrong = problems.filter((problem) => problem !== undefined).length;
  say([
    `${host.title}: ${seconds} s`,
    ...FACTS.map((fact, n) =>
      problems[n] === undefined
        ? `  ok    ${fact}`
        : `  WRONG ${fact}: ${problems[n]}`
    ),
    ...(wrong > 0 ? [trace.replace(/^/gm, "        ")] : []),
  ].join("\n"));
  return wrong;
}

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

function knownHost(name: string): KnownHost {
  const host = KNOWN_HOSTS[name];
  if (host) return host;
  throw new Error(
    `No such host: "${name}"; there are ${Object.keys(KNOWN_HOSTS).join(", ")}`,
  );
}

/** Installs, then runs this module again where there is no network; resolves to the exit code. */
async function main(names: readonly string[]): Promise<number> {
  const ready: string[] = [];
  for (const name of names) {
    const host = knownHost(name);
    const reason = await install(host);
    if (reason === undefined) ready.push(name);
    else say(`${host.title}: not run: ${reason}`);
  }
  const prefix = await alone();
  if (prefix.length === 0) {
    say(
      "Without a network of their own: the hosts are only told of a proxy that is not there",
    );
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
    ...ready,
  ];
  const { code } = await new Deno.Command(command, { args }).spawn().status;
  const missing = names.length - ready.length;
  say(
    `${ready.length} hosts run, ${missing} not run${
      code === 0 ? "" : ", something is wrong"
    }`,
  );
  // What was not run has not passed.
  return code === 0 && missing > 0 ? 2 : code;
}

if (import.meta.main) {
  if (Deno.args[0] === INSIDE) {
    Deno.exit(
      await runAll(Deno.args.slice(1).map(knownHost)) === 0 ? 0 : 1,
    );
  }
  Deno.exit(
    await main(Deno.args.length > 0 ? Deno.args : Object.keys(KNOWN_HOSTS)),
  );
}
