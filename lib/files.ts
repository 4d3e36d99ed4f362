/**
 * File effects that keep the scope's word: opening what was checked, and replacing a file whole or not at all.
 *
 * @module
 */
import type { Resolved } from "./scope.ts";

/** The identity and state of a file when it was read, to notice a change before it is replaced. */
export interface Version {
  dev: number;
  ino: number | null;
  size: number;
  mtime: number | null;
}

/** How a replacement is made. */
export interface ReplaceOptions {
  /** Refuse when the file is no longer this version; null: refuse when anything exists now. */
  expect?: Version | null;
}

/**
 * Opens a checked file for reading: lstat, open, fstat compared by device and inode.
 *
 * @throws {CommandError} when the file was swapped, is not regular, or cannot be opened.
 */
export type OpenChecked = (
  target: Resolved,
) => Promise<{ file: Deno.FsFile; info: Deno.FileInfo }>;

/**
 * Puts `bytes` in place of the file: exclusive temporary file in the same folder, fsync, re-check, rename. Keeps
 * mode, makes missing parents. Nothing is left half-written.
 */
export type ReplaceFile = (
  target: Resolved,
  bytes: Uint8Array,
  options?: ReplaceOptions,
) => Promise<void>;
