/**
 * The program itself under the official client libraries, in every mode that they have, over both transports. No tool
 * of its own asks its person anything; that part of the tour is made with the fixtures.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Any, callTool, MODES } from "../fixtures/sdk_clients.ts";
import {
  commandLine,
  environment,
  Folders,
  leftovers,
  PATIENCE,
} from "../harness.ts";
import { HttpProgram } from "../soak/http_program.ts";

/** Everything a client may ask of the program, once. */
async function tour(
  client: Any,
  isStateless: boolean,
  folders: Folders,
  updated: Promise<string>,
): Promise<void> {
  const call = (name: string, args: Any = {}, options?: Any): Promise<Any> =>
    callTool(client, name, args, options);
  const text = async (name: string, args: Any): Promise<string> =>
    (await call(name, args)).content[0].text;

  const { tools } = await client.listTools();
  assert(tools.some(({ name }: Any) => name === "bash"));
  await folders.write("a.txt", "plum\n");
  assertEquals(await text("read", { path: "a.txt" }), "plum\n");
  assertEquals((await call("read", { path: "none" })).isError, true);

  const seen: number[] = [];
  await call(
    "bash",
    { command: "for i in 1 2 3; do echo $i; sleep 0.4; done" },
    {
      onprogress: ({ progress }: Any) => seen.push(progress),
    },
  );
  assert(seen.length > 0);
  assertEquals(seen, [...new Set(seen)].toSorted((a, b) => a - b));

  const abort = new AbortController();
  const cancelled = call(
    "bash",
    { command: "echo > begun; sleep 1234.5" },
    { signal: abort.signal },
  ).then(() => "answered", () => "given up");
  const exists = (): Promise<boolean> =>
    Deno.stat(`${folders.root}/begun`).then(() => true, () => false);
  await until(exists);
  abort.abort("enough");
  assertEquals(await cancelled, "given up");
  await until(async () =>
    !(await leftovers(folders.base)).some((line) => line.includes("1234.5"))
  );

  const { resourceTemplates } = await client.listResourceTemplates();
  assertEquals(
    resourceTemplates[0].uriTemplate,
    "rousseau://sessions/{id}",
  );
  const listed = await text("rousseau_list_sessions", {});
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(listed)![0];
  const uri = `rousseau://sessions/${id}`;
  assertEquals(
    (await client.listResources()).resources.some((each: Any) =>
      each.uri === uri
    ),
    // A stateless client is not shown what its own calls make.
    !isStateless,
  );
  const read = await client.readResource({ uri });
  assertStringIncludes(read.contents[0].text, "plum");
  const { prompts } = await client.listPrompts();
  assert(prompts.some(({ name }: Any) => name === "resume_session"));
  const prompt = await client.getPrompt({
    name: "resume_session",
    arguments: { id },
  });
  assertStringIncludes(prompt.messages[0].content.text, id);
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "resume_session" },
    argument: { name: "id", value: id.slice(0, 6) },
  });
  assertEquals(completion.values, [id]);

  const listening = isStateless
    ? await client.listen({ resourceSubscriptions: [uri] })
    : await client.subscribeResource({ uri });
  await call("read", { path: "a.txt" });
  assertEquals(await updated, uri);
  if (isStateless) await listening.close();
  else await client.unsubscribeResource({ uri });
}

async function until(fits: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  while (!await fits()) {
    assert(Date.now() < deadline, "waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const { name, isStateless, Stdio, Http, make } of MODES) {
  for (const transport of ["stdio", "http"] as const) {
    Deno.test({
      name: `${name} makes its tour of the program over ${transport}`,
      // The libraries keep timers and streams for a moment after close().
      sanitizeOps: false,
      sanitizeResources: false,
      async fn() {
        await using folders = await Folders.make();
        const updated = Promise.withResolvers<string>();
        const client = make(() => ({ action: "cancel" }), updated.resolve);
        let program: HttpProgram | undefined;
        try {
          if (transport === "stdio") {
            const [command, ...args] = await commandLine([
              "mcp",
              "--root",
              folders.root,
            ]);
            const env = await environment(folders);
            const cwd = folders.root;
            await client.connect(new Stdio({ command, args, env, cwd }));
          } else {
            program = await HttpProgram.start(folders);
            await client.connect(new Http(new URL(program.url)));
          }
          await tour(client, isStateless, folders, updated.promise);
        } finally {
          await client.close();
          await program?.[Symbol.asyncDispose]();
        }
      },
    });
  }
}
