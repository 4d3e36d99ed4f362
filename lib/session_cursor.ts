/**
 * Cursors of a list of sessions: a place in their order, opaque to clients.
 *
 * @module
 */
import { ErrorCode, RpcError } from "./rpc.ts";
import type { Place } from "./session_rows.ts";

/** Before every session. */
export const START: Place = { updatedAt: Number.MAX_SAFE_INTEGER, n: 0 };

/** The cursor for what follows a place. */
export function makeCursor({ updatedAt, n }: Place): string {
  return btoa(`s1:${updatedAt}:${n}`).replaceAll("=", "");
}

/**
 * The place that a cursor stands for.
 *
 * @throws {RpcError} -32602 for a cursor that {@linkcode makeCursor} did not make.
 */
export function parseCursor(cursor: string): Place {
  let text = "";
  try {
    text = atob(cursor);
  } catch {
    // Told below.
  }
  const found = /^s1:(\d{1,15}):(\d{1,15})$/.exec(text);
  if (!found) {
    throw new RpcError(
      ErrorCode.invalidParams,
      "invalid cursor: pass `nextCursor` of the page before, or none",
    );
  }
  return { updatedAt: Number(found[1]), n: Number(found[2]) };
}
