/**
 * Validates every line that a server writes against the JSON schema of the revision that the line belongs to.
 *
 * @module
 */
import ajv7 from "ajv";
import ajv2020 from "ajv/2020";

/** A JSON-RPC message as the tests handle it. */
export interface Message {
  jsonrpc?: string;
  id?: string | number | null;
  method?: string;
  // deno-lint-ignore no-explicit-any
  params?: any;
  // deno-lint-ignore no-explicit-any
  result?: any;
  // deno-lint-ignore no-explicit-any
  error?: { code: number; message: string; data?: any };
}

/** The definition in the schemas that each method's result follows. */
const RESULTS: Record<string, string> = {
  "initialize": "InitializeResult",
  "server/discover": "DiscoverResult",
  "ping": "EmptyResult",
  "shutdown": "EmptyResult",
  "notifications/initialized": "EmptyResult",
  "tools/list": "ListToolsResult",
  "tools/call": "CallToolResult",
  "resources/list": "ListResourcesResult",
  "resources/templates/list": "ListResourceTemplatesResult",
  "resources/read": "ReadResourceResult",
  "resources/subscribe": "EmptyResult",
  "resources/unsubscribe": "EmptyResult",
  "prompts/list": "ListPromptsResult",
  "prompts/get": "GetPromptResult",
  "completion/complete": "CompleteResult",
  "logging/setLevel": "EmptyResult",
  "subscriptions/listen": "SubscriptionsListenResult",
};

const NEWEST_HANDSHAKE = "2025-11-25";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

type Validate = ((value: unknown) => boolean) & { errors?: unknown };

class Schemas {
  readonly #ajv = new Map<string, Promise<[string, AjvLike]>>();
  readonly #compiled = new Map<string, Validate>();

  async validator(
    revision: string,
    definition: string,
  ): Promise<Validate | undefined> {
    const key = `${revision}#${definition}`;
    const known = this.#compiled.get(key);
    if (known) return known;
    if (!this.#ajv.has(revision)) this.#ajv.set(revision, load(revision));
    const [keyword, ajv] = await this.#ajv.get(revision) as [string, AjvLike];
    const validate = ajv.getSchema(`${revision}#/${keyword}/${definition}`);
    if (validate) this.#compiled.set(key, validate);
    return validate;
  }
}

interface AjvLike {
  addFormat(name: string, format: RegExp): unknown;
  addSchema(schema: unknown, key: string): unknown;
  getSchema(ref: string): Validate | undefined;
}

async function load(revision: string): Promise<[string, AjvLike]> {
  const schema = JSON.parse(
    await Deno.readTextFile(
      new URL(`./schemas/${revision}.json`, import.meta.url),
    ),
  );
  const modern = "$defs" in schema;
  // The packages are CommonJS: the class is the module itself or its `default`.
  const loaded = (modern ? ajv2020 : ajv7) as unknown;
  const Ajv = ((loaded as { default?: unknown }).default ?? loaded) as new (
    options: unknown,
  ) => AjvLike;
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.addFormat("uri", /^[a-zA-Z][a-zA-Z0-9+.-]*:[^\s]*$/);
  ajv.addFormat("uri-template", /^[^\s{}]*(\{[^\s{}]+\}[^\s{}]*)*$/);
  ajv.addFormat(
    "byte",
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  );
  ajv.addSchema(schema, revision);
  return [modern ? "$defs" : "definitions", ajv];
}

/** A request that has no answer yet. `revision` is empty when the negotiated one holds. */
interface Asked {
  method: string;
  revision: string;
}

/** Follows one connection: told what is sent, it judges what comes back. */
export class WireChecker {
  readonly #schemas = new Schemas();
  readonly #sent = new Map<string, Asked[]>();
  readonly #exemptUri: string | undefined;
  #revision = NEWEST_HANDSHAKE;

  /** `exemptUri` is a resource URI that is allowed to lack a scheme. */
  constructor(options: { exemptUri?: string } = {}) {
    this.#exemptUri = options.exemptUri;
  }

  /** The revision that `initialize` settled on, or the newest with a handshake before. */
  get revision(): string {
    return this.#revision;
  }

  /** Remembers what a line from the client asked. Lines that are no request are of no interest. */
  sent(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    for (const one of Array.isArray(message) ? message : [message]) {
      const { id, method, params } = (one ?? {}) as Message;
      if (id === undefined) continue;
      const modern = typeof params?._meta?.[VERSION_KEY] === "string";
      const key = JSON.stringify(id);
      const asked = this.#sent.get(key) ?? [];
      asked.push({
        method: typeof method === "string" ? method : "",
        revision: modern ? "2026-07-28" : "",
      });
      this.#sent.set(key, asked);
    }
  }

  /**
   * Parses and validates a line of the server.
   *
   * @throws {Error} when the line is not JSON or breaks the schema, with the line and what is wrong.
   */
  async check(line: string): Promise<Message | Message[]> {
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch {
      throw new Error(`Not JSON on stdout: ${line.slice(0, 500)}`);
    }
    if (Array.isArray(parsed)) {
      if (this.#revision !== "2025-03-26") {
        throw new Error(`A batch under ${this.#revision}: ${line}`);
      }
      for (const one of parsed) await this.#one(one, line);
    } else await this.#one(parsed as Message, line);
    return parsed as Message | Message[];
  }

  async #one(message: Message, line: string): Promise<void> {
    const asked = message.method === undefined
      ? this.#sent.get(JSON.stringify(message.id))?.shift()
      : undefined;
    if (asked?.method === "initialize" && message.result) {
      this.#revision = message.result.protocolVersion;
    }
    const revision = asked?.revision || this.#revision;
    if (message.error && (message.id === null || message.id === undefined)) {
      // An error that answers no usable id: `null` is JSON-RPC's word for it, absence the newer schemas'.
      await this.#valid(
        NEWEST_HANDSHAKE,
        "JSONRPCErrorResponse",
        { jsonrpc: message.jsonrpc, error: message.error },
        line,
      );
      return;
    }
    await this.#valid(revision, "JSONRPCMessage", message, line);
    if (message.method !== undefined) {
      const kind = message.id === undefined
        ? "ServerNotification"
        : "ServerRequest";
      await this.#valid(revision, kind, message, line);
      return;
    }
    if (asked === undefined) {
      throw new Error(
        `An answer to nothing that was asked, or a second: ${line}`,
      );
    }
    if (message.error !== undefined) return;
    const definition = RESULTS[asked.method];
    if (definition === undefined) {
      throw new Error(`A result for unknown method ${asked.method}: ${line}`);
    }
    const kind = message.result?.resultType === "input_required"
      ? "InputRequiredResult"
      : definition;
    await this.#valid(revision, kind, this.#exempted(message.result), line);
  }

  async #valid(
    revision: string,
    definition: string,
    value: unknown,
    line: string,
  ): Promise<void> {
    const validate = await this.#schemas.validator(revision, definition);
    if (validate === undefined) {
      throw new Error(`${revision} has no ${definition}: ${line}`);
    }
    if (!validate(value)) {
      throw new Error(
        `Not a valid ${definition} of ${revision}: ${
          JSON.stringify(validate.errors)
        }\n${line.slice(0, 2000)}`,
      );
    }
  }

  /** The result with the exempt URI given a scheme, so that the rest of it is still judged. */
  #exempted(result: unknown): unknown {
    if (this.#exemptUri === undefined) return result;
    return JSON.parse(
      JSON.stringify(result),
      (key, value) =>
        key === "uri" && value === this.#exemptUri ? `x:${value}` : value,
    );
  }
}
