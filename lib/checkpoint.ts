/**
 * What a tool that is about to replace a file asks of whoever keeps the bytes that it replaces.
 *
 * @module
 */

/** Key of the {@linkcode Keeper} in `ctx.process`; absent where nothing is recorded. */
export const KEEPER_KEY = "checkpoints";

/** Bytes of a file up to which what is replaced is kept. */
export const CHECKPOINT_BYTES = 8 * 1024 * 1024;

/** A file that is about to be replaced. */
export interface Replacement {
  /** Real path. */
  path: string;
  /** The tool that replaces it. */
  tool: string;
  /** What is there now; null: nothing. */
  before: Uint8Array | null;
  /** Its mode; null where nothing is there, or the system has none. */
  mode: number | null;
  /** What will be there; null: nothing. */
  after: Uint8Array | null;
}

/** That the bytes are kept, or why they are not. */
export type Kept =
  | {
    /** The number of the step within its session. */
    step: number;
    /** The replacement did not take place: there is nothing to undo. */
    forget(): Promise<void>;
  }
  | { step?: undefined; problem: string };

/** Keeps what is replaced. */
export interface Keeper {
  /**
   * Keeps the bytes, committed before this resolves. Undefined when the call is not recorded. Never throws.
   *
   * @param signal the call's own, by which its session is known.
   */
  keep(
    signal: AbortSignal,
    replacement: Replacement,
  ): Promise<Kept | undefined>;
}
