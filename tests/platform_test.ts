import { assertEquals, assertMatch } from "@std/assert";
import {
  aliases,
  systemFolders,
  tempFolders,
  toolchainFolders,
  unfitRoot,
} from "../lib/folders.ts";
import {
  configFolder,
  dataFolder,
  expandHome,
  fromUser,
  machinePolicyFile,
  stateFolder,
} from "../lib/platform.ts";
import { fakePlatform } from "./fake_files.ts";

Deno.test("dataFolder and configFolder are the platform's own", () => {
  const linux = fakePlatform("linux");
  assertEquals(dataFolder(linux), "/home/ann/.local/share/rousseau");
  assertEquals(configFolder(linux), "/home/ann/.config/rousseau");
  const mac = fakePlatform("darwin");
  assertEquals(
    dataFolder(mac),
    "/Users/ann/Library/Application Support/rousseau",
  );
  const windows = fakePlatform("windows", {
    variables: {
      LOCALAPPDATA: "C:\\Users\\Ann\\AppData\\Local",
      APPDATA: "C:\\Users\\Ann\\AppData\\Roaming",
    },
  });
  assertEquals(dataFolder(windows), "C:\\Users\\Ann\\AppData\\Local\\rousseau");
  assertEquals(
    configFolder(windows),
    "C:\\Users\\Ann\\AppData\\Roaming\\rousseau",
  );
  assertEquals(
    dataFolder(fakePlatform("windows")),
    "C:\\Users\\Ann\\AppData\\Local\\rousseau",
  );
});

Deno.test("XDG variables move the folders, unless they are relative", () => {
  const moved = fakePlatform("linux", {
    variables: { XDG_DATA_HOME: "/d", XDG_CONFIG_HOME: "c" },
  });
  assertEquals(dataFolder(moved), "/d/rousseau");
  assertEquals(configFolder(moved), "/home/ann/.config/rousseau");
});

Deno.test("without a home there is no folder", () => {
  const bare = fakePlatform("linux", { home: undefined });
  assertEquals(dataFolder(bare), undefined);
  assertEquals(stateFolder(bare, undefined), undefined);
  assertEquals(toolchainFolders(bare), []);
});

Deno.test("stateFolder is beside the database, and nowhere for one in memory", () => {
  const platform = fakePlatform("linux");
  assertEquals(stateFolder(platform, "/d/x.db"), "/d");
  assertEquals(stateFolder(platform, "~/x.db"), "/home/ann");
  assertEquals(stateFolder(platform, ":memory:"), undefined);
});

Deno.test("the machine's policy has a fixed place that no variable moves", () => {
  const moved = { XDG_CONFIG_HOME: "/x", PROGRAMDATA: "D:\\x" };
  assertEquals(
    machinePolicyFile(fakePlatform("linux", { variables: moved })).path,
    "/etc/rousseau/policy.yaml",
  );
  assertEquals(
    machinePolicyFile(fakePlatform("windows", { variables: moved })).path,
    "C:\\ProgramData\\rousseau\\policy.yaml",
  );
});

Deno.test("a tilde is the home, and only at the start of a path", () => {
  const linux = fakePlatform("linux");
  assertEquals(expandHome(linux, "~"), "/home/ann");
  assertEquals(expandHome(linux, "~/x"), "/home/ann/x");
  for (const path of ["~x", "a/~", "~\\x", "./~"]) {
    assertEquals(expandHome(linux, path), path);
  }
  assertEquals(
    expandHome(fakePlatform("windows"), "~\\x"),
    "C:\\Users\\Ann\\x",
  );
  assertEquals(fromUser(linux, "x"), "/w/a/x");
  assertEquals(
    fromUser(fakePlatform("linux", { cwd: undefined }), "x"),
    undefined,
  );
});

Deno.test("unfitRoot refuses folders that nobody can have meant, on Linux", () => {
  const platform = fakePlatform("linux");
  for (
    const folder of [
      "/",
      "/home",
      "/home/ann",
      "/home/bob",
      "/root",
      "/tmp",
      "/var/tmp",
      "/usr",
      "/usr/bin",
      "/etc",
      "/mnt",
      "/home/ann/.config",
      "/home/ann/.local/share/x",
      "/opt/rousseau",
      "/proc",
    ]
  ) {
    assertEquals(typeof unfitRoot(platform, folder), "string", folder);
  }
  for (
    const folder of [
      "/home/ann/w",
      "/tmp/x",
      "/w",
      "/srv/app",
      "/mnt/disk/w",
      "/app",
    ]
  ) {
    assertEquals(unfitRoot(platform, folder), undefined, folder);
  }
});

Deno.test("unfitRoot refuses folders that nobody can have meant, on macOS and Windows", () => {
  const mac = fakePlatform("darwin");
  for (
    const folder of [
      "/",
      "/Users",
      "/Users/ann",
      "/users/ANN",
      "/Users/Shared",
      "/private/tmp",
      "/tmp",
      "/Applications",
      "/Applications/Claude.app",
      "/System",
      "/Library",
      "/private/etc",
      "/Volumes",
      "/Users/ann/Library/Application Support/x",
      "/System/Volumes/Data/Users/ann",
    ]
  ) {
    assertEquals(typeof unfitRoot(mac, folder), "string", folder);
  }
  for (const folder of ["/Users/ann/w", "/Volumes/disk/w", "/private/tmp/x"]) {
    assertEquals(unfitRoot(mac, folder), undefined, folder);
  }
  const windows = fakePlatform("windows");
  for (
    const folder of [
      "C:\\",
      "D:\\",
      "\\\\srv\\share\\",
      "C:\\Windows",
      "C:\\WINDOWS\\system32",
      "C:\\Users",
      "C:\\Users\\Ann",
      "c:\\users\\ann",
      "C:\\Program Files\\x",
      "C:\\ProgramData\\x",
      "C:\\Users\\Ann\\AppData\\Roaming\\x",
      "C:\\tools",
      "C:\\Users\\Ann\\AppData\\Local\\Temp",
    ]
  ) {
    assertEquals(typeof unfitRoot(windows, folder), "string", folder);
  }
  for (
    const folder of ["C:\\w", "D:\\w", "\\\\srv\\share\\w", "C:\\Users\\Ann\\w"]
  ) {
    assertEquals(unfitRoot(windows, folder), undefined, folder);
  }
});

Deno.test("X05: macOS's own links are one place with two spellings", () => {
  const mac = fakePlatform("darwin");
  assertEquals(aliases(mac, "/tmp/x"), ["/tmp/x", "/private/tmp/x"]);
  assertEquals(aliases(mac, "/private/var/y"), ["/var/y", "/private/var/y"]);
  assertEquals(aliases(mac, "/private/w"), ["/private/w"]);
  assertEquals(aliases(mac, "/tmpx"), ["/tmpx"]);
  assertEquals(aliases(fakePlatform("linux"), "/tmp"), ["/tmp"]);
  assertEquals(systemFolders(mac).includes("/private/etc"), true);
});

Deno.test("the environment cannot make the temporary or a toolchain's folder too wide", () => {
  for (const temp of ["/", "/home", "/home/ann", "relative"]) {
    assertEquals(tempFolders(fakePlatform("linux", { temp })), [], temp);
  }
  const platform = fakePlatform("linux", {
    variables: { NVM_DIR: "/", GOPATH: "/go:/home/ann", DENO_DIR: "/home" },
  });
  const folders = toolchainFolders(platform);
  for (const folder of ["/", "/home", "/home/ann"]) {
    assertEquals(folders.includes(folder), false, folder);
  }
  assertEquals(folders.includes("/go/pkg/mod"), true);
  assertEquals(folders.includes("/home/ann/go/pkg/mod"), true);
});

Deno.test("system folders name the platform's own", () => {
  assertMatch(systemFolders(fakePlatform("linux")).join(), /\/usr/);
  assertMatch(
    systemFolders(fakePlatform("windows", {
      variables: { SystemRoot: "D:\\WINNT" },
    })).join(),
    /D:\\WINNT/,
  );
});
