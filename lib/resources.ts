/**
 * `resources/list`, `resources/templates/list` and `resources/read`: commands that are resources, and providers.
 *
 * @module
 */
import { fromBase64, toBase64 } from "./base64.ts";
import { type ArgumentSchema, isList, valueFromText } from "./argument.ts";
import { type AnyCommand, CommandError } from "./command.ts";
import { failure } from "./calls.ts";
import { createContext } from "./context.ts";
import { own } from "./era.ts";
import { badParams, type Exchange, refuseCursor } from "./exchange.ts";
import type { FoundResource } from "./registry.ts";
import type {
  ResourceContents,
  ResourceDefinition,
  ResourceTemplate,
  ToolResult,
} from "./mcp.ts";
import { resultOf } from "./results.ts";
import { ErrorCode, RpcError } from "./rpc.ts";

/** One page: the commands first, then the providers in their order, each page by page. */
export async function listResources(
  exchange: Exchange,
): Promise<{ resources: ResourceDefinition[]; nextCursor?: string }> {
  const { core } = exchange;
  const { context } = createContext(exchange);
  const cursor = readCursor(exchange);
  const resources = cursor ? [] : core.registry.resourceDefinitions();
  for (let i = cursor?.provider ?? 0; i < core.providers.length; i++) {
    const from = cursor?.provider === i ? cursor.cursor : undefined;
    const page = await core.providers[i]!.list(from, context);
    resources.push(...page.items);
    if (page.next !== undefined) {
      return { resources, nextCursor: writeCursor(i, page.next) };
    }
  }
  return { resources };
}

/** All templates; there are too few to page. */
export function listTemplates(
  exchange: Exchange,
): { resourceTemplates: ResourceTemplate[] } {
  const { core } = exchange;
  refuseCursor(exchange);
  return {
    resourceTemplates: [
      ...core.registry.templateDefinitions(),
      ...core.providers.flatMap((provider) => provider.templates()),
    ],
  };
}

/**
 * The contents at a URI.
 *
 * @throws {RpcError} when nothing is there, and when it cannot be read.
 */
export async function readResource(
  exchange: Exchange,
): Promise<{ contents: ResourceContents[] }> {
  const { core, params } = exchange;
  const uri = own(params, "uri");
  if (typeof uri !== "string") throw badParams("uri must be a string");
  const found = core.registry.resource(uri);
  if (found) return { contents: await runResource(exchange, uri, found) };
  const { context } = createContext(exchange);
  for (const provider of core.providers) {
    const contents = await provider.read(uri, context);
    if (contents) return { contents };
  }
  throw notFound(exchange, uri);
}

function notFound(exchange: Exchange, uri: string): RpcError {
  return new RpcError(
    exchange.caller.stateless
      ? ErrorCode.invalidParams
      : ErrorCode.resourceNotFound,
    `resource not found: ${uri}`,
    { uri },
  );
}

async function runResource(
  exchange: Exchange,
  uri: string,
  { command, values }: FoundResource,
): Promise<ResourceContents[]> {
  const { core } = exchange;
  const prepared = await core.prepare(command, typed(command, values));
  if (prepared.error !== undefined) throw badParams(prepared.error);
  const { context, finish, printed } = createContext(exchange);
  let result: ToolResult;
  try {
    // What goes to standard error is no part of the resource.
    result = printed.before(
      resultOf(await command.run!(prepared.value, context), command),
    );
    finish();
  } catch (error) {
    // By name: this also runs where there is no Deno.
    if (error instanceof Error && error.name === "NotFound") {
      throw notFound(exchange, uri);
    }
    const { content } = failure(error, command.name, core.logger);
    throw new RpcError(ErrorCode.internal, textOf(content));
  }
  const { content, isError } = result;
  if (isError) throw new RpcError(ErrorCode.internal, textOf(content));
  const { mimeType } = command.resource!;
  return content.map((block) => {
    switch (block.type) {
      case "text":
        return { uri, mimeType, text: block.text };
      case "image":
      case "audio":
        return { uri, mimeType: block.mimeType, blob: block.data };
      case "resource":
        return block.resource;
      case "resource_link":
        throw new CommandError(
          `Cannot read ${uri}: its content is a link to ${block.uri}`,
        );
    }
  });
}

/** Texts as the command's arguments want them; what cannot be read as such is left for its schema to refuse. */
function typed(
  { input }: AnyCommand,
  values: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const properties: Readonly<Record<string, ArgumentSchema>> =
    input?.properties ?? {};
  return Object.fromEntries(
    Object.entries(values).map(([name, text]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name]! : {};
      const value = schema.type === undefined
        ? text
        : valueFromText(schema, text).value ?? text;
      return [name, isList(schema) ? [value] : value];
    }),
  );
}

function textOf(content: readonly { type: string }[]): string {
  return content
    .flatMap((block) =>
      "text" in block && typeof block.text === "string" ? [block.text] : []
    )
    .join("\n");
}

interface Cursor {
  provider: number;
  cursor: string;
}

function writeCursor(provider: number, cursor: string): string {
  return toBase64(
    new TextEncoder().encode(JSON.stringify([provider, cursor])),
    {
      alphabet: "base64url",
      omitPadding: true,
    },
  );
}

function readCursor({ params, core }: Exchange): Cursor | undefined {
  const text = own(params, "cursor");
  if (text === undefined || text === null || text === "") return undefined;
  try {
    const [provider, cursor] = JSON.parse(
      new TextDecoder().decode(
        fromBase64(text as string, { alphabet: "base64url" }),
      ),
    );
    if (
      Number.isSafeInteger(provider) && provider >= 0 &&
      provider < core.providers.length && typeof cursor === "string"
    ) {
      return { provider, cursor };
    }
  } catch {
    // Not one of ours.
  }
  throw badParams("cursor is not one that this list gave");
}
