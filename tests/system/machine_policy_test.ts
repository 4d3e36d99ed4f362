/** The administrator's policy at its fixed place, in a mount namespace of its own, as root and as an ordinary user. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { machinePolicyFile } from "../../lib/platform.ts";
import { commandLine, denoDirectory, Folders } from "../harness.ts";
import { need } from "./programs.ts";

const PLACE = machinePolicyFile({
  os: "linux",
  env: () => undefined,
  home: undefined,
  temp: "/tmp",
  cwd: "/",
  execPath: undefined,
  uid: 0,
}).path;

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
});

/** Puts a copy of `/etc` in its place, for `"$@"` alone, with the policy in it as `$PREPARE` makes it. */
const IN_NAMESPACE = `
set -e
cp -a /etc/. "$COPY"
mkdir -p "$COPY/rousseau"
printf %s "$POLICY" > "$COPY/rousseau/policy.yaml"
chmod 755 "$COPY" "$COPY/rousseau"
chmod 644 "$COPY/rousseau/policy.yaml"
mount --bind "$COPY" /etc
eval "$PREPARE"
exec "$@"`;

interface Given {
  policy: string;
  /** Further steps of root's. */
  prepare?: string;
  /** The user that the program runs as. */
  user?: number;
  args?: readonly string[];
  env?: Record<string, string>;
  input?: string;
}

async function runUnder(
  folders: Folders,
  { policy, prepare = "", user, args, env = {}, input = "" }: Given,
) {
  await need("unshare", "mount", "setpriv");
  const copy = `${folders.base}/etc`;
  await Deno.mkdir(copy, { recursive: true });
  if (user !== undefined) {
    for (const folder of [folders.root, folders.home, folders.state]) {
      await Deno.chown(folder, user, user);
    }
    await Deno.chmod(folders.base, 0o755);
  }
  const child = new Deno.Command("unshare", {
    args: [
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      IN_NAMESPACE,
      "sh",
      ...(user === undefined ? [] : [
        "setpriv",
        `--reuid=${user}`,
        `--regid=${user}`,
        "--clear-groups",
        "--",
      ]),
      ...await commandLine(args ?? ["mcp", "--root", folders.root]),
    ],
    cwd: folders.root,
    clearEnv: true,
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: folders.home,
      DENO_DIR: await denoDirectory(),
      ROUSSEAU_STATE_PATH: folders.database,
      COPY: copy,
      POLICY: policy,
      PREPARE: prepare,
      ...env,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input)).catch(() => {});
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

Deno.test("the policy at its place bounds flags, variables and the user's file, as root and as an ordinary user", async () => {
  // The source's files are another user's here; the executable is everybody's.
  const users = Deno.env.get("ROUSSEAU_BIN") ? [undefined, 65534] : [undefined];
  for (const user of users) {
    await using folders = await Folders.make();
    const { code, stderr } = await runUnder(folders, {
      policy: "mode: read-only\n",
      ...(user === undefined ? {} : { user }),
      args: ["write", "a.txt", "x", "--mode", "full", "--root", folders.root],
      env: { ROUSSEAU_MODE: "full", XDG_CONFIG_HOME: folders.home },
    });
    assertEquals(code, 2);
    assertStringIncludes(stderr, `mode: full became read-only`);
    assertStringIncludes(stderr, PLACE);
  }
});

Deno.test("a policy that others could have written, or that is none, leaves mcp with exit code 2, one line on standard error and nothing on standard output", async () => {
  for (
    const [policy, prepare, problem] of [
      ["mode: open\n", `chown 1000 ${PLACE}`, "belongs to user 1000"],
      ["mode: open\n", `chmod 666 ${PLACE}`, "others may write to"],
      [
        "mode: open\n",
        `chmod 777 ${PLACE.replace(/\/[^/]+$/, "")}`,
        "others may write to",
      ],
      ["mode: open\n", `ln -sf /etc/hostname ${PLACE}`, "not a plain file"],
      ["mode: wide\n", "", "must be one of"],
      ["- a\n", "", "must hold keys and values"],
    ] as const
  ) {
    await using folders = await Folders.make();
    const { code, stdout, stderr } = await runUnder(folders, {
      policy,
      prepare,
      input: `${INITIALIZE}\n`,
    });
    assertEquals([code, stdout], [2, ""], stderr);
    assertStringIncludes(stderr, problem);
    assertStringIncludes(stderr, "nothing runs without it");
    assertEquals(stderr.trim().split("\n").length, 1, stderr);
  }
});

Deno.test("an ordinary user who cannot read the policy cannot run without it", async () => {
  // Only the executable can be read by everybody.
  if (!Deno.env.get("ROUSSEAU_BIN")) return;
  for (const what of [PLACE, PLACE.replace(/\/[^/]+$/, "")]) {
    await using folders = await Folders.make();
    const { code, stdout, stderr } = await runUnder(folders, {
      policy: "mode: read-only\n",
      prepare: `chmod 700 ${what}`,
      user: 65534,
      input: `${INITIALIZE}\n`,
    });
    assertEquals([code, stdout], [2, ""], stderr);
    assert(/permission denied/i.test(stderr), stderr);
  }
});
