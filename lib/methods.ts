/**
 * The methods of the protocol, as a table: in which eras each exists, and what answers it.
 *
 * @module
 */
import { callTool } from "./calls.ts";
import { type CacheHints, handshakeCaller } from "./era.ts";
import type { Core } from "./core.ts";
import type { Exchange } from "./exchange.ts";
import { type JsonObject, STATELESS_REVISIONS } from "./mcp.ts";
import {
  listResources,
  listTemplates,
  readResource,
  refuseCursor,
} from "./resources.ts";

/** One method. */
export interface Method {
  /** Whether the revisions opened by `initialize` have it. */
  handshake: boolean;
  /** Whether 2026-07-28 has it. */
  stateless: boolean;
  /** Whether it is answered before `initialize`. */
  early?: boolean;
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

/** The methods by name. Names come from peers: this is a `Map`, and is looked up in, never called into. */
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
  ["server/discover", {
    handshake: false,
    stateless: true,
    cache: STATIC,
    answer: discover,
  }],
  ["tools/list", {
    handshake: true,
    stateless: true,
    cache: STATIC,
    answer: listTools,
  }],
  ["tools/call", { handshake: true, stateless: true, work: callTool }],
  ["resources/list", {
    handshake: true,
    stateless: true,
    cache: PRIVATE,
    work: listResources,
  }],
  ["resources/templates/list", {
    handshake: true,
    stateless: true,
    cache: STATIC,
    answer: listTemplates,
  }],
  ["resources/read", {
    handshake: true,
    stateless: true,
    cache: PRIVATE,
    work: readResource,
  }],
  ["prompts/list", {
    handshake: true,
    stateless: true,
    cache: STATIC,
    answer: listPrompts,
  }],
]);

function empty(): object {
  return {};
}

function initialize({ core, params, peer }: Exchange): object {
  const caller = handshakeCaller(params);
  peer.caller = caller;
  return {
    protocolVersion: caller.revision,
    capabilities: capabilities(),
    serverInfo: core.info,
    ...instructions(core),
  };
}

function discover({ core }: Exchange): object {
  return {
    supportedVersions: [...STATELESS_REVISIONS],
    capabilities: capabilities(),
    ...instructions(core),
  };
}

function capabilities(): JsonObject {
  return { tools: { listChanged: false }, resources: {}, prompts: {} };
}

function instructions(core: Core): { instructions?: string } {
  const { instructions } = core.options;
  return instructions ? { instructions } : {};
}

function listTools(exchange: Exchange): object {
  refuseCursor(exchange);
  return { tools: exchange.core.registry.toolDefinitions() };
}

function listPrompts(exchange: Exchange): object {
  refuseCursor(exchange);
  return { prompts: [] };
}
