/**
 * `rousseau serve`: the MCP server over Streamable HTTP, behind a token.
 *
 * @module
 */
import { toBase64 } from "./base64.ts";
import {
  type AnyCommand,
  command,
  type CommandOutput,
  UsageError,
} from "./command.ts";
import { serveHttp } from "./http.ts";
import { pathsOf } from "./paths.ts";
import { stateFolder } from "./platform.ts";
import { assemble, type Served, surplus } from "./serve.ts";
import { ExitCode, Stop } from "./system.ts";
import type { WorldContext } from "./world.ts";

/** The port unless another is named. */
export const DEFAULT_PORT = 8787;

/** The name of the file that keeps the token, in the state folder. */
export const TOKEN_FILE = "token";

/** Characters that a token has at least; shorter ones could be guessed. */
export const MIN_TOKEN_CHARS = 16;

/** Random bytes in a token that is made here. */
export const TOKEN_BYTES = 32;

/** Milliseconds that another process, which has made the file, has to fill it. */
export const TOKEN_WAIT_MS = 1_000;

/** Milliseconds between two looks at a file that is still empty. */
const TOKEN_POLL_MS = 20;

const input = {
  type: "object",
  properties: {
    port: {
      type: "integer",
      minimum: 0,
      maximum: 65_535,
      description: "Port to listen on; 0 takes a free one.",
    },
    host: { type: "string", description: "Address to listen on." },
    auth: {
      type: "boolean",
      default: true,
      description: "Let everybody in, without a token.",
    },
  },
  additionalProperties: false,
} as const;

/** The command `serve`. */
export function httpCommand(
  servedBy: (ctx: WorldContext) => Promise<Served>,
): AnyCommand {
  return command<typeof input, WorldContext>({
    name: "serve",
    summary: "Serve the tools over MCP on HTTP",
    description:
      "Serves both eras of MCP at /mcp. Requests need the bearer token of ROUSSEAU_TOKEN, or else of a file in the state folder, which is made once.",
    input,
    options: {
      port: { shownEnv: "ROUSSEAU_SERVE_PORT", config: "serve.port" },
      host: {
        shownEnv: "ROUSSEAU_SERVE_HOST",
        config: "serve.host",
        value: "ADDRESS",
      },
    },
    examples: ["rousseau serve --root ~/project --port 8787"],
    run: async (args, ctx) => await serve(args, ctx, await servedBy(ctx)),
  }) as AnyCommand;
}

async function serve(
  args: { port?: number; host?: string; auth: boolean },
  ctx: WorldContext,
  served: Served,
): Promise<CommandOutput> {
  const { config, logger, terminal } = ctx;
  const token = args.auth ? await readToken(ctx) : undefined;
  const { server, complete, hooks } = assemble(ctx, served);
  await complete();
  const hostname = args.host ?? config.serve?.host ?? "127.0.0.1";
  const port = args.port ?? config.serve?.port ?? DEFAULT_PORT;
  let http;
  try {
    http = serveHttp(server, {
      hostname,
      port,
      token: token?.value,
      hosts: [hostname],
      logger,
    });
  } catch (error) {
    throw new UsageError(
      `cannot listen on ${hostname}:${port}: ${reason(error)}`,
    );
  }
  // What listens goes on listening.
  ctx.platform.surrender?.(surplus(served));
  terminal?.warn(
    `serving ${http.url}${
      token ? `, token in ${token.place}` : " without a token"
    }`,
  );
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  if (ctx.signal.aborted) resolve();
  ctx.signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([stopped, http.finished]);
  hooks.terminate?.();
  await http.close(0);
  await hooks.kill?.();
  await hooks.commit?.();
  return {
    content: [],
    exitCode: ctx.signal.reason instanceof Stop
      ? ctx.signal.reason.exitCode
      : ExitCode.done,
  };
}

/** The token, and where the person finds it: the variable, or a file that is made once and only the user may read. */
async function readToken(
  { platform, config }: WorldContext,
): Promise<{ value: string; place: string }> {
  const given = platform.env("ROUSSEAU_TOKEN");
  if (given !== undefined) {
    return {
      value: checkedToken(given, "ROUSSEAU_TOKEN"),
      place: "ROUSSEAU_TOKEN",
    };
  }
  const folder = stateFolder(platform, config.state.path);
  if (folder === undefined) {
    throw new UsageError(
      "there is no folder to keep a token in; set ROUSSEAU_TOKEN, or pass --no-auth",
    );
  }
  const place = pathsOf(platform.os).join(folder, TOKEN_FILE);
  try {
    return { value: await makeToken(folder, place), place };
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      return { value: checkedToken(await readWhole(place), place), place };
    }
    throw new UsageError(
      `cannot keep a token in ${place}: ${
        reason(error)
      }; set ROUSSEAU_TOKEN, or pass --no-auth`,
    );
  }
}

/** @throws {Deno.errors.AlreadyExists} when there is one. */
async function makeToken(folder: string, place: string): Promise<string> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await Deno.open(place, {
    write: true,
    createNew: true,
    mode: 0o600,
  });
  try {
    const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
    const value = toBase64(bytes, {
      alphabet: "base64url",
      omitPadding: true,
    });
    await file.write(new TextEncoder().encode(`${value}\n`));
    return value;
  } finally {
    file.close();
  }
}

/** The token of a file that another process may be filling at this moment. */
async function readWhole(place: string): Promise<string> {
  for (let waited = 0;; waited += TOKEN_POLL_MS) {
    const text = await Deno.readTextFile(place);
    if (text.trim() !== "" || waited >= TOKEN_WAIT_MS) return text.trim();
    await new Promise((resolve) => setTimeout(resolve, TOKEN_POLL_MS));
  }
}

function checkedToken(value: string, place: string): string {
  if (value.length >= MIN_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(value)) {
    return value;
  }
  throw new UsageError(
    `${place}: must be at least ${MIN_TOKEN_CHARS} characters without spaces; remove the file to have one made`,
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
