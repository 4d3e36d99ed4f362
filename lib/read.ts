/**
 * The tool `read`: a page of a text file, a picture or a sound, or what is in a folder.
 *
 * @module
 */
import { toBase64 } from "./base64.ts";
import { command, CommandError } from "./command.ts";
import type { Command, CommandOutput } from "./command.ts";
import { byteOrderMark } from "./encoding.ts";
import { kindOf } from "./file_operations.ts";
import { openChecked } from "./files.ts";
import { listFolder, LISTING_ENTRIES } from "./listing.ts";
import { pageBytes } from "./paging.ts";
import { pathsOf } from "./paths.ts";
import type { Resolved } from "./scope.ts";
import { fileSource, UNSIZED_BYTES, unsizedSource } from "./seek.ts";
import { type Kind, sniff, SNIFF_BYTES } from "./sniff.ts";
import { type Asked, NOTE_CHARS, type Reading, readText } from "./text_page.ts";
import {
  answer,
  answerBudget,
  counted,
  failure,
  grouped,
  MAX_ANSWER_CHARS,
  osError,
  type ToolContext,
} from "./tool.ts";

/** Bytes of a picture or a sound that is handed over. */
export const MEDIA_BYTES = 3_145_728;

/** The arguments of `read`. */
export const readInput = {
  type: "object",
  properties: {
    path: {
      type: "string",
      description: "Absolute, or relative to the first root.",
    },
    offset: {
      type: "integer",
      description: "First line, from 1; negative: from the end.",
    },
    limit: {
      type: "integer",
      minimum: 1,
      description: "Lines at most; default 2000 in 20,000 characters.",
    },
    byte_offset: {
      type: "integer",
      minimum: 0,
      description:
        "Byte to start at, as a note named it with its line as offset.",
    },
    line_numbers: { type: "boolean" },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

/** The command `read` and the tool of that name. */
export const read: Command<typeof readInput, ToolContext> = command({
  name: "read",
  summary: "Print a file, a page at a time, or list a folder",
  description:
    "Read a text file verbatim; also images, audio, and folders as a list. Prefer it to cat, head, tail and ls in bash. Long files come in pages: a note after the text says what is left and how to read on.",
  input: readInput,
  positionals: ["path"],
  options: { line_numbers: { short: "n" } },
  verbatim: true,
  examples: [
    "rousseau read src/main.ts",
    "rousseau read server.log --offset=-100",
  ],
  tool: {
    name: "read",
    title: "Read a file",
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    _meta: {
      "anthropic/maxResultSizeChars": MAX_ANSWER_CHARS,
      "anthropic/alwaysLoad": true,
    },
  },
  async run(args, ctx) {
    if (args.path === "") throw failure("read: path is required");
    if (args.offset === 0) {
      throw failure(
        "read: offset: must not be 0: the first line is 1, the last is -1",
      );
    }
    let target: Resolved;
    try {
      target = await ctx.scope.resolve(args.path, "read");
    } catch (error) {
      throw osError("read", error, "open", args.path);
    }
    const { info, shown } = target;
    const asked: Asked = {
      offset: args.offset,
      limit: args.limit,
      byteOffset: args.byte_offset,
      lineNumbers: args.line_numbers ?? false,
    };
    if (info?.isDirectory) return await readFolder(target, asked, ctx);
    if (info && !info.isFile) {
      throw failure(
        `read: ${shown}: not a regular file: it is ${kindOf(info)}`,
        { notes: ["only files and folders are read; nothing was opened"] },
      );
    }
    let opened: Awaited<ReturnType<typeof openChecked>>;
    try {
      opened = await openChecked(target);
    } catch (error) {
      throw osError("read", error, "open", shown);
    }
    using file = opened.file;
    try {
      const source = opened.info.size > 0
        ? fileSource(file, opened.info.size)
        : await unsizedSource(file);
      return await readSource({
        source,
        target: {
          ...target,
          notes: source.size < UNSIZED_BYTES || opened.info.size > 0
            ? target.notes
            : [
              ...target.notes,
              `its size is not told: only the first ${
                grouped(UNSIZED_BYTES)
              } bytes are looked at`,
            ],
        },
        info: opened.info,
        asked,
        ctx,
      });
    } catch (error) {
      throw error instanceof CommandError
        ? error
        : osError("read", error, "read", shown);
    }
  },
});

async function readSource(reading: Reading): Promise<CommandOutput> {
  const { source, asked, ctx } = reading;
  const budget = answerBudget(ctx.config, asked.limit);
  const head = await source.read(0, Math.max(SNIFF_BYTES, pageBytes(budget)));
  const kind = sniff(head);
  if (kind.kind === "media") return await readMedia(reading, kind);
  if (kind.kind === "binary") {
    throw failure(
      `read: ${reading.target.shown} does not look like UTF-8 text`,
      {
        notes: [
          `it is ${kind.name} of ${
            counted(source.size, "byte")
          }; a program for that format, run with bash, can show what is in it`,
        ],
        meta: { bytes: source.size, binary: true },
      },
    );
  }
  const mark = byteOrderMark(head);
  return await readText(reading, {
    encoding: mark?.encoding ?? "utf-8",
    start: mark?.length ?? 0,
    head,
  });
}

async function readMedia(
  { source, target }: Reading,
  kind: Kind & { kind: "media" },
): Promise<CommandOutput> {
  if (source.size > MEDIA_BYTES) {
    throw failure(
      `read: ${target.shown}: ${kind.mimeType} of ${
        counted(source.size, "byte")
      }, over the ${MEDIA_BYTES} byte limit`,
      { notes: ["a smaller copy, made with bash, can be read"] },
    );
  }
  const bytes = await source.read(0, source.size);
  return answer(
    { type: kind.type, data: toBase64(bytes), mimeType: kind.mimeType },
    {
      notes: [
        ...target.notes,
        `${target.shown}: ${kind.mimeType}, ${counted(bytes.length, "byte")}`,
      ],
      meta: { bytes: bytes.length },
    },
  );
}

async function readFolder(
  target: Resolved,
  asked: Asked,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const { shown, real } = target;
  const offset = asked.offset ?? 1;
  try {
    const listing = await listFolder({
      folder: real,
      separator: pathsOf(ctx.platform.os).separator,
      offset,
      maxEntries: asked.limit ?? LISTING_ENTRIES,
      maxChars: answerBudget(ctx.config, asked.limit) - NOTE_CHARS,
      denial: (path) => ctx.scope.denial(path, "read"),
      signal: ctx.signal,
      now: () => performance.now(),
    });
    const { first, shown: n, total } = listing;
    const all = `${grouped(total)}${listing.more ? "+" : ""}`;
    const last = first + n - 1;
    if (first > Math.max(total, 1)) {
      throw failure(
        `${shown} has ${all} ${
          total === 1 ? "entry" : "entries"
        }; offset ${offset} is past its end`,
        { meta: { directory: true, entries: total } },
      );
    }
    const range = total === 0
      ? "empty"
      : n === total
      ? `${all} ${total === 1 ? "entry" : "entries"}`
      : `entries ${grouped(first)}-${grouped(last)} of ${all}`;
    return answer(listing.text, {
      notes: [
        ...target.notes,
        `${shown} is a directory: ${range}${
          last < total ? `; read on with offset=${last + 1}` : ""
        }`,
      ],
      meta: { directory: true, entries: total, shown: n },
    });
  } catch (error) {
    throw osError("read", error, "open", shown);
  }
}
