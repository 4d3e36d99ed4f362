import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { denoFiles } from "../lib/file_operations.ts";
import type { FileOperations } from "../lib/file_operations.ts";
import {
  openChecked,
  RENAME_WAITS,
  replaceFile,
  versionOf,
} from "../lib/files.ts";
import type { Resolved } from "../lib/scope.ts";

const encoder = new TextEncoder();

/** Runs `test` in an empty folder of its own. */
async function inFolder(
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A path as the scope would have resolved it just now. */
async function target(path: string): Promise<Resolved> {
  const info = await Deno.lstat(path).catch(() => undefined);
  return { real: path, shown: path, info, notes: [] };
}

async function names(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(folder)) found.push(name);
  return found.sort();
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** The real operations with some of them replaced. */
function faulty(changes: Partial<FileOperations>): FileOperations {
  return { ...denoFiles, ...changes };
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code} (os error 1)`), { code });
}

Deno.test("replaceFile makes a file, its missing folders, and nothing else", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/a/b/new.txt`;
    assertEquals(await replaceFile(await target(path), bytes("hi\n")), []);
    assertEquals(await Deno.readTextFile(path), "hi\n");
    assertEquals(await names(`${folder}/a/b`), ["new.txt"]);
    const mask = Deno.umask();
    const mode = async (at: string) => (await Deno.stat(at)).mode! & 0o777;
    assertEquals(await mode(path), 0o644 & ~mask);
    assertEquals(await mode(`${folder}/a`), 0o755 & ~mask);
  });
});

Deno.test("E22: replaceFile keeps the mode of the file it replaces", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/run.sh`;
    await Deno.writeTextFile(path, "old");
    for (const mode of [0o755, 0o600, 0o664, 0o4755]) {
      await Deno.chmod(path, mode);
      await replaceFile(await target(path), bytes("new"));
      assertEquals((await Deno.stat(path)).mode! & 0o7777, mode);
    }
  });
});

Deno.test("replaceFile refuses a file that changed since it was read", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "one");
    const checked = await target(path);
    const expect = versionOf(checked.info!);
    await replaceFile(checked, bytes("two"), { expect });
    const error = await assertRejects(
      async () =>
        await replaceFile(await target(path), bytes("three"), { expect }),
      CommandError,
    );
    assertMatch(error.message, /changed by someone else.*nothing was written/);
    await assertRejects(
      async () =>
        await replaceFile(await target(path), bytes("x"), {
          expectBytes: bytes("one"),
        }),
      CommandError,
    );
    await assertRejects(
      async () =>
        await replaceFile(
          { ...await target(path), info: undefined },
          bytes("x"),
          { expect: null },
        ),
      CommandError,
    );
    assertEquals(await Deno.readTextFile(path), "two");
    assertEquals(await names(folder), ["f"]);
    await replaceFile(await target(path), bytes("four"), {
      expectBytes: bytes("two"),
    });
    assertEquals(await Deno.readTextFile(path), "four");
  });
});

Deno.test("replaceFile refuses a read-only file and what is not a regular one", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "old");
    await Deno.chmod(path, 0o444);
    await assertRejects(
      async () => await replaceFile(await target(path), bytes("new")),
      CommandError,
      "read-only (mode 0444)",
    );
    await Deno.mkdir(`${folder}/d`);
    await assertRejects(
      async () => await replaceFile(await target(`${folder}/d`), bytes("x")),
      CommandError,
      "it is a directory",
    );
    assertEquals(await Deno.readTextFile(path), "old");
    assertEquals(await names(folder), ["d", "f"]);
  });
});

Deno.test("replaceFile parts a hard link from its other names and says so", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a`, "old");
    await Deno.link(`${folder}/a`, `${folder}/b`);
    const notes = await replaceFile(await target(`${folder}/a`), bytes("new"));
    assertMatch(notes.join(), /2 hard links/);
    assertEquals(await Deno.readTextFile(`${folder}/a`), "new");
    assertEquals(await Deno.readTextFile(`${folder}/b`), "old");
  });
});

Deno.test("replaceFile tells which folder could not be made", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/f`, "");
    const error = await assertRejects(
      async () => await replaceFile(await target(`${folder}/f/x/y`), bytes("")),
      CommandError,
    );
    assertMatch(error.message, /^mkdir: mkdir .*: not a directory$/);
  });
});

Deno.test("P20: a short write leaves the old file and no trace", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "old");
    const files = faulty({
      open: async (at, options) => {
        const file = await Deno.open(at, options);
        if (options.createNew) {
          // Claims to have written all, as a full network folder may.
          file.write = (data) => Promise.resolve(data.byteLength);
        }
        return file;
      },
    });
    const error = await assertRejects(
      async () =>
        await replaceFile(await target(path), bytes("new"), { files }),
      CommandError,
    );
    assertMatch(error.message, /0 of 3 bytes arrived; the file is unchanged/);
    assertEquals(await Deno.readTextFile(path), "old");
    assertEquals(await names(folder), ["f"]);
  });
});

Deno.test("every failing step leaves the old file and no temporary one", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "old");
    const fail = () => Promise.reject(systemError("ENOSPC"));
    const failingFile = (method: "write" | "sync" | "stat") =>
      faulty({
        open: async (at, options) => {
          const file = await Deno.open(at, options);
          if (options.createNew) file[method] = fail;
          return file;
        },
      });
    for (
      const files of [
        failingFile("write"),
        failingFile("sync"),
        failingFile("stat"),
        faulty({ rename: fail }),
        faulty({ realPath: fail }),
        faulty({ lstat: fail }),
      ]
    ) {
      await assertRejects(async () =>
        await replaceFile(await target(path), bytes("new"), { files })
      );
      assertEquals(await Deno.readTextFile(path), "old");
      assertEquals(await names(folder), ["f"]);
    }
  });
});

Deno.test("a folder that was swapped for a link gets no content", async () => {
  await inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/in`);
    await Deno.mkdir(`${folder}/out`);
    const checked = await target(`${folder}/in/f`);
    await Deno.remove(`${folder}/in`);
    await Deno.symlink(`${folder}/out`, `${folder}/in`);
    await assertRejects(
      () => replaceFile(checked, bytes("secret")),
      CommandError,
    );
    assertEquals(await names(`${folder}/out`), []);
  });
});

Deno.test("a folder swapped while the temporary file is made gets no content", async () => {
  await inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/in`);
    await Deno.mkdir(`${folder}/out`);
    const checked = await target(`${folder}/in/f`);
    const files = faulty({
      open: async (at, options) => {
        if (options.createNew) {
          await Deno.remove(`${folder}/in`);
          await Deno.symlink(`${folder}/out`, `${folder}/in`);
        }
        return await Deno.open(at, options);
      },
    });
    const error = await assertRejects(
      () => replaceFile(checked, bytes("secret"), { files }),
      CommandError,
    );
    assertMatch(
      error.message,
      /replaced by a link.*nothing was read or written/,
    );
    assertEquals(await names(`${folder}/out`), []);
  });
});

Deno.test("P18: on Windows a file that is held open is tried again, then written in place", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/f`, "a long old content");
    // The folder as `C:\\w`: Windows' rules on this system's disk.
    const here = (path: string) => path.replace("C:\\w\\", `${folder}/`);
    const waits: number[] = [];
    let failures = 2;
    const files = faulty({
      os: "windows",
      open: (path, options) => Deno.open(here(path), options),
      lstat: (path) => Deno.lstat(here(path)),
      realPath: (path) => Promise.resolve(path),
      remove: (path) => Deno.remove(here(path)),
      wait: (time) => {
        waits.push(time);
        return Promise.resolve();
      },
      rename: (from, to) =>
        failures-- > 0
          ? Promise.reject(new Deno.errors.PermissionDenied("held"))
          : Deno.rename(here(from), here(to)),
    });
    const replace = async (text: string) =>
      await replaceFile(
        { ...await target(`${folder}/f`), real: "C:\\w\\f" },
        bytes(text),
        { files },
      );
    assertEquals(await replace("new"), []);
    assertEquals(waits, [RENAME_WAITS[0], RENAME_WAITS[1]]);
    assertEquals(await Deno.readTextFile(`${folder}/f`), "new");

    failures = 100;
    waits.length = 0;
    assertMatch((await replace("in place")).join(), /written in place/);
    assertEquals(waits, [...RENAME_WAITS]);
    assertEquals(await Deno.readTextFile(`${folder}/f`), "in place");
    assertEquals(await names(folder), ["f"]);
  });
});

Deno.test("a mounted file, which cannot be renamed over, is written in place", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "a long old content");
    const files = faulty({
      rename: () => Promise.reject(systemError("EBUSY")),
    });
    const notes = await replaceFile(await target(path), bytes("new"), {
      files,
    });
    assertMatch(notes.join(), /written in place/);
    assertEquals(await Deno.readTextFile(path), "new");
    assertEquals(await names(folder), ["f"]);
  });
});

Deno.test("when writing in place breaks off, the new content is kept and named", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "old");
    const files = faulty({
      rename: () => Promise.reject(systemError("EBUSY")),
      open: async (at, options) => {
        const file = await Deno.open(at, options);
        if (!options.createNew) {
          file.sync = () => Promise.reject(systemError("ENOSPC"));
        }
        return file;
      },
    });
    const error = await assertRejects(
      async () =>
        await replaceFile(await target(path), bytes("new"), { files }),
      CommandError,
    );
    const kept = /The new content is safe in (.*)$/.exec(error.message)?.[1];
    assert(kept !== undefined, error.message);
    assertEquals(await Deno.readTextFile(kept), "new");
  });
});

Deno.test("a name of the longest length still gets its temporary file", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/${"é".repeat(127)}`;
    await replaceFile(await target(path), bytes("x"));
    await replaceFile(await target(path), bytes("y"));
    assertEquals(await Deno.readTextFile(path), "y");
  });
});

Deno.test("openChecked opens what was checked", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "text");
    const { file, info } = await openChecked(await target(path));
    file.close();
    assertEquals(info.size, 4);
    await assertRejects(
      () =>
        openChecked({
          real: "/nope",
          shown: "/nope",
          info: undefined,
          notes: [],
        }),
      Deno.errors.NotFound,
    );
  });
});

Deno.test("openChecked refuses what is not a regular file before opening it", async () => {
  await inFolder(async (folder) => {
    await assertRejects(
      async () => await openChecked(await target(folder)),
      CommandError,
      "it is a directory",
    );
    await assertRejects(
      async () => await openChecked(await target("/dev/zero")),
      CommandError,
      "it is a character device",
    );
    const fifo = { ...await Deno.lstat("/dev/null"), isFifo: true };
    await assertRejects(
      () =>
        openChecked({
          real: `${folder}/never`,
          shown: "/fifo",
          info: { ...fifo, isCharDevice: false },
          notes: [],
        }),
      CommandError,
      "it is a FIFO",
    );
  });
});

Deno.test("openChecked follows a save by rename, and refuses a link put in the file's place", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    await Deno.writeTextFile(path, "one");
    const checked = await target(path);
    await replaceFile(checked, bytes("two"));
    const { file, info } = await openChecked(checked);
    file.close();
    assertEquals(info.ino, (await Deno.stat(path)).ino);

    await Deno.writeTextFile(`${folder}/secret`, "s");
    await Deno.remove(path);
    await Deno.symlink(`${folder}/secret`, path);
    await assertRejects(
      () => openChecked(checked),
      CommandError,
      "it is a symbolic link",
    );
  });
});

Deno.test("openChecked refuses a folder that was swapped for a link", async () => {
  await inFolder(async (folder) => {
    for (const name of ["in", "out"]) {
      await Deno.mkdir(`${folder}/${name}`);
      await Deno.writeTextFile(`${folder}/${name}/f`, name);
    }
    const checked = await target(`${folder}/in/f`);
    await Deno.rename(`${folder}/in`, `${folder}/was`);
    await Deno.symlink(`${folder}/out`, `${folder}/in`);
    await assertRejects(
      () => openChecked(checked),
      CommandError,
      "replaced by a link",
    );
  });
});

Deno.test("no swap of the last component between check and use reads what is outside", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/f`;
    const outside = `${folder}/outside`;
    await Deno.writeTextFile(outside, "secret");
    await Deno.writeTextFile(path, "mine");
    const checked = await target(path);
    // Swapped at the worst moments: right before the open, and right before the second look.
    for (const moment of ["open", "lstat"] as const) {
      const files = faulty({
        [moment]: (at: string, options: Deno.OpenOptions) => {
          // At once, so that it happens at no other moment.
          if (!Deno.lstatSync(path).isSymlink) {
            Deno.removeSync(path);
            Deno.symlinkSync(outside, path);
          }
          return moment === "open" ? Deno.open(at, options) : Deno.lstat(at);
        },
      });
      await assertRejects(() => openChecked(checked, files));
      await Deno.remove(path);
      await Deno.writeTextFile(path, "mine");
    }
  });
});
