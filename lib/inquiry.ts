/**
 * Asking the client in the middle of a call. In the handshake revisions the server sends a request and waits; in
 * 2026-07-28 the call ends with `input_required`, and runs again from its start when the client brings the answer.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import type { Answer, CommandContext, Question } from "./command.ts";
import { isObject, own } from "./era.ts";
import { badParams, type Exchange } from "./exchange.ts";
import type { JsonObject } from "./mcp.ts";
import { ErrorCode, RpcError } from "./rpc.ts";

/** What a server may ask of a client, each behind the capability of the same line. */
export const INQUIRIES = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
} as const;

/** A method of the client's. */
export type InquiryMethod = keyof typeof INQUIRIES;

/** Milliseconds that a client has to tell its roots; some say that they have them and never answer. */
export const ROOTS_WAIT_MS = 2_000;

/** Ends a call of 2026-07-28 that cannot go on without its client. A handler lets it pass. */
export class InputRequired extends Error {
  /** `key` names the question. */
  constructor(key: string) {
    super(`The call goes on when the client has answered "${key}"`);
    this.name = "InputRequired";
  }
}

const INQUIRE = Symbol.for("rousseau.inquire");

type Inquire = (
  key: string,
  method: InquiryMethod,
  params: JsonObject,
  signal?: AbortSignal,
) => Promise<unknown>;

/** The members of a handler's context by which it asks. They survive `{ ...base, more }`. */
export function inquiring(
  exchange: Exchange,
): Pick<CommandContext, "ask"> {
  const inquire: Inquire = (key, method, params, signal) =>
    exchange.caller.stateless
      ? inquireByResult(exchange, key, method, params)
      : inquireByRequest(exchange, method, params, signal);
  const members = {
    ask(key: string, question: Question) {
      const answer = ask(exchange, inquire, key, question);
      // A handler that does not wait for the answer is not to be told that there will be none.
      answer.catch(() => {});
      return answer;
    },
    [INQUIRE]: inquire,
  };
  return members;
}

/**
 * Asks the client itself, rather than its person. `key` names the question within the call.
 *
 * @throws {RpcError} -32021 when the client did not declare the capability, and whatever the client answers with.
 * @throws {InputRequired} in 2026-07-28, while the answer is not there.
 */
export function inquire(
  ctx: CommandContext,
  key: string,
  method: InquiryMethod,
  params: JsonObject = {},
): Promise<unknown> {
  const known = (ctx as { [INQUIRE]?: Inquire })[INQUIRE];
  return known
    ? known(key, method, params)
    : Promise.reject(new CommandError(`there is no client to ask ${method}`));
}

/**
 * The folders that the client works in, as URIs; undefined when it has none to tell, or does not answer within
 * {@linkcode ROOTS_WAIT_MS}.
 *
 * @throws {InputRequired} in 2026-07-28, while the answer is not there.
 */
export async function clientRoots(
  ctx: CommandContext,
): Promise<string[] | undefined> {
  const known = (ctx as { [INQUIRE]?: Inquire })[INQUIRE];
  if (!known || !isObject(ctx.client.capabilities.roots)) return undefined;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ROOTS_WAIT_MS);
  try {
    const signal = AbortSignal.any([ctx.signal, late.signal]);
    const result = await known("roots", "roots/list", {}, signal);
    const roots = isObject(result) ? own(result, "roots") : undefined;
    if (!Array.isArray(roots)) return undefined;
    return roots.flatMap((root) =>
      isObject(root) && typeof root.uri === "string" ? [root.uri] : []
    );
  } catch (error) {
    if (error instanceof InputRequired) throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs a method whose handler may ask. For a stateless request it reads the answers that came along, and turns what
 * is still to be asked into the result.
 *
 * @throws {RpcError} -32602 for a state that this server did not give for this call, or that has expired.
 */
export async function withInput(
  exchange: Exchange,
  work: (exchange: Exchange) => Promise<object>,
): Promise<object> {
  if (!exchange.caller.stateless) return await work(exchange);
  await readInput(exchange);
  const { wanted } = exchange;
  try {
    const result = await work(exchange);
    // A handler that swallows the error has not got its answer all the same.
    if (wanted.size === 0) return result;
  } catch (error) {
    if (wanted.size === 0) throw error;
  }
  const states = await exchange.core.inputStates();
  const state = {
    answers: Object.fromEntries(exchange.answers),
    asked: [...wanted.keys()],
  };
  return {
    resultType: "input_required",
    inputRequests: Object.fromEntries(wanted),
    requestState: await states.write(state, bound(exchange)),
  };
}

async function ask(
  exchange: Exchange,
  inquire: Inquire,
  key: string,
  question: Question,
): Promise<Answer> {
  const schema = question.schema ?? { type: "object", properties: {} };
  const { elicitation } = exchange.caller.client.capabilities;
  // Without a mode, `form` is meant (2025-11-25, Elicitation, "Capabilities").
  const hasForm = isObject(elicitation) &&
    (Object.hasOwn(elicitation, "form") || !Object.hasOwn(elicitation, "url"));
  if (!hasForm) {
    throw new CommandError(
      "the client has no way to ask its person; go on without the answer, or say what is needed in the arguments",
    );
  }
  let answer: unknown;
  try {
    answer = await inquire(key, "elicitation/create", {
      message: question.message,
      requestedSchema: schema,
    });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new CommandError(
      `the client could not ask its person: ${error.message}`,
      { cause: error },
    );
  }
  const action = isObject(answer) ? own(answer, "action") : undefined;
  if (action === "decline") return { action };
  if (action !== "accept") return { action: "cancel" };
  const content = own(answer as JsonObject, "content") ?? {};
  const problem = await exchange.core.problemWith(schema, content);
  if (problem !== undefined) {
    throw new CommandError(`the answer does not fit the question: ${problem}`);
  }
  return { action, content: content as JsonObject };
}

async function inquireByRequest(
  exchange: Exchange,
  method: InquiryMethod,
  params: JsonObject,
  signal: AbortSignal = exchange.signal,
): Promise<unknown> {
  checkCapability(exchange, method);
  return await exchange.request(method, params, signal);
}

function inquireByResult(
  exchange: Exchange,
  key: string,
  method: InquiryMethod,
  params: JsonObject,
): Promise<unknown> {
  if (exchange.answers.has(key)) {
    return Promise.resolve(exchange.answers.get(key));
  }
  try {
    checkCapability(exchange, method);
  } catch (error) {
    return Promise.reject(error);
  }
  // Several that are asked side by side leave in one result.
  exchange.wanted.set(key, { method, params });
  return Promise.reject(new InputRequired(key));
}

function checkCapability(exchange: Exchange, method: InquiryMethod): void {
  const capability = INQUIRIES[method];
  if (isObject(own(exchange.caller.client.capabilities, capability))) return;
  throw new RpcError(
    ErrorCode.missingClientCapability,
    `the client did not declare the capability ${capability}, which this needs`,
    { requiredCapabilities: { [capability]: {} } },
  );
}

async function readInput(exchange: Exchange): Promise<void> {
  const { params, core } = exchange;
  const text = own(params, "requestState");
  const responses = own(params, "inputResponses") ?? {};
  if (!isObject(responses)) throw badParams("inputResponses must be an object");
  let asked = Object.keys(responses);
  if (text !== undefined) {
    const state = typeof text === "string"
      ? await (await core.inputStates()).read(text, bound(exchange))
      : undefined;
    if (!state) {
      throw badParams(
        "requestState was altered, has expired, or belongs to another call; make the call anew without it",
      );
    }
    for (const [key, answer] of Object.entries(state.answers)) {
      exchange.answers.set(key, answer);
    }
    asked = state.asked;
  }
  for (const key of asked) {
    if (!Object.hasOwn(responses, key)) continue;
    if (!isObject(responses[key])) {
      throw badParams(`inputResponses["${key}"] must be an object`);
    }
    exchange.answers.set(key, responses[key]);
  }
}

/**
 * What a state is good for: this method with these parameters.
 *
 * @throws {RpcError} -32602 for parameters that nest too deeply to be written down.
 */
function bound({ method, params }: Exchange): string {
  const {
    _meta,
    inputResponses: _inputResponses,
    requestState: _requestState,
    ...rest
  } = params;
  try {
    return JSON.stringify([method, rest], sorted);
  } catch {
    throw badParams("the parameters nest too deeply");
  }
}

/** Members in one order: a client may come back with the same call in another. */
function sorted(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1),
  );
}
