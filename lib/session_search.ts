/**
 * Full-text search over recorded sessions: what a person or a model types, as FTS5, and the best sessions for it.
 *
 * @module
 */
import { scopeWord } from "./append.ts";
import { CommandError } from "./command.ts";
import { MAX_SEQ, SEQ_BITS } from "./migrations.ts";
import { faultOf, type Sqlite, type SqlValue } from "./sqlite.ts";
import { oneLine } from "./transcript.ts";

/**
 * Matching messages that are ranked, the newest first: a word that half of a million messages hold is found in
 * milliseconds, and the ranking of all of them would take half a second.
 */
export const RANKED_MATCHES = 2_000;

/** Words of a snippet, as upstream's. */
export const SNIPPET_WORDS = 12;

/** A session that matched. */
export interface Match {
  /** The session's number in the file. */
  n: number;
  /** bm25: the lower, the better. */
  rank: number;
  /** The words around the match, on one line. */
  snippet: string;
  /** Where in the snippet the words are that matched. */
  matches: readonly (readonly [number, number])[];
  /** The message that matched best; undefined when the title did. */
  seq: number | undefined;
}

/** Which sessions are looked at. */
export interface Visible {
  /** SQL that gives the numbers of the roots whose sessions are looked at; undefined: all. */
  roots: string | undefined;
  /** SQL that gives the sessions' numbers; undefined: all. */
  numbers: string | undefined;
  /** The values in {@linkcode roots}, which are also those in {@linkcode numbers}. */
  values: readonly SqlValue[];
}

/**
 * The best matches for `query`, one for each session, the best first. What is not FTS5 is taken as plain words.
 *
 * @throws {CommandError} when `query` is empty, or uses FTS5's operators wrongly.
 */
export function searchMatches(
  db: Sqlite,
  query: string,
  options: { limit: number; visible: Visible },
): Match[] {
  const asked = query.trim();
  if (asked === "") throw new CommandError("query is required");
  try {
    return matches(db, asked, options);
  } catch (error) {
    if (faultOf(error) !== "sql") throw error;
    if (usesOperators(asked)) {
      throw new CommandError(
        `search: ${
          JSON.stringify(asked)
        } is no query: AND, OR and NOT stand between words, phrases in double quotes, and * at a word's end; in quotes all of it is plain text`,
        { cause: error },
      );
    }
    const words = asWords(asked);
    return words === "" ? [] : matches(db, words, options);
  }
}

/** Every word as a quoted phrase, so that `foo-bar`, `a:b` and a lone quote are only text; all must occur. */
export function asWords(query: string): string {
  return query.split(/\s+/)
    .map((word) => word.replaceAll('"', " ").trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .map((word) => `"${word}"`)
    .join(" ");
}

function usesOperators(query: string): boolean {
  return /(?:^|\s)(?:AND|OR|NOT|NEAR\()/.test(query);
}

function matches(
  db: Sqlite,
  query: string,
  { limit, visible }: { limit: number; visible: Visible },
): Match[] {
  const { roots, numbers, values } = visible;
  const words = roots === undefined
    ? undefined
    : db.all<{ n: number }>(roots, ...values).map(({ n }) => scopeWord(n));
  if (words?.length === 0) return [];
  // The index narrows the matches down to the project's. It is no wall, since a query may be written to close the
  // bracket: that is the condition on the session's number.
  const inText = words === undefined
    ? `{text} : (${query})`
    : `({text} : (${query})) AND {scope} : (${words.join(" OR ")})`;
  const inMessages = numbers === undefined
    ? ""
    : `AND rowid >> ${SEQ_BITS} IN (${numbers})`;
  // The plus keeps SQLite from running the whole query once for each number.
  const inTitles = numbers === undefined ? "" : `AND +rowid IN (${numbers})`;
  const found = db.all<{ n: number; rank: number; id: number | null }>(
    `SELECT n, min(rank) AS rank, id FROM (
       SELECT id >> ${SEQ_BITS} AS n, rank, id FROM (
         SELECT rowid AS id, rank FROM messages_fts
         WHERE messages_fts MATCH ? ${inMessages} ORDER BY rowid DESC LIMIT ${RANKED_MATCHES}
       )
       UNION ALL
       SELECT n, rank, NULL AS id FROM (
         SELECT rowid AS n, rank FROM titles_fts
         WHERE titles_fts MATCH ? ${inTitles} ORDER BY rowid DESC LIMIT ${RANKED_MATCHES}
       )
     ) GROUP BY n ORDER BY 2, n DESC LIMIT ?`,
    inText,
    ...values,
    query,
    ...values,
    limit,
  );
  const titles = snippets(
    db,
    "titles_fts",
    query,
    found.flatMap(({ n, id }) => id === null ? [n] : []),
  );
  const texts = snippets(
    db,
    "messages_fts",
    `{text} : (${query})`,
    found.flatMap(({ id }) => id ?? []),
  );
  return found.map(({ n, rank, id }) => ({
    n,
    rank,
    seq: id === null ? undefined : id - n * MAX_SEQ,
    ...unmarked((id === null ? titles.get(n) : texts.get(id)) ?? ""),
  }));
}

/**
 * The words around the match in each of `ids`: in one query, since a prefix costs as much in each, and from the newest
 * on, where they are.
 */
function snippets(
  db: Sqlite,
  table: "messages_fts" | "titles_fts",
  query: string,
  ids: readonly number[],
): Map<number, string> {
  if (ids.length === 0) return new Map();
  const rows = db.all<{ id: number; text: string }>(
    `SELECT rowid AS id, snippet(${table}, 0, '${BEGIN}', '${END}', '…', ${SNIPPET_WORDS}) AS text FROM ${table}
     WHERE ${table} MATCH ? AND rowid >= ? AND +rowid IN (SELECT value FROM json_each(?))
     ORDER BY rowid DESC`,
    query,
    Math.min(...ids),
    JSON.stringify(ids),
  );
  return new Map(rows.map(({ id, text }) => [id, text]));
}

/** Around a match in what SQLite hands over: characters that are in no text, since Unicode has none there. */
const BEGIN = "\uFDD0";
const END = "\uFDD1";

/** A snippet as it may be shown, and where its matches are; without them where showing it safely moved them. */
export function unmarked(marked: string): Pick<Match, "snippet" | "matches"> {
  const snippet = oneLine(marked.replace(MARKS, ""));
  const matches: [number, number][] = [];
  let at = 0;
  let isIn = false;
  for (const part of oneLine(marked).split(MARKS)) {
    if (isIn) matches.push([at, at + part.length]);
    at += part.length;
    isIn = !isIn;
  }
  const isMoved = oneLine(marked).replace(MARKS, "") !== snippet;
  return { snippet, matches: isMoved ? [] : matches };
}

const MARKS = /[\uFDD0\uFDD1]/g;
