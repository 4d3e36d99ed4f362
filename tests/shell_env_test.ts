import { assert, assertEquals } from "@std/assert";
import type { Platform } from "../lib/platform.ts";
import {
  childEnvironment,
  environmentFault,
  mergePaths,
  wantsLoginPath,
  withoutCredentials,
} from "../lib/shell_env.ts";

function platform(
  variables: Record<string, string>,
  os: Platform["os"] = "linux",
): Platform {
  return {
    os,
    env: (name) => variables[name],
    home: os === "windows" ? "C:\\Users\\me" : "/home/me",
    temp: "/tmp",
    cwd: "/",
    execPath: undefined,
    uid: 1000,
  };
}

function environment(
  variables: Record<string, string>,
  { env = [], envPassthrough = [], loginPath, os }: {
    env?: string[];
    envPassthrough?: string[];
    loginPath?: string;
    os?: Platform["os"];
  } = {},
): Record<string, string> {
  return childEnvironment({
    platform: platform(variables, os),
    config: {
      env,
      bash: { timeout: undefined, envPassthrough, loginPath: true },
    },
    names: Object.keys(variables),
    loginPath,
  });
}

Deno.test("childEnvironment passes what is on the list and nothing else", () => {
  const out = environment({
    PATH: "/usr/bin",
    LANG: "de_DE.UTF-8",
    LC_TIME: "C",
    GOPATH: "/go",
    SSL_CERT_FILE: "/ca.pem",
    AWS_SECRET_ACCESS_KEY: "s",
    GITHUB_TOKEN: "s",
    ROUSSEAU_TOKEN: "s",
    BASH_ENV: "/evil",
    ENV: "/evil",
    SSH_AUTH_SOCK: "/agent",
  });
  assertEquals(
    Object.keys(out).filter((name) => /SECRET|TOKEN|ENV$|SOCK/.test(name)),
    [],
  );
  assertEquals(
    [out.PATH, out.LANG, out.LC_TIME, out.GOPATH, out.SSL_CERT_FILE],
    ["/usr/bin", "de_DE.UTF-8", "C", "/go", "/ca.pem"],
  );
});

Deno.test("childEnvironment gives a command a home and a PATH when the host cleared ours", () => {
  const out = environment({});
  assertEquals(out.HOME, "/home/me");
  assert(out.PATH!.split(":").includes("/usr/bin"));
});

Deno.test("childEnvironment never passes variables of the dynamic loader", () => {
  const out = environment(
    { LD_PRELOAD: "/x.so", DYLD_INSERT_LIBRARIES: "/x", LDFLAGS: "-L/x" },
    { env: ["LD_PRELOAD", "LD*", "DYLD*"] },
  );
  assertEquals(Object.keys(out).filter((name) => /^(LD|DYLD)_/.test(name)), []);
  assertEquals(out.LDFLAGS, "-L/x");
});

Deno.test("childEnvironment passes names and prefixes that the operator lists, over its own settings", () => {
  const out = environment(
    { MY_A: "1", MY_B: "2", MYSELF: "3", TOKEN: "t", EDITOR: "vi" },
    { env: ["TOKEN", "EDITOR", "ABSENT"], envPassthrough: ["MY_*"] },
  );
  assertEquals(
    [out.MY_A, out.MY_B, out.MYSELF, out.TOKEN, out.EDITOR, "ABSENT" in out],
    ["1", "2", undefined, "t", "vi", false],
  );
});

Deno.test("S06: the environment names no pager, editor or prompt that would wait for a key", () => {
  const out = environment({
    TERM: "xterm-256color",
    PAGER: "less",
    EDITOR: "vim",
    GIT_EDITOR: "vim",
  });
  assertEquals(
    [out.TERM, out.PAGER, out.GIT_PAGER, out.EDITOR, out.GIT_EDITOR],
    ["dumb", "cat", "cat", "true", "true"],
  );
  assertEquals([out.GIT_TERMINAL_PROMPT, out.NO_COLOR], ["0", "1"]);
});

Deno.test("S13: on Windows the variables without which programs do not start are passed", () => {
  const out = environment({
    PATH: "C:\\Windows",
    PATHEXT: ".COM;.EXE;.CMD",
    SystemRoot: "C:\\Windows",
    ComSpec: "C:\\Windows\\system32\\cmd.exe",
    "ProgramFiles(x86)": "C:\\Program Files (x86)",
    SECRET: "s",
  }, { os: "windows", loginPath: "/usr/bin" });
  assertEquals(out.PATHEXT, ".COM;.EXE;.CMD");
  assertEquals(out.SystemRoot, "C:\\Windows");
  assertEquals(out["ProgramFiles(x86)"], "C:\\Program Files (x86)");
  assertEquals(out.PATH, "C:\\Windows");
  assertEquals(out.SECRET, undefined);
});

Deno.test("withoutCredentials takes user and password out of a proxy's URL", () => {
  assertEquals(
    withoutCredentials("http://me:p@ss@proxy:3128/"),
    "http://proxy:3128/",
  );
  assertEquals(withoutCredentials("me:pass@proxy:3128"), "proxy:3128");
  assertEquals(withoutCredentials("http://proxy:3128"), "http://proxy:3128");
  const out = environment({ https_proxy: "http://a:b@p:1", NO_PROXY: "x" });
  assertEquals([out.https_proxy, out.NO_PROXY], ["http://p:1", "x"]);
});

Deno.test("environmentFault names what is wrong with a call's variables", () => {
  assertEquals(environmentFault({ A_1: "x", _b: "" }), undefined);
  for (
    const [env, part] of [
      [{ "A B": "x" }, "is not a variable name"],
      [{ "1A": "x" }, "is not a variable name"],
      [{ "": "x" }, "is not a variable name"],
      [{ "A=B": "x" }, "is not a variable name"],
      [{ LD_PRELOAD: "x" }, "is refused"],
      [{ DYLD_LIBRARY_PATH: "x" }, "is refused"],
      [{ A: 1 }, "should be a string"],
      [{ A: "a\0b" }, "NUL"],
    ] as const
  ) {
    const fault = environmentFault(env);
    assert(fault?.includes(part), `${JSON.stringify(env)}: ${fault}`);
  }
});

Deno.test("wantsLoginPath asks only where PATH holds nothing but system folders", () => {
  const asks = (PATH: string, os?: Platform["os"]) =>
    wantsLoginPath(platform({ PATH }, os));
  assertEquals(asks("/usr/bin:/bin:/usr/sbin:/sbin"), true);
  assertEquals(asks("/usr/local/bin:/usr/bin:/bin:/snap/bin"), true);
  assertEquals(wantsLoginPath(platform({})), true);
  assertEquals(asks("/opt/homebrew/bin:/usr/bin:/bin"), false);
  assertEquals(asks("/proj/venv/bin:/usr/bin"), false);
  assertEquals(asks("", "windows"), false);
});

Deno.test("mergePaths puts the login shell's folders first and names each once", () => {
  assertEquals(
    mergePaths("/opt/bin:/usr/bin", "/usr/bin:/bin:"),
    "/opt/bin:/usr/bin:/bin",
  );
  assertEquals(mergePaths(undefined, "/a::/b"), "/a:/b");
  const out = environment({ PATH: "/usr/bin:/bin" }, {
    loginPath: "/home/me/bin:/usr/bin",
  });
  assertEquals(out.PATH, "/home/me/bin:/usr/bin:/bin");
});
