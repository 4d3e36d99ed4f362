/**
 * The headers by which 2026-07-28 repeats a request's body, so that what stands between can route it (Transports,
 * "Request Headers"). Where the two disagree the request is refused.
 *
 * @module
 */
import { fromBase64 } from "./base64.ts";
import { isObject, own } from "./era.ts";
import type { JsonObject } from "./mcp.ts";
import { ErrorCode, RpcError } from "./rpc.ts";

/** Where the name of what a method addresses stands in its parameters. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/**
 * Checks the headers against the body.
 *
 * @throws {RpcError} -32020 where one is missing or says something else.
 */
export function checkHeaders(
  headers: Headers,
  message: { method: string; params: JsonObject; revision: unknown },
  inputSchema: JsonObject | undefined,
): void {
  const { method, params, revision } = message;
  expect(headers, "MCP-Protocol-Version", revision);
  expect(headers, "Mcp-Method", method);
  const member = NAMED.get(method);
  if (member !== undefined) {
    expect(headers, "Mcp-Name", own(params, member));
  }
  const args = own(params, "arguments");
  for (const [path, name] of mirrored(inputSchema)) {
    let value: unknown = args;
    for (const step of path) {
      value = isObject(value) ? own(value, step) : undefined;
    }
    const header = `Mcp-Param-${name}`;
    if (value === undefined || value === null) {
      if (headers.get(header) !== null) {
        throw mismatch(`${header} is there, but the argument is not`);
      }
    } else {
      expect(headers, header, value);
    }
  }
}

/** The value of a header, which may be `=?base64?…?=` where it is more than visible ASCII. */
export function decodeHeader(value: string): string | undefined {
  const coded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (coded === undefined) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(
      fromBase64(coded, { lastChunkHandling: "strict" }),
    );
  } catch {
    return undefined;
  }
}

function expect(headers: Headers, name: string, wanted: unknown): void {
  const given = headers.get(name);
  if (given === null) throw mismatch(`the header ${name} is missing`);
  const value = decodeHeader(given);
  const same = typeof wanted === "number"
    ? value !== undefined && value.trim() !== "" && Number(value) === wanted
    : (typeof wanted === "string" || typeof wanted === "boolean") &&
      value === String(wanted);
  if (!same) {
    throw mismatch(`the header ${name} does not say what the body says`);
  }
}

function mismatch(text: string): RpcError {
  return new RpcError(ErrorCode.headerMismatch, text);
}

/** The arguments that a tool's schema asks to have mirrored, by their path, with the header's name. */
function* mirrored(
  schema: unknown,
  path: readonly string[] = [],
): Generator<[path: readonly string[], name: string], void, void> {
  if (!isObject(schema) || path.length > 8) return;
  const properties = own(schema, "properties");
  if (!isObject(properties)) return;
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const name = own(property, "x-mcp-header");
    if (typeof name === "string") yield [[...path, key], name];
    yield* mirrored(property, [...path, key]);
  }
}
