/**
 * A page of an open text file: where it begins, what it shows, and what has to be said beside it.
 *
 * @module
 */
import { unitsWithin } from "./clip.ts";
import { type CommandOutput } from "./command.ts";
import { type Encoding, isContinuation } from "./encoding.ts";
import { contentNotes, position } from "./page_notes.ts";
import { countLines, cutPage, PAGE_LINES, pageBytes } from "./paging.ts";
import { Scans } from "./scans.ts";
import type { Resolved } from "./scope.ts";
import {
  SCAN_MS,
  type ScanLimits,
  seekLine,
  seekTail,
  type Source,
} from "./seek.ts";
import {
  answer,
  answerBudget,
  byteBudget,
  counted,
  failure,
  grouped,
  type ToolContext,
} from "./tool.ts";

/** Bytes of a file whose lines are all counted, so that a page can say how many there are. */
export const COUNT_BYTES = 4_194_304;

/** Characters kept free for the second block where a page does not show the whole file. */
export const NOTE_CHARS = 600;

/** What part of a file is asked for. */
export interface Asked {
  /** First line, from 1; negative counts from the end. Beside `byteOffset`: the number of the line there. */
  offset: number | undefined;
  /** Lines at most. */
  limit: number | undefined;
  /** Byte to start at, from 0. */
  byteOffset: number | undefined;
  /** A number and a tab before each line. */
  lineNumbers: boolean;
}

/** A file that is open for reading, and what was asked of it. */
export interface Reading {
  /** Its bytes. */
  source: Source;
  /** What was opened. */
  target: Resolved;
  /** Its state when it was opened. */
  info: Deno.FileInfo;
  /** What is to be shown. */
  asked: Asked;
  /** The call. */
  ctx: ToolContext;
  /** Milliseconds on a clock that does not go back; tests put another in. */
  now?(): number;
}

/** A text file: its encoding, where its text begins behind a byte-order mark, and its first bytes. */
export interface TextFile {
  /** How it is decoded. */
  encoding: Encoding;
  /** Bytes of the byte-order mark. */
  start: number;
  /** As many as a page needs, or all. */
  head: Uint8Array;
}

/** Where a page begins. `line` is its first line's number where that is known. */
interface Start {
  byte: number;
  line: number | undefined;
  notes: readonly string[];
}

/** Answers with a page of a text file. */
export async function readText(
  reading: Reading,
  text: TextFile,
): Promise<CommandOutput> {
  const start = await findStart(reading, text);
  return "byte" in start ? await readPage(reading, text, start) : start;
}

type Answered = ReturnType<typeof answer>;

async function findStart(
  reading: Reading,
  text: TextFile,
): Promise<Start | Answered> {
  const { source, asked, ctx, target, info } = reading;
  const { encoding, start } = text;
  const limits: ScanLimits = {
    signal: ctx.signal,
    now: reading.now ?? (() => performance.now()),
  };
  const offset = asked.offset ?? 1;
  if (asked.byteOffset !== undefined) {
    return await atByte(reading, text, asked.byteOffset);
  }
  if (offset < 0) {
    const tail = await seekTail(source, -offset, start, encoding, limits);
    const notes = tail.outcome === "timeout"
      ? [
        `stopped after ${SCAN_MS / 1_000} s: these are the last ${
          grouped(tail.lines)
        } lines, not ${grouped(-offset)}`,
      ]
      : [];
    const total = tail.outcome === "found" && source.size <= COUNT_BYTES
      ? await countAll(source, text)
      : undefined;
    return {
      byte: tail.byte,
      line: tail.outcome === "start"
        ? 1
        : total === undefined
        ? undefined
        : total - tail.lines + 1,
      notes,
    };
  }
  if (offset <= 1) return { byte: start, line: 1, notes: [] };
  const scans = ctx.process.get("read", () => new Scans());
  const from = await scans.recall(source, info) ?? { line: 1, byte: start };
  const found = await seekLine(
    source,
    offset,
    from.line <= offset ? from : { line: 1, byte: start },
    encoding,
    limits,
  );
  switch (found.outcome) {
    case "found":
      return { byte: found.byte, line: found.line, notes: [] };
    case "end":
      if (offset === found.line + 1) {
        return answer("", {
          notes: [
            `${target.shown} has ${counted(found.line, "line")} (${
              counted(source.size, "byte")
            }): nothing follows yet`,
          ],
          meta: { bytes: source.size, lines: 0, total_lines: found.line },
        });
      }
      throw failure(
        `read: ${target.shown} has ${
          counted(found.line, "line")
        }; offset ${offset} is past its end`,
        { meta: { bytes: source.size, total_lines: found.line } },
      );
    case "timeout": {
      await scans.remember(source, info, found);
      const guess = Math.min(
        source.size,
        Math.round(found.byte / found.line * offset),
      );
      return answer("", {
        notes: [
          `stopped after ${SCAN_MS / 1_000} s: line ${
            grouped(offset)
          } was not reached; line ${grouped(found.line)} begins at byte ${
            grouped(found.byte)
          } of ${
            grouped(source.size)
          }. The same call again searches on from there; byte_offset=${guess} is about where the line may be; offset=-N reads the end at once`,
        ],
        meta: {
          bytes: source.size,
          partial: true,
          next_offset: found.line,
          next_byte_offset: found.byte,
        },
      });
    }
  }
}

/** A page that begins at a byte, moved to the next whole character where the byte is inside one. */
async function atByte(
  { source, asked, target }: Reading,
  { encoding, start }: TextFile,
  wanted: number,
): Promise<Start | Answered> {
  const { offset } = asked;
  if (wanted > source.size) {
    throw failure(
      `read: ${target.shown} has ${
        counted(source.size, "byte")
      }; byte_offset ${wanted} is past its end`,
      { meta: { bytes: source.size } },
    );
  }
  if (wanted === source.size && source.size > 0) {
    return answer("", {
      notes: [
        `${target.shown} ends at byte ${
          grouped(source.size)
        }: nothing follows yet`,
      ],
      meta: { bytes: source.size, lines: 0 },
    });
  }
  let byte = Math.max(wanted, start);
  if (encoding !== "utf-8") byte += (byte - start) % 2;
  else {
    const ahead = await source.read(byte, 4);
    let skip = 0;
    while (skip < 3 && isContinuation(ahead[skip] ?? 0)) skip++;
    // Four in a row are no character's rest, but another encoding.
    if (skip < 3 || !isContinuation(ahead[3] ?? 0)) byte += skip;
  }
  const line = offset !== undefined && offset > 0
    ? offset
    : byte === start
    ? 1
    : undefined;
  return {
    byte,
    line,
    notes: byte === Math.max(wanted, start)
      ? []
      : [`begins at byte ${byte}, the next whole character`],
  };
}

async function readPage(
  reading: Reading,
  text: TextFile,
  start: Start,
): Promise<CommandOutput> {
  const { source, asked, ctx, target } = reading;
  const { encoding, head } = text;
  const budget = answerBudget(ctx.config, asked.limit);
  const wanted = pageBytes(budget);
  const bytes = start.byte + wanted <= head.length ||
      head.length === source.size
    ? head.subarray(start.byte, start.byte + wanted)
    : await source.read(start.byte, wanted);
  const request = {
    bytes,
    encoding,
    atEnd: start.byte + bytes.length >= source.size,
    maxLines: asked.limit ?? PAGE_LINES,
    maxChars: budget,
    maxBytes: byteBudget(budget, ctx, asked.limit),
    firstNumber: asked.lineNumbers ? start.line ?? 1 : undefined,
  };
  let page = cutPage(request);
  const about = {
    shown: target.shown,
    size: source.size,
    encoding,
    start: text.start,
  };
  const isWhole = () =>
    start.byte === text.start && request.atEnd && page.used === bytes.length;
  const plain = [target.notes, start.notes, contentNotes(about, page)]
    .every((notes) => notes.length === 0);
  const maxChars = budget - NOTE_CHARS;
  const maxBytes = byteBudget(maxChars, ctx, asked.limit);
  const beyond = page.text.length > maxChars ||
    unitsWithin(page.text, maxBytes) < page.text.length;
  if (beyond && !(isWhole() && plain)) {
    page = cutPage({ ...request, maxChars, maxBytes });
  }
  const end = start.byte + page.used;
  const total = await totalLines(reading, text, {
    line: start.line,
    lines: page.lines,
    atEnd: end >= source.size,
  });
  return answer(page.text, {
    notes: [
      ...target.notes,
      ...start.notes,
      ...(isWhole() ? [] : [position({
        page,
        line: start.line,
        from: start.byte,
        to: end,
        total,
        size: source.size,
      })]),
      ...contentNotes(about, page),
      ...(asked.lineNumbers && start.line === undefined
        ? ["line numbers count from where this page begins"]
        : []),
    ],
    meta: {
      bytes: source.size,
      lines: page.lines,
      ...(total === undefined ? {} : { total_lines: total }),
      ...(start.line === undefined ? {} : { offset: start.line }),
      byte_offset: start.byte,
      ...(end < source.size ? { next_byte_offset: end } : {}),
      ...(encoding === "utf-8" ? {} : { encoding }),
      ...(page.bad > 0 ? { undecodable_bytes: page.bad } : {}),
    },
  });
}

/** How many lines the file has, where that is known or quickly counted. */
async function totalLines(
  { source }: Reading,
  text: TextFile,
  page: { line: number | undefined; lines: number; atEnd: boolean },
): Promise<number | undefined> {
  if (page.atEnd && page.line !== undefined) return page.line + page.lines - 1;
  return source.size > COUNT_BYTES ? undefined : await countAll(source, text);
}

async function countAll(
  source: Source,
  { encoding, start, head }: TextFile,
): Promise<number> {
  const bytes = head.length === source.size
    ? head
    : await source.read(0, source.size);
  return countLines(bytes.subarray(start), encoding);
}
