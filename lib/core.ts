/**
 * What all connections of a server share: its tables, its options, and the checks of arguments.
 *
 * @module
 */
import { type AnyCommand, NO_INPUT, UsageError } from "./command.ts";
import type { CommandContext, InputSchema } from "./command.ts";
import { Changes } from "./changes.ts";
import type { Introduction } from "./handshake.ts";
import type { CallObserver, ResourceProvider } from "./hooks.ts";
import type { Logger } from "./log.ts";
import type { InputStates } from "./input_state.ts";
import type { Implementation, JsonObject } from "./mcp.ts";
import { commandArguments } from "./positionals.ts";
import { Registry } from "./registry.ts";
import type { InputValidators } from "./schema.ts";

/** What a server is made of beside its commands. */
export interface ServerOptions {
  /** The server's name, as in `serverInfo`. */
  name: string;
  /** Its version. */
  version: string;
  /** Its name for people (2025-06-18). */
  title?: string;
  /** What the model is told of the server as a whole; read at every `initialize` and `server/discover`. */
  instructions?: string;
  /** Takes what is for the operator; without one, nothing is logged. */
  logger?: Logger;
  /** Adds what the program's handlers need to the context of each call. */
  extend?(base: CommandContext): CommandContext;
  /** Values for arguments that a call leaves out, by name; a {@linkcode UsageError} refuses the call. */
  fallback?(command: AnyCommand): Record<string, unknown>;
  /** Resources that are found at request time, asked in this order. */
  resources?: readonly ResourceProvider[];
  /** Hears of every tool call. */
  observer?: CallObserver;
  /** Called when the client of the connection says that its roots have changed. */
  onRootsChanged?(connectionId: string): void;
  /** Called when a connection's input has ended, before what is in flight is waited for. */
  onEndOfInput?(): void;
}

/** The shared part of a server. */
export class Core {
  /** What the program passed in. */
  readonly options: ServerOptions;
  /** Tools, resources and prompts. */
  readonly registry: Registry = new Registry();
  /** The operator's log. */
  readonly logger: Logger;
  /** `serverInfo`. */
  readonly info: Implementation;
  /** What changes behind the connections' backs. */
  readonly changes: Changes = new Changes();
  #inputStates: Promise<InputStates> | undefined;
  #validators: Promise<InputValidators> | undefined;

  /** Makes a server without commands. */
  constructor(options: ServerOptions) {
    const { name, version, title } = options;
    this.options = options;
    this.logger = options.logger ?? SILENT;
    this.info = { name, version, ...(title === undefined ? {} : { title }) };
  }

  /** What the server says of itself. */
  get introduction(): Introduction {
    return {
      info: this.info,
      instructions: this.options.instructions,
      findsResources: this.providers.length > 0,
    };
  }

  /** The programs' resources that are found when asked for. */
  get providers(): readonly ResourceProvider[] {
    return this.options.resources ?? [];
  }

  /** A call's arguments by name, checked and completed; or what is wrong with them. */
  async prepare(
    command: AnyCommand,
    raw: unknown,
  ): Promise<
    | { value: Record<string, unknown>; error?: undefined }
    | { value?: undefined; error: string }
  > {
    const named = commandArguments(command, raw);
    if (named.error !== undefined) return named;
    let { value } = named;
    const { fallback } = this.options;
    if (fallback && (typeof value === "object" || value === undefined)) {
      try {
        value = { ...fallback(command), ...value };
      } catch (error) {
        if (error instanceof UsageError) return { error: error.message };
        throw error;
      }
    }
    const validators = await this.#loadValidators();
    return validators.prepare(command.input ?? NO_INPUT, value);
  }

  /** What is wrong with data by `schema`, taken as it stands; undefined when nothing is. */
  async misfit(
    schema: InputSchema,
    value: unknown,
  ): Promise<string | undefined> {
    return (await this.#loadValidators()).misfit(schema, value);
  }

  /** What is wrong with `value` by `schema`; undefined when nothing is. */
  async problemWith(
    schema: JsonObject,
    value: unknown,
  ): Promise<string | undefined> {
    const validators = await this.#loadValidators();
    return validators.prepare(schema as InputSchema, value).error;
  }

  /** A handler's context as the program extends it. */
  extend(base: CommandContext): CommandContext {
    return this.options.extend ? this.options.extend(base) : base;
  }

  /** What signs the states of calls that wait for input. */
  inputStates(): Promise<InputStates> {
    return this.#inputStates ??= import("./input_state.ts").then((
      { InputStates },
    ) => new InputStates());
  }

  /** Tells the program that a client's roots have changed. */
  rootsChanged(connectionId: string): void {
    try {
      this.options.onRootsChanged?.(connectionId);
    } catch (error) {
      this.logger.error("roots_changed.failed", { error: `${error}` });
    }
  }

  /** The validator takes longer to load than a host should wait for the answer to `initialize`. */
  #loadValidators(): Promise<InputValidators> {
    return this.#validators ??= import("./schema.ts").then((
      { InputValidators },
    ) => new InputValidators());
  }
}

const SILENT: Logger = {
  enabled: () => false,
  debug() {},
  info() {},
  warn() {},
  error() {},
  flush: () => Promise.resolve(),
};
