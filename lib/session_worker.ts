/**
 * The entry point of a worker that searches the session database, so that ranking many matches keeps nobody waiting.
 *
 * @module
 */
import { CommandError } from "./command.ts";
import { type Match, searchMatches, type Visible } from "./session_search.ts";
import { Sqlite } from "./sqlite.ts";

/** What the worker is sent. */
export interface SearchRequest {
  /** Tells which request an answer belongs to. */
  id: number;
  /** The database. */
  path: string;
  /** Another number when another file may have taken its place. */
  generation: number;
  /** As a person or a model typed it. */
  query: string;
  /** Matches at most. */
  limit: number;
  /** The sessions that are looked at. */
  visible: Visible;
}

/** What it answers. */
export type SearchAnswer =
  & { id: number }
  & (
    /** The best matches. */
    | { matches: Match[] }
    /** Why the query is none. */
    | { refusal: string }
    /** Something else failed; who asks tries it itself. */
    | { failed: true }
  );

interface WorkerScope {
  onmessage: ((event: MessageEvent<SearchRequest>) => void) | null;
  postMessage(message: SearchAnswer): void;
}

serveSearches(globalThis as unknown as WorkerScope);

function serveSearches(scope: WorkerScope): void {
  let open: { generation: number; db: Promise<Sqlite> } | undefined;
  scope.onmessage = async ({ data }) => {
    const { id, path, generation, query, limit, visible } = data;
    try {
      if (open?.generation !== generation) {
        open?.db.then((db) => db.close(), () => {});
        open = { generation, db: Sqlite.open(path, { readOnly: true }) };
      }
      const db = await open.db;
      const matches = searchMatches(db, query, { limit, visible });
      scope.postMessage({ id, matches });
    } catch (error) {
      if (error instanceof CommandError) {
        scope.postMessage({ id, refusal: error.message });
      } else {
        open?.db.then((db) => db.close(), () => {});
        open = undefined;
        scope.postMessage({ id, failed: true });
      }
    }
  };
}
