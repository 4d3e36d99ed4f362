/**
 * The part of the library that runs on Node, too: commands, the command line, and the server on standard streams.
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
export type { Logger } from "./log.ts";
export { mcpCommand, type McpCommandOptions } from "./mcp_command.ts";
export {
  type NodeProcess,
  type NodeSystem,
  nodeSystem,
} from "./node_system.ts";
export { type Middleware, withMiddleware } from "./middleware.ts";
export { ErrorCode, RpcError } from "./rpc.ts";
export { McpServer, type ServeOptions, type ServerOptions } from "./server.ts";
export { serveStdio, type StdioOptions, type StdioSystem } from "./stdio.ts";
export { ExitCode, type System } from "./system.ts";
