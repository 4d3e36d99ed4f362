/**
 * The methods of the protocol, as a table: in which eras each exists, and what answers it.
 *
 * @module
 */
import { type CacheHints, handshakeCaller, isLogLevel, own } from "./era.ts";
import { badParams, type Exchange, refuseCursor } from "./exchange.ts";
import { capabilities, initializeResult } from "./handshake.ts";
import { LOG_LEVELS, STATELESS_REVISIONS } from "./mcp.ts";

/** One method. */
export interface Method {
  /** Whether the revisions opened by `initialize` have it. */
  handshake: boolean;
  /** Whether 2026-07-28 has it. */
  stateless: boolean;
  /** Whether it is answered before `initialize`. */
  early?: boolean;
  /** Whether it goes on as long as the connection does, and so takes no place among what is worked on at once. */
  endless?: boolean;
  /** What a stateless client may do with the result; for the methods whose results say so. */
  cache?: CacheHints;
  /** Answers at once, in the loop that reads. */
  answer?(exchange: Exchange): object;
  /** Answers in its own time, beside others. */
  work?(exchange: Exchange): Promise<object>;
}

/** The tool table never changes during a process, and is the same for everybody. */
const STATIC: CacheHints = { ttlMs: 3_600_000, cacheScope: "public" };

/** What is found at request time belongs to the person. */
const PRIVATE: CacheHints = { ttlMs: 0, cacheScope: "private" };

/**
 * The methods by name. Names come from peers: this is a `Map`, and is looked up in, never called into. What `initialize`
 * does not need is loaded at its first use, since hosts time that answer.
 */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["initialize", {
    handshake: true,
    stateless: false,
    early: true,
    answer: initialize,
  }],
  // The second seed's client sends it as a request.
  ["notifications/initialized", {
    handshake: true,
    stateless: false,
    answer: empty,
  }],
  ["ping", { handshake: true, stateless: false, early: true, answer: empty }],
  ["shutdown", { handshake: true, stateless: false, answer: empty }],
  ["logging/setLevel", {
    handshake: true,
    stateless: false,
    answer: setLevel,
  }],
  ["resources/subscribe", {
    handshake: true,
    stateless: false,
    work: async (exchange) =>
      (await import("./subscriptions.ts")).subscribe(exchange),
  }],
  ["resources/unsubscribe", {
    handshake: true,
    stateless: false,
    work: async (exchange) =>
      (await import("./subscriptions.ts")).unsubscribe(exchange),
  }],
  ["server/discover", {
    handshake: false,
    stateless: true,
    cache: STATIC,
    answer: discover,
  }],
  ["subscriptions/listen", {
    handshake: false,
    stateless: true,
    endless: true,
    work: async (exchange) =>
      (await import("./subscriptions.ts")).listen(exchange),
  }],
  ["tools/list", {
    handshake: true,
    stateless: true,
    cache: STATIC,
    answer: listTools,
  }],
  ["tools/call", {
    handshake: true,
    stateless: true,
    work: async (exchange) =>
      await withInput(exchange, (await import("./calls.ts")).callTool),
  }],
  ["resources/list", {
    handshake: true,
    stateless: true,
    cache: PRIVATE,
    work: async (exchange) =>
      await (await import("./resources.ts")).listResources(exchange),
  }],
  ["resources/templates/list", {
    handshake: true,
    stateless: true,
    cache: STATIC,
    work: async (exchange) =>
      (await import("./resources.ts")).listTemplates(exchange),
  }],
  ["resources/read", {
    handshake: true,
    stateless: true,
    cache: PRIVATE,
    work: async (exchange) =>
      await withInput(exchange, (await import("./resources.ts")).readResource),
  }],
  ["prompts/list", {
    handshake: true,
    stateless: true,
    cache: STATIC,
    work: async (exchange) =>
      (await import("./prompts.ts")).listPrompts(exchange),
  }],
  ["prompts/get", {
    handshake: true,
    stateless: true,
    work: async (exchange) =>
      await withInput(exchange, (await import("./prompts.ts")).getPrompt),
  }],
  ["completion/complete", {
    handshake: true,
    stateless: true,
    work: async (exchange) =>
      await (await import("./completion.ts")).complete(exchange),
  }],
]);

function empty(): object {
  return {};
}

function initialize(exchange: Exchange): object {
  const { core, params, peer } = exchange;
  const caller = handshakeCaller(params);
  peer.caller = caller;
  return initializeResult(caller.revision, core.introduction);
}

function discover({ core, caller }: Exchange): object {
  const { instructions } = core.introduction;
  return {
    supportedVersions: [...STATELESS_REVISIONS],
    capabilities: capabilities(caller.revision, core.introduction),
    ...(instructions ? { instructions } : {}),
  };
}

function setLevel({ params, peer }: Exchange): object {
  const level = own(params, "level");
  if (!isLogLevel(level)) {
    throw badParams(`level must be one of ${LOG_LEVELS.join(", ")}`);
  }
  peer.caller!.logLevel = level;
  return {};
}

function listTools(exchange: Exchange): object {
  refuseCursor(exchange);
  return { tools: exchange.core.registry.toolDefinitions() };
}

async function withInput(
  exchange: Exchange,
  work: (exchange: Exchange) => Promise<object>,
): Promise<object> {
  // Only a stateless request brings its answers along.
  if (!exchange.caller.stateless) return await work(exchange);
  return await (await import("./inquiry.ts")).withInput(exchange, work);
}
