/**
 * The library: commands of one's own as command-line verbs, MCP tools and resources.
 *
 * @module
 */
export {
  type Answer,
  type AnyCommand,
  type Client,
  type Command,
  command,
  type CommandContext,
  CommandError,
  type CommandOutput,
  type Ending,
  type FromSchema,
  type InputSchema,
  type OptionHints,
  type PropertySchema,
  type Question,
  type ResourceHints,
  type StandardCommand,
  type Terminal,
  type ToolHints,
  UsageError,
} from "./command.ts";
export { call } from "./call.ts";
export { run, type RunOptions } from "./cli.ts";
export { completeCommand, completionsCommand } from "./completions.ts";
export { durationMs } from "./formats.ts";
export {
  type CallEnd,
  type CallObserver,
  type CallStart,
  type Completion,
  type Page,
  type ResourceProvider,
} from "./hooks.ts";
export { type HttpOptions, type HttpServer, serveHttp } from "./http.ts";
export {
  clientRoots,
  InputRequired,
  inquire,
  type InquiryMethod,
} from "./inquiry.ts";
export { createLogger, type Logger, type LoggerOptions } from "./log.ts";
export type {
  ContentBlock,
  JsonObject,
  ResourceContents,
  ResourceDefinition,
  ResourceTemplate,
  ToolAnnotations,
  ToolDefinition,
  ToolResult,
} from "./mcp.ts";
export { mcpCommand, type McpCommandOptions } from "./mcp_command.ts";
export {
  type NodeProcess,
  type NodeSystem,
  nodeSystem,
} from "./node_system.ts";
export {
  type AnyPrompt,
  type Prompt,
  prompt,
  type PromptArgument,
  type PromptMessage,
} from "./prompt.ts";
export { ErrorCode, RpcError } from "./rpc.ts";
export { type Middleware, withMiddleware } from "./middleware.ts";
export { McpServer, type ServeOptions, type ServerOptions } from "./server.ts";
export {
  serveStdio,
  type StdioHooks,
  type StdioOptions,
  type StdioSystem,
} from "./stdio.ts";
export type { StandardInput } from "./standard_schema.ts";
export { ExitCode, type System, systemFrom } from "./system.ts";
