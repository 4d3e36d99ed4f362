import { assert, assertEquals } from "@std/assert";
import type { Platform } from "../lib/platform.ts";
import { bashTool } from "../lib/bash.ts";
import { chooseShell, invocation, killTree, loginPath } from "../lib/shell.ts";

function platform(
  os: Platform["os"],
  variables: Record<string, string> = {},
): Platform {
  return {
    os,
    env: (name) => variables[name],
    home: undefined,
    temp: "/tmp",
    cwd: undefined,
    execPath: undefined,
    uid: undefined,
  };
}

const GIT = "C:\\Program Files\\Git\\bin\\bash.exe";

Deno.test("chooseShell takes the program that this process may start", () => {
  const choose = (permitted: string[]) =>
    chooseShell(platform("linux"), () => false, (p) => permitted.includes(p))
      .program;
  assertEquals(choose(["/bin/sh", "bash"]), "/bin/sh");
  assertEquals(choose(["bash"]), "bash");
  assertEquals(choose([]), "/bin/sh");
});

Deno.test("S13: on Windows Git's bash is taken, never the system folder's, else PowerShell, and the description names it", () => {
  const variables = {
    ProgramFiles: "C:\\Program Files",
    SystemRoot: "C:\\Windows",
  };
  const windows = platform("windows", variables);
  assertEquals(chooseShell(windows, (path) => path === GIT), {
    kind: "git-bash",
    name: "Git Bash",
    program: GIT,
  });
  assertEquals(
    chooseShell(windows, (path) => path.includes("System32\\bash")).program,
    "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
  );
  assertEquals(
    chooseShell(windows, (path) => path.endsWith("pwsh.exe")).program,
    "C:\\Program Files\\PowerShell\\7\\pwsh.exe",
  );
  const beside = platform("windows", { Path: "C:\\x;D:\\Tools\\Git\\cmd" });
  assertEquals(
    chooseShell(beside, (path) => path.startsWith("D:")).program,
    "D:\\Tools\\Git\\bin\\bash.exe",
  );
  assert(bashTool(windows).description!.includes("PowerShell"));
  assert(bashTool(platform("linux")).description!.includes("bash (sh"));
});

Deno.test("S13: a command reaches every shell as one argument, its quotes and line ends intact", () => {
  const command = `echo "a b" 'c' %PATH% ^& "$x"\necho \`d\``;
  const posix = invocation(chooseShell(platform("linux")), command);
  assertEquals(posix.args.at(-1), command);
  assertEquals(posix.twoPipes, false);
  const git = invocation(
    { kind: "git-bash", name: "Git Bash", program: GIT },
    command,
  );
  assertEquals([git.program, git.args.at(-1)], [GIT, command]);
  const power = invocation(
    { kind: "powershell", name: "PowerShell", program: "pwsh.exe" },
    command,
  );
  const bytes = Uint8Array.from(
    atob(power.args.at(-1)!),
    (c) => c.charCodeAt(0),
  );
  const script = new TextDecoder("utf-16le").decode(bytes);
  assert(script.includes(`\n${command}\n`), script);
  assert(!power.args.some((arg) => /cmd/i.test(arg) && arg.length < 20));
});

Deno.test("S15: on Windows the whole tree is ended, not only the wrapper", () => {
  assertEquals(killTree(42), {
    program: "taskkill",
    args: ["/PID", "42", "/T", "/F"],
  });
});

Deno.test("loginPath takes the PATH out of whatever the start-up files print", async () => {
  const asked: string[] = [];
  const path = await loginPath(
    platform("linux", { SHELL: "/bin/zsh" }),
    (program, args) => {
      asked.push(program, args[0]!);
      return Promise.resolve(
        "welcome\n__rousseau_path__/opt/bin:/bin__rousseau_path__bye",
      );
    },
  );
  assertEquals(path, "/opt/bin:/bin");
  assertEquals(asked, ["/bin/zsh", "-lc"]);
});

Deno.test("loginPath is undefined where there is no shell, no answer, or none in time", async () => {
  const fail = () => Promise.reject(new Error("timed out"));
  const linux = platform("linux", { SHELL: "/bin/sh" });
  assertEquals(await loginPath(linux, fail), undefined);
  assertEquals(
    await loginPath(linux, () => Promise.resolve("noise")),
    undefined,
  );
  const never = () => {
    throw new Error("must not be asked");
  };
  assertEquals(await loginPath(platform("linux"), never), undefined);
  assertEquals(
    await loginPath(platform("windows", { SHELL: "/bin/sh" }), never),
    undefined,
  );
  assertEquals(
    await loginPath(platform("linux", { SHELL: "zsh" }), never),
    undefined,
  );
});
