/**
 * What a server offers: tools and resources, in the order in which they were registered.
 *
 * @module
 */
import {
  type AnyCommand,
  type InputSchema,
  NO_INPUT,
  type OptionHints,
} from "./command.ts";
import type {
  ResourceDefinition,
  ResourceTemplate,
  ToolDefinition,
} from "./mcp.ts";
import type { AnyPrompt } from "./prompt.ts";
import { UriTemplate } from "./uri_template.ts";

/** Characters of a tool's name at most (2025-11-25, Tools, "Tool Names"). */
export const MAX_TOOL_NAME_CHARS = 128;

/** A resource that a URI stands for, and the values that the URI gives. */
export interface FoundResource {
  /** The command that is the resource. */
  command: AnyCommand;
  /** The template's variables; empty for a fixed URI. */
  values: Record<string, string>;
}

/** The tables of a server. Names come from peers, so every look-up is in a `Map`. */
export class Registry {
  readonly #tools = new Map<string, AnyCommand>();
  readonly #resources = new Map<string, AnyCommand>();
  readonly #prompts = new Map<string, AnyPrompt>();
  readonly #templates = new Map<
    string,
    { template: UriTemplate; command: AnyCommand }
  >();

  /**
   * Takes a command in, as the tool or the resource that it is.
   *
   * @throws {TypeError} when it is neither or both, has no handler, when its name or URI is empty or malformed, and
   * when another command has it already.
   */
  register(command: AnyCommand): void {
    const { tool, resource } = command;
    if (!tool === !resource) {
      throw refusal(command, "it must be either a tool or a resource");
    }
    if (!command.run) throw refusal(command, "it has no handler");
    if (tool) {
      if (!TOOL_NAME.test(tool.name)) {
        throw refusal(
          command,
          `the tool name "${tool.name}" must be 1 to ${MAX_TOOL_NAME_CHARS} letters, digits, "_", "-" or "."`,
        );
      }
      add(this.#tools, tool.name, command, command);
    } else if (resource) {
      if (resource.uri === "") throw refusal(command, "its URI is empty");
      if (/[{}]/.test(resource.uri)) {
        const template = new UriTemplate(resource.uri);
        const known = command.input?.properties ?? {};
        const lost = template.names.find((name) => !Object.hasOwn(known, name));
        if (lost !== undefined) {
          throw refusal(
            command,
            `variable "${lost}" of its URI is not in its input schema`,
          );
        }
        const value = { template, command };
        add(this.#templates, resource.uri, value, command);
      } else {
        add(this.#resources, resource.uri, command, command);
      }
    }
  }

  /** The tool of that name. */
  tool(name: string): AnyCommand | undefined {
    return this.#tools.get(name);
  }

  /** The resource at that URI: a fixed one first, then the first template that matches. */
  resource(uri: string): FoundResource | undefined {
    const command = this.#resources.get(uri);
    if (command) return { command, values: {} };
    for (const { template, command } of this.#templates.values()) {
      const values = template.match(uri);
      if (values) return { command, values };
    }
    return undefined;
  }

  /** The command of a template, by the template's own text. */
  template(uriTemplate: string): AnyCommand | undefined {
    return this.#templates.get(uriTemplate)?.command;
  }

  /**
   * Takes a prompt in.
   *
   * @throws {TypeError} when its name is empty or taken, and when two of its arguments have the same name.
   */
  registerPrompt(prompt: AnyPrompt): void {
    const { name } = prompt;
    const names = (prompt.arguments ?? []).map((argument) => argument.name);
    const reason = name === ""
      ? "its name is empty"
      : this.#prompts.has(name)
      ? "it is registered already"
      : new Set(names).size < names.length
      ? "two of its arguments have the same name"
      : undefined;
    if (reason) {
      throw new TypeError(`Cannot register prompt "${name}": ${reason}`);
    }
    this.#prompts.set(name, prompt);
  }

  /** The prompt of that name. */
  prompt(name: string): AnyPrompt | undefined {
    return this.#prompts.get(name);
  }

  /** All prompts. */
  prompts(): AnyPrompt[] {
    return [...this.#prompts.values()];
  }

  /** The entries of `tools/list`. */
  toolDefinitions(): ToolDefinition[] {
    return [...this.#tools.values()].map(toolDefinition);
  }

  /** The entries of `resources/list` that are commands. */
  resourceDefinitions(): ResourceDefinition[] {
    return [...this.#resources].map(([uri, command]) => ({
      uri,
      ...described(command),
    }));
  }

  /** The entries of `resources/templates/list` that are commands. */
  templateDefinitions(): ResourceTemplate[] {
    return [...this.#templates].map(([uriTemplate, { command }]) => ({
      uriTemplate,
      ...described(command),
    }));
  }
}

const TOOL_NAME = new RegExp(`^[A-Za-z0-9_.-]{1,${MAX_TOOL_NAME_CHARS}}$`);

function add<T>(
  table: Map<string, T>,
  key: string,
  value: T,
  command: AnyCommand,
): void {
  if (table.has(key)) throw refusal(command, `"${key}" is registered already`);
  table.set(key, value);
}

function refusal(command: AnyCommand, reason: string): TypeError {
  return new TypeError(`Cannot register command "${command.name}": ${reason}`);
}

function described(command: AnyCommand): {
  name: string;
  title?: string;
  description: string;
  mimeType: string;
} {
  const { title, mimeType } = command.resource!;
  return {
    name: command.name,
    ...(title === undefined ? {} : { title }),
    description: command.description ?? command.summary,
    mimeType,
  };
}

/**
 * The entry of `tools/list` that a command is.
 *
 * @throws {TypeError} when the command is no tool.
 */
export function toolDefinition(command: AnyCommand): ToolDefinition {
  const { tool } = command;
  if (!tool) {
    throw new TypeError(`Cannot list command "${command.name}": it is no tool`);
  }
  return {
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: command.description ?? command.summary,
    inputSchema: listedInput(command),
    ...(command.output ? { outputSchema: command.output } : {}),
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
      ...tool.annotations,
    },
    ...(tool._meta ? { _meta: tool._meta } : {}),
  };
}

/** The input schema as it is listed: without what is hidden, and with what is deprecated said to be so. */
function listedInput(command: AnyCommand): InputSchema {
  const { input = NO_INPUT, options } = command;
  const marked = Object.entries<OptionHints>(options ?? {}).filter((
    [name, { hidden, deprecated }],
  ) =>
    deprecated !== undefined ||
    (hidden === true && !input.required?.includes(name))
  );
  if (marked.length === 0) return input;
  const properties = { ...input.properties };
  for (const [name, { hidden, deprecated }] of marked) {
    if (hidden === true) delete properties[name];
    else {properties[name] = {
        ...properties[name],
        deprecated: true,
        description: `${
          properties[name]?.description ?? ""
        } Deprecated: use ${deprecated}.`
          .trimStart(),
      };}
  }
  return { ...input, properties };
}
