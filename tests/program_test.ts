import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run } from "../lib/cli.ts";
import type { AnyCommand } from "../lib/command.ts";
import { candidates } from "../lib/completions.ts";
import {
  instructions,
  MAX_INSTRUCTIONS_CHARS,
  VERSION,
} from "../lib/instructions.ts";
import { remembered } from "../lib/grants.ts";
import { RUN_FLAGS } from "../lib/machine.ts";
import type { Platform } from "../lib/platform.ts";
import { buildProgram } from "../lib/program.ts";
import { toolDefinition } from "../lib/registry.ts";
import { loadConfig } from "../lib/config.ts";
import { missingTools, selectTools } from "../lib/selection.ts";
import { TOOL_NAMES } from "../lib/tool_names.ts";
import { loadTool, toolEntries } from "../lib/tools.ts";
import { checkTree, loadTree, walkCommands } from "../lib/tree.ts";

function platform(more: Partial<Platform> = {}): Platform {
  return {
    os: "linux",
    env: (name) => name === "PATH" ? "/usr/bin:/bin" : undefined,
    home: "/home/nobody-here",
    temp: "/tmp",
    cwd: "/",
    execPath: "/opt/rousseau",
    uid: 1000,
    ...more,
  };
}

function program(on: Platform = platform()) {
  return buildProgram({
    platform: on,
    launch: { command: "/opt/rousseau", args: [] },
    writeLog: () => Promise.resolve(),
  });
}

async function rousseau(args: string[], on: Platform = platform()) {
  const chunks: string[][] = [[], []];
  const write = (i: number) => (bytes: Uint8Array) => {
    chunks[i]!.push(new TextDecoder().decode(bytes));
  };
  const { root, options } = program(on);
  const code = await run(root, args, {
    stdin: new Blob([]).stream(),
    stdout: new WritableStream({ write: write(0) }),
    stderr: new WritableStream({ write: write(1) }).getWriter(),
    env: on.env,
  }, options);
  return { code, out: chunks[0]!.join(""), err: chunks[1]!.join("") };
}

Deno.test("remembered asks for each permission once", () => {
  const asked: string[] = [];
  const may = remembered((permission) => {
    asked.push(JSON.stringify(permission));
    return permission.name === "read";
  });
  const answers = [
    may({ name: "read" }),
    may({ name: "read", path: "/x" }),
    may({ name: "write" }),
    may({ name: "read" }),
    may({ name: "write" }),
  ];
  assertEquals(answers, [true, true, false, true, false]);
  assertEquals(asked, [
    '{"name":"read"}',
    '{"name":"read","path":"/x"}',
    '{"name":"write"}',
  ]);
});

Deno.test("the tree makes sense, loaded and not, and its entries say what their commands say", async () => {
  const { root } = program();
  checkTree(root);
  const whole = await loadTree(root);
  checkTree(whole);
  for (const [i, entry] of root.commands!.entries()) {
    const command = whole.commands![i]!;
    assertEquals(command.name, entry.name);
    assertEquals(command.tool?.name, entry.tool?.name, entry.name);
    assertEquals(command.resource, entry.resource, entry.name);
    assert(
      command.summary !== "" && !command.summary.includes("_"),
      entry.name,
    );
  }
});

Deno.test("every command explains itself, wrapped to 80 columns", async () => {
  const { root } = program();
  for (const { path, command } of walkCommands(await loadTree(root))) {
    const words = path.slice(1).map(({ name }) => name);
    const { code, out, err } = await rousseau([...words, "--help"]);
    assertEquals([code, err], [0, ""], words.join(" "));
    assert(out.startsWith("Usage: rousseau"), out);
    for (const line of out.split("\n")) {
      const isExample = command.examples?.includes(line.trim());
      assert(line.length <= 80 || isExample, line);
    }
    for (const option of Object.values(command.input?.properties ?? {})) {
      assert(
        (option as { description?: string }).description !== "",
        words.join(" "),
      );
    }
  }
});

Deno.test("the built-in tools are listed in their order, under their names", async () => {
  const on = platform();
  const names = toolEntries(on).map(({ tool }) => tool!.name);
  assertEquals(names, [...TOOL_NAMES]);
  for (const name of TOOL_NAMES) {
    const tool = await loadTool(name, on);
    const definition = toolDefinition(tool);
    assertEquals(definition.name, name);
    // What help leaves out is for models all the same.
    assertEquals(definition.inputSchema, tool.input, name);
    assertEquals(definition.inputSchema.additionalProperties, false, name);
    assertEquals(
      Object.keys(definition.annotations!).filter((key) => key !== "title")
        .toSorted(),
      [
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
        "readOnlyHint",
      ],
      name,
    );
  }
});

async function select(
  flags: Record<string, unknown>,
  granted: string[] = ["read", "write", "run"],
  visible?: string,
) {
  const { config } = await loadConfig({
    flags: { ...flags, ...(visible ? { sessions: visible } : {}) },
    platform: platform(),
    readTextFile: () => Promise.reject(new Deno.errors.NotFound()),
  });
  const world = { config, roots: ["/root"], platform: platform() };
  return selectTools(TOOL_NAMES, world, (permission) => {
    const { path } = permission as { path?: string };
    return granted.includes(permission.name) ||
      (path !== undefined && granted.includes(`${permission.name}=${path}`));
  });
}

async function offered(...args: Parameters<typeof select>): Promise<string[]> {
  return (await select(...args)).offered;
}

const FILES = ["read", "write", "edit", "grep"];
const SHELL = ["bash", "bash_output", "bash_kill"];
const SESSIONS = [
  "rousseau_list_sessions",
  "rousseau_search_sessions",
  "rousseau_read_session",
];
const UNDO = "rousseau_undo";

Deno.test("tools are picked by group and by name, and left out by the same", async () => {
  assertEquals(await offered({}), [...FILES, ...SHELL, ...SESSIONS, UNDO]);
  assertEquals(await offered({ tools: ["sessions,bash"] }), [
    ...SHELL,
    ...SESSIONS,
  ]);
  assertEquals(await offered({ tools: ["read", "files"] }), [...FILES, UNDO]);
  assertEquals(await offered({ exclude: ["shell", "sessions"] }), [
    ...FILES,
    UNDO,
  ]);
  assertEquals(await offered({ exclude: ["bash_kill"], tools: ["bash"] }), [
    "bash",
    "bash_output",
  ]);
  assertEquals(await offered({}, undefined, "none"), [...FILES, ...SHELL]);
  for (const flags of [{ tools: ["fils"] }, { exclude: ["fils"] }]) {
    const error = await select(flags).catch((e: Error) => e.message);
    assertStringIncludes(
      error as string,
      'unknown tool or group "fils"; did you mean "files"?',
    );
  }
});

Deno.test("mode read-only has no tool that could write", async () => {
  assertEquals(await offered({ mode: "read-only" }), [
    "read",
    "grep",
    ...SESSIONS,
  ]);
});

Deno.test("a tool is offered when what it needs is granted for a root", async () => {
  const state = "/home/nobody-here/.local/share/rousseau";
  const store = [`read=${state}`, `write=${state}`];
  assertEquals(await offered({}, []), []);
  assertEquals(await offered({}, store), SESSIONS);
  assertEquals(await offered({}, ["read=/root"]), ["read", "grep"]);
  assertEquals(await offered({}, ["read=/root", "write=/root"]), FILES);
  assertEquals(await offered({}, ["read=/root", "write=/root", ...store]), [
    ...FILES,
    ...SESSIONS,
    UNDO,
  ]);
  assertEquals(await offered({}, ["read=/other", "write"]), []);
  assertEquals(await offered({}, ["run", ...store]), [...SHELL, ...SESSIONS]);
  const selection = await select({}, ["read"]);
  assertEquals(
    missingTools(selection),
    [
      "write, edit, rousseau_undo (Deno may write to no root (--allow-write=/root))",
      "bash, bash_output, bash_kill (Deno may start no program (--allow-run))",
      `rousseau_list_sessions, rousseau_search_sessions, rousseau_read_session (session store: Deno may not use ${state}: start Deno with --allow-read="${state}" --allow-write="${state}" beside its other permissions)`,
    ],
  );
});

Deno.test("instructions name what is missing, how to stop recording, and stay within their limit", async () => {
  const { config } = await loadConfig({
    flags: {},
    platform: platform(),
    readTextFile: () => Promise.reject(new Deno.errors.NotFound()),
  });
  const full = instructions({
    scope: "SCOPE",
    config,
    selection: await select({}),
  });
  assert(full.startsWith("SCOPE\n"));
  assertStringIncludes(full, "--no-record");
  assert(!full.includes("Not offered"));
  const few = instructions({
    scope: "x".repeat(5_000),
    config: { ...config, record: "off" },
    selection: await select({ exclude: ["edit"] }, []),
  });
  assertStringIncludes(
    few,
    "read, write, grep, rousseau_undo (Deno may read no root (--allow-read=/root))",
  );
  assertStringIncludes(few, "Calls are not recorded.");
  assert(!few.includes("edit"));
  const storeless = instructions({
    scope: "SCOPE",
    config,
    selection: await select({}, ["read=/root", "run"]),
  });
  assertStringIncludes(storeless, "Calls are not recorded.");
  assert(few.length <= MAX_INSTRUCTIONS_CHARS);
});

Deno.test("version prints what the resource holds", async () => {
  const { code, out } = await rousseau(["version"]);
  assertEquals(code, 0);
  assertEquals(JSON.parse(out).version, VERSION);
  assertEquals((await rousseau(["--version"])).out, `rousseau ${VERSION}\n`);
});

Deno.test("config HOST prints the block alone on standard output, and where it goes beside it", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const { code, out, err } = await rousseau([
      "config",
      "claude-desktop",
      "--root",
      folder,
    ]);
    assertEquals(code, 0);
    assertEquals(JSON.parse(out), {
      mcpServers: {
        rousseau: { command: "/opt/rousseau", args: ["mcp", "--root", folder] },
      },
    });
    assertStringIncludes(err, "claude_desktop_config.json");
    assertEquals(
      (await rousseau(["config", "cluade-desktop"])).err.split("; ")[1],
      'did you mean "claude-desktop"?\n',
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("config HOST without a root shows where to put one", async () => {
  const { out, err } = await rousseau(["config", "cursor"]);
  assertStringIncludes(out, '"/path/to/your/project"');
  assertStringIncludes(err, "Put your project's folder in the place");
});

Deno.test("what is wrong with the settings ends with 2, and does not keep version and doctor from working", async () => {
  const env = (name: string) => name === "ROUSSEAU_MODE" ? "opne" : undefined;
  const on = platform({ env });
  const { code, out, err } = await rousseau(["read", "x"], on);
  assertEquals([code, out], [2, ""]);
  assertStringIncludes(
    err,
    'ROUSSEAU_MODE: must be one of workspace, open, read-only, full, got "opne"; did you mean "open"?',
  );
  assertEquals((await rousseau(["version"], on)).code, 0);
  const doctor = await rousseau(["doctor"], on);
  assertEquals(doctor.code, 1);
  assertStringIncludes(doctor.out, "✘ config");
});

Deno.test("a root that the host did not fill in ends with 2", async () => {
  const { code, err } = await rousseau(["mcp", "--root", "${workspaceFolder}"]);
  assertEquals(code, 2);
  assertStringIncludes(err, "${workspaceFolder}");
});

Deno.test("mode read-only refuses write, edit and bash on the command line, too", async () => {
  for (
    const args of [["write", "x", "y"], ["edit", "x", "a", "b"], ["bash", "ls"]]
  ) {
    const { code, err } = await rousseau([...args, "--mode", "read-only"]);
    assertEquals(code, 2);
    assertStringIncludes(err, "--mode workspace");
  }
});

Deno.test("mcp serves a part of the tree when words follow", async () => {
  const { root } = program();
  const mcp = root.commands!.find(({ name }) => name === "mcp") as AnyCommand;
  assert(mcp.run);
  const { code, err } = await rousseau(["mcp", "redd"]);
  assertEquals([code, err], [
    2,
    'rousseau: command not found: redd; did you mean "read"?\n',
  ]);
});

Deno.test("completion knows commands, options and values", async () => {
  const { root } = program();
  const words = async (...line: string[]) =>
    (await candidates(root, line)).map(({ word }) => word);
  assertEquals(await words("do"), ["doctor"]);
  assertEquals(await words("config", "cl"), ["claude-desktop", "claude-code"]);
  assertEquals(await words("mcp", "--mode", ""), [
    "workspace",
    "open",
    "read-only",
    "full",
  ]);
  assertEquals(await words("mcp", "--mode=re"), ["--mode=read-only"]);
  assertEquals(await words("doctor", "--js"), ["--json"]);
  assertEquals(await words("--root", "doctor", "doc"), ["doctor"]);
  assertEquals(await words("sessions", "li"), ["list"]);
  assertEquals(await words("read", "x", ""), []);
  assertEquals(await words("doctor", "--", "--js"), []);
  assert(!(await words("")).includes("bash_kill"));
});

Deno.test("a host's block for a checkout carries the flags of the mcp task", async () => {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("../deno.json", import.meta.url)),
  );
  const flags = (tasks.mcp.command as string).split(" ").filter((word) =>
    word.startsWith("--")
  );
  const lazy = "--unstable-lazy-dynamic-imports";
  assertEquals([lazy, ...RUN_FLAGS].toSorted(), flags.toSorted());
});

Deno.test("a folder that nobody named is no root in silence, unless a model is to work there", async () => {
  const warned = async (args: string[], env: Record<string, string> = {}) => {
    const told: string[] = [];
    const on = platform({
      env: (name) => ({ ROUSSEAU_STATE_PATH: ":memory:", ...env })[name],
    });
    const { root, options } = buildProgram({
      platform: on,
      launch: { command: "/opt/rousseau", args: [] },
      writeLog: (bytes) => {
        told.push(new TextDecoder().decode(bytes));
        return Promise.resolve();
      },
    });
    await run(root, args, {
      stdin: new Blob([]).stream(),
      stdout: new WritableStream(),
      stderr: { write: () => Promise.resolve() },
      env: on.env,
    }, options);
    return told.join("").includes("is not taken as a root");
  };
  assertEquals(await warned(["sessions", "list"]), false);
  assertEquals(await warned(["read", "/etc/passwd"]), false);
  assertEquals(await warned(["--log-level=info", "sessions", "list"]), true);
  assertEquals(await warned(["mcp"]), true);
});

Deno.test("a configuration file that is not there is told in words", async () => {
  const { code, err } = await rousseau([
    "--config",
    "/nope",
    "sessions",
    "list",
  ]);
  assertEquals(code, 2);
  assertEquals(
    err,
    "rousseau: cannot read the configuration: /nope: no such file or directory\n",
  );
});
