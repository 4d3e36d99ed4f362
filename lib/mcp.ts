/**
 * The Model Context Protocol's own types.
 *
 * @module
 */

export {
  HANDSHAKE_REVISIONS,
  type HandshakeRevision,
  type Revision,
  STATELESS_REVISIONS,
} from "./handshake.ts";

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
  /** Whom it is for. */
  audience?: ("user" | "assistant")[];
  /** From 0, least, to 1, effectively required. */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Text for the model or the person. */
export interface TextBlock {
  /** The discriminant. */
  type: "text";
  /** The text. */
  text: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** A picture; `data` is base64. */
export interface ImageBlock {
  /** The discriminant. */
  type: "image";
  /** The bytes, as base64. */
  data: string;
  /** The media type. */
  mimeType: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** Sound (since 2025-03-26); `data` is base64. */
export interface AudioBlock {
  /** The discriminant. */
  type: "audio";
  /** The bytes, as base64. */
  data: string;
  /** The media type. */
  mimeType: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** The contents of a resource inside a result. */
export interface EmbeddedResource {
  /** The discriminant. */
  type: "resource";
  /** The contents. */
  resource: ResourceContents;
  /** Hints for the client. */
  annotations?: Annotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** A resource that the client may read (since 2025-06-18). */
export interface ResourceLink extends ResourceDefinition {
  /** The discriminant. */
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
  /** Where it is. */
  uri: string;
  /** The media type. */
  mimeType?: string;
  /** The contents as text. */
  text?: string;
  /** The contents as base64. */
  blob?: string;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** One entry of `resources/list`. `size` is in bytes. */
export interface ResourceDefinition {
  /** Where it is. */
  uri: string;
  /** The name for programs. */
  name: string;
  /** The name for people (2025-06-18). */
  title?: string;
  /** What it is, in a sentence or two. */
  description?: string;
  /** The media type. */
  mimeType?: string;
  /** Bytes. */
  size?: number;
  /** Hints for the client. */
  annotations?: Annotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** One entry of `resources/templates/list` (RFC 6570 template). */
export interface ResourceTemplate {
  /** The template, RFC 6570. */
  uriTemplate: string;
  /** The name for programs. */
  name: string;
  /** The name for people (2025-06-18). */
  title?: string;
  /** What it is, in a sentence or two. */
  description?: string;
  /** The media type. */
  mimeType?: string;
  /** Hints for the client. */
  annotations?: Annotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** What a tool may do, for the client's consent (2025-03-26). All are written out. */
export interface ToolAnnotations {
  /** The name for people. */
  title?: string;
  /** It changes nothing. */
  readOnlyHint: boolean;
  /** It may undo or overwrite what was there. */
  destructiveHint: boolean;
  /** Doing it twice is doing it once. */
  idempotentHint: boolean;
  /** It reaches beyond this machine. */
  openWorldHint: boolean;
}

/** One entry of `tools/list`. */
export interface ToolDefinition {
  /** The name for programs. */
  name: string;
  /** The name for people (2025-06-18). */
  title?: string;
  /** What it is, in a sentence or two. */
  description: string;
  /** JSON Schema of the arguments; an object schema. */
  inputSchema: JsonObject;
  /** JSON Schema of `structuredContent` (2025-06-18); an object schema. */
  outputSchema?: JsonObject;
  /** Hints for the client. */
  annotations?: ToolAnnotations;
  /** What programs may read beside it. */
  _meta?: JsonObject;
}

/** The result of `tools/call`. */
export interface ToolResult {
  /** What the model is shown. */
  content: ContentBlock[];
  /** The tool failed; `content` says how. */
  isError?: boolean;
  /** The result as data (2025-06-18). */
  structuredContent?: unknown;
  /** Figures for programs. */
  _meta?: JsonObject;
}

/** A program's name and version, as in `clientInfo` and `serverInfo`. */
export interface Implementation {
  /** The name for programs. */
  name: string;
  /** The version. */
  version: string;
  /** The name for people (2025-06-18). */
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
