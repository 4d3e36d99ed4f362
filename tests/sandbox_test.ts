import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { isolationArgs, worldArgs } from "../lib/bubblewrap.ts";
import { CommandError } from "../lib/command.ts";
import type { Found } from "../lib/disk_view.ts";
import type { Mode } from "../lib/config.ts";
import { Sandbox } from "../lib/sandbox.ts";
import { sandboxFault } from "../lib/sandbox_fault.ts";
import { planSandbox, socketFolders } from "../lib/sandbox_plan.ts";
import type { SandboxPlan } from "../lib/sandbox_plan.ts";
import { createScope } from "../lib/scope.ts";
import { seatbeltProfile } from "../lib/seatbelt.ts";
import { fakeConfig, fakeFiles, fakePlatform } from "./fake_files.ts";

/** A machine's paths that exist, as the plan's look sees them. */
const DISK: Record<string, Found> = {
  "/usr": "folder",
  "/tmp": "folder",
  "/var/tmp": "folder",
  "/bin": { link: "usr/bin" },
  "/etc": "folder",
  "/etc/shadow": "file",
  "/etc/ssl/private": "folder",
  "/home/ann/.ssh": "folder",
  "/home/ann/.bashrc": "file",
  "/home/ann/.gitconfig": "file",
  "/home/ann/.cargo/registry": "folder",
  "/home/ann/.cargo/credentials": "file",
  "/home/bob/.aws": "folder",
  "/w/a": "folder",
  "/w/a/.mcp.json": "file",
  "/w/a/id_rsa": "file",
  "/w/a/.git/hooks": "folder",
  "/run": "folder",
  "/run/user/1000": "folder",
};

async function planOf(
  mode: Mode = "workspace",
  given: { roots?: string[]; writable?: string[]; path?: string[] } = {},
): Promise<SandboxPlan> {
  const platform = fakePlatform("linux", {
    variables: { XDG_RUNTIME_DIR: "/run/user/1000" },
  });
  const { scope } = await createScope({
    platform,
    config: fakeConfig({ mode, roots: given.roots ?? ["/w/a"] }),
    files: fakeFiles({
      os: "linux",
      roots: { "/": { w: { a: {} }, home: { ann: {} } } },
    }),
  });
  return await planSandbox({
    platform,
    scope,
    disk: {
      look: (path) => Promise.resolve(DISK[path]),
      list: (folder) =>
        Promise.resolve(folder === "/home" ? ["ann", "bob"] : []),
    },
    writable: given.writable ?? [],
    temp: "/private/t",
    caches: "/private/c",
    path: given.path ?? [],
  });
}

/** Whether the words stand in this order, side by side. */
function has(args: readonly string[], ...words: string[]): boolean {
  return args.some((_, i) => words.every((word, j) => args[i + j] === word));
}

Deno.test("a command in mode workspace sees what the scope lists, and writes the roots", async () => {
  const plan = await planOf();
  assertEquals(plan.world, "listed");
  for (
    const path of [
      "/usr",
      "/etc",
      "/home/ann/.gitconfig",
      "/home/ann/.cargo/registry",
    ]
  ) {
    assert(plan.readable.includes(path), path);
  }
  assertEquals(plan.links, [{ path: "/bin", target: "usr/bin" }]);
  assertEquals(plan.writable, ["/w/a", "/private/c"]);
  assertEquals(plan.readable.includes("/proc"), false);
});

Deno.test("closed places that are shown are masked, others need no mask", async () => {
  const { hidden, frozen } = await planOf();
  assertEquals(hidden, [
    { path: "/etc/shadow", folder: false },
    { path: "/etc/ssl/private", folder: true },
    { path: "/w/a/id_rsa", folder: false },
  ]);
  assertEquals(frozen, ["/w/a/.mcp.json"]);
});

Deno.test("in a home that is a root, keys are masked and start-up files are frozen", async () => {
  const { hidden, frozen } = await planOf("workspace", {
    roots: ["/home/ann"],
  });
  const paths = hidden.map(({ path }) => path);
  assert(paths.includes("/home/ann/.ssh"));
  assert(paths.includes("/home/ann/.cargo/credentials"));
  assert(frozen.includes("/home/ann/.bashrc"));
});

Deno.test("in mode open the whole world is shown, every home's keys are masked", async () => {
  const plan = await planOf("open");
  assertEquals(plan.world, "whole");
  const paths = plan.hidden.map(({ path }) => path);
  for (const path of ["/home/ann/.ssh", "/home/bob/.aws", "/etc/shadow"]) {
    assert(paths.includes(path), path);
  }
  assertEquals(plan.sockets, ["/run"]);
});

Deno.test("in mode read-only the roots are shown and not written", async () => {
  const plan = await planOf("read-only");
  assert(plan.readable.includes("/w/a"));
  assertEquals(plan.writable, ["/private/c"]);
});

Deno.test("the system's folder for temporary files never lies on top of the sandbox's own", async () => {
  for (const roots of [[], ["/w/a"]]) {
    for (const mode of ["workspace", "read-only"] as const) {
      const { readable } = await planOf(mode, { roots });
      assertEquals(readable.filter((path) => /^(\/var)?\/tmp$/.test(path)), []);
    }
  }
});

Deno.test("the PATH shows folders, but never a home for the sake of one", async () => {
  DISK["/srv/tools"] = "folder";
  DISK["/home"] = "folder";
  const { readable } = await planOf("workspace", {
    path: ["/srv/tools", "/home", "/home/ann", "relative"],
  });
  assert(readable.includes("/srv/tools"));
  assertEquals(readable.includes("/home"), false);
  assertEquals(readable.includes("/home/ann"), false);
});

Deno.test("bubblewrap is told to isolate everything, and never less", () => {
  const args = isolationArgs({ userNamespace: true, network: "none" });
  for (
    const word of [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-net",
      "--die-with-parent",
      "--new-session",
    ]
  ) {
    assert(args.includes(word), word);
  }
  const asRoot = isolationArgs({ userNamespace: false, network: "shared" });
  assert(has(asRoot, "--cap-drop", "ALL"));
  assertEquals(asRoot.includes("--unshare-net"), false);
});

Deno.test("bubblewrap's mounts lie in order: the world, private folders, roots, masks", async () => {
  const args = worldArgs(await planOf("workspace", { roots: ["/home/ann"] }));
  assertEquals(has(args, "--ro-bind", "/", "/"), false);
  assert(has(args, "--symlink", "usr/bin", "/bin"));
  assert(has(args, "--tmpfs", "/run"));
  assert(has(args, "--bind", "/private/t", "/tmp"));
  const home = args.findIndex((_, i) =>
    args[i] === "--bind-try" && args[i + 1] === "/home/ann"
  );
  const key = args.lastIndexOf("/home/ann/.ssh");
  assert(home > 0 && key > home);
  assert(has(args, "--ro-bind", "/dev/null", "/etc/shadow"));
  assert(has(args, "--setenv", "npm_config_cache", "/private/c/npm"));
  assertEquals(args.slice(-2), ["--remount-ro", "/"]);
});

Deno.test("bubblewrap shows the whole world read-only in open and writable in full", async () => {
  assert(has(worldArgs(await planOf("open")), "--ro-bind", "/", "/"));
  assert(has(worldArgs(await planOf("full")), "--bind", "/", "/"));
});

Deno.test("folders of sockets are named by the environment, too", () => {
  const platform = fakePlatform("linux", {
    variables: {
      SSH_AUTH_SOCK: "/tmp/ssh-x/agent.1",
      DBUS_SESSION_BUS_ADDRESS: "unix:path=/var/bus/socket,guid=1",
      XDG_RUNTIME_DIR: "/run/user/1000",
    },
  });
  assertEquals(socketFolders(platform), [
    "/run",
    "/var/run",
    "/tmp/.X11-unix",
    "/run/user/1000",
    "/tmp/ssh-x",
    "/var/bus",
  ]);
});

Deno.test("X05: macOS's profile names both spellings of an aliased path", () => {
  const plan: SandboxPlan = {
    world: "listed",
    readable: ["/etc"],
    writable: ["/private/tmp/w", '/Users/ann/a "b"\\c'],
    hidden: [{ path: "/Users/ann/.ssh", folder: true }],
    frozen: ["/Users/ann/.zshrc"],
    links: [],
    home: "/Users/ann",
    temp: undefined,
    variables: {},
    sockets: [],
  };
  const profile = seatbeltProfile(fakePlatform("darwin"), plan, false);
  assertStringIncludes(
    profile,
    '(allow file-read* file-write* (subpath "/tmp/w") (subpath "/private/tmp/w") (subpath "/Users/ann/a \\"b\\"\\\\c"))',
  );
  assertStringIncludes(profile, '(subpath "/etc") (subpath "/private/etc")');
  assertMatch(profile, /^\(version 1\)\n\(deny default\)/);
  // The last rule that fits decides: what is closed comes after what is open.
  const order = [
    "(allow file-read* (subpath",
    "(allow file-read* file-write* (subpath",
    '(deny file-write* (subpath "/Users/ann/.zshrc"))',
    '(deny file-read* file-write* (subpath "/Users/ann/.ssh"))',
    "(deny network-outbound (remote unix-socket))",
  ].map((text) => profile.indexOf(text));
  assertEquals(order, order.toSorted((a, b) => a - b));
  assertEquals(order.includes(-1), false);
  assertEquals(profile.includes("(allow network*)"), false);
  assertStringIncludes(
    seatbeltProfile(fakePlatform("darwin"), plan, true),
    "(allow network*)",
  );
});

Deno.test("X01: AppArmor's refusal is told as such, with what to do", () => {
  const { reason, fix } = sandboxFault({
    errors: "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n",
    container: false,
    appArmor: true,
  });
  assertMatch(reason, /AppArmor/);
  assertMatch(fix ?? "", /kernel\.apparmor_restrict_unprivileged_userns=0/);
});

Deno.test("X02: inside a container the reason is just that", () => {
  assertEquals(
    sandboxFault({
      errors: "bwrap: Creating new namespace failed: Operation not permitted",
      container: true,
      appArmor: false,
    }),
    { reason: "container", fix: undefined },
  );
});

Deno.test("X03: a missing program is named with the package that has it", () => {
  const { reason, fix } = sandboxFault({
    errors: undefined,
    container: false,
    appArmor: false,
  });
  assertMatch(reason, /bwrap.*not installed/);
  assertMatch(fix ?? "", /apt install bubblewrap/);
});

Deno.test("other failures carry the program's own words", () => {
  const { reason } = sandboxFault({
    errors: "\nbwrap: Unknown option --perms\n",
    container: false,
    appArmor: false,
  });
  assertStringIncludes(reason, "Unknown option --perms");
  assertMatch(
    sandboxFault({
      errors: "bwrap: setting up uid map: Permission denied",
      container: false,
      appArmor: false,
    }).fix ?? "",
    /user\.max_user_namespaces/,
  );
});

Deno.test("a missing permission to start bwrap is told as such", () => {
  const { reason, fix } = sandboxFault({
    errors: 'Requires run access to "/usr/bin/bwrap", run again with …',
    container: false,
    appArmor: false,
  });
  assertMatch(reason, /may not start bwrap/);
  assertMatch(fix ?? "", /--allow-run/);
});

Deno.test("off and Windows leave commands as they are, require refuses them", async () => {
  const of = async (
    os: "linux" | "windows",
    sandbox: "auto" | "require" | "off",
  ) => {
    const platform = fakePlatform(os);
    const { scope } = await createScope({
      platform,
      config: fakeConfig(),
      files: fakeFiles({ os, roots: {} }),
    });
    return new Sandbox({
      platform,
      scope,
      settings: { mode: sandbox, allowNet: false, writable: [] },
    });
  };
  const off = await of("linux", "off");
  assertEquals((await off.state()).layer, "none");
  assertEquals(await off.wrap(["sh", "-c", "x"], { cwd: "/" }), [
    "sh",
    "-c",
    "x",
  ]);
  const windows = await of("windows", "auto");
  assertMatch((await windows.state()).reason ?? "", /Windows/);
  const required = await of("windows", "require");
  const error = await assertRejects(
    () => required.wrap(["x"], { cwd: "/" }),
    CommandError,
  );
  assertMatch(error.message, /--sandbox=require.*there is none/);
});
