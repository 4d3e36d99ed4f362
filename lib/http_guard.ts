/**
 * Who may talk to the HTTP transport, and how much they may say.
 *
 * @module
 */
import { MAX_LINE_BYTES } from "./lines.ts";

/** A body may have this many bytes. */
export const MAX_BODY_BYTES: number = MAX_LINE_BYTES;

/** Milliseconds within which a body has to arrive. */
export const BODY_WITHIN_MS = 30_000;

/** Who may talk to the transport. */
export interface GuardOptions {
  /** The bearer token that every request must carry; undefined lets everybody in. */
  token: string | undefined;
  /** Names, beside those of the loopback, under which the server is reached. */
  hosts?: readonly string[];
}

/**
 * Refuses what a web page in somebody's browser could send: a foreign `Origin`, or a `Host` that was rebound to this
 * machine (2026-07-28, Transports, "Security Warning"). Where all addresses are listened on, any address may be the
 * host: only names can be rebound. Undefined when the request may go on.
 */
export function refuseForeign(
  request: Request,
  { hosts = [] }: GuardOptions,
): Response | undefined {
  const known = new Set([
    ...LOOPBACK,
    ...hosts.map((host) =>
      hostName(`http://${host.includes(":") ? `[${host}]` : host}`)
    ),
  ]);
  const anyAddress = EVERYWHERE.some((host) => known.has(host));
  // HTTP/2 has the host in its address alone.
  for (const host of [request.headers.get("host"), new URL(request.url).host]) {
    if (host === null) continue;
    const name = hostName(`http://${host}`);
    if (known.has(name ?? "")) continue;
    if (anyAddress && name !== undefined && ADDRESS.test(name)) continue;
    return plain(403, `the host "${host}" is not served here`);
  }
  const origin = request.headers.get("origin");
  if (origin !== null && !known.has(hostName(origin) ?? "")) {
    return plain(403, `the origin "${origin}" is not allowed`);
  }
  return undefined;
}

/** Refuses a request without the token. Undefined when the request may go on. */
export async function refuseStranger(
  request: Request,
  { token }: GuardOptions,
): Promise<Response | undefined> {
  if (token === undefined) return undefined;
  const given = /^Bearer +(\S+)$/i.exec(
    request.headers.get("authorization") ?? "",
  )?.[1];
  if (given !== undefined && await isSame(given, token)) return undefined;
  return plain(401, "a bearer token is required", {
    "WWW-Authenticate": given === undefined
      ? 'Bearer realm="rousseau"'
      : 'Bearer realm="rousseau", error="invalid_token"',
  });
}

/** The body as text, or the response that refuses it: too large, too slow, not UTF-8, or not JSON by its type. */
export async function readBody(
  request: Request,
  limits: { bytes: number; ms: number } = {
    bytes: MAX_BODY_BYTES,
    ms: BODY_WITHIN_MS,
  },
): Promise<string | Response> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    return plain(415, "the body must be application/json");
  }
  const tooLarge = () =>
    plain(413, `the body has more than ${limits.bytes} bytes`);
  if (Number(request.headers.get("content-length")) > limits.bytes) {
    return tooLarge();
  }
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = request.body?.getReader();
  if (!reader) return "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limits.ms);
  });
  const parts: string[] = [];
  let bytes = 0;
  try {
    while (true) {
      const read = await Promise.race([reader.read(), late]);
      if (read === "late") {
        return plain(408, `the body did not arrive within ${limits.ms} ms`);
      }
      if (read.done) return parts.join("") + decoder.decode();
      bytes += read.value.length;
      if (bytes > limits.bytes) return tooLarge();
      parts.push(decoder.decode(read.value, { stream: true }));
    }
  } catch {
    return plain(400, "the body is cut short, or not valid UTF-8");
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => {});
  }
}

/** A response of one line of text. */
export function plain(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { "Content-Type": "text/plain; charset=utf-8", ...headers },
  });
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** What stands for all addresses of the machine. */
const EVERYWHERE = ["0.0.0.0", "[::]"];

/** An address as `URL` writes it. */
const ADDRESS = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:]+\])$/;

function hostName(url: string): string | undefined {
  try {
    const { protocol, hostname, username } = new URL(url);
    return /^https?:$/.test(protocol) && username === ""
      ? hostname.toLowerCase()
      : undefined;
  } catch {
    return undefined;
  }
}

/** Takes as long for a wrong token as for the right one, whatever they have in common. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all([digest(a), digest(b)]);
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}

async function digest(text: string): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
