import { assertEquals } from "@std/assert";
import ignore from "ignore";
import {
  globalExcludes,
  IgnoreRules,
  type IgnoreWorld,
  type Verdict,
} from "../lib/ignore.ts";

/** Verdicts on paths below `/w`, in a world of the given ignore files. Folders end in `/`. */
function verdicts(
  files: Record<string, string>,
  paths: readonly string[],
  options: { root?: string; excludes?: string; windows?: boolean } = {},
): Verdict[] {
  const { root = "/w", windows = false } = options;
  const native = (path: string) =>
    windows ? `C:${path.replaceAll("/", "\\")}` : path;
  const given = new Map(
    Object.entries(files).map(([path, text]) => [native(path), text]),
  );
  const exists = (path: string) =>
    [...given.keys()].some((file) =>
      file === path || file.startsWith(path + (windows ? "\\" : "/"))
    );
  const world: IgnoreWorld = {
    read: (path) => given.get(path),
    exists,
    rules: (text) => ignore({ ignorecase: false }).add(text),
    globalExcludes: options.excludes,
    separator: windows ? "\\" : "/",
  };
  const rules = new IgnoreRules(world);
  return paths.map((path) => {
    const parts = path.slice(root.length + 1).replace(/\/$/, "").split("/");
    let folder = root;
    const enter = (level: ReturnType<typeof rules.above>) =>
      rules.enter(
        level,
        native(folder),
        (name) => exists(native(`${folder}/${name}`)),
      );
    let level = enter(rules.above(native(root)));
    for (const part of parts.slice(0, -1)) {
      folder += `/${part}`;
      level = enter(level);
    }
    return rules.verdict(
      level,
      native(path.replace(/\/$/, "")),
      path.endsWith("/"),
    );
  });
}

Deno.test("IgnoreRules honours .gitignore only within a git work tree", () => {
  const paths = ["/w/a.log", "/w/b"];
  assertEquals(verdicts({ "/w/.gitignore": "*.log" }, paths), [
    undefined,
    undefined,
  ]);
  assertEquals(
    verdicts({ "/w/.gitignore": "*.log", "/w/.git/HEAD": "" }, paths),
    ["ignored", undefined],
  );
});

Deno.test("IgnoreRules honours .ignore everywhere, above .gitignore", () => {
  assertEquals(verdicts({ "/w/.ignore": "a" }, ["/w/a"]), ["ignored"]);
  assertEquals(
    verdicts({
      "/w/.git/HEAD": "",
      "/w/.gitignore": "a\nb",
      "/w/.ignore": "!a",
    }, ["/w/a", "/w/b"]),
    ["kept", "ignored"],
  );
});

Deno.test("IgnoreRules lets the nearest file of a kind decide", () => {
  const files = {
    "/w/.git/HEAD": "",
    "/w/.gitignore": "*.log\n/top\nd/e",
    "/w/d/.gitignore": "!keep.log\n/here",
  };
  assertEquals(
    verdicts(files, [
      "/w/d/a.log",
      "/w/d/keep.log",
      "/w/top",
      "/w/d/top",
      "/w/d/here",
      "/w/d/f/here",
      "/w/d/e/",
    ]),
    [
      "ignored",
      "kept",
      "ignored",
      undefined,
      "ignored",
      undefined,
      "ignored",
    ],
  );
});

Deno.test("IgnoreRules takes files above the searched folder into account, up to the top of the work tree", () => {
  const files = {
    "/.gitignore": "a",
    "/w/.git/HEAD": "",
    "/w/.gitignore": "b",
    "/w/x/y/f": "",
    "/.ignore": "c",
  };
  assertEquals(
    verdicts(files, ["/w/x/y/a", "/w/x/y/b", "/w/x/y/c"], { root: "/w/x/y" }),
    [undefined, "ignored", "ignored"],
  );
});

Deno.test("IgnoreRules judges what is in an ignored folder by itself once the search began there", () => {
  const files = {
    "/w/.git/HEAD": "",
    "/w/.gitignore": "node_modules\n*.log\nx/y/*.tmp",
  };
  assertEquals(
    verdicts(files, [
      "/w/node_modules/p/index.js",
      "/w/node_modules/p/a.log",
    ], { root: "/w/node_modules/p" }),
    [undefined, "ignored"],
  );
});

Deno.test("IgnoreRules lets .git/info/exclude and the global excludes come last", () => {
  const files = {
    "/w/.git/info/exclude": "a\nb",
    "/w/.gitignore": "!a",
    "/w/sub/.git/HEAD": "",
  };
  const options = { excludes: "c\n/d" };
  assertEquals(
    verdicts(files, ["/w/a", "/w/b", "/w/c", "/w/d", "/w/x/d"], options),
    ["kept", "ignored", "ignored", "ignored", undefined],
  );
  // A work tree within another is not subject to its rules.
  assertEquals(verdicts(files, ["/w/sub/b", "/w/sub/c"], options), [
    undefined,
    "ignored",
  ]);
});

Deno.test("IgnoreRules tells folders from files", () => {
  const files = { "/w/.ignore": "build/\nout" };
  assertEquals(
    verdicts(files, ["/w/build/", "/w/build", "/w/out/", "/w/out"]),
    ["ignored", undefined, "ignored", "ignored"],
  );
});

Deno.test("IgnoreRules matches names by case", () => {
  assertEquals(verdicts({ "/w/.ignore": "Build" }, ["/w/build", "/w/Build"]), [
    undefined,
    "ignored",
  ]);
});

Deno.test("IgnoreRules works with the separators of Windows", () => {
  const files = {
    "/w/.git/HEAD": "",
    "/w/.gitignore": "src/*.log\n*.tmp",
    "/.ignore": "d.txt",
  };
  assertEquals(
    verdicts(
      files,
      ["/w/src/a.log", "/w/src/x/a.log", "/w/a.tmp", "/w/d.txt"],
      {
        windows: true,
      },
    ),
    ["ignored", undefined, "ignored", "ignored"],
  );
});

Deno.test("IgnoreRules takes no exponential time for hostile rules", () => {
  const rule = `${"*a".repeat(60)}b`;
  const started = performance.now();
  assertEquals(
    verdicts({ "/w/.ignore": rule }, [`/w/${"a".repeat(255)}`]),
    [undefined],
  );
  assertEquals(performance.now() - started < 2000, true);
});

Deno.test("globalExcludes reads the file that git would", () => {
  const read = (files: Record<string, string>) => (path: string) => files[path];
  assertEquals(globalExcludes(undefined, undefined, read({})), undefined);
  assertEquals(globalExcludes("/h", undefined, read({})), undefined);
  assertEquals(
    globalExcludes("/h", undefined, read({ "/h/.config/git/ignore": "a" })),
    "a",
  );
  assertEquals(
    globalExcludes("/h", "/x", read({ "/x/git/ignore": "b" })),
    "b",
  );
  assertEquals(
    globalExcludes(
      "/h",
      undefined,
      read({
        "/h/.gitconfig": '[core]\n\texcludesFile = "~/.mine"\n',
        "/h/.mine": "c",
        "/h/.config/git/ignore": "a",
      }),
    ),
    "c",
  );
});
