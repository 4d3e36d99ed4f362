/** The real sandbox: what gets out, and what everyday work goes on inside. Needs bubblewrap, git, make, curl, python3. */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import type { Mode } from "../../lib/config.ts";
import { Sandbox } from "../../lib/sandbox.ts";
import { createScope } from "../../lib/scope.ts";
import { fakeConfig, fakePlatform } from "../fake_files.ts";

interface Box {
  /** Runs a script inside; its output, and its exit code at the end. */
  run(script: string): Promise<string>;
  sandbox: Sandbox;
  /** The only root. */
  root: string;
  /** A folder beside it, with the file `secret`. */
  outside: string;
  home: string;
}

/** A disk under `/srv`, away from the folder for temporary files, which is another one inside. */
async function inBox(
  test: (box: Box) => Promise<void>,
  given: {
    mode?: Mode;
    allowNet?: boolean;
    variables?: Record<string, string>;
  } = {},
): Promise<void> {
  await Deno.mkdir("/srv", { recursive: true });
  const base = await Deno.makeTempDir({ dir: "/srv", prefix: "rousseau-" });
  const [root, outside, home, caches, temp] = [
    "root",
    "outside",
    "home",
    "caches",
    "temp",
  ].map((name) => `${base}/${name}`) as [
    string,
    string,
    string,
    string,
    string,
  ];
  for (const path of [root, outside, home, caches, temp, `${home}/.ssh`]) {
    await Deno.mkdir(path);
  }
  await Deno.writeTextFile(`${outside}/secret`, "k3y-0f-4nn");
  await Deno.writeTextFile(`${home}/.ssh/id`, "k3y-0f-4nn");
  await Deno.writeTextFile(`${home}/notes`, "k3y-0f-4nn");
  await Deno.writeTextFile(
    `${home}/.gitconfig`,
    "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n",
  );
  const platform = fakePlatform("linux", {
    home,
    temp,
    cwd: root,
    uid: Deno.uid() ?? 0,
    execPath: Deno.execPath(),
    variables: given.variables ?? {},
  });
  const { scope } = await createScope({
    platform,
    config: fakeConfig({ roots: [root], mode: given.mode ?? "workspace" }),
  });
  const sandbox = new Sandbox({
    platform,
    scope,
    settings: {
      mode: "require",
      allowNet: given.allowNet ?? false,
      writable: [],
    },
    caches,
    path: ["/usr/local/bin", "/usr/bin", "/bin"],
  });
  const run = async (script: string) => {
    const [program, ...args] = await sandbox.wrap(
      ["/bin/sh", "-c", `exec 2>&1\n${script}`],
      { cwd: root },
    );
    const { code, stdout } = await new Deno.Command(program!, {
      args,
      clearEnv: true,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, LC_ALL: "C" },
      cwd: root,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
      detached: true,
    }).output();
    return `${new TextDecoder().decode(stdout)}exit ${code}`;
  };
  try {
    await test({ run, sandbox, root, outside, home });
  } finally {
    await sandbox.close();
    await Deno.remove(base, { recursive: true });
  }
}

Deno.test("the sandbox works here, with a user namespace", async () => {
  await inBox(async ({ sandbox, run }) => {
    assertEquals((await sandbox.state()).layer, "bubblewrap");
    assertEquals((await sandbox.state()).weaknesses, []);
    assertEquals(await run("exit 7"), "exit 7");
  });
});

Deno.test("no script reads what is outside the scope", async () => {
  await inBox(async ({ run, outside, home, root }) => {
    await Deno.symlink(`${outside}/secret`, `${root}/link`);
    for (
      const script of [
        `cat ${outside}/secret`,
        "cat link",
        `cat ${home}/.ssh/id`,
        `cat ${home}/notes`,
        `cd ${outside} && cat secret`,
        `cat /proc/self/root${outside}/secret`,
        `cat /proc/1/root${outside}/secret`,
        `cat /proc/*/cwd/../outside/secret`,
        `ln ${outside}/secret hard && cat hard`,
        `ln -s ${outside}/secret soft && cat soft`,
        `tar cf - ${outside} | grep -a k3y-0f-4nn`,
        `env -i /bin/cat ${outside}/secret`,
        `exec 3<${outside}/secret; cat <&3`,
        `cat <<X\n$(cat ${outside}/secret)\nX`,
        `PATH=${outside}:$PATH; secret`,
        `(sleep 0.1; cat ${outside}/secret) & wait`,
        `setsid sh -c 'cat ${outside}/secret'`,
        `unshare -rm sh -c 'umount -l /srv 2>/dev/null; cat ${outside}/secret'`,
        `unshare -Urm sh -c 'mount --bind / /tmp && cat /tmp${outside}/secret'`,
        `mount -o remount,rw / ; cat ${outside}/secret`,
        `nsenter -t 1 -a cat ${outside}/secret`,
        `chroot / cat ${outside}/secret`,
        "cat /etc/shadow | grep root && echo k3y-0f-4nn",
        "strings /dev/mem 2>/dev/null | grep -m1 k3y-0f-4nn",
        "cat /proc/kcore | head -c 10 | grep . && echo k3y-0f-4nn",
        "debugfs -R 'cat /etc/shadow' /dev/vda && echo k3y-0f-4nn",
        "for d in /dev/vd* /dev/sd* /dev/nvme*; do head -c 1 $d && echo k3y-0f-4nn; done",
      ]
    ) {
      assertNotMatch(await run(script), /k3y-0f-4nn/, script);
    }
  });
});

Deno.test("no script writes what is outside the scope", async () => {
  await inBox(async ({ run, outside, home, root }) => {
    await Deno.symlink(outside, `${root}/out`);
    for (
      const script of [
        `echo x >${outside}/new`,
        "echo x >out/new",
        `mkdir -p ${outside}/d`,
        `rm -rf ${outside}/secret`,
        `mv ${outside}/secret .`,
        `touch /etc/new /usr/new /new /bin/new`,
        `cp /bin/sh /usr/local/bin/planted`,
        `echo x >>${home}/.gitconfig`,
        `mount -t tmpfs x ${outside}`,
        `ln -s ${outside} l2 && echo x >l2/new`,
        `unshare -Urm sh -c 'mount -o remount,rw /usr; touch /usr/new'`,
        `mount -o remount,rw,bind /usr && touch /usr/new`,
        `chmod 777 /usr /etc`,
        `mknod sda b 8 0 && cat sda`,
        `echo x >/proc/sysrq-trigger`,
        `echo 1 >/sys/fs/cgroup/memory.max`,
      ]
    ) {
      await run(script);
      const names = [...Deno.readDirSync(outside)].map(({ name }) => name);
      assertEquals(names, ["secret"], script);
    }
    assertEquals(await Deno.readTextFile(`${outside}/secret`), "k3y-0f-4nn");
    for (
      const path of ["/etc/new", "/usr/new", "/new", "/usr/local/bin/planted"]
    ) {
      assertEquals(await Deno.stat(path).catch(() => "none"), "none", path);
    }
    assertNotMatch(await Deno.readTextFile(`${home}/.gitconfig`), /^x$/m);
  });
});

Deno.test("the kernel's settings cannot be written, by root either", async () => {
  for (const mode of ["workspace", "open", "full"] as const) {
    await inBox(async ({ run }) => {
      // The same value: nothing changes where it works.
      for (
        const path of [
          "/proc/sys/kernel/core_pattern",
          "/proc/sys/vm/swappiness",
        ]
      ) {
        assertMatch(
          await run(`v=$(cat ${path}); echo "$v" >${path} && echo written`),
          /Read-only file system|Permission denied/,
          `${mode} ${path}`,
        );
      }
      assertEquals(
        await run("find /sys -maxdepth 3 -type f -writable | grep .").then((
          text,
        ) => text.replace(/^find: .*\n/gm, "")),
        "exit 1",
      );
    }, { mode });
  }
});

Deno.test("no script reaches the network, other processes or their sockets", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  try {
    await inBox(async ({ run }) => {
      const us = Deno.pid;
      for (
        const script of [
          `curl -m 2 -s http://127.0.0.1:${port}/ ; [ $? = 7 ] && echo refused`,
          "curl -m 2 -s http://1.1.1.1/ || echo refused",
          "python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 53), 2)' || echo refused",
          `kill -0 ${us} || echo refused`,
          `[ -e /proc/${us} ] && tr '\\0' '\\n' </proc/${us}/environ || echo refused`,
          "[ -S /run/docker.sock ] || [ -S /var/run/docker.sock ] || echo refused",
          "ls /run | grep . || echo refused",
          "ls /tmp/.X11-unix || echo refused",
          `python3 -c '
import ctypes
libc = ctypes.CDLL(None)
print("traced" if libc.ptrace(16, ${us}, 0, 0) == 0 else "refused")'`,
        ]
      ) {
        assertMatch(await run(script), /refused/, script);
      }
    });
  } finally {
    listener.close();
  }
});

Deno.test("what leaves its session ends with the command", async () => {
  await inBox(async ({ run, root }) => {
    await run(
      `setsid -f sh -c 'sleep 0.3; echo late >${root}/late' >/dev/null 2>&1; sleep 0.05`,
    );
    const until = performance.now() + 600;
    while (performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assertEquals(await Deno.stat(`${root}/late`).catch(() => "none"), "none");
  });
});

Deno.test("a server that one command starts is reached by the next", async () => {
  await inBox(async ({ run, sandbox, root }) => {
    const [program, ...args] = await sandbox.wrap(
      ["/bin/sh", "-c", "exec python3 -u -m http.server 8123 2>&1"],
      { cwd: root },
    );
    const server = new Deno.Command(program!, {
      args,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin" },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const reader = server.stdout.getReader();
    await reader.read();
    assertMatch(
      await run(
        "curl -s -m 5 -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:8123/",
      ),
      /^200/,
    );
    server.kill("SIGKILL");
    await server.status;
    await reader.cancel();
  });
});

Deno.test("S10: what cannot be parsed need not be: the wall is around the command", async () => {
  await inBox(async ({ run, outside }) => {
    for (
      const script of [
        `/bin/cat ${outside}/secret`,
        `"cat" ${outside}/secret`,
        `c*t ${outside}/secret; /bin/c?t ${outside}/secret`,
        `echo $(cat ${outside}/secret)`,
        `echo a\ncat ${outside}/secret`,
        `eval "$(printf 'cat %s/secret' ${outside})"`,
        `sudo cat ${outside}/secret; su -c 'cat ${outside}/secret'`,
      ]
    ) {
      assertNotMatch(await run(script), /k3y-0f-4nn/, script);
    }
  });
});

Deno.test("everyday work goes on inside", async () => {
  await inBox(async ({ run, root }) => {
    await Deno.writeTextFile(
      `${root}/Makefile`,
      "all:\n\t@cc -o prog prog.c 2>/dev/null || echo built\n",
    );
    await Deno.writeTextFile(
      `${root}/test_one.py`,
      "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n",
    );
    for (
      const script of [
        "git init -q repo && cd repo && git config core.pager cat && git remote add origin ../bare",
        "cd repo && echo x >f && git add f && git commit -q -m one && git status --short",
        "git init -q --bare bare && cd repo && git push -q origin main",
        "git clone -q bare copy && cat copy/f",
        "cd copy && git log --oneline && git checkout -q -b b && git stash list",
        "make",
        "python3 -m unittest -q",
        "mktemp && echo x >/tmp/y && cat /tmp/y",
        "mkdir -p ~/.config/tool && echo x >~/.config/tool/c",
        "ps >/dev/null; df . >/dev/null; id >/dev/null; date >/dev/null",
        "echo x | tee /dev/stderr >/dev/null; head -c 4 /dev/urandom >/dev/null",
      ]
    ) {
      assertMatch(await run(script), /exit 0$/, script);
    }
  });
});

Deno.test("the folder for temporary files is another one inside", async () => {
  await inBox(async ({ run }) => {
    const path = await Deno.makeTempFile({ prefix: "rousseau-outer-" });
    try {
      assertMatch(await run(`cat ${path}`), /No such file/);
      await run("echo x >/tmp/rousseau-inner");
      assertEquals(
        await Deno.stat("/tmp/rousseau-inner").catch(() => "none"),
        "none",
      );
    } finally {
      await Deno.remove(path);
    }
  });
});

Deno.test("mode read-only shows the roots and writes nothing in them", async () => {
  await inBox(async ({ run, root }) => {
    await Deno.writeTextFile(`${root}/f`, "text");
    assertMatch(await run("cat f"), /^text/);
    assertMatch(await run("echo x >f"), /Read-only file system/);
    assertMatch(await run("echo x >/tmp/f && cat /tmp/f"), /^x/);
    assertEquals(await Deno.readTextFile(`${root}/f`), "text");
  }, { mode: "read-only" });
});

Deno.test("mode open shows the world but its keys, and keeps it as it is", async () => {
  await inBox(async ({ run, home, outside }) => {
    assertMatch(await run(`cat ${outside}/secret`), /k3y-0f-4nn/);
    assertNotMatch(await run(`cat ${home}/.ssh/id`), /k3y-0f-4nn/);
    assertNotMatch(await run(`echo x >${outside}/new; ls ${outside}`), /new$/m);
    assertMatch(await run("ls /run | grep . || echo empty"), /empty/);
  }, { mode: "open" });
});

Deno.test("with the network allowed, this machine's ports are reached", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  try {
    await inBox(async ({ run }) => {
      const accepted = listener.accept().then((connection) =>
        connection.close()
      );
      assertMatch(
        await run(
          `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 2); print("reached")'`,
        ),
        /^reached/,
      );
      await accepted;
    }, { allowNet: true });
  } finally {
    listener.close();
  }
});

Deno.test("starting inside costs less than 50 ms", async () => {
  await inBox(async ({ run }) => {
    await run("true");
    const times: number[] = [];
    for (let i = 0; i < 7; i++) {
      const start = performance.now();
      await run("true");
      times.push(performance.now() - start);
    }
    assert(Math.min(...times) < 50, String(times));
  });
});
