/**
 * Strings of a special form: durations, as people write them and as JSON Schema has them.
 *
 * @module
 */

/** A duration as JSON Schema has it (ISO 8601: `PT1H30M`, `P2D`, `P1W`) for one as people write it; undefined otherwise. */
export function isoDuration(text: string): string | undefined {
  const parts = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/
    .exec(text.trim().toLowerCase());
  if (!parts || text.trim() === "") return undefined;
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((n) =>
    n === undefined ? 0 : Number(n)
  ) as [number, number, number, number, number];
  const day = weeks * 7 + days;
  const time = `${hours ? `${hours}H` : ""}${minutes ? `${minutes}M` : ""}${
    seconds ? `${seconds}S` : ""
  }`;
  if (!day && !time) return "PT0S";
  return `P${day ? `${day}D` : ""}${time ? `T${time}` : ""}`;
}

/**
 * Milliseconds of a duration in the form of JSON Schema. Months and years, which have no fixed length, are refused.
 *
 * @throws {RangeError} for other texts.
 */
export function durationMs(iso: string): number {
  const parts =
    /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(
      iso,
    );
  if (!parts) {
    throw new RangeError(
      `Cannot read duration "${iso}": weeks to seconds only`,
    );
  }
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((n) =>
    Number(n ?? 0)
  ) as [number, number, number, number, number];
  return ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) *
    1000;
}

/** What a string of a JSON Schema format is, in words. */
export function formatInWords(format: unknown): string | undefined {
  return typeof format === "string" ? WORDS.get(format) : undefined;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["duration", "a duration such as PT5M (on the command line also 5m)"],
  ["uri", "a URL with its scheme"],
  ["regex", "a regular expression"],
  ["path", "a path"],
  ["date", "a date such as 2026-01-31"],
  ["date-time", "a time such as 2026-01-31T12:00:00Z"],
  ["email", "an e-mail address"],
]);
