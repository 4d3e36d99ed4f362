/**
 * How far a command is, on one line of a terminal. Pure.
 *
 * @module
 */

/** Columns of the bar. */
export const BAR_COLUMNS = 20;

/** The line for a progress: a bar where the whole is known. */
export function progressLine(
  value: number,
  total: number | undefined,
  message: string | undefined,
): string {
  const words = message === undefined ? [] : [message];
  if (total === undefined || total <= 0) return [...words, value].join("  ");
  const part = Math.min(1, Math.max(0, value / total));
  const full = Math.floor(part * BAR_COLUMNS);
  const bar = "█".repeat(full) + "░".repeat(BAR_COLUMNS - full);
  return [...words, bar, `${Math.floor(part * 100)} %`].join("  ");
}
