/**
 * What `initialize` is answered with: the revision that both speak, and what the server can do.
 *
 * @module
 */
import {
  HANDSHAKE_REVISIONS,
  type HandshakeRevision,
  type Implementation,
  type JsonObject,
  type Revision,
} from "./mcp.ts";

/** What a server says of itself. */
export interface Introduction {
  /** Its name and version. */
  info: Implementation;
  /** What the model is told of it as a whole. */
  instructions: string | undefined;
  /** Whether it has resources that come and go. */
  findsResources: boolean;
}

/**
 * The revision for a client that wants `wanted`: that one, or the newest where it is not spoken, never an error (every
 * handshake revision, Lifecycle, "Version Negotiation").
 */
export function negotiated(wanted: string): HandshakeRevision {
  return HANDSHAKE_REVISIONS.find((revision) => revision === wanted) ??
    HANDSHAKE_REVISIONS.at(-1)!;
}

/** The result of `initialize`. */
export function initializeResult(
  revision: HandshakeRevision,
  server: Introduction,
): JsonObject {
  return {
    protocolVersion: revision,
    capabilities: capabilities(revision, server),
    serverInfo: server.info,
    ...(server.instructions ? { instructions: server.instructions } : {}),
  };
}

/** The tables of tools and prompts never change; resources do where the program finds them at request time. */
export function capabilities(
  revision: Revision,
  { findsResources }: Introduction,
): JsonObject {
  return {
    tools: { listChanged: false },
    resources: { subscribe: true, listChanged: findsResources },
    prompts: { listChanged: false },
    logging: {},
    // Declared since 2025-03-26.
    ...(revision === "2024-11-05" ? {} : { completions: {} }),
  };
}
