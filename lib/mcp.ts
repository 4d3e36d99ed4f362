/**
 * The Model Context Protocol's own types and its revisions.
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

/** Keys that 2026-07-28 defines in `_meta`. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** A JSON object whose keys are not known beforehand. */
export type JsonObject = Record<string, unknown>;

/** Hints for the client beside a content block (2024-11-05; `lastModified` since 2025-06-18). */
export interface Annotations {
  audience?: ("user" | "assistant")[];
  priority?: number;
  lastModified?: string;
}

/** Text for the model or the person. */
export interface TextBlock {
  type: "text";
  text: string;
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** A picture; `data` is base64. */
export interface ImageBlock {
  type: "image";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** Sound (since 2025-03-26); `data` is base64. */
export interface AudioBlock {
  type: "audio";
  data: string;
  mimeType: string;
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** The contents of a resource inside a result. */
export interface EmbeddedResource {
  type: "resource";
  resource: ResourceContents;
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** A resource that the client may read (since 2025-06-18). */
export interface ResourceLink extends ResourceDefinition {
  type: "resource_link";
}

/** Any block of a tool's result. */
export type ContentBlock =
  | TextBlock
  | ImageBlock
  | AudioBlock
  | EmbeddedResource
  | ResourceLink;

/** What `resources/read` hands over: text, or `blob` as base64. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: JsonObject;
}

/** One entry of `resources/list`. `size` is in bytes. */
export interface ResourceDefinition {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** One entry of `resources/templates/list` (RFC 6570 template). */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** What a tool may do, for the client's consent (2025-03-26). All are written out. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** One entry of `tools/list`. */
export interface ToolDefinition {
  name: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  annotations?: ToolAnnotations;
  _meta?: JsonObject;
}

/** The result of `tools/call`. */
export interface ToolResult {
  content: ContentBlock[];
  isError?: boolean;
  structuredContent?: unknown;
  _meta?: JsonObject;
}

/** A program's name and version, as in `clientInfo` and `serverInfo`. */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
}

/** Log levels of `logging/setLevel`, least severe first (RFC 5424). */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

/** A level of `logging/setLevel`. */
export type McpLogLevel = typeof LOG_LEVELS[number];
