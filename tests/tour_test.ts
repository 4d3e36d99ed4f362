/** The official client libraries, in every mode that they have, over both transports: all that a client may ask. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Any, callTool, MODES } from "./fixtures/sdk_clients.ts";
import { denoDirectory } from "./harness.ts";

const SERVER = new URL("./fixtures/conformance_server.ts", import.meta.url);

const CONFIG = new URL("../deno.json", import.meta.url);

const COMMAND = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-check",
  "--config",
  CONFIG.pathname,
  "--allow-read",
  "--allow-env",
  "--allow-net=127.0.0.1",
  SERVER.pathname,
];

/** Everything a client may ask, once. */
async function tour(
  client: Any,
  isStateless: boolean,
  updated: Promise<string>,
): Promise<void> {
  const text = (result: Any): string => result.content[0].text;
  const call = (name: string, args: Any = {}, options?: Any): Promise<Any> =>
    callTool(client, name, args, options);

  const { tools } = await client.listTools();
  assertEquals(tools[0].name, "test_simple_text");
  assertStringIncludes(text(await call("test_simple_text")), "simple text");
  assertEquals((await call("test_error_handling")).isError, true);

  const seen: number[] = [];
  await call("test_tool_with_progress", {}, {
    onprogress: ({ progress }: Any) => seen.push(progress),
  });
  // The older library drops a notification that arrives together with the answer.
  assertEquals(seen.slice(0, 2), [0, 50]);

  const abort = new AbortController();
  const cancelled = call("test_wait", {}, { signal: abort.signal })
    .then(() => "answered", () => "given up");
  await call("test_simple_text");
  abort.abort("enough");
  assertEquals(await cancelled, "given up");
  // The cancellation travels beside the next call, not before it; over HTTP it is a disconnect that has to be noticed.
  let waits: string[] = [];
  for (let i = 0; i < 100 && waits.length === 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    waits = JSON.parse(text(await call("test_waits")));
  }
  assertEquals(waits.length, 1);

  const { resources } = await client.listResources();
  assertEquals(resources.length, 3);
  const { resourceTemplates } = await client.listResourceTemplates();
  assertEquals(resourceTemplates.length, 1);
  const read = await client.readResource({ uri: "test://template/7/data" });
  assertStringIncludes(read.contents[0].text, '"id":"7"');

  const { prompts } = await client.listPrompts();
  assertEquals(prompts.length, 5);
  const got = await client.getPrompt({
    name: "test_prompt_with_arguments",
    arguments: { arg1: "a", arg2: "b" },
  });
  assertStringIncludes(got.messages[0].content.text, "arg1='a'");
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
    argument: { name: "arg1", value: "par" },
  });
  assertEquals(completion.values, ["paris", "park", "party"]);

  assertStringIncludes(
    text(await call("test_elicitation", { message: "Who?" })),
    "Ann",
  );

  const uri = "test://watched-resource";
  const listening = isStateless
    ? await client.listen({ resourceSubscriptions: [uri] })
    : await client.subscribeResource({ uri });
  await call("test_touch");
  assertEquals(await updated, uri);
  if (isStateless) await listening.close();
  else await client.unsubscribeResource({ uri });
}

for (const { name, isStateless, Stdio, Http, make } of MODES) {
  for (const transport of ["stdio", "http"] as const) {
    Deno.test({
      name: `${name} makes its tour over ${transport}`,
      // The libraries keep timers and streams for a moment after close().
      sanitizeOps: false,
      sanitizeResources: false,
      async fn() {
        const updated = Promise.withResolvers<string>();
        const client = make(
          () => ({
            action: "accept",
            content: { username: "Ann", email: "ann@example.com" },
          }),
          updated.resolve,
        );
        let stop = async () => {};
        if (transport === "stdio") {
          await client.connect(
            new Stdio({
              command: Deno.execPath(),
              args: [...COMMAND, "stdio"],
              env: { DENO_DIR: await denoDirectory() },
            }),
          );
        } else {
          const process = new Deno.Command(Deno.execPath(), {
            args: [...COMMAND, "0"],
            stdout: "piped",
          }).spawn();
          const reader = process.stdout.getReader();
          const { value } = await reader.read();
          stop = async () => {
            process.kill("SIGKILL");
            await reader.cancel();
            await process.status;
          };
          const url = new TextDecoder().decode(value).trim();
          await client.connect(new Http(new URL(url)));
        }
        try {
          await tour(client, isStateless, updated.promise);
        } finally {
          await client.close();
          await stop();
        }
      },
    });
  }
}
