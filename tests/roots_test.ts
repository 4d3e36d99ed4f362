import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CommandError } from "../lib/command.ts";
import type { Platform } from "../lib/platform.ts";
import { narrow } from "../lib/paths.ts";
import { findRoots } from "../lib/roots.ts";
import { fakeFiles, fakePlatform } from "./fake_files.ts";
import type { Tree } from "./fake_files.ts";

const linux: Record<string, Tree> = {
  "/": {
    w: { a: { sub: {} }, b: {}, f: "file", l: { link: "/w/a" } },
    home: { ann: { p: {} } },
    tmp: { x: {} },
    usr: {},
  },
};

function ladder(
  given: {
    named?: string[];
    variables?: Record<string, string>;
    cwd?: string;
    clientRoots?: string[];
    os?: Platform["os"];
    roots?: Record<string, Tree>;
  },
) {
  const os = given.os ?? "linux";
  return findRoots({
    platform: fakePlatform(os, {
      ...(given.cwd === undefined ? {} : { cwd: given.cwd }),
      variables: given.variables ?? {},
    }),
    files: fakeFiles({ os, roots: given.roots ?? linux }),
    named: given.named ?? [],
    clientRoots: given.clientRoots,
  });
}

Deno.test("what the operator names comes before everything else", async () => {
  const found = await ladder({
    named: ["/w/a"],
    variables: { ROUSSEAU_ROOT: "/w/b" },
    cwd: "/w",
  });
  assertEquals(found, { roots: ["/w/a"], origin: "--root", warnings: [] });
});

Deno.test("the ladder goes from the environment over the task's folder to the working directory", async () => {
  const variables = {
    ROUSSEAU_ROOT: "/w/b",
    CLAUDE_PROJECT_DIR: "/w/a",
    INIT_CWD: "/tmp/x",
  };
  assertEquals(await ladder({ variables }), {
    roots: ["/w/b"],
    origin: "ROUSSEAU_ROOT",
    warnings: [],
  });
  const { ROUSSEAU_ROOT: _, ...hosts } = variables;
  assertEquals(
    (await ladder({ variables: hosts })).origin,
    "CLAUDE_PROJECT_DIR",
  );
  assertEquals(
    (await ladder({ variables: { INIT_CWD: "/tmp/x" }, cwd: "/w/a" })).roots,
    ["/tmp/x"],
  );
  assertEquals(await ladder({ cwd: "/w/a" }), {
    roots: ["/w/a"],
    origin: "the working directory",
    warnings: [],
  });
});

Deno.test("an unfit working directory is passed over and named", async () => {
  for (const cwd of ["/", "/home/ann", "/tmp", "/usr"]) {
    const { roots, origin, warnings } = await ladder({ cwd });
    assertEquals([roots, origin], [[], undefined], cwd);
    assertStringIncludes(warnings.join(), "the working directory");
  }
  const system32 = await ladder({
    os: "windows",
    cwd: "C:\\WINDOWS\\system32",
    roots: { "C:\\": { WINDOWS: { system32: {} } } },
  });
  assertEquals(system32.roots, []);
});

Deno.test("a host's variable that names a home or nothing is passed over", async () => {
  const { roots, warnings } = await ladder({
    variables: { CLAUDE_PROJECT_DIR: "/home/ann", INIT_CWD: "/gone" },
    cwd: "/w/a",
  });
  assertEquals(roots, ["/w/a"]);
  assertEquals(warnings, [
    "CLAUDE_PROJECT_DIR (/home/ann) is not taken as a root: it is a home folder",
    "INIT_CWD (/gone) is not taken as a root: it does not exist",
  ]);
});

Deno.test("a link to a home is as unfit as the home", async () => {
  const { roots } = await ladder({
    cwd: "/w/h",
    roots: {
      "/": { w: { h: { link: "/home/ann" } }, home: { ann: {} } },
    },
  });
  assertEquals(roots, []);
});

Deno.test("P08: a root that the operator names is taken however wide it is", async () => {
  assertEquals((await ladder({ named: ["/"] })).roots, ["/"]);
  assertEquals((await ladder({ named: ["/home/ann"] })).roots, ["/home/ann"]);
});

Deno.test("a placeholder that the host did not fill in is an error that says so", async () => {
  const error = await assertRejects(
    () => ladder({ named: ["${workspaceFolder}"] }),
    CommandError,
  );
  assertStringIncludes(
    error.message,
    "the host did not fill in ${workspaceFolder}",
  );
  await assertRejects(
    () => ladder({ variables: { ROUSSEAU_ROOT: "${HOME}/x" } }),
    CommandError,
    "${HOME}",
  );
});

Deno.test("one of several roots missing is a warning, all of them an error", async () => {
  const { roots, warnings } = await ladder({
    named: ["/gone", "/w/a", "/w/f"],
  });
  assertEquals(roots, ["/w/a"]);
  assertEquals(warnings, [
    'root "/gone" does not exist',
    'root "/w/f" is not a folder',
  ]);
  await assertRejects(
    () => ladder({ named: ["/gone"] }),
    CommandError,
    'root "/gone" does not exist. Make the folder',
  );
});

Deno.test("roots are real paths without doubles; relative ones start at the working directory", async () => {
  const { roots } = await ladder({
    named: ["/w/l", "/w/a", "a/sub", "~/p", "file:///w/b"],
    cwd: "/w",
  });
  assertEquals(roots, ["/w/a", "/w/a/sub", "/home/ann/p", "/w/b"]);
});

Deno.test("P09: client roots narrow the operator's and never widen them", async () => {
  const narrowed = await ladder({
    named: ["/w/a", "/w/b"],
    clientRoots: ["file:///w/a/sub", "/home/ann/p", "file:///gone"],
  });
  assertEquals(narrowed.roots, ["/w/a/sub"]);
  const wider = await ladder({ named: ["/w/a"], clientRoots: ["/w"] });
  assertEquals(wider.roots, ["/w/a"]);
  const apart = await ladder({ named: ["/w/a"], clientRoots: ["/w/b"] });
  assertEquals(apart.roots, ["/w/a"]);
  assertStringIncludes(apart.warnings.join(), "stay in force");
  assertEquals(
    (await ladder({ named: ["/w/a"], clientRoots: [] })).warnings,
    [],
  );
});

Deno.test("the client's roots stand in where there are no others, unless unfit", async () => {
  const found = await ladder({
    cwd: "/",
    clientRoots: ["file:///w/b", "file:///home/ann", "file:///"],
  });
  assertEquals(found.roots, ["/w/b"]);
  assertEquals(found.origin, "the client's roots");
});

Deno.test("narrow keeps the inner folder of each pair", () => {
  assertEquals(narrow("linux", ["/a", "/b"], ["/a/x", "/", "/c"]), [
    "/a/x",
    "/a",
    "/b",
  ]);
  assertEquals(narrow("linux", ["/a"], ["/ab"]), []);
  assertEquals(narrow("windows", ["C:\\A"], ["c:\\a\\x"]), ["c:\\a\\x"]);
});
