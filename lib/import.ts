/**
 * Bringing conversations of other programs into the store: file by file, each from where it was read to the last
 * time, in batches whose progress is committed with them.
 *
 * @module
 */
import { clipChars } from "./clip.ts";
import { appendEntries, type Entry, type SessionRef } from "./append.ts";
import type { MessageDraft } from "./drafts.ts";
import {
  type Conversation,
  type ImportFormat,
  object,
} from "./import_format.ts";
import { type Line, linesFrom } from "./import_lines.ts";
import { toEntry } from "./recorder.ts";
import { redact } from "./redact.ts";
import { deleteAll } from "./retention.ts";
import type { Sqlite } from "./sqlite.ts";
import type { SessionStore } from "./store.ts";
import { addFact, type Facts, TITLE_CHARS, titleOf } from "./title.ts";

/** Messages committed at a time. */
export const IMPORT_BATCH = 60;

/** What an import did. */
export interface Imported {
  /** Files looked at. */
  files: number;
  /** Files with something new in them. */
  changed: number;
  /** Messages taken over. */
  messages: number;
  /** Lines that were no records, or too long. */
  skipped: number;
}

/** Where an import is, for whoever waits. */
export type Progress = (bytes: number, total: number) => void;

/** Imports files of a format. What was imported before is only continued. */
export async function importFiles(
  store: SessionStore,
  format: ImportFormat,
  options: {
    paths: readonly string[];
    signal: AbortSignal;
    progress: Progress;
  },
): Promise<Imported> {
  const { paths, signal, progress } = options;
  const done: Imported = { files: 0, changed: 0, messages: 0, skipped: 0 };
  const infos = await Promise.all(
    paths.map((path) => Deno.stat(path).catch(() => undefined)),
  );
  const total = infos.reduce((sum, info) => sum + (info?.size ?? 0), 0);
  let bytes = 0;
  for (const [i, path] of paths.entries()) {
    const info = infos[i];
    if (!info?.isFile) continue;
    signal.throwIfAborted();
    done.files++;
    const file = new FileImport(store, format, path, info);
    await file.run(signal, (read) => progress(bytes + read, total));
    bytes += info.size;
    if (file.messages > 0) done.changed++;
    done.messages += file.messages;
    done.skipped += file.skipped;
  }
  return done;
}

/** All files below a format's folders, or below those given; files given are taken as they are. */
export async function filesOf(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const info = await Deno.stat(path).catch(() => undefined);
    if (info?.isFile) found.push(path);
    if (!info?.isDirectory) continue;
    for await (const entry of Deno.readDir(path)) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory) found.push(...await filesOf([inner]));
      else if (entry.isFile && entry.name.endsWith(".jsonl")) found.push(inner);
    }
  }
  return found.sort();
}

/** How far a file was read, as the store keeps it. */
interface ImportRow {
  inode: number | null;
  size: number;
  modified: number;
  readTo: number;
  state: string;
}

/** One file on its way into the store. */
class FileImport {
  messages = 0;
  skipped = 0;
  readonly #store: SessionStore;
  readonly #format: ImportFormat;
  readonly #path: string;
  readonly #info: Deno.FileInfo;
  readonly #session: SessionRef;
  #conversation: Conversation = newConversation();

  constructor(
    store: SessionStore,
    format: ImportFormat,
    path: string,
    info: Deno.FileInfo,
  ) {
    this.#store = store;
    this.#format = format;
    this.#path = path;
    this.#info = info;
    this.#session = {
      id: crypto.randomUUID(),
      hostKey: `${format.name}:${path}`,
      clientName: format.title,
      clientVersion: undefined,
      protocol: undefined,
      cwd: undefined,
      roots: [],
      source: format.name,
      n: undefined,
    };
  }

  async run(
    signal: AbortSignal,
    progress: (read: number) => void,
  ): Promise<void> {
    const offset = await this.#resume();
    if (offset === undefined) return;
    using file = await Deno.open(this.#path, { read: true });
    let drafts: MessageDraft[] = [];
    let readTo = offset;
    for await (const line of linesFrom(file, offset)) {
      const found = this.#draftsOf(line);
      // A last line that is no record yet is left for the next time.
      if (found === undefined && !line.isWhole) break;
      if (found === undefined) this.skipped++;
      drafts.push(...found ?? []);
      readTo = line.end;
      if (drafts.length < IMPORT_BATCH) continue;
      signal.throwIfAborted();
      await this.#commit(drafts, readTo);
      drafts = [];
      progress(readTo);
    }
    await this.#commit(drafts, readTo);
  }

  /** Where to read on; undefined when nothing changed. A file that was replaced is imported anew. */
  async #resume(): Promise<number | undefined> {
    const { size, ino, mtime } = this.#info;
    const row = await this.#store.query((db) =>
      db.get<ImportRow>(
        `SELECT inode, size, modified, read_to AS readTo, state FROM imports WHERE path = ?`,
        this.#path,
      )
    );
    if (!row) return 0;
    const isSame = row.inode === ino && row.size === size &&
      row.modified === (mtime?.getTime() ?? 0);
    if (isSame && row.readTo === size) return undefined;
    if (row.inode === ino && size >= row.readTo) {
      const { tools, ...rest } = JSON.parse(row.state);
      this.#conversation = { ...rest, tools: new Map(tools) };
      return row.readTo;
    }
    await deleteAll(
      (body) => this.#store.change((db) => body(db)),
      "host_key = ?",
      this.#session.hostKey ?? "",
    );
    return 0;
  }

  /** The messages of a line; undefined when it is no record. */
  #draftsOf({ text }: Line): MessageDraft[] | undefined {
    if (text === undefined) return undefined;
    if (text.trim() === "") return [];
    let record: unknown;
    try {
      record = JSON.parse(text);
    } catch {
      return undefined;
    }
    const known = object(record);
    return known && this.#format.parse(known, this.#conversation);
  }

  async #commit(
    drafts: readonly MessageDraft[],
    readTo: number,
  ): Promise<void> {
    const session = this.#session;
    const { id, cwd, clientVersion } = this.#conversation;
    if (session.n === undefined && id && UUID.test(id)) {
      session.id = id.toLowerCase();
    }
    session.cwd = cwd;
    session.clientVersion = clientVersion;
    session.roots = cwd === undefined ? [] : [cwd];
    const entries: Entry[] = await Promise.all(
      drafts.map((draft) => toEntry(session, draft)),
    );
    const found = await this.#store.change((db) => {
      const found = appendEntries(db, entries);
      this.#noteTitle(db);
      this.#noteProgress(db, readTo);
      return found.get(session);
    });
    if (found) {
      session.n = found.n;
      session.id = found.id;
    }
    this.messages += drafts.length;
  }

  #noteTitle(db: Sqlite): void {
    const { title } = this.#conversation;
    if (title === undefined) return;
    const row = db.get<{ n: number; facts: string }>(
      "SELECT n, facts FROM sessions WHERE host_key = ?",
      this.#session.hostKey ?? "",
    );
    if (!row) return;
    const facts = JSON.parse(row.facts) as Facts;
    addFact(facts, {
      kind: "title",
      what: clipChars(redact(title), TITLE_CHARS),
    });
    db.run(
      "UPDATE sessions SET facts = ?, title = ? WHERE n = ?",
      JSON.stringify(facts),
      titleOf(facts),
      row.n,
    );
  }

  #noteProgress(db: Sqlite, readTo: number): void {
    const { size, ino, mtime } = this.#info;
    const { tools, title, ...rest } = this.#conversation;
    db.run(
      `INSERT OR REPLACE INTO imports (path, source, inode, size, modified, read_to, state)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      this.#path,
      this.#format.name,
      ino,
      size,
      mtime?.getTime() ?? 0,
      readTo,
      JSON.stringify({
        ...rest,
        title: title && redact(title),
        tools: [...tools].slice(-MAX_OPEN_CALLS),
      }),
    );
  }
}

/** Calls without a result that are remembered from one import to the next. */
const MAX_OPEN_CALLS = 100;

const UUID = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

function newConversation(): Conversation {
  return {
    id: undefined,
    title: undefined,
    cwd: undefined,
    clientVersion: undefined,
    tools: new Map(),
    time: 0,
  };
}
