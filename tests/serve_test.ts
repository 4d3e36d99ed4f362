import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { CommandContext } from "../lib/command.ts";
import type { Platform } from "../lib/platform.ts";
import { Printed } from "../lib/results.ts";
import { assemble } from "../lib/serve.ts";
import { MIN_TOKEN_CHARS } from "../lib/serve_http.ts";
import { buildProgram } from "../lib/program.ts";
import { run } from "../lib/cli.ts";
import { Stop } from "../lib/system.ts";
import { wholeOffer } from "../lib/selection.ts";
import { openWorld } from "../lib/world.ts";

// deno-lint-ignore no-explicit-any
type Message = any;

const base: CommandContext = {
  signal: new AbortController().signal,
  progress() {},
  ...new Printed(),
  log() {},
  client: { capabilities: {} },
  ask: () => Promise.reject(new Error("nobody to ask")),
  meta: {},
};

function platform(env: Record<string, string>): Platform {
  return {
    os: "linux",
    env: (name) => env[name],
    home: undefined,
    // Not the real one: that is open to every tool, and the tests' folders lie in it.
    temp: "/temporary",
    cwd: "/",
    execPath: undefined,
    uid: 1000,
  };
}

/** A folder with `inner` in it, both holding `a.txt`. */
async function inFolder(body: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir({ prefix: "rousseau-test-" });
  try {
    await Deno.mkdir(`${folder}/inner`);
    for (const place of [folder, `${folder}/inner`]) {
      await Deno.writeTextFile(`${place}/a.txt`, place);
    }
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A client over streams that answers `roots/list` from `roots`. */
async function withClient(
  folder: string,
  roots: () => string[] | undefined,
  body: (
    request: (method: string, params?: unknown) => Promise<Message>,
    notify: (method: string, params?: unknown) => Promise<void>,
    seen: Message[],
  ) => Promise<void>,
  log: string[] = [],
) {
  const world = await openWorld({
    flags: { root: [folder] },
    platform: platform({ ROUSSEAU_STATE_PATH: ":memory:" }),
    writeLog: (bytes) => {
      log.push(new TextDecoder().decode(bytes));
      return Promise.resolve();
    },
  });
  const { server, complete, hooks } = assemble(world.extend(base), {
    ...wholeOffer(world),
    resources: [],
  });
  await complete();
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const send = (message: Message) =>
    writer.write(
      new TextEncoder().encode(
        `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
      ),
    );
  const seen: Message[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  const output = new WritableStream<Uint8Array>({
    write(bytes) {
      for (const line of new TextDecoder().decode(bytes).trim().split("\n")) {
        const message = JSON.parse(line);
        seen.push(message);
        if (message.method === "roots/list") {
          const list = roots();
          if (list) {
            send({
              id: message.id,
              result: {
                roots: list.map((path) => ({ uri: `file://${path}` })),
              },
            });
          }
        } else waiting.get(message.id)?.(message);
      }
    },
  });
  const served = server.serve(input.readable, output);
  let id = 0;
  const request = (method: string, params: unknown = {}) => {
    const { promise, resolve } = Promise.withResolvers<Message>();
    waiting.set(++id, resolve);
    send({ id, method, params });
    return promise;
  };
  await request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: { roots: { listChanged: true } },
    clientInfo: { name: "test", version: "1" },
  });
  await send({ method: "notifications/initialized" });
  try {
    await body(
      request,
      async (method, params) => await send({ method, params }),
      seen,
    );
  } finally {
    await writer.close();
    await served;
    await hooks.kill?.();
    await world.close(false);
  }
}

const read = (path: string) =>
  ["tools/call", { name: "read", arguments: { path } }] as const;

Deno.test("P09: the client's roots narrow the operator's, and follow roots/list_changed", async () => {
  await inFolder(async (folder) => {
    let asked = 0;
    let list = [`${folder}/inner`];
    await withClient(folder, () => {
      asked++;
      return list;
    }, async (request, notify) => {
      const inner = await request(...read("a.txt"));
      assertEquals(inner.result.content[0].text, `${folder}/inner`);
      const write = (path: string) =>
        request("tools/call", {
          name: "write",
          arguments: { path, content: "x" },
        });
      assertEquals((await write(`${folder}/b.txt`)).result.isError, true);
      assertEquals(
        (await write(`${folder}/inner/b.txt`)).result.isError,
        undefined,
      );
      assertEquals(asked, 1);
      list = [folder];
      await notify("notifications/roots/list_changed");
      assertEquals((await write(`${folder}/b.txt`)).result.isError, undefined);
      assertEquals(asked, 2);
    });
  });
});

Deno.test("P09: the client's roots never widen the operator's", async () => {
  await inFolder(async (folder) => {
    const log: string[] = [];
    await Deno.mkdir(`${folder}/other`);
    await withClient(
      `${folder}/inner`,
      () => [folder + "/other"],
      async (request) => {
        const refused = await request("tools/call", {
          name: "write",
          arguments: { path: `${folder}/other/b.txt`, content: "x" },
        });
        assertEquals(refused.result.isError, true);
        const inner = await request(...read("a.txt"));
        assertEquals(inner.result.content[0].text, `${folder}/inner`);
      },
      log,
    );
    assertStringIncludes(log.join(""), "which stay in force");
  });
});

Deno.test("sessions are resources that grow, and a prompt that completes their ids", async () => {
  await inFolder(async (folder) => {
    await withClient(folder, () => [], async (request, _notify, seen) => {
      await request(...read("a.txt"));
      while (
        !seen.some(({ method }) =>
          method === "notifications/resources/list_changed"
        )
      ) {
        await request("ping");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const { result } = await request("resources/list");
      const uri = result.resources[0].uri as string;
      const id = uri.split("/").at(-1)!;
      await request("resources/subscribe", { uri });
      await request(...read("inner/a.txt"));
      while (
        !seen.some(({ method }) => method === "notifications/resources/updated")
      ) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const completed = await request("completion/complete", {
        ref: { type: "ref/prompt", name: "resume_session" },
        argument: { name: "id", value: id.slice(0, 4) },
      });
      assertEquals(completed.result.completion.values, [id]);
      const prompt = await request("prompts/get", {
        name: "resume_session",
        arguments: { id: id.slice(0, 8) },
      });
      assertStringIncludes(prompt.result.messages[0].content.text, id);
      assertStringIncludes(prompt.result.messages[0].content.text, "Carry on");
    });
  });
});

async function serve(
  args: string[],
  env: Record<string, string>,
  body: (url: string, err: string) => Promise<void>,
): Promise<{ code: number; err: string }> {
  const on = platform(env);
  const stop = new AbortController();
  const { promise: listening, resolve } = Promise.withResolvers<string>();
  let err = "";
  const { root, options } = buildProgram({
    platform: on,
    launch: { command: "x", args: [] },
    writeLog: () => Promise.resolve(),
  });
  const running = run(root, ["serve", "--port", "0", ...args], {
    stdin: new Blob([]).stream(),
    stdout: new WritableStream(),
    stderr: {
      write(bytes) {
        err += new TextDecoder().decode(bytes);
        const url = /http:\S+\/mcp/.exec(err)?.[0];
        if (url) resolve(url);
        return Promise.resolve();
      },
    },
    env: on.env,
    signal: stop.signal,
  }, options);
  const url = await Promise.race([listening, running.then(() => undefined)]);
  try {
    if (url !== undefined) await body(url, err);
  } finally {
    stop.abort(new Stop(143));
  }
  return { code: await running, err };
}

async function ping(url: string, token?: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      },
    }),
  });
  await response.text();
  return response.status;
}

Deno.test("serve makes a token once, for the user's eyes only, and lets nobody in without it", async () => {
  await inFolder(async (folder) => {
    const env = { ROUSSEAU_STATE_PATH: `${folder}/state/sessions.db` };
    const tokens = new Set<string>();
    for (let i = 0; i < 2; i++) {
      const { code } = await serve(
        ["--root", folder],
        env,
        async (url, err) => {
          const file = `${folder}/state/token`;
          assertStringIncludes(err, file);
          const token = (await Deno.readTextFile(file)).trim();
          tokens.add(token);
          assert(token.length >= MIN_TOKEN_CHARS);
          assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
          assertEquals(await ping(url), 401);
          assertEquals(await ping(url, "wrong"), 401);
          assertEquals(await ping(url, token), 200);
        },
      );
      assertEquals(code, 143);
    }
    assertEquals(tokens.size, 1);
  });
});

Deno.test("serve waits for another server to fill the token's file, and names one that stays empty", async () => {
  await inFolder(async (folder) => {
    const file = `${folder}/state/token`;
    const env = { ROUSSEAU_STATE_PATH: `${folder}/state/sessions.db` };
    const token = "t".repeat(MIN_TOKEN_CHARS);
    await Deno.mkdir(`${folder}/state`);
    await Deno.writeTextFile(file, "");
    const filled = new Promise((resolve) => setTimeout(resolve, 60))
      .then(() => Deno.writeTextFile(file, `${token}\n`));
    await serve([], env, async (url) => {
      assertEquals(await ping(url, token), 200);
    });
    await filled;
    await Deno.writeTextFile(file, "");
    const { code, err } = await serve([], env, () => Promise.resolve());
    assertEquals(code, 2);
    assertStringIncludes(err, `${file}: must be at least`);
  });
});

Deno.test("servers that start together agree on one token", async () => {
  await inFolder(async (folder) => {
    const env = { ROUSSEAU_STATE_PATH: `${folder}/state/sessions.db` };
    const statuses: number[] = [];
    await Promise.all(Array.from({ length: 4 }, async () => {
      await serve([], env, async (url) => {
        const token = await Deno.readTextFile(`${folder}/state/token`);
        statuses.push(await ping(url, token.trim()));
      });
    }));
    assertEquals(statuses, [200, 200, 200, 200]);
  });
});

Deno.test("serve takes the token of the variable, refuses a short one, and none with --no-auth", async () => {
  await inFolder(async (folder) => {
    const state = { ROUSSEAU_STATE_PATH: `${folder}/state/sessions.db` };
    const token = "t".repeat(MIN_TOKEN_CHARS);
    await serve([], { ...state, ROUSSEAU_TOKEN: token }, async (url) => {
      assertEquals(await ping(url, token), 200);
    });
    const short = await serve(
      [],
      { ...state, ROUSSEAU_TOKEN: token.slice(1) },
      () => Promise.resolve(),
    );
    assertEquals(short.code, 2);
    assertStringIncludes(short.err, "ROUSSEAU_TOKEN: must be at least");
    await serve(["--no-auth"], state, async (url, err) => {
      assertStringIncludes(err, "without a token");
      assertEquals(await ping(url), 200);
    });
  });
});

Deno.test("serve says when it cannot listen", async () => {
  const { code, err } = await serve(["--host", "203.0.113.1", "--no-auth"], {
    ROUSSEAU_STATE_PATH: ":memory:",
  }, () => Promise.resolve());
  assertEquals(code, 2);
  assertStringIncludes(err, "cannot listen on 203.0.113.1:0");
});
