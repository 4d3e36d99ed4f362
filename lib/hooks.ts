/**
 * What a program attaches to a server beside commands: resources found at request time, and an observer of calls.
 *
 * @module
 */
import type { CommandContext } from "./command.ts";
import type {
  JsonObject,
  ResourceContents,
  ResourceDefinition,
  ResourceTemplate,
  ToolResult,
} from "./mcp.ts";

/** One page of a list; `next` is an opaque cursor, absent at the end. */
export interface Page<T> {
  /** The entries, in order. */
  items: T[];
  /** The cursor of the next page. */
  next?: string;
}

/** The variable of a template that a client wants values for. */
export interface Completion {
  /** Its name. */
  name: string;
  /** What is typed so far. */
  value: string;
  /** The variables that are known by then. */
  given: Readonly<Record<string, string>>;
}

/** Resources that are found when asked for, such as recorded sessions. */
export interface ResourceProvider {
  /**
   * A page of entries, after `cursor`.
   *
   * @throws {RpcError} -32602 for a cursor that this provider did not make.
   */
  list(
    cursor: string | undefined,
    ctx: CommandContext,
  ): Promise<Page<ResourceDefinition>>;
  /** The templates under which its resources can be read. */
  templates(): ResourceTemplate[];
  /** The contents, or undefined when the URI is not one of this provider's. */
  read(
    uri: string,
    ctx: CommandContext,
  ): Promise<ResourceContents[] | undefined>;
  /** Values for a variable of one of its templates that begin like what is typed, best first. */
  complete?(
    uriTemplate: string,
    wanted: Completion,
    ctx: CommandContext,
  ): Promise<string[]>;
}

/** A tool call as it begins. */
export interface CallStart {
  /** Tells calls of one process apart. */
  callId: string;
  /** Tells connections of one process apart. */
  connectionId: string;
  /** The tool's name. */
  tool: string;
  /** The arguments as they came. */
  arguments: JsonObject;
  /** The context that the handler gets. */
  context: CommandContext;
  /** Milliseconds since 1970. */
  startedAt: number;
}

/** What was decided on a call, by whom. */
export interface Decided {
  /** `asked`: the person has not answered yet. `none`: it was not to be run. */
  decision: "allowed" | "denied" | "asked" | "none";
  /** The rule, `the scope`, a mode. */
  by: string;
  /** What the person said, or that nobody could be asked. */
  answer?: "accept" | "decline" | "cancel" | "unable";
  /** The real path that was refused. */
  path?: string;
  /** What held the program that ran. */
  sandbox?: string;
}

/** How a tool call ended. */
export interface CallEnd extends CallStart {
  /** Whether its arguments were such that the handler ran. */
  isValid: boolean;
  /** What was decided on it, where the program tells. */
  decided?: Decided;
  /** Absent when the call was cancelled. */
  result: ToolResult | undefined;
  /** Milliseconds since 1970. */
  endedAt: number;
}

/** Watches tool calls. Its methods must return at once and may not throw. */
export interface CallObserver {
  /** A call begins. */
  started(call: CallStart): void;
  /** The call of that `callId` has ended; told once. */
  ended(call: CallEnd): void;
}
