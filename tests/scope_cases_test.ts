import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import type { Config } from "../lib/config.ts";
import { replaceFile } from "../lib/files.ts";
import { createScope } from "../lib/scope.ts";
import type { Access, ProcessScope } from "../lib/scope.ts";
import { fakeConfig, fakeFiles, fakePlatform } from "./fake_files.ts";
import type { Tree } from "./fake_files.ts";

/** A real disk: `root` is the only root, `out` lies beside it, `tmp` is the folder for temporary files. */
async function onDisk(
  test: (
    disk: { root: string; out: string; scope: ProcessScope },
  ) => Promise<void>,
  settings: Partial<Config> = {},
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const [root, out, tmp] = ["root", "out", "tmp"].map((name) =>
    `${folder}/${name}`
  ) as [string, string, string];
  try {
    for (const path of [root, out, tmp]) await Deno.mkdir(path);
    const { scope } = await createScope({
      platform: fakePlatform("linux", {
        temp: tmp,
        cwd: root,
        home: `${folder}/home`,
      }),
      config: fakeConfig({ roots: [root], ...settings }),
    });
    await test({ root, out, scope });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function refused(
  scope: ProcessScope,
  path: string,
  access: Access,
  reason: RegExp,
): Promise<void> {
  const error = await assertRejects(
    () => scope.resolve(path, access),
    CommandError,
  );
  assertMatch(error.message, reason);
}

async function windowsScope(
  given: {
    root: string;
    roots: Record<string, Tree>;
    mapped?: Record<string, string>;
  },
): Promise<ProcessScope> {
  const { scope } = await createScope({
    platform: fakePlatform("windows"),
    config: fakeConfig({ roots: [given.root] }),
    files: fakeFiles({
      os: "windows",
      ignoreCase: true,
      roots: given.roots,
      mapped: given.mapped ?? {},
    }),
  });
  return scope;
}

Deno.test("P01: a sibling folder with the same prefix is outside", async () => {
  await onDisk(async ({ root, scope }) => {
    await Deno.mkdir(`${root}2`);
    await Deno.writeTextFile(`${root}2/s.txt`, "s");
    await refused(scope, `${root}2/s.txt`, "read", /outside the workspace/);
    await refused(scope, `${root}2/new`, "write", /outside the workspace/);
  });
});

Deno.test("P02: a link inside the root to a file outside is refused", async () => {
  await onDisk(async ({ root, out, scope }) => {
    await Deno.writeTextFile(`${out}/s`, "s");
    await Deno.symlink(`${out}/s`, `${root}/l`);
    await Deno.symlink("../out/s", `${root}/relative`);
    for (const name of ["l", "relative"]) {
      await refused(scope, `${root}/${name}`, "read", /outside the workspace/);
      await refused(scope, `${root}/${name}`, "write", /outside the workspace/);
    }
  });
});

Deno.test("P03: the check is on where a path leads, not on its text", async () => {
  await onDisk(async ({ root, out, scope }) => {
    await Deno.writeTextFile(`${out}/s`, "s");
    await Deno.mkdir(`${root}/d`);
    await Deno.symlink(out, `${root}/d/e`);
    await refused(scope, `${root}/d/./e/../e/s`, "read", /outside/);
    await refused(scope, `${root}/../out/s`, "read", /outside/);
    assertEquals(
      (await scope.resolve(`${root}/../root/d`, "read")).real,
      `${root}/d`,
    );
  });
});

Deno.test("P04: a dangling link is decided at its target, and nothing is made there", async () => {
  await onDisk(async ({ root, out, scope }) => {
    await Deno.symlink(`${out}/new`, `${root}/d`);
    await Deno.symlink(`${root}/d`, `${root}/chain`);
    for (const name of ["d", "chain"]) {
      await refused(scope, `${root}/${name}`, "write", /outside.*\/out\/new/);
    }
    await Deno.symlink("inside", `${root}/ok`);
    const target = await scope.resolve(`${root}/ok`, "write");
    assertEquals(target.real, `${root}/inside`);
    await replaceFile(target, new TextEncoder().encode("x"));
    assertEquals(await Deno.readTextFile(`${root}/inside`), "x");
    assertEquals((await Deno.lstat(`${root}/ok`)).isSymlink, true);
    assertEquals([...Deno.readDirSync(out)], []);
  });
});

Deno.test("P05: writing below a linked folder is refused when it leads outside", async () => {
  await onDisk(async ({ root, out, scope }) => {
    await Deno.symlink(out, `${root}/ld`);
    await refused(scope, `${root}/ld/evil`, "write", /outside/);
    await refused(scope, `${root}/ld/new/deep/evil`, "write", /outside/);
    await Deno.symlink(`${out}/gone`, `${root}/dangling`);
    await refused(scope, `${root}/dangling/evil`, "write", /outside/);
  });
});

Deno.test("P08: the file system's root is a root when the operator says so", async () => {
  await onDisk(async ({ scope }) => {
    assertEquals(
      (await scope.resolve("/etc/hostname", "write")).real,
      "/etc/hostname",
    );
    await refused(scope, "/etc/shadow", "read", /deny list/);
  }, { roots: ["/"] });
});

Deno.test("P11: a UNC root keeps both its backslashes", async () => {
  const scope = await windowsScope({
    root: "\\\\srv\\share\\d",
    roots: { "\\\\srv\\share\\": { d: { "f.txt": "file" } } },
  });
  assertEquals(scope.roots, ["\\\\srv\\share\\d"]);
  assertEquals(
    (await scope.resolve("\\\\srv\\share\\d\\f.txt", "read")).real,
    "\\\\srv\\share\\d\\f.txt",
  );
  await refused(scope, "\\\\srv\\other\\d\\f.txt", "read", /outside/);
});

Deno.test("P12: a mapped drive and its share are one place under either spelling", async () => {
  for (const root of ["Y:\\p", "\\\\srv\\share\\p"]) {
    const scope = await windowsScope({
      root,
      roots: { "\\\\srv\\share\\": { p: { f: "file" }, q: { f: "file" } } },
      mapped: { "Y:\\": "\\\\srv\\share\\" },
    });
    for (const path of ["Y:\\p\\f", "\\\\srv\\share\\p\\f", "y:/p/F"]) {
      assertEquals(
        (await scope.resolve(path, "read")).real,
        "\\\\srv\\share\\p\\f",
        path,
      );
    }
    assertEquals(
      (await scope.resolve("Y:\\p\\new\\g", "write")).real,
      "\\\\srv\\share\\p\\new\\g",
    );
    await refused(scope, "Y:\\q\\f", "read", /outside/);
  }
});

Deno.test("P14: a bare drive letter is no root and no path", async () => {
  const roots: Record<string, Tree> = { "C:\\": { w: { f: "file" } } };
  await assertRejects(
    () => windowsScope({ root: "C:", roots }),
    CommandError,
    "is not an absolute path",
  );
  const scope = await windowsScope({ root: "C:\\w", roots });
  await refused(scope, "C:", "read", /path must be absolute, got "C:"/);
});

Deno.test("P15: a narrow no-break space in a name is found with a plain one", async () => {
  await onDisk(async ({ root, scope }) => {
    const name = "Shot at 9.52.38\u202fAM.png";
    await Deno.writeTextFile(`${root}/${name}`, "x");
    const found = await scope.resolve(`${root}/Shot at 9.52.38 AM.png`, "read");
    assertEquals(found.real, `${root}/${name}`);
    assertEquals(found.shown, `${root}/${name}`);
    assertMatch(found.notes.join(), /does not exist; taken instead/);
    // Also as a folder on the way, and for writing.
    await Deno.mkdir(`${root}/a\u00a0b`);
    assertEquals(
      (await scope.resolve(`${root}/a b/new`, "write")).real,
      `${root}/a\u00a0b/new`,
    );
  });
});

Deno.test("P16: a name is found in either Unicode composition, and two are ambiguous", async () => {
  await onDisk(async ({ root, scope }) => {
    await Deno.writeTextFile(`${root}/e\u0301.txt`, "x");
    const found = await scope.resolve(`${root}/\u00e9.txt`, "read");
    assertEquals(found.real, `${root}/e\u0301.txt`);
    await Deno.writeTextFile(`${root}/a\u00a0e\u0301`, "x");
    await Deno.writeTextFile(`${root}/a\u2009\u00e9`, "x");
    await refused(
      scope,
      `${root}/a \u00e9`,
      "read",
      /ambiguous: .*"a\\u\{A0\}e\\u\{301\}" and "a\\u\{2009\}\\u\{E9\}"|ambiguous: .*"a\\u\{2009\}\\u\{E9\}" and "a\\u\{A0\}e\\u\{301\}"/,
    );
  });
});

Deno.test("P17: a NUL in a path is refused with a sentence", async () => {
  await onDisk(async ({ root, scope }) => {
    for (const access of ["read", "write", "search"] as const) {
      await refused(scope, `${root}/a\0b`, access, /holds a NUL character/);
    }
  });
});

Deno.test("R01: a FIFO is resolved without being opened", async () => {
  await onDisk(async ({ scope }) => {
    // A character device stands for it: making a FIFO needs another program.
    const { info } = await scope.resolve("/dev/null", "read");
    assertEquals(info?.isCharDevice, true);
  });
});

Deno.test("the kernel's aliases of a path lead to the same decision", async () => {
  await onDisk(async ({ root, out, scope }) => {
    await Deno.writeTextFile(`${root}/f`, "x");
    await Deno.writeTextFile(`${out}/s`, "x");
    assertEquals(
      (await scope.resolve(`/proc/self/root${root}/f`, "read")).real,
      `${root}/f`,
    );
    await refused(scope, `/proc/self/root${out}/s`, "read", /outside/);
    await refused(scope, "/proc/self/environ", "read", /deny list/);
    await refused(scope, "/proc/self/mem", "write", /deny list/);
    await refused(scope, "/dev/fd/99", "read", /deny list|no such file/);
  });
});
