import { assert, assertEquals } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import type { Mode } from "../lib/config.ts";
import { openChecked, replaceFile } from "../lib/files.ts";
import { createScope } from "../lib/scope.ts";
import type { ProcessScope } from "../lib/scope.ts";
import { fakeConfig, fakePlatform } from "./fake_files.ts";

const SECRET = "what nobody may see";

/** A disk full of ways out: `root` is the only root, `out` holds secrets. */
interface Disk {
  base: string;
  root: string;
  out: string;
  home: string;
}

async function makeDisk(): Promise<Disk> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const disk = {
    base,
    root: `${base}/root`,
    out: `${base}/out`,
    home: `${base}/home`,
  };
  const { root, out, home } = disk;
  for (
    const folder of [
      `${root}/sub/deep`,
      `${root}/.git/hooks`,
      `${out}/d`,
      `${home}/.ssh`,
      `${home}/.config/rousseau`,
      `${base}/tmp`,
      `${base}/rootx`,
    ]
  ) await Deno.mkdir(folder, { recursive: true });
  for (
    const file of [
      `${out}/s`,
      `${out}/d/s`,
      `${home}/.ssh/id`,
      `${home}/notes`,
      `${home}/.config/rousseau/config.yaml`,
      `${base}/rootx/s`,
    ]
  ) await Deno.writeTextFile(file, SECRET);
  await Deno.writeTextFile(`${root}/mine`, "mine");
  for (
    const [target, link] of [
      [`${out}/s`, "file"],
      ["../out/s", "relative"],
      [out, "folder"],
      ["../out", "sub/up"],
      ["../../out", "sub/deep/up"],
      ["file", "chain"],
      ["chain", "chain2"],
      [`${out}/new`, "dangling"],
      ["dangling", "dangling2"],
      ["folder/new", "through"],
      ["loop2", "loop1"],
      ["loop1", "loop2"],
      ["/", "slash"],
      ["/proc/self/root", "proc"],
      ["/proc/self/cwd", "cwd"],
      [home, "home"],
      ["..", "parent"],
      [".", "here"],
      ["here/../../out", "dots"],
      [`${home}/.ssh/id`, "key"],
    ] as const
  ) await Deno.symlink(target, `${root}/${link}`);
  return disk;
}

/** Attempts by hand: each tries to leave, in its own way. */
function attempts({ base, root, out, home }: Disk): string[] {
  const bare = out.slice(1);
  return [
    `${out}/s`,
    `${root}/../out/s`,
    `${root}/sub/../../out/s`,
    `${root}/./../out/./s`,
    `${root}//..//out//s`,
    `${root}/mine/../../out/s`,
    `${root}/missing/../../out/s`,
    "../out/s",
    "sub/../../out/s",
    "./../out/s",
    "....//out/s",
    "..\\out\\s",
    `${base}/rootx/s`,
    `${root}x/s`,
    "file",
    "file/",
    "./file",
    "sub/../file",
    "relative",
    "folder",
    "folder/s",
    "folder/d/s",
    "folder/d/../s",
    "folder/new",
    "folder/new/deep/file",
    "sub/up/s",
    "sub/deep/up/s",
    "sub/deep/up/../out/s",
    "chain",
    "chain2",
    "dangling",
    "dangling2",
    "dangling/x",
    "through",
    "through/x",
    "loop1",
    "loop1/x",
    `slash${out}/s`,
    `slash/${bare}/s`,
    `slash/../${bare}/s`,
    `proc${out}/s`,
    `proc/${bare}/d/s`,
    "parent/out/s",
    "parent/parent/out/s",
    "here/here/here/parent/out/s",
    "here/../../out/s",
    "dots/s",
    "dots/d/s",
    "home/notes",
    "home/.ssh/id",
    "key",
    `${home}/notes`,
    `${home}/.ssh/id`,
    `${home}/.SSH/id`,
    `${home}/.ssh/../.ssh/id`,
    `${home}/.config/rousseau/config.yaml`,
    "~/notes",
    "~/.ssh/id",
    "~/../out/s",
    "~",
    "~root",
    `/proc/self/root${out}/s`,
    `/proc/thread-self/root${out}/s`,
    `/proc/1/root${out}/s`,
    `/proc/self/cwd/../../../../../..${out}/s`,
    "/proc/self/environ",
    "/proc/self/mem",
    "/proc/self/maps",
    "/proc/self/fd/0",
    "/proc/self/fd/1",
    "/proc/1/environ",
    "/proc/self/task/../environ",
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
    "/proc/kcore",
    "/sys/kernel/security",
    "/sys/power/state",
    "/dev/mem",
    "/dev/sda",
    "/dev/fd/0",
    "/dev/stdout",
    "/dev/shm/x",
    "/etc/shadow",
    "/etc/../etc/shadow",
    "/etc/sudoers",
    "/etc/sudoers.d/x",
    "/etc/ssl/private/x",
    "/root/.ssh/id_rsa",
    "/home/anybody/.aws/credentials",
    "/home/anybody/.bash_history",
    "/home/anybody/.mozilla/firefox/x",
    "/var/run/secrets/x",
    "/run/secrets/x",
    "/mnt/x",
    "/media/x",
    "/srv/x",
    "id_rsa",
    "sub/.ssh/config",
    "sub/.netrc",
    "\0",
    `mine\0/../../out/s`,
    `${"a/".repeat(3000)}x`,
    "n".repeat(300),
    "\ud800",
    `${root}\u2215..\u2215out\u2215s`,
    `${root}/\u2025/out/s`,
    `${root}/\uff0e\uff0e/out/s`,
    `${root}/%2e%2e/out/s`,
    `file://${out}/s`,
    `${out}/s\u0000.txt`,
    `${out}/s `,
    ` ${out}/s`,
    "",
    " ",
    ".",
    "/",
    "//",
    "///",
  ];
}

/** Writing these would run something outside, later. */
const PLANTED = [
  ".git/hooks/pre-commit",
  ".git/hooks/deep/x",
  ".git/config",
  ".git/config.worktree",
  ".git/modules/m/config",
  ".git/modules/m/hooks/post-checkout",
  ".GIT/hooks/x",
  ".git",
  "sub/.git",
  "sub/.git/hooks/x",
  ".mcp.json",
  "sub/.mcp.json",
  ".cursor/mcp.json",
  ".vscode/mcp.json",
  ".rousseau.yaml",
  "~/.bashrc",
  "~/.profile",
  "~/.config/autostart/x.desktop",
  "~/.config/systemd/user/x.service",
  "~/.local/bin/git",
  "~/bin/ls",
  "~/.gitconfig",
  "/etc/profile.d/x.sh",
  "/etc/cron.d/x",
  "/etc/ld.so.preload",
  "/usr/local/bin/git",
];

async function scopeFor(disk: Disk, mode: Mode): Promise<ProcessScope> {
  const { scope } = await createScope({
    platform: fakePlatform("linux", {
      home: disk.home,
      temp: `${disk.base}/tmp`,
      cwd: disk.root,
      execPath: `${disk.root}/mine-rousseau`,
    }),
    config: fakeConfig({ mode, roots: [disk.root] }),
  });
  return scope;
}

/** What a read hands over, or undefined when it is refused. */
async function read(
  scope: ProcessScope,
  path: string,
): Promise<string | undefined> {
  try {
    const target = await scope.resolve(path, "read");
    if (!target.info?.isFile) return undefined;
    const { file } = await openChecked(target);
    const buffer = new Uint8Array(256);
    using opened = file;
    const count = await opened.read(buffer) ?? 0;
    return new TextDecoder().decode(buffer.subarray(0, count));
  } catch (error) {
    assert(error instanceof CommandError || isSystemError(error), `${error}`);
    return undefined;
  }
}

function isSystemError(error: unknown): boolean {
  return Object.values(Deno.errors).some((kind) => error instanceof kind);
}

/** Everything outside of the root and the temporary folder. */
function snapshot({ base }: Disk): string {
  const lines: string[] = [];
  const visit = (folder: string) => {
    const entries = [...Deno.readDirSync(folder)]
      .sort((a, b) => a.name < b.name ? -1 : 1);
    for (const { name, isDirectory, isFile } of entries) {
      const path = `${folder}/${name}`;
      if (path === `${base}/root` || path === `${base}/tmp`) continue;
      lines.push(isFile ? `${path} ${Deno.readTextFileSync(path)}` : path);
      if (isDirectory) visit(path);
    }
  };
  visit(base);
  return lines.join("\n");
}

Deno.test("no attempt reads what is outside, in any mode that bounds reading", async () => {
  const disk = await makeDisk();
  try {
    const all = attempts(disk);
    assert(all.length >= 110, String(all.length));
    for (const mode of ["workspace", "read-only"] as const) {
      const scope = await scopeFor(disk, mode);
      for (const path of all) {
        const text = await read(scope, path);
        assert(!text?.includes(SECRET), `${mode}: ${JSON.stringify(path)}`);
        assert(!text?.includes("root:"), `${mode}: ${JSON.stringify(path)}`);
      }
    }
  } finally {
    await Deno.remove(disk.base, { recursive: true });
  }
});

Deno.test("in mode open no attempt reads keys or what is rousseau's own", async () => {
  const disk = await makeDisk();
  try {
    const scope = await scopeFor(disk, "open");
    for (const path of attempts(disk)) {
      const text = await read(scope, path);
      if (!text?.includes(SECRET)) continue;
      const { real } = await scope.resolve(path, "read");
      assert(!/\.ssh|rousseau\/config/i.test(real), path);
    }
    assertEquals(await read(scope, `${disk.out}/s`), SECRET);
  } finally {
    await Deno.remove(disk.base, { recursive: true });
  }
});

Deno.test("no attempt writes what is outside, in any mode that bounds writing", async () => {
  const disk = await makeDisk();
  try {
    const before = snapshot(disk);
    for (const mode of ["workspace", "open", "read-only"] as const) {
      const scope = await scopeFor(disk, mode);
      for (const path of [...attempts(disk), ...PLANTED]) {
        try {
          const target = await scope.resolve(path, "write");
          // Only what the scope lets through is tried on the disk, and only below this disk.
          assert(`${target.real}/`.startsWith(`${disk.root}/`), target.real);
          await replaceFile(target, new TextEncoder().encode("x"));
        } catch (error) {
          if (!(error instanceof CommandError)) {
            assert(isSystemError(error), `${path}: ${error}`);
          }
        }
      }
    }
    assertEquals(snapshot(disk), before);
  } finally {
    await Deno.remove(disk.base, { recursive: true });
  }
});

Deno.test("what would run outside later cannot be planted", async () => {
  const disk = await makeDisk();
  try {
    const scope = await scopeFor(disk, "workspace");
    for (const path of PLANTED) {
      const found = await scope.resolve(path, "write").then(
        ({ real }) => real,
        (error) => error instanceof CommandError ? undefined : `${error}`,
      );
      assertEquals(found, undefined, path);
    }
  } finally {
    await Deno.remove(disk.base, { recursive: true });
  }
});

Deno.test("whatever path is made of a disk's names, the answer is where the system itself ends up", async () => {
  const disk = await makeDisk();
  try {
    const scope = await scopeFor(disk, "workspace");
    const names = [
      ...[...Deno.readDirSync(disk.root)].map(({ name }) => name),
      ..."sub deep up d s .. . mine new x".split(" "),
    ];
    // A linear congruence: the same paths in every run.
    let state = 20_261_130;
    const pick = (n: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % n;
    };
    let allowed = 0;
    for (let i = 0; i < 3_000; i++) {
      const parts = Array.from(
        { length: 1 + pick(5) },
        () => names[pick(names.length)]!,
      );
      const path = `${disk.root}/${parts.join("/")}`;
      let real: string;
      try {
        ({ real } = await scope.resolve(path, "read"));
      } catch (error) {
        assert(error instanceof CommandError, `${path}: ${error}`);
        continue;
      }
      allowed++;
      const inside = real === disk.root || real.startsWith(`${disk.root}/`);
      const system = !real.startsWith(disk.base);
      assert(inside || system, `${path} -> ${real}`);
      assertEquals(await Deno.realPath(real), real, path);
    }
    assert(allowed > 100, String(allowed));
  } finally {
    await Deno.remove(disk.base, { recursive: true });
  }
});
