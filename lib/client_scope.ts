/**
 * What one client may touch: the operator's scope, narrowed to the folders that the client says it works in.
 *
 * @module
 */
import type { Client, CommandContext } from "./command.ts";
import { clientRoots } from "./inquiry.ts";
import { STATELESS_REVISIONS } from "./mcp.ts";
import { createScope, type ProcessScope, type ScopeOptions } from "./scope.ts";
import type { Logger } from "./log.ts";

/** The operator's side of the matter. */
export interface ClientScopeOptions extends Omit<ScopeOptions, "hostRoots"> {
  /** The scope without any client. */
  scope: ProcessScope;
  /** The operator's log. */
  logger: Logger;
}

/** The scopes of the clients of one process. */
export class ClientScopes {
  readonly #options: ClientScopeOptions;
  #byClient = new WeakMap<Client, Promise<ProcessScope>>();

  /** Asks nobody yet. */
  constructor(options: ClientScopeOptions) {
    this.#options = options;
  }

  /**
   * The scope for a call. A client of the handshake revisions is asked once, at its first call; one of a stateless
   * revision with every call, and so only where the operator named no root.
   *
   * @throws {InputRequired} in a stateless revision, while the answer is not there.
   */
  async of(ctx: CommandContext): Promise<ProcessScope> {
    const { scope } = this.#options;
    const { client } = ctx;
    if (!client.capabilities.roots) return scope;
    if (STATELESS_REVISIONS.some((revision) => revision === client.revision)) {
      return scope.roots.length > 0 ? scope : await this.#ask(ctx);
    }
    let known = this.#byClient.get(client);
    if (!known) {
      known = this.#ask(ctx);
      this.#byClient.set(client, known);
      // A call that was cancelled while it asked must not decide for those that follow.
      known.catch(() => this.#byClient.delete(client));
    }
    return await known;
  }

  /** Asks again, since some client's folders have changed. */
  forget(): void {
    this.#byClient = new WeakMap();
  }

  async #ask(ctx: CommandContext): Promise<ProcessScope> {
    const { scope, logger, ...options } = this.#options;
    const hostRoots = await clientRoots(ctx);
    ctx.signal.throwIfAborted();
    if (hostRoots === undefined || hostRoots.length === 0) return scope;
    const narrowed = await createScope({ ...options, hostRoots });
    for (const warning of narrowed.warnings) {
      logger.warn("scope.client_roots", { warning });
    }
    return narrowed.scope;
  }
}
