/** How a server ends: by the end of its input, by signals, by a host that is gone. */
import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
} from "@std/assert";
import {
  appears,
  commandLine,
  environment,
  Folders,
  leftovers,
  run,
  Server,
} from "../harness.ts";

/** A command that cannot be asked to stop, with a child, which tells when both run. */
const STUBBORN = "trap '' TERM; sleep 300 & echo $! > child; sleep 300";

function call(id: string, command: string, more: object = {}) {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "bash", arguments: { command, ...more } },
  };
}

Deno.test("J01: the end of the input ends an idle server at once, with 0", async () => {
  await using server = await Server.open();
  await server.call("bash", { command: "true" });
  const begun = performance.now();
  await server.closeInput();
  assertEquals((await server.exit()).code, 0);
  assertLess(performance.now() - begun, 2_000);
});

Deno.test("J02: what was asked right before the end of the input is answered", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "hello\n");
  const { code, stdout } = await run(folders, ["mcp", "--root", folders.root], {
    input: [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt"}}}',
      '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"bash","arguments":{"command":"sleep 0.3; echo late"}}}',
    ].join("\n"), // The last line has no newline.
  });
  assertEquals(code, 0);
  // Beside the answers there is the notification that a session was begun.
  const ids = stdout.trim().split("\n").map((line) => JSON.parse(line).id)
    .filter((id) => id !== undefined);
  assertEquals(ids.sort(), [1, 2, 3]);
  assertStringIncludes(stdout, "late");
});

Deno.test("J18: a host that no longer reads ends the server quietly", async () => {
  await using folders = await Folders.make();
  await folders.write("a.txt", "x".repeat(10_000));
  const [command, ...args] = await commandLine(["mcp", "--root", folders.root]);
  const child = new Deno.Command(command as string, {
    args,
    cwd: folders.root,
    env: await environment(folders),
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await child.stdout.cancel();
  const writer = child.stdin.getWriter();
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
    ...Array.from({ length: 50 }, (_, n) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: n + 2,
        method: "tools/call",
        params: { name: "read", arguments: { path: "a.txt" } },
      })),
  ];
  await writer.write(new TextEncoder().encode(lines.join("\n") + "\n")).catch(
    () => {},
  );
  const [status, stderr] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
  ]);
  await writer.abort().catch(() => {});
  assertEquals({ code: status.code, stderr }, { code: 0, stderr: "" });
});

Deno.test("S17: SIGTERM during a command ends its whole tree, exit code 143", async () => {
  await using server = await Server.open();
  await server.send(call("long", STUBBORN));
  await appears(`${server.folders.root}/child`);
  const begun = performance.now();
  server.child.kill("SIGTERM");
  const { code, signal } = await server.exit();
  assertEquals({ code, signal }, { code: 143, signal: null });
  assertLess(performance.now() - begun, 1_500);
});

Deno.test("S17: SIGTERM ends background jobs too", async () => {
  await using server = await Server.open();
  await server.call("bash", { command: STUBBORN, background: true });
  await appears(`${server.folders.root}/child`);
  server.child.kill("SIGTERM");
  assertEquals((await server.exit()).code, 143);
});

Deno.test("S18: a cancelled command is killed with its children and never answered", async () => {
  await using server = await Server.open();
  await server.send(call("long", "sleep 300 & echo $! > child; sleep 300"));
  await appears(`${server.folders.root}/child`);
  assertEquals((await leftovers(server.folders.root)).length > 0, true);
  await server.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "long", reason: "stop" },
  });
  const deadline = Date.now() + 10_000;
  for (;;) {
    const left = (await leftovers(server.folders.root)).filter((line) =>
      line.includes("sleep")
    );
    if (left.length === 0) break;
    assert(Date.now() < deadline, left.join("\n"));
  }
  assertEquals((await server.request("ping")).result, {});
  await server.close();
  assertEquals(server.messages.some(({ id }) => id === "long"), false);
});

Deno.test("S19: at the end of the input a command is finished within the drain limit", async () => {
  await using server = await Server.open();
  await server.send(call("short", "echo began > began; sleep 0.5; echo ended"));
  await appears(`${server.folders.root}/began`);
  await server.closeInput();
  assertEquals((await server.exit()).code, 0);
  assertStringIncludes(
    (await server.answer("short")).result.content[0].text,
    "ended",
  );
});

Deno.test("S19: a command that outlasts the drain limit is killed with its children, exit code 0", async () => {
  await using folders = await Folders.make();
  await using server = await Server.open({
    folders,
    args: ["mcp", "--root", folders.root, "--drain", "1"],
  });
  await server.send(call("long", STUBBORN));
  await appears(`${folders.root}/child`);
  const begun = performance.now();
  await server.closeInput();
  assertEquals((await server.exit()).code, 0);
  assertLess(performance.now() - begun, 6_000);
});

Deno.test("S19: at the end of the input background jobs end at once", async () => {
  await using server = await Server.open();
  await server.call("bash", { command: STUBBORN, background: true });
  await appears(`${server.folders.root}/child`);
  const begun = performance.now();
  await server.closeInput();
  assertEquals((await server.exit()).code, 0);
  assertLess(performance.now() - begun, 5_000);
});
