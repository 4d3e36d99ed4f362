/**
 * The state of a call that waits for its client's input (2026-07-28, "Multi Round-Trip Requests"): it travels through
 * the client, so it is signed, bound to the call, and expires.
 *
 * @module
 */
import { fromBase64, toBase64 } from "./base64.ts";
import type { JsonObject } from "./mcp.ts";

/** Milliseconds within which a client must come back with the answers. */
export const INPUT_STATE_TTL_MS = 15 * 60_000;

/** What a call has asked and been told so far. */
export interface InputState {
  /** Answers of earlier rounds, by key. */
  answers: JsonObject;
  /** Keys of what was asked in the last round; answers to anything else are ignored. */
  asked: string[];
}

/** Signs and reads states, with a key that only this process has. */
export class InputStates {
  #key: Promise<CryptoKey> | undefined;
  readonly #now: () => number;

  /** `now` is the clock, in milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The state as text for the client. `call` is what the state is good for: method and arguments. */
  async write(state: InputState, call: string): Promise<string> {
    const expires = this.#now() + INPUT_STATE_TTL_MS;
    const payload = toText(encode(JSON.stringify({ expires, ...state })));
    const signature = await crypto.subtle.sign(
      "HMAC",
      await this.#secret(),
      signed(payload, call),
    );
    return `${payload}.${toText(new Uint8Array(signature))}`;
  }

  /** The state that `text` holds; undefined when it was altered, has expired, or belongs to another call. */
  async read(text: string, call: string): Promise<InputState | undefined> {
    const [payload, signature, ...more] = text.split(".");
    if (!payload || !signature || more.length > 0) return undefined;
    const bytes = fromText(signature);
    if (
      !bytes || !await crypto.subtle.verify(
        "HMAC",
        await this.#secret(),
        bytes,
        signed(payload, call),
      )
    ) return undefined;
    const { expires, answers, asked } = JSON.parse(
      new TextDecoder().decode(fromText(payload)),
    );
    return expires < this.#now() ? undefined : { answers, asked };
  }

  #secret(): Promise<CryptoKey> {
    return this.#key ??= crypto.subtle.generateKey(
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign", "verify"],
    );
  }
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function signed(payload: string, call: string): Uint8Array<ArrayBuffer> {
  return encode(`${payload}.${call}`);
}

function toText(bytes: Uint8Array): string {
  return toBase64(bytes, { alphabet: "base64url", omitPadding: true });
}

function fromText(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return fromBase64(text, { alphabet: "base64url" });
  } catch {
    return undefined;
  }
}
