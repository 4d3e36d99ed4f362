import { assertEquals } from "@std/assert";

/**
 * Every module of lib/, lowest first. A module imports only modules listed before it, types and dynamic imports
 * included; a new module takes its place here.
 */
const LAYERS = [
  // text and limits
  "lines",
  "ahead",
  "base64",
  "clip",
  "secret_shapes",
  "redact",
  "json_text",
  "slices",
  "char_set",
  "pattern",
  "nfa",
  "symbols",
  "dfa",
  "glob",
  "nearest",
  "reason",
  "encoding",
  "sniff",
  "spans",
  "line_ends",
  "candidate",
  "formats",
  "argument",
  "names",
  "uri_template",
  "recorded",
  // protocol
  "rpc",
  "handshake",
  "mcp",
  "failure",
  "title",
  "standard_schema",
  "from_schema",
  "command",
  "positionals",
  "middleware",
  "results",
  "era",
  "hooks",
  "fault",
  "schema",
  "prompt",
  "input_state",
  // world
  "paths",
  "path_text",
  "platform",
  "style",
  "hosts",
  "host_config",
  "grants",
  "machine",
  "settings",
  "schema_fault",
  "custom_tool",
  "tool_names",
  "rules",
  "settings_text",
  "settings_file",
  "machine_policy",
  "config",
  "log",
  "sqlite",
  "folders",
  "deny_rules",
  "deny",
  "real_path",
  "own_places",
  "refusals",
  "path_end",
  "roots",
  "setup",
  "selection",
  "scope",
  "file_operations",
  "files",
  "file_locks",
  "guardian",
  "shell",
  "signals",
  "warden",
  "process_group",
  "system",
  "sandbox_fault",
  "network_holder",
  "git_guard",
  // sessions
  "migrations",
  "database_files",
  "session_file",
  "session_rows",
  "session_cursor",
  "drafts",
  "transcript",
  "append",
  "session_search",
  "session_worker",
  "session_searcher",
  "recover",
  "session_stats",
  "recorder",
  "html_page",
  "html_overview",
  "session_html",
  "checkpoint",
  "checkpoints",
  "retention",
  "upkeep",
  "store",
  "import_lines",
  "session_resources",
  "stray",
  "import_format",
  "import_claude",
  "import_codex",
  "import",
  "import_rousseau",
  // tools
  "tool",
  "decisions",
  "command_words",
  "policy",
  "ruled_scope",
  "policy_gate",
  "paging",
  "page_notes",
  "seek",
  "scans",
  "text_page",
  "listing",
  "read",
  "change",
  "write",
  "replacement",
  "diff",
  "edit_refusal",
  "edit",
  "tree",
  "call",
  "ignore",
  "literal",
  "pattern_escape",
  "pattern_parser",
  "matcher",
  "haystack",
  "skips",
  "walk",
  "disk_view",
  "sandbox_plan",
  "bubblewrap",
  "seatbelt",
  "sandbox",
  "confinement",
  "rows",
  "search",
  "search_worker",
  "search_pool",
  "search_answer",
  "grep",
  "tree_changes",
  "output_files",
  "output_text",
  "output",
  "shell_env",
  "execution",
  "bash_schema",
  "bash_progress",
  "bash_report",
  "session_tools",
  "undo_plan",
  "undo_files",
  "undo",
  "session_prompts",
  "undo_prompts",
  "sessions_upkeep",
  "sessions_import",
  // server
  "inflight",
  "slots",
  "jobs",
  "bash_run",
  "custom_run",
  "job_tools",
  "bash",
  "tools",
  "writer",
  "registry",
  "changes",
  "outgoing",
  "core",
  "exchange",
  "subscriptions",
  "inquiry",
  "client_scope",
  "answers",
  "batch",
  "context",
  "calls",
  "resources",
  "prompts",
  "completion",
  "methods",
  "connection",
  "instructions",
  "server",
  "stdio",
  "node_system",
  "sse",
  "http_guard",
  "http_headers",
  "http_reply",
  "http_sessions",
  "http_handler",
  "http",
  // command line
  "world",
  "doctor",
  "printer",
  "question",
  "progress_line",
  "sessions_cli",
  "host_command",
  "help",
  "command_line",
  "completion_script",
  "completions",
  "cli",
  "mcp_command",
  "serve_parts",
  "serve",
  "serve_http",
  "program",
  "greeting",
  // library
  "node",
  "library",
];

const root = new URL("../", import.meta.url);

/** A module's code without comments, so that prose does not count as use. */
function code(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

async function modules(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const entry of Deno.readDir(new URL("lib/", root))) {
    if (!entry.name.endsWith(".ts") || entry.name.endsWith(".d.ts")) continue;
    const source = await Deno.readTextFile(new URL(`lib/${entry.name}`, root));
    found.set(entry.name.slice(0, -3), code(source));
  }
  return found;
}

function imports(source: string): string[] {
  return [
    ...source.matchAll(/\bfrom\s*["']([^"']+)["']/g),
    ...source.matchAll(/\bimport\s*\(\s*["']([^"']+)["']/g),
    ...source.matchAll(/^import\s*["']([^"']+)["']/gm),
    ...source.matchAll(/new URL\(\s*["'](\.[^"']+\.ts)["']/g),
  ].map((match) => match[1] as string);
}

Deno.test("lib/ holds the listed modules and no others, flat", async () => {
  assertEquals([...(await modules()).keys()].sort(), [...LAYERS].sort());
  for await (const entry of Deno.readDir(new URL("lib/", root))) {
    assertEquals(entry.isFile, true, `lib/${entry.name} is not a file`);
  }
});

Deno.test("lib/ modules import only modules listed before them", async () => {
  const wrong: string[] = [];
  for (const [name, source] of await modules()) {
    const rank = LAYERS.indexOf(name);
    for (const specifier of imports(source)) {
      const other = /^\.\/(\w+)\.ts$/.exec(specifier)?.[1];
      if (other === undefined) continue;
      const otherRank = LAYERS.indexOf(other);
      if (otherRank < 0 || otherRank >= rank) {
        wrong.push(`${name} imports ${other}`);
      }
    }
  }
  assertEquals(wrong, []);
});

Deno.test("lib/ imports only its own modules, packages of the import map, node: and deno.json", async () => {
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const wrong: string[] = [];
  for (const [name, source] of await modules()) {
    for (const specifier of imports(source)) {
      const known = /^\.\/\w+(\.d)?\.ts$/.test(specifier) ||
        specifier === "../deno.json" ||
        specifier.startsWith("node:") || specifier in config.imports;
      if (!known) wrong.push(`${name} imports ${specifier}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("lib/ never names the process's own streams, arguments, exit or console", async () => {
  const forbidden = /\bconsole\b|\bDeno\.(args|stdin|stdout|exit|exitCode)\b/;
  const wrong: string[] = [];
  for (const [name, source] of await modules()) {
    for (const line of source.split("\n")) {
      if (forbidden.test(line)) wrong.push(`${name}: ${line.trim()}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("lib/ keeps no mutable state in a module", async () => {
  const wrong: string[] = [];
  for (const [name, source] of await modules()) {
    for (const line of source.split("\n")) {
      const mutable = /^(export )?(let|var) /.test(line) ||
        /^(export )?const \w+(: (?!Readonly)[^=]+)? = (new (Map|Set|WeakMap|WeakSet|Array)(<[^>]*>)?\(\)|\[\]|\{\});/
          .test(line);
      if (mutable) wrong.push(`${name}: ${line}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("the tests' import map holds the program's import map unchanged", async () => {
  const [program, tests] = await Promise.all(
    ["deno.json", "tests/deno.json"].map(async (path) =>
      JSON.parse(await Deno.readTextFile(new URL(path, root))).imports
    ),
  );
  for (const [name, target] of Object.entries<string>(program)) {
    if (target.startsWith("./")) continue;
    assertEquals(tests[name], target, name);
  }
});

Deno.test("the program's lock file holds only packages of its import map", async () => {
  const [config, lock] = await Promise.all(
    ["deno.json", "deno.lock"].map(async (path) =>
      JSON.parse(await Deno.readTextFile(new URL(path, root)))
    ),
  );
  const named = new Set(
    Object.values(config.imports as Record<string, string>).map((target) =>
      /^npm:\/?((?:@[^/]+\/)?[^@/]+@[^/]+)/.exec(target)?.[1]
    ),
  );
  assertEquals(
    Object.keys(lock.npm).filter((name) => !named.has(name)),
    [],
  );
});

Deno.test("the task that serves HTTP is the server's, with the loopback added", async () => {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const network = " --allow-net=127.0.0.1,localhost,[::1]";
  const command: string = tasks.serve.command;
  assertEquals(command.includes(network), true);
  assertEquals(
    command.replace(network, "").replace(/serve$/, "mcp"),
    tasks.mcp.command,
  );
});

Deno.test("the server's task asks for no network, no native code and nothing whole", async () => {
  const { tasks } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const command: string = tasks.mcp.command;
  assertEquals(
    command.match(/-A\b|--allow-(all|net|ffi|import|scripts)\S*/g),
    null,
  );
  assertEquals(command.match(/[&|;>$]/g), null, "one plain command");
  for (const flag of ["--no-prompt", "--no-remote"]) {
    assertEquals(command.split(" ").includes(flag), true, flag);
  }
});

/**
 * Modules that are loaded before the first answer. Hosts time that answer, and each module costs it a tenth of a
 * millisecond and more.
 */
const MAX_FIRST_MODULES = 24;

Deno.test("main.ts loads few modules and no package before the first answer", async () => {
  const found = new Set<string>();
  const packages: string[] = [];
  const visit = async (url: URL) => {
    if (found.has(url.href)) return;
    found.add(url.href);
    if (!url.href.endsWith(".ts")) return;
    const source = code(await Deno.readTextFile(url));
    for (
      const [, names = "", specifier = ""] of source.matchAll(
        /^(?:import|export)\s(?!type\b)([^;"]*?)\bfrom\s*"([^"]+)"/gm,
      )
    ) {
      const isTypes = /^\{(\s*type\s[^,]+,?)+\s*\}\s*$/.test(names);
      if (isTypes) continue;
      if (specifier.startsWith(".")) await visit(new URL(specifier, url));
      else packages.push(`${specifier} in ${url}`);
    }
  };
  await visit(new URL("main.ts", root));
  assertEquals(packages, []);
  assertEquals(
    found.size <= MAX_FIRST_MODULES,
    true,
    `${found.size} modules: ${[...found].join(" ")}`,
  );
  assertEquals(found.size > 10, true, "the imports are not recognized");
});
