/** Rules on calls in the real program: what they close, whom they ask, and what the store says of it afterwards. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { MAX_ASKED_CHARS } from "../../lib/policy_gate.ts";
import {
  commandLine,
  Folders,
  type Message,
  run,
  Server,
  type StartOptions,
} from "../harness.ts";

/** A server with a configuration file, and what its client can do. */
async function open(
  folders: Folders,
  config: string,
  { capabilities = {}, args = [], revision = "2025-11-25" }: {
    capabilities?: unknown;
    args?: readonly string[];
    revision?: string;
  } = {},
): Promise<Server> {
  const file = `${folders.base}/config.yaml`;
  await Deno.writeTextFile(file, config);
  const server = await Server.start({
    folders,
    args: ["mcp", "--root", folders.root, "--config", file, ...args],
  });
  await server.request("initialize", {
    protocolVersion: revision,
    capabilities,
    clientInfo: { name: "test", version: "1" },
  });
  await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return server;
}

/** Runs `rousseau …` in the same folders, as a person would. */
async function shell(
  folders: Folders,
  args: readonly string[],
  options: StartOptions & { input?: string } = {},
) {
  return await run(
    folders,
    [
      ...args,
      "--root",
      folders.root,
      "--config",
      `${folders.base}/config.yaml`,
    ],
    options,
  );
}

/** What the store says was decided on each call, by tool, in order. */
async function decisions(
  folders: Folders,
): Promise<[tool: string, decided: Record<string, unknown>][]> {
  const list = await shell(folders, ["sessions", "list", "--json"]);
  const [{ id }] = JSON.parse(list.stdout);
  const shown = await shell(folders, ["sessions", "show", id, "--json"]);
  const tools = new Map<string, string>();
  return JSON.parse(shown.stdout).messages.flatMap(
    // deno-lint-ignore no-explicit-any
    ({ content: [part] }: any) => {
      if (part.tool_use) tools.set(part.tool_use.id, part.tool_use.name);
      const result = part.tool_result;
      return result ? [[tools.get(result.tool_use_id), result.decided]] : [];
    },
  );
}

const RULES = `
policy:
  rules:
    - deny: keys stay here
      path: vault
    - deny: true
      tool: bash
      command: git push
    - ask: true
      tool: write
      path: "*.lock"
    - ask: this is shared
      tool: bash
      command: make deploy
`;

Deno.test("a rule that denies closes a place to every file tool, with the rule named", async () => {
  await using folders = await Folders.make();
  await folders.write("vault/key.txt", "secret one\n");
  await folders.write("open.txt", "one\n");
  await Deno.symlink(`${folders.root}/vault`, `${folders.root}/way`);
  await using server = await open(folders, RULES);
  for (
    const [tool, args] of [
      ["read", { path: "vault/key.txt" }],
      ["read", { path: "way/key.txt" }],
      ["read", { path: "vault/none.txt" }],
      ["read", { path: "vault" }],
      ["write", { path: "vault/new.txt", content: "x" }],
      ["edit", {
        path: "vault/key.txt",
        old_string: "one",
        new_string: "two",
      }],
      ["grep", { pattern: "one", path: "vault" }],
      ["bash", { command: "pwd", cwd: "vault" }],
    ] as const
  ) {
    const { isError, content, _meta } = await server.call(tool, args);
    assertEquals(isError, true, tool);
    assertMatch(
      content[0].text,
      /^(read|write|edit|grep|bash): refused by policy\.rules\[0\] in .*config\.yaml \(keys stay here\)\. Only the person/,
    );
    assertEquals(_meta["rousseau/result"].refused, true);
    assert(!content[0].text.includes("key.txt"), content[0].text);
  }
  const found = await server.call("grep", { pattern: "one" });
  assertEquals(
    found.content[0].text.split("\n"),
    [`${folders.root}/open.txt:1: one`],
  );
  assertEquals(
    await Deno.readTextFile(`${folders.root}/vault/key.txt`),
    "secret one\n",
  );
  assertEquals(await server.text("bash", { command: "echo hi" }), "hi\n");
});

Deno.test("a rule on commands says that it is no wall, and finds the command wherever it stands", async () => {
  await using folders = await Folders.make();
  await using server = await open(folders, RULES);
  for (
    const command of ["git push", "cd . && git -C x push", "sh -c 'git push'"]
  ) {
    const { isError, content } = await server.call("bash", { command });
    assertEquals(isError, true);
    assertStringIncludes(content[0].text, "policy.rules[1] in ");
    assertStringIncludes(
      content[0].text,
      "guards against accidents and is no wall",
    );
  }
  assertEquals(
    await server.text("bash", { command: "echo git push" }),
    "git push\n",
  );
});

Deno.test("ask goes to the person in the handshake revisions, before anything is done", async () => {
  await using folders = await Folders.make();
  await using server = await open(folders, RULES, {
    capabilities: { elicitation: {} },
  });
  let calls = 0;
  const asked = async (
    answer: unknown,
  ): Promise<[question: Message, result: Message]> => {
    const id = `w${++calls}`;
    const before = server.messages.length;
    await server.send({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: {
        name: "write",
        arguments: { path: "a.lock", content: `${calls}` },
      },
    });
    const question = await server.find(
      (message) =>
        message.method === "elicitation/create" &&
        server.messages.indexOf(message) >= before,
      "the question",
    );
    await server.send({ jsonrpc: "2.0", id: question.id!, result: answer });
    return [question, await server.answer(id)];
  };
  const path = `${folders.root}/a.lock`;
  const [question, declined] = await asked({ action: "decline" });
  assertEquals(
    question.params.message,
    `Allow write?\n\non ${path}\n{"path":"a.lock"}\n\n(policy.rules[2] in ${folders.base}/config.yaml)`,
  );
  assertEquals(declined.result.isError, true);
  assertMatch(
    declined.result.content[0].text,
    /^write: refused by the person, whom policy\.rules\[2\] in .* asks first \(declined\)/,
  );
  await asked({ action: "cancel" });
  await assertMissing(path);
  const [, accepted] = await asked({ action: "accept", content: {} });
  assertEquals(accepted.result.isError, undefined);
  assertEquals(await Deno.readTextFile(path), "3");
  // Each call is asked for anew, and what no rule is about is not asked for.
  const [, again] = await asked({ action: "decline" });
  assertEquals(again.result.isError, true);
  await server.text("write", { path: "b.txt", content: "x" });
  await server.close();
  const by = `policy.rules[2] in ${folders.base}/config.yaml`;
  assertEquals(await decisions(folders), [
    ["write", { decision: "denied", by, path, answer: "decline" }],
    ["write", { decision: "denied", by, path, answer: "cancel" }],
    ["write", { decision: "allowed", by, path, answer: "accept" }],
    ["write", { decision: "denied", by, path, answer: "decline" }],
    ["write", {
      decision: "allowed",
      by: `policy.default in ${folders.base}/config.yaml`,
      path: `${folders.root}/b.txt`,
    }],
  ]);
});

async function assertMissing(path: string): Promise<void> {
  const found = await Deno.lstat(path).catch(() => undefined);
  assertEquals(found, undefined);
}

const stateless = (capabilities: unknown) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": capabilities,
});

Deno.test("ask is an input_required result in 2026-07-28, and the call is done when its answer comes", async () => {
  await using folders = await Folders.make();
  await using server = await open(folders, RULES);
  const path = `${folders.root}/a.lock`;
  const call = (more: Record<string, unknown> = {}) =>
    server.request("tools/call", {
      name: "write",
      arguments: { path: "a.lock", content: "x" },
      _meta: stateless({ elicitation: {} }),
      ...more,
    });
  for (const action of ["decline", "accept"]) {
    const { result } = await call();
    assertEquals(result.resultType, "input_required");
    const question = result.inputRequests["rousseau/policy"];
    assertEquals(question.method, "elicitation/create");
    assertStringIncludes(question.params.message, `on ${path}`);
    await assertMissing(path);
    const answered = await call({
      requestState: result.requestState,
      inputResponses: { "rousseau/policy": { action, content: {} } },
    });
    assertEquals(
      answered.result.isError,
      action === "accept" ? undefined : true,
    );
    if (action === "decline") await assertMissing(path);
  }
  assertEquals(await Deno.readTextFile(path), "x");
  await server.close();
  assertEquals(
    (await decisions(folders)).map(([, { decision, answer }]) => [
      decision,
      answer,
    ]),
    [
      ["asked", undefined],
      ["denied", "decline"],
      ["asked", undefined],
      ["allowed", "accept"],
    ],
  );
});

Deno.test("a client that cannot ask gets a refusal that says so and names the rule", async () => {
  await using folders = await Folders.make();
  await using server = await open(folders, RULES);
  const says = (text: string) =>
    assertMatch(
      text,
      /^bash: policy\.rules\[3\] in .* \(this is shared\), which guards .* asks the person first, and this was not possible: the client has no way to ask its person/,
    );
  const args = { command: "make deploy" };
  says(await server.text("bash", args));
  const { result } = await server.request("tools/call", {
    name: "bash",
    arguments: args,
    _meta: stateless({}),
  });
  assertEquals(result.isError, true);
  says(result.content[0].text);
  await server.close();
  assertEquals(
    (await decisions(folders)).map(([, { decision, answer }]) => [
      decision,
      answer,
    ]),
    [["denied", "unable"], ["denied", "unable"]],
  );
});

Deno.test("what a person is asked holds the whole command, with nothing in it that cannot be seen", async () => {
  await using folders = await Folders.make();
  await using server = await open(
    folders,
    "policy: { rules: [{ ask: true, tool: bash }] }",
    { capabilities: { elicitation: {} } },
  );
  const send = (id: string, args: unknown) =>
    server.send({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "bash", arguments: args },
    });
  await send("c", {
    command:
      "echo a\u202Eb\u200B\u001B[2Kc token=ghp_0123456789abcdefghijABCDEFGHIJ012345",
    env: { PATH: "/evil" },
  });
  const question = await server.find(
    ({ method }) => method === "elicitation/create",
    "the question",
  );
  const { message } = question.params;
  assertStringIncludes(message, "a\\u{202e}b\\u{200b}");
  assertStringIncludes(message, "ghp_0123456789abcdefghijABCDEFGHIJ012345");
  assertStringIncludes(message, '{"env":{"PATH":"/evil"}}');
  assert(!message.includes("\u001B"), message);
  await server.send({
    jsonrpc: "2.0",
    id: question.id!,
    result: { action: "decline" },
  });
  await server.answer("c");
  await send("long", { command: `: ${"x".repeat(MAX_ASKED_CHARS)}; rm y` });
  const { result } = await server.answer("long");
  assertStringIncludes(
    result.content[0].text,
    "could not see all of this call",
  );
});

Deno.test("every call's decision is recorded, refused ones and invalid ones, too, and with calls alone", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "one\n");
  await using server = await open(folders, "record: calls\nmode: workspace\n");
  await server.call("read", { path: "a.txt" });
  await server.call("read", { path: "/proc/1/environ" });
  await server.call("read", { file: "a.txt" });
  await server.call("bash", { command: "true" });
  const { _meta } = await server.call("bash", { command: "exit 3" });
  await server.close();
  const sandbox = _meta["rousseau/result"].sandbox;
  const allowed = { decision: "allowed", by: "mode workspace" };
  assertEquals(await decisions(folders), [
    ["read", allowed],
    ["read", { decision: "denied", by: "the scope", path: "/proc/1/environ" }],
    ["read", { decision: "none", by: "invalid arguments" }],
    ["bash", { ...allowed, sandbox }],
    ["bash", { ...allowed, sandbox }],
  ]);
  const stats = await shell(folders, ["sessions", "stats"]);
  assertMatch(stats.stdout, /read +3 .* 1 denied/);
  const [{ id }] = JSON.parse(
    (await shell(folders, ["sessions", "list", "--json"])).stdout,
  );
  const shown = await shell(folders, ["sessions", "show", id]);
  assertStringIncludes(shown.stdout, "(denied by the scope)");
  assertStringIncludes(shown.stdout, "(not run for invalid arguments)");
});

Deno.test("with recording off nothing is kept of a decision", async () => {
  await using folders = await Folders.make();
  await using server = await open(folders, `record: off\n${RULES}`);
  await server.call("read", { path: "vault/a" });
  await server.close();
  const found = await Deno.lstat(folders.database).catch(() => undefined);
  assertEquals(found, undefined);
});

Deno.test("the default asks or denies what no rule allows, and grep sees only what it may", async () => {
  await using folders = await Folders.make();
  await folders.write("src/a.ts", "one\n");
  await folders.write("src/b.md", "one\n");
  await folders.write("c.txt", "one\n");
  await using server = await open(
    folders,
    `
policy:
  default: deny
  rules:
    - allow: true
      tool: "{read,grep}"
      path: src
    - deny: true
      path: "*.md"
    - allow: true
      command: echo
`,
  );
  assertEquals(await server.text("read", { path: "src/a.ts" }), "one\n");
  assertEquals(
    await server.text("grep", { pattern: "one", path: "src" }),
    `${folders.root}/src/a.ts:1: one`,
  );
  assertEquals(await server.text("bash", { command: "echo hi" }), "hi\n");
  for (
    const [tool, args] of [
      ["read", { path: "c.txt" }],
      ["grep", { pattern: "one" }],
      ["write", { path: "src/a.ts", content: "" }],
      ["bash", { command: "echo hi; ls" }],
      ["bash", { command: "echo $(ls)" }],
      ["rousseau_list_sessions", {}],
      ["rousseau_undo", { dry_run: true }],
    ] as const
  ) {
    const { isError, content } = await server.call(tool, args);
    assertEquals(isError, true, `${tool} ${JSON.stringify(args)}`);
    assertStringIncludes(content[0].text, "policy.default in ");
  }
});

Deno.test("what a search only comes upon and a rule asks for stays closed until it is named", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "one\n");
  await folders.write("b.lock", "one\n");
  await using server = await open(
    folders,
    'policy: { rules: [{ ask: true, path: "*.lock" }] }',
    { capabilities: { elicitation: {} } },
  );
  assertEquals(
    await server.text("grep", { pattern: "one" }),
    `${folders.root}/a.txt:1: one`,
  );
  await server.send({
    jsonrpc: "2.0",
    id: "g",
    method: "tools/call",
    params: { name: "grep", arguments: { pattern: "one", path: "b.lock" } },
  });
  const { id } = await server.find(
    ({ method }) => method === "elicitation/create",
    "the question",
  );
  await server.send({
    jsonrpc: "2.0",
    id: id!,
    result: { action: "accept", content: {} },
  });
  const { result } = await server.answer("g");
  assertEquals(
    result.content[0].text,
    `${folders.root}/b.lock:1: one`,
  );
});

Deno.test("undo puts nothing back where a rule closes the file now", async () => {
  await using folders = await Folders.make();
  {
    await using server = await open(folders, "mode: workspace\n");
    await server.text("write", { path: "vault/a", content: "1" });
    await server.text("write", { path: "vault/a", content: "2" });
    await server.close();
  }
  await Deno.writeTextFile(`${folders.base}/config.yaml`, RULES);
  const { code, stderr } = await shell(folders, ["undo"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "policy.rules[0] in ");
  assertEquals(await Deno.readTextFile(`${folders.root}/vault/a`), "2");
});

Deno.test("calls on the command line keep to the rules; asked without a terminal, they are refused", async () => {
  await using folders = await Folders.make();
  await folders.write("vault/a", "1");
  await Deno.writeTextFile(`${folders.base}/config.yaml`, RULES);
  const denied = await shell(folders, ["read", "vault/a"]);
  assertEquals([denied.code, denied.stdout], [1, ""]);
  assertStringIncludes(denied.stderr, "read: refused by policy.rules[0] in ");
  const asked = await shell(folders, ["write", "a.lock", "x"], {
    input: "y\n",
  });
  assertEquals(asked.code, 1);
  assertStringIncludes(
    asked.stderr,
    "asks the person first, and this was not possible: standard input is no terminal",
  );
  await assertMissing(`${folders.root}/a.lock`);
});

Deno.test("S11: nothing that a tool or a client does changes the rules of a running server", async () => {
  await using folders = await Folders.make();
  await folders.write("vault/a", "1");
  await folders.write(
    ".rousseau.yaml",
    "policy: { rules: [{ deny: true, path: '*.key' }] }\n",
  );
  await folders.write("x.key", "k");
  await using server = await open(folders, RULES, { args: ["--mode", "full"] });
  const config = `${folders.base}/config.yaml`;
  const denied = async (path: string) => {
    const { isError, content } = await server.call("read", { path });
    assertEquals(isError, true);
    assertStringIncludes(content[0].text, "refused by policy.rules[0] in ");
  };
  for (const path of [config, `${folders.root}/.rousseau.yaml`]) {
    await server.call("write", { path, content: "policy: {}\n" });
    await server.call("bash", { command: `echo 'mode: full' > '${path}'` });
  }
  await denied("vault/a");
  await denied("x.key");
  // Whoever may write the files changes what holds from the next start on.
  await Deno.writeTextFile(config, "mode: full\n");
  await Deno.remove(`${folders.root}/.rousseau.yaml`);
  await server.send({
    jsonrpc: "2.0",
    method: "notifications/roots/list_changed",
  });
  await denied("vault/a");
  await denied("x.key");
});

Deno.test("a mistake in a rule stops the start with exit code 2 and says nothing on standard output", async () => {
  await using folders = await Folders.make();
  const file = `${folders.base}/config.yaml`;
  await Deno.writeTextFile(
    file,
    "policy: { rules: [{ deny: true, tool: raed }] }",
  );
  const [command, ...args] = await commandLine([
    "mcp",
    "--root",
    folders.root,
    "--config",
    file,
  ]);
  const { code, stdout, stderr } = await run(folders, [], {
    program: [command!, ...args],
    input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  });
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(stderr, 'there is no tool "raed"; did you mean "read"?');
});
