import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import { FileLocks } from "../lib/file_locks.ts";

const never = new AbortController().signal;

/** Runs `test` with a state folder of its own. */
async function inFolder(
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("calls on one file take turns in the order they came", async () => {
  await inFolder(async (folder) => {
    const locks = new FileLocks(`${folder}/state`);
    const events: string[] = [];
    await Promise.all(
      ["a", "b", "c", "d"].map((name) =>
        locks.hold("/f", never, async () => {
          events.push(`+${name}`);
          await new Promise((resolve) => setTimeout(resolve, 1));
          events.push(`-${name}`);
        })
      ),
    );
    assertEquals(events, ["+a", "-a", "+b", "-b", "+c", "-c", "+d", "-d"]);
    assertEquals(locks.size, 0);
  });
});

Deno.test("calls on different files do not wait for each other", async () => {
  const locks = new FileLocks(undefined);
  const gate = Promise.withResolvers<void>();
  const slow = locks.hold("/f", never, () => gate.promise);
  assertEquals(await locks.hold("/g", never, () => 7), 7);
  gate.resolve();
  await slow;
});

Deno.test("a failure passes the turn on", async () => {
  const locks = new FileLocks(undefined);
  const failing = locks.hold("/f", never, () => {
    throw new Error("no");
  });
  const next = locks.hold("/f", never, () => "yes");
  await assertRejects(() => failing, Error, "no");
  assertEquals(await next, "yes");
});

Deno.test("an aborted call leaves the queue and keeps its order", async () => {
  const locks = new FileLocks(undefined);
  const gate = Promise.withResolvers<void>();
  const events: string[] = [];
  const first = locks.hold("/f", never, () => gate.promise);
  const controller = new AbortController();
  const second = locks.hold("/f", controller.signal, () => events.push("2"));
  const third = locks.hold("/f", never, () => events.push("3"));
  controller.abort(new Error("cancelled"));
  await assertRejects(() => second, Error, "cancelled");
  assertEquals(events, []);
  gate.resolve();
  await Promise.all([first, third]);
  assertEquals(events, ["3"]);
});

Deno.test("two processes' locks exclude each other", async () => {
  await inFolder(async (folder) => {
    // Two instances share nothing but the folder, as two processes do.
    const [one, two] = [new FileLocks(folder), new FileLocks(folder)];
    const gate = Promise.withResolvers<void>();
    const holding = Promise.withResolvers<void>();
    const events: string[] = [];
    const first = one.hold("/f", never, async () => {
      holding.resolve();
      await gate.promise;
      events.push("one");
    });
    await holding.promise;
    const second = two.hold("/f", never, () => events.push("two"));
    gate.resolve();
    await Promise.all([first, second]);
    assertEquals(events, ["one", "two"]);
  });
});

Deno.test("a file that another process holds too long is refused with a sentence", async () => {
  await inFolder(async (folder) => {
    const one = new FileLocks(folder);
    const two = new FileLocks(folder, { wait: 20 });
    const gate = Promise.withResolvers<void>();
    const holding = Promise.withResolvers<void>();
    const first = one.hold("/f", never, () => {
      holding.resolve();
      return gate.promise;
    });
    await holding.promise;
    const error = await assertRejects(
      () => two.hold("/f", never, () => {}),
      CommandError,
    );
    assertStringIncludes(error.message, "being changed by another process");
    gate.resolve();
    await first;
    // The wait that was given up ends on its own and lets go.
    await two.hold("/f", never, () => {});
  });
});

Deno.test("a state folder that cannot be made costs only the other processes' lock", async () => {
  const locks = new FileLocks("/dev/null/state");
  assertEquals(await locks.hold("/f", never, () => 1), 1);
});

Deno.test("where no lock can be had this process's calls still take turns, and any other error refuses", async () => {
  await inFolder(async (folder) => {
    const failing = (error: Error, at: "open" | "lock") =>
      new FileLocks(folder, {
        open: () =>
          at === "open" ? Promise.reject(error) : Promise.resolve({
            lock: () => Promise.reject(error),
            close() {},
          }),
      });
    const coded = (code: string) =>
      Object.assign(new Error(`Oops (os error 7)`), { code });
    for (const at of ["open", "lock"] as const) {
      for (
        const known of [
          coded("ENOLCK"),
          coded("EROFS"),
          new Deno.errors.PermissionDenied(""),
          new Deno.errors.NotSupported(""),
        ]
      ) {
        assertEquals(await failing(known, at).hold("/f", never, () => 7), 7);
      }
      let ran = false;
      const locks = failing(coded("EIO"), at);
      const error = await assertRejects(
        () => locks.hold("/f", never, () => void (ran = true)),
        CommandError,
      );
      assertEquals(
        error.message,
        "/f cannot be locked against other processes (oops); nothing was done. Try again",
      );
      assertEquals([ran, locks.size], [false, 0]);
    }
  });
});
