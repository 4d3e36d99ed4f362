/**
 * A scripted model on loopback: an HTTP server that speaks the model APIs that command-line hosts use, and says what a
 * script tells it to.
 *
 * The script is a generator that yields what the model says and receives what the host shows it of the outcome. Every
 * request of a host holds the whole conversation, so the script is run anew for each, and the server keeps no state.
 *
 * @module
 */
import type { JsonObject } from "../../lib/mcp.ts";
import { anthropic } from "./anthropic.ts";
import { callId } from "./api.ts";
import type {
  Api,
  Call,
  Conversation,
  OfferedTool,
  Script,
  Turn,
} from "./api.ts";
import { gemini } from "./gemini.ts";
import { chatCompletions, responses } from "./openai.ts";

/** How the model gets at tools that a host does not show it. */
export interface Detour {
  /** The tool of the host that is there from the start. */
  tool: string;
  /** Arguments of `tool` that make it fetch the tool of that name. */
  search?(name: string): JsonObject;
  /** The call of the host's tool that makes a call, where the tool itself stays hidden. */
  through?(call: Call): Call;
  /** The call that waits for the rest, where the host showed only the beginning of a call's outcome. */
  unfinished?(result: string): Call | undefined;
}

/** Where a script stands after what the model was shown. */
export function replay(
  script: Script,
  results: readonly string[],
  detour?: Detour,
): { step: IteratorResult<Call, string>; waiting: Call | undefined } {
  let step = script.next();
  let shown = "";
  let waiting: Call | undefined;
  for (const result of results) {
    if (step.done) break;
    shown += result;
    waiting = detour?.unfinished?.(result);
    if (waiting) continue;
    step = script.next(shown);
    shown = "";
  }
  return { step, waiting };
}

/** A model that listens. */
export class Model implements AsyncDisposable {
  /** What was asked for, a line each, for the report of a failure. */
  readonly requests: string[] = [];
  /** The longest conversation that a host sent. */
  last: Conversation = { tools: [], results: [] };
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #script: () => Script;
  readonly #detour: Detour | undefined;
  readonly #searched = new Set<string>();

  /**
   * @param script Starts the script anew.
   * @param detour How to get at a tool that is not offered.
   */
  constructor(script: () => Script, detour?: Detour) {
    this.#script = script;
    this.#detour = detour;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  /** The server's address, without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    this.requests.push(`${request.method} ${path}`);
    const text = await request.text();
    const api = APIS.find((one) => one.serves(path));
    if (request.method !== "POST" || !api) {
      return path.endsWith("/models") ? MODELS() : Response.json({}, {
        status: request.method === "HEAD" ? 200 : 404,
      });
    }
    const body = JSON.parse(text);
    const conversation = api.read(body);
    if (conversation.results.length >= this.last.results.length) {
      if (conversation.tools.length > 0) this.last = conversation;
    }
    return api.write(this.#next(conversation), body, path);
  }

  #next({ tools, results }: Conversation): Turn {
    const detour = this.#detour;
    const entry = tools.find(({ name }) => name === detour?.tool);
    // A request without the server's tools is for a title or the like.
    if (!entry && !offered(tools, "bash")) return { say: "Nothing to do" };
    const { step, waiting } = replay(this.#script(), results, detour);
    if (step.done) return { say: step.value };
    const { tool: name, args } = step.value;
    const id = callId(results.length);
    const tool = offered(tools, name);
    if (tool && !waiting) return { id, tool, args };
    if (entry && detour?.search && !this.#searched.has(name)) {
      this.#searched.add(name);
      return {
        id: `toolu_search${this.#searched.size}`,
        tool: entry,
        args: detour.search(name),
      };
    }
    const call = waiting ?? detour?.through?.(step.value);
    const own = tools.find((one) => one.name === call?.tool);
    return call && own
      ? { id, tool: own, args: call.args }
      : { say: `There is no ${call?.tool ?? name}` };
  }
}

/** The server's tool of that name, as the host calls it. */
function offered(
  tools: readonly OfferedTool[],
  name: string,
): OfferedTool | undefined {
  return tools.find((tool) =>
    /rousseau/.test(`${tool.namespace ?? ""}${tool.name}`) &&
    (tool.name === name || new RegExp(`[_-]${name}$`).test(tool.name))
  );
}

const APIS: readonly Api[] = [anthropic, responses, chatCompletions, gemini];

function MODELS(): Response {
  return Response.json({
    object: "list",
    data: [{ id: "scripted", object: "model", owned_by: "test" }],
  });
}
