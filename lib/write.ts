/**
 * The tool `write`: a whole file, or more at its end, whole or not at all.
 *
 * @module
 */
import {
  type Content,
  putInPlace,
  readWhole,
  refuseIllFormed,
  refuseIrregular,
  withFile,
} from "./change.ts";
import { command } from "./command.ts";
import type { Command, CommandOutput } from "./command.ts";
import {
  byteOrderMark,
  decodeExact,
  encodeExact,
  mostlyUtf8,
} from "./encoding.ts";
import type { Resolved } from "./scope.ts";
import { answer, counted, failure, type ToolContext } from "./tool.ts";

/**
 * Bytes of a file that is written, or appended to. Appending makes the file anew with the addition, so that it is
 * never there half; a larger file is for the shell's `>>`.
 */
export const WRITE_BYTES = 67_108_864;

/** The arguments of `write`. */
export const writeInput = {
  type: "object",
  properties: {
    path: { type: "string" },
    content: {
      type: "string",
      minLength: 0,
      description: "The whole content, or what to append.",
    },
    append: {
      type: "boolean",
      description: "Add to the end instead of replacing.",
    },
  },
  required: ["path", "content"],
  additionalProperties: false,
} as const;

/** The command `write` and the tool of that name. */
export const write: Command<typeof writeInput, ToolContext> = command({
  name: "write",
  summary: "Write a file whole, or append to it",
  description:
    "Create a text file or replace all of it, making parent folders. Prefer it to echo and here-documents in bash. To change a part of an existing file use edit: what content leaves out is lost.",
  input: writeInput,
  positionals: ["path", "content"],
  options: { content: { stdin: true } },
  examples: [
    "rousseau write notes.txt 'first line'",
    "date | rousseau write now.txt -",
  ],
  tool: {
    name: "write",
    title: "Write a file",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    _meta: { "anthropic/alwaysLoad": true },
  },
  async run(args, ctx) {
    if (args.path === "") throw failure("write: path is required");
    refuseIllFormed("write", "content", args.content);
    const content = new TextEncoder().encode(args.content);
    return await withFile("write", args.path, ctx, async (target) => {
      refuseIrregular("write", target, "open");
      return args.append
        ? await append(target, content, ctx)
        : await replace(target, content, ctx);
    });
  },
});

/** In whose words {@linkcode putInPlace} speaks. */
const WRITING = { prefix: "write", tool: "write" } as const;

async function replace(
  target: Resolved,
  bytes: Uint8Array,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const { info } = target;
  // What may not be read must not be guessed at either.
  const before = info?.size === bytes.length &&
      ctx.scope.denial(target.real, "read") === undefined
    ? await readWhole("write", target, WRITE_BYTES)
    : undefined;
  if (before && sameBytes(before.bytes, bytes)) {
    return written(target, bytes.length, "unchanged", [
      "unchanged: the file already holds this content",
    ]);
  }
  const notes = await putInPlace({
    ...WRITING,
    target,
    bytes,
    before: before ?? (info && { info }),
  }, ctx);
  return info
    ? written(target, bytes.length, "replaced", [
      `replaced ${counted(info.size, "byte")}`,
      ...notes,
    ])
    : written(target, bytes.length, "created", ["created", ...notes]);
}

async function append(
  target: Resolved,
  content: Uint8Array,
  ctx: ToolContext,
): Promise<CommandOutput> {
  if (!target.info) {
    const notes = await putInPlace({
      ...WRITING,
      target,
      bytes: content,
      before: undefined,
    }, ctx);
    return written(target, content.length, "created", ["created", ...notes]);
  }
  const before = await readWhole("write", target, WRITE_BYTES);
  const addition = inEncodingOf(before, content, target);
  if (addition.length === 0) {
    return written(target, 0, "unchanged", ["unchanged: nothing to append"]);
  }
  const size = before.bytes.length + addition.length;
  if (size > WRITE_BYTES) {
    throw failure(
      `write: ${target.shown}: ${size} bytes, over the ${WRITE_BYTES} byte limit`,
      { notes: ["use >> in bash for files of this size"] },
    );
  }
  const bytes = new Uint8Array(size);
  bytes.set(before.bytes);
  bytes.set(addition, before.bytes.length);
  const notes = await putInPlace({ ...WRITING, target, bytes, before }, ctx);
  return written(target, addition.length, "appended", [
    `appended; the file now has ${counted(size, "byte")}`,
    ...(before.bytes.length > 0 && !endsLine(before.bytes)
      ? ["its last line had no line end, so the addition continues that line"]
      : []),
    ...notes,
  ]);
}

/** The addition in the file's encoding: UTF-16 where it has that byte-order mark, else as it is. */
function inEncodingOf(
  before: Content,
  content: Uint8Array,
  target: Resolved,
): Uint8Array {
  const utf16 = byteOrderMark(before.bytes)?.encoding ?? "utf-8";
  if (utf16 === "utf-8" && content.every((byte) => byte < 0x80)) return content;
  const { encoding } = decodeExact(before.bytes);
  if (encoding === "utf-8") return content;
  const { text, encoding: given } = decodeExact(content);
  if (encoding !== "bytes" && given === "utf-8") {
    return encodeExact(text, encoding);
  }
  if (encoding === "bytes" && mostlyUtf8(before.bytes)) return content;
  throw failure(
    `write: ${target.shown} is not UTF-8, so UTF-8 text cannot be appended to it`,
    {
      notes: [
        "append plain ASCII, or convert the file first, for example with iconv in bash",
      ],
    },
  );
}

function written(
  target: Resolved,
  bytes: number,
  outcome: "created" | "replaced" | "unchanged" | "appended",
  notes: readonly string[],
): CommandOutput {
  return answer(`wrote ${bytes} bytes to ${target.shown}`, {
    notes: [...notes, ...target.notes],
    meta: { bytes, outcome },
  });
}

function endsLine(bytes: Uint8Array): boolean {
  return bytes.at(-1) === 0x0a ||
    (bytes.at(-1) === 0 && bytes.at(-2) === 0x0a);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
