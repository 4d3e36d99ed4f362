/**
 * The protocol's revisions, and what `initialize` is answered with: the one that both speak, and what the server can do.
 *
 * @module
 */
/** Revisions opened by `initialize`, oldest first. */
export const HANDSHAKE_REVISIONS = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
] as const;

/** Revisions whose requests carry their own envelope in `params._meta`. */
export const STATELESS_REVISIONS = ["2026-07-28"] as const;

/** A revision opened by `initialize`. */
export type HandshakeRevision = typeof HANDSHAKE_REVISIONS[number];

/** Any published revision. */
export type Revision = HandshakeRevision | typeof STATELESS_REVISIONS[number];

/** What a server says of itself. */
export interface Introduction {
  /** Its name and version. */
  info: { name: string; version: string; title?: string };
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
): Record<string, unknown> {
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
): Record<string, unknown> {
  return {
    tools: { listChanged: false },
    resources: { subscribe: true, listChanged: findsResources },
    prompts: { listChanged: false },
    logging: {},
    // Declared since 2025-03-26.
    ...(revision === "2024-11-05" ? {} : { completions: {} }),
  };
}
