/**
 * What all connections of a server share: its tables, its options, and the checks of arguments.
 *
 * @module
 */
import { type AnyCommand, commandArguments, NO_INPUT } from "./command.ts";
import type { CommandContext } from "./command.ts";
import type { CallObserver, ResourceProvider } from "./hooks.ts";
import type { Logger } from "./log.ts";
import type { Implementation } from "./mcp.ts";
import { Registry } from "./registry.ts";
import type { InputValidators } from "./schema.ts";

/** What a server is made of beside its commands. */
export interface ServerOptions {
  name: string;
  version: string;
  title?: string;
  /** What the model is told of the server as a whole; read at every `initialize` and `server/discover`. */
  instructions?: string;
  logger?: Logger;
  /** Adds what the program's handlers need to the context of each call. */
  extend?(base: CommandContext): CommandContext;
  resources?: readonly ResourceProvider[];
  observer?: CallObserver;
  /** Called when a connection's input has ended, before what is in flight is waited for. */
  onEndOfInput?(): void;
}

/** The shared part of a server. */
export class Core {
  readonly options: ServerOptions;
  readonly registry: Registry = new Registry();
  readonly logger: Logger;
  readonly info: Implementation;
  #validators: Promise<InputValidators> | undefined;

  constructor(options: ServerOptions) {
    const { name, version, title } = options;
    this.options = options;
    this.logger = options.logger ?? SILENT;
    this.info = { name, version, ...(title === undefined ? {} : { title }) };
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
    // The validator takes longer to load than a host should wait for the answer to `initialize`.
    this.#validators ??= import("./schema.ts").then(({ InputValidators }) =>
      new InputValidators()
    );
    return (await this.#validators).prepare(
      command.input ?? NO_INPUT,
      named.value,
    );
  }

  /** A handler's context as the program extends it. */
  extend(base: CommandContext): CommandContext {
    return this.options.extend ? this.options.extend(base) : base;
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
