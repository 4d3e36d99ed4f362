/**
 * Records tool calls without being in their way: a call costs a push onto a queue. What is queued is prepared and
 * committed in batches, later, on the main thread, without ever waiting for a lock.
 *
 * @module
 */
import { append, type Entry, type SessionRef } from "./append.ts";
import type { CallEnd, CallObserver, CallStart } from "./hooks.ts";
import type { RecordLevel } from "./config.ts";
import {
  type MessageDraft,
  resultDrafts,
  SEARCHED_CHARS,
  textDraft,
  useDraft,
} from "./drafts.ts";
import { delay } from "./database_files.ts";
import type { SessionFile } from "./session_file.ts";
import { faultOf, type SqliteFault } from "./sqlite.ts";

/** Records in one transaction at most. */
export const BATCH_RECORDS = 64;

/**
 * UTF-16 units of arguments and results beyond which a batch ends: what makes full-text search of them must not keep
 * the event loop for long.
 */
export const BATCH_CHARS = 65_536;

/** Milliseconds between the first record of a batch and its commit. */
export const BATCH_DELAY = 100;

/** Milliseconds that a batch waits for another process's lock before it is dropped. */
export const LOCK_WAIT = 15_000;

/** How often a batch is put into the file that took a damaged one's place. */
export const APPEND_TRIES = 3;

/** Records that wait at most; more are dropped. */
export const QUEUE_RECORDS = 4_096;

/** UTF-16 units of results that wait at most; more are dropped. */
export const QUEUE_CHARS = 32 * 1024 * 1024;

/** Milliseconds without a call after which a connection's next call begins a new session. */
export const IDLE_LIMIT = 2 * 60 * 60 * 1000;

/** Conversations that are told apart at a time. */
export const MAX_CONVERSATIONS = 1_000;

/** What a {@linkcode Recorder} needs of the world. */
export interface RecorderOptions {
  /** The database. */
  file: SessionFile;
  /** How much of a call is kept. */
  level: RecordLevel;
  /** Real paths of the roots now. */
  roots: () => readonly string[];
  /** The working directory of the process. */
  cwd: string | undefined;
  /** The host's name for the conversation of a call, when it tells. */
  conversation: (call: CallStart) => string | undefined;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Told after each commit: ids of the sessions that grew, and whether one of them is new to this process. */
  committed: (ids: ReadonlySet<string>, isNew: boolean) => void;
}

/** A queue of calls, and the work that empties it. */
export class Recorder implements CallObserver {
  readonly #options: RecorderOptions;
  readonly #conversations = new Map<string, { ref: SessionRef; at: number }>();
  readonly #running = new Map<string, SessionRef>();
  readonly #bySignal = new WeakMap<AbortSignal, SessionRef>();
  readonly #closing = new AbortController();
  #queue: Queued[] = [];
  #chars = 0;
  #batch: Entry[] | undefined;
  #lockedSince: number | undefined;
  #retryDelay = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #step: Promise<Outcome> | undefined;
  #own = new Set<string>();

  /** Nothing is opened before the first call. */
  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Ids of the sessions that this recorder has written to. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /** The session of the call with this signal. */
  sessionOf(signal: AbortSignal): SessionRef | undefined {
    return this.#bySignal.get(signal);
  }

  started(call: CallStart): void {
    if (this.#options.level === "off") return;
    const session = this.#sessionOf(call);
    this.#running.set(call.callId, session);
    this.#bySignal.set(call.context.signal, session);
    let chars = 0;
    for (const value of Object.values(call.arguments)) {
      if (typeof value === "string") chars += value.length;
    }
    this.#push({ session, call, isEnd: false, chars });
  }

  ended(call: CallEnd): void {
    if (this.#options.level === "off") return;
    const session = this.#running.get(call.callId) ?? this.#sessionOf(call);
    this.#running.delete(call.callId);
    let chars = 0;
    for (const block of call.result?.content ?? []) {
      if (block.type === "text") chars += block.text.length;
      else if (block.type === "image") chars += block.data.length;
    }
    this.#push({ session, call, isEnd: true, chars });
  }

  /** Adds what became known of a call after its end, as a message of its session. */
  note(call: CallStart, text: string): void {
    const session = this.#bySignal.get(call.context.signal);
    if (!session) return;
    this.#push({ session, call, isEnd: false, chars: text.length, note: text });
  }

  /** Commits what is queued, waiting at most `wait` milliseconds for the file and for another process's lock. */
  async flush(wait: number): Promise<void> {
    const end = Date.now() + wait;
    while (this.#queue.length > 0 || this.#batch) {
      const left = Math.max(0, end - Date.now());
      const timeout = new AbortController();
      const outcome = await Promise.race([
        this.#work(),
        delay(Math.max(left, 1), timeout.signal).then(() => "late" as const),
      ]);
      timeout.abort();
      if (outcome === "late") return;
      if (outcome === "locked") {
        if (Date.now() >= end) return;
        await delay(Math.min(10, left), this.#closing.signal);
      }
    }
  }

  /** Stops the timer. What is still queued is lost: flush first. */
  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue = [];
    this.#batch = undefined;
  }

  #push(queued: Queued): void {
    if (
      this.#queue.length >= QUEUE_RECORDS ||
      this.#chars + queued.chars > QUEUE_CHARS
    ) {
      this.#options.file.warn("store.overflow", {
        problem: "calls come faster than they can be recorded",
        effect: "some are not recorded",
      });
      return;
    }
    this.#queue.push(queued);
    this.#chars += queued.chars;
    if (this.#queue.length === 1) this.#schedule(BATCH_DELAY);
    else if (this.#queue.length === BATCH_RECORDS) this.#schedule(0);
  }

  #schedule(milliseconds: number): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#timer);
    const timer = this.#timer = setTimeout(async () => {
      this.#timer = undefined;
      const outcome = await this.#work();
      if (outcome === "locked") this.#schedule(this.#retryDelay);
      else if (this.#queue.length > 0) {
        // Other work goes first between two batches.
        this.#schedule(this.#queue.length >= BATCH_RECORDS ? 0 : BATCH_DELAY);
      }
    }, milliseconds);
    Deno.unrefTimer(timer);
  }

  /** One batch, one at a time. */
  #work(): Promise<Outcome> {
    return this.#step ??= this.#commitBatch().catch((error) => {
      this.#drop("store.record_failed", error);
      return "done" as const;
    }).finally(() => {
      this.#step = undefined;
    });
  }

  async #commitBatch(): Promise<Outcome> {
    const { file, now } = this.#options;
    await file.check();
    await file.open();
    if (!file.writable) {
      // The file has told the operator why.
      this.#batch = undefined;
      this.#queue = [];
      this.#chars = 0;
      return "done";
    }
    this.#batch ??= await this.#takeBatch();
    for (let tries = 0;; tries++) {
      try {
        append(file.writable, this.#batch);
        break;
      } catch (error) {
        const fault = faultOf(error);
        if (fault === "busy") return this.#locked(now());
        await file.damage(error);
        // The file may be another one now, moved aside by this process or by another.
        const isOther = tries < APPEND_TRIES && OTHER_FILE.has(fault);
        if (!isOther || !await file.open() || !file.writable) {
          this.#drop(
            fault === "full" ? "store.disk_full" : "store.record_failed",
            error,
          );
          return "done";
        }
      }
    }
    const ids = new Set(this.#batch.map(({ session }) => session.id));
    const known = this.#own.size;
    for (const id of ids) this.#own.add(id);
    this.#batch = undefined;
    this.#lockedSince = undefined;
    this.#options.committed(ids, this.#own.size > known);
    await file.tidy();
    return "done";
  }

  #locked(now: number): Outcome {
    this.#lockedSince ??= now;
    if (now - this.#lockedSince >= LOCK_WAIT) {
      this.#lockedSince = undefined;
      this.#drop("store.locked", "another process keeps the database locked");
      return "done";
    }
    this.#retryDelay = Math.min(
      500,
      Math.max(25, (now - this.#lockedSince) / 4),
    );
    return "locked";
  }

  #drop(event: string, problem: unknown): void {
    this.#options.file.warn(event, {
      path: this.#options.file.path,
      problem: problem instanceof Error ? problem.message : problem,
      effect: "tools go on working; some calls are not recorded",
    });
    this.#batch = undefined;
  }

  async #takeBatch(): Promise<Entry[]> {
    const { level } = this.#options;
    let size = 0;
    let chars = 0;
    while (size < BATCH_RECORDS && chars < BATCH_CHARS) {
      const next = this.#queue[size];
      if (!next) break;
      // Of a long result only a part is searched.
      chars += Math.min(next.chars, SEARCHED_CHARS);
      size++;
    }
    const taken = this.#queue.splice(0, size);
    const entries: Promise<Entry>[] = [];
    for (const { session, call, isEnd, chars, note } of taken) {
      this.#chars -= chars;
      const drafts = note !== undefined
        ? [noteDraft(note, this.#options.now())]
        : isEnd
        ? resultDrafts(call as CallEnd, level)
        : [useDraft(call, level, session.roots)];
      for (const draft of drafts) entries.push(toEntry(session, draft));
    }
    return await Promise.all(entries);
  }

  #sessionOf(call: CallStart): SessionRef {
    const hostKey = this.#options.conversation(call);
    const key = hostKey ?? `connection:${call.connectionId}`;
    const known = this.#conversations.get(key);
    const isIdle = hostKey === undefined && known !== undefined &&
      call.startedAt - known.at > IDLE_LIMIT;
    if (known && !isIdle) {
      known.at = Math.max(known.at, call.startedAt);
      return known.ref;
    }
    const { client } = call.context;
    const ref: SessionRef = {
      id: crypto.randomUUID(),
      hostKey,
      clientName: client.name,
      clientVersion: client.version,
      protocol: client.revision,
      cwd: this.#options.cwd,
      roots: [...this.#options.roots()],
      source: undefined,
      n: undefined,
    };
    if (this.#conversations.size >= MAX_CONVERSATIONS) {
      const [oldest] = this.#conversations.keys();
      this.#conversations.delete(oldest as string);
    }
    this.#conversations.set(key, { ref, at: call.startedAt });
    return ref;
  }
}

/** `locked`: the batch waits for another process. */
type Outcome = "done" | "locked";

interface Queued {
  session: SessionRef;
  call: CallStart | CallEnd;
  isEnd: boolean;
  chars: number;
  note?: string;
}

function noteDraft(text: string, at: number): MessageDraft {
  return textDraft({ kind: "text", role: "system", text, at });
}

/** Adds what takes the platform's asynchronous digest: the hash of a whole, and the key of a long text. */
export async function toEntry(
  session: SessionRef,
  draft: MessageDraft,
): Promise<Entry> {
  return {
    session,
    draft: { ...draft, hashed: undefined },
    hash: draft.hashed === undefined ? undefined : await sha256(draft.hashed),
    bodyId: draft.body === undefined ? undefined : await sha256(draft.body),
  };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

/** After these there may be another file in the damaged one's place. */
const OTHER_FILE: ReadonlySet<SqliteFault | undefined> = new Set([
  "corrupt",
  "not-a-database",
  "io",
]);
