import { assertEquals } from "@std/assert";
import {
  foldPath,
  fromFileUri,
  isWithin,
  posixPaths,
  relativeTo,
  windowsPaths,
} from "../lib/paths.ts";

Deno.test("posixPaths.resolve takes dots out as text", () => {
  for (
    const [path, expected] of [
      ["x", "/w/a/x"],
      ["./x//y/", "/w/a/x/y"],
      ["../b", "/w/b"],
      ["../../../../etc", "/etc"],
      ["/", "/"],
      ["//etc//passwd", "/etc/passwd"],
      ["/a/./b/../c", "/a/c"],
      ["", "/w/a"],
      [".", "/w/a"],
      ["a\\b", "/w/a/a\\b"],
    ] as const
  ) {
    assertEquals(posixPaths.resolve("/w/a", path), expected, path);
  }
});

Deno.test("windowsPaths.resolve knows drives, shares and either slash", () => {
  for (
    const [path, expected] of [
      ["x", "C:\\w\\x"],
      ["x/y\\..\\z", "C:\\w\\x\\z"],
      ["..\\..\\..\\x", "C:\\x"],
      ["\\x", "C:\\x"],
      ["/x", "C:\\x"],
      ["c:/a/b", "C:\\a\\b"],
      ["D:\\", "D:\\"],
      ["\\\\srv\\share\\d\\f.txt", "\\\\srv\\share\\d\\f.txt"],
      ["//srv/share/d/../f", "\\\\srv\\share\\f"],
      ["\\\\srv\\share", "\\\\srv\\share\\"],
      ["\\\\srv\\share\\..\\..\\x", "\\\\srv\\share\\x"],
      ["\\\\?\\C:\\a", "C:\\a"],
      ["\\\\?\\UNC\\srv\\share\\a", "\\\\srv\\share\\a"],
    ] as const
  ) {
    assertEquals(windowsPaths.resolve("C:\\w", path), expected, path);
  }
});

Deno.test("windowsPaths.resolve gives nothing for a drive's own folder or a device", () => {
  for (
    const path of [
      "C:",
      "C:x",
      "c:..\\x",
      "\\\\.\\COM1",
      "\\\\?\\GLOBALROOT\\x",
      "\\\\srv",
    ]
  ) {
    assertEquals(windowsPaths.resolve("C:\\w", path), undefined, path);
    assertEquals(windowsPaths.isAbsolute(path), false, path);
  }
});

Deno.test("P14: a bare drive letter is not the drive's root", () => {
  assertEquals(windowsPaths.isAbsolute("C:"), false);
  assertEquals(windowsPaths.isAbsolute("C:\\"), true);
  assertEquals(windowsPaths.rootOf("C:\\a"), "C:\\");
});

Deno.test("dirname, basename, join and components agree on every kind of root", () => {
  for (
    const [paths, path, dir, base, parts] of [
      [posixPaths, "/a/b", "/a", "b", ["a", "b"]],
      [posixPaths, "/a", "/", "a", ["a"]],
      [posixPaths, "/", "/", "", []],
      [windowsPaths, "C:\\a\\b", "C:\\a", "b", ["a", "b"]],
      [windowsPaths, "C:\\a", "C:\\", "a", ["a"]],
      [windowsPaths, "C:\\", "C:\\", "", []],
      [windowsPaths, "\\\\s\\h\\a", "\\\\s\\h\\", "a", ["a"]],
    ] as const
  ) {
    assertEquals(paths.dirname(path), dir);
    assertEquals(paths.basename(path), base);
    assertEquals(paths.components(path), [...parts]);
    if (base !== "") assertEquals(paths.join(dir, base), path);
  }
});

Deno.test("isWithin compares whole components", () => {
  assertEquals(isWithin(posixPaths, "/w/a", "/w/a"), true);
  assertEquals(isWithin(posixPaths, "/w/a", "/w/a/x"), true);
  assertEquals(isWithin(posixPaths, "/w/a", "/w/ab"), false);
  assertEquals(isWithin(posixPaths, "/", "/w"), true);
  assertEquals(isWithin(windowsPaths, "C:\\", "C:\\a"), true);
  assertEquals(isWithin(windowsPaths, "\\\\s\\h\\", "\\\\s\\h\\a"), true);
  assertEquals(relativeTo(posixPaths, "/", "/w"), "w");
  assertEquals(relativeTo(posixPaths, "/w", "/w/a/b"), "a/b");
  assertEquals(relativeTo(posixPaths, "/w", "/w"), "");
});

Deno.test("badName refuses what Windows reads as something else", () => {
  for (
    const name of [
      "a:b",
      "x.",
      "x ",
      "NUL",
      "nul.txt",
      "COM1",
      "lpt9.log",
      "conout$",
    ]
  ) {
    assertEquals(typeof windowsPaths.badName(name), "string", name);
  }
  for (const name of ["a.b", ".git", "console", "com", "nullable", "x.com1"]) {
    assertEquals(windowsPaths.badName(name), undefined, name);
  }
  assertEquals(posixPaths.badName("a:b."), undefined);
});

Deno.test("foldPath folds case and composition where file systems do", () => {
  assertEquals(foldPath("linux", "/A"), "/A");
  assertEquals(foldPath("darwin", "/Cafe\u0301"), "/caf\u00e9");
  assertEquals(foldPath("windows", "C:\\Ä"), "c:\\ä");
});

Deno.test("fromFileUri reads local files' URIs and no others", () => {
  assertEquals(fromFileUri("linux", "file:///w/a%20b"), "/w/a b");
  assertEquals(fromFileUri("linux", "file://localhost/w"), "/w");
  assertEquals(fromFileUri("linux", "file://srv/w"), undefined);
  assertEquals(fromFileUri("linux", "https://x/y"), undefined);
  assertEquals(fromFileUri("linux", "/w/a"), undefined);
  assertEquals(fromFileUri("linux", "file:///w/%ff"), undefined);
  assertEquals(fromFileUri("windows", "file:///c:/w/a"), "c:\\w\\a");
  assertEquals(
    fromFileUri("windows", "file://srv/share/a"),
    "\\\\srv\\share\\a",
  );
});
