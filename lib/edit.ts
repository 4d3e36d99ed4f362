/**
 * The tool `edit`: exact text replaced in a file, and not a byte beside it.
 *
 * @module
 */
import {
  type Content,
  putInPlace,
  readWhole,
  refuseIllFormed,
  withFile,
} from "./change.ts";
import { command } from "./command.ts";
import type { Command, CommandOutput } from "./command.ts";
import { unifiedDiff } from "./diff.ts";
import {
  asExact,
  decodeExact,
  encodeExact,
  type ExactText,
  mostlyUtf8,
  sequenceLength,
  showExact,
} from "./encoding.ts";
import {
  EDIT_BYTES,
  type EditTask,
  refusal,
  tooLarge,
} from "./edit_refusal.ts";
import { applyEdits, type Edit, EditRefusal } from "./replacement.ts";
import { answer, counted, failure, osError, type ToolContext } from "./tool.ts";

/** The arguments of `edit`. */
export const editInput = {
  type: "object",
  properties: {
    path: { type: "string" },
    old_string: { type: "string", minLength: 0 },
    new_string: {
      type: "string",
      minLength: 0,
      description: 'What to put there; "" deletes.',
    },
    replace_all: { type: "boolean" },
    edits: {
      type: "array",
      description: "Instead of the pair: several in order, all or none.",
      items: {
        type: "object",
        properties: {
          old_string: { type: "string" },
          new_string: { type: "string" },
          replace_all: { type: "boolean" },
        },
        required: ["old_string", "new_string"],
        additionalProperties: false,
      },
    },
    dry_run: { type: "boolean", description: "Only show the diff." },
  },
  required: ["path"],
  additionalProperties: false,
} as const;

/** The command `edit` and the tool of that name. */
export const edit: Command<typeof editInput, ToolContext> = command({
  name: "edit",
  summary: "Replace exact text in a file",
  description:
    "Replace exact text that occurs once (or everywhere, with replace_all); answers with a diff. Prefer it to sed in bash. old_string must match to the character, with indentation and without line numbers; if it fails, copy the text that the answer shows.",
  input: editInput,
  positionals: ["path", "old_string", "new_string"],
  examples: ["rousseau edit notes.txt colour color --replace-all"],
  tool: {
    name: "edit",
    title: "Edit a file",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: false,
    },
    _meta: { "anthropic/alwaysLoad": true },
  },
  async run(args, ctx) {
    if (args.path === "") throw failure("edit: path is required");
    const edits = editsOf({
      oldText: args.old_string,
      newText: args.new_string,
      replaceAll: args.replace_all,
      list: args.edits?.map((item) => ({
        oldText: item.old_string,
        newText: item.new_string,
        replaceAll: item.replace_all,
      })),
    });
    return await withFile("edit", args.path, ctx, async (target) => {
      try {
        // An answer shows what is in the file, so reading it must be allowed as well.
        await ctx.scope.resolve(args.path, "read");
      } catch (error) {
        throw osError("edit: read", error, "open", target.shown);
      }
      const before = await readWhole("edit: read", target, EDIT_BYTES);
      const listed = args.edits !== undefined && args.edits.length > 0;
      const dryRun = args.dry_run ?? false;
      return await applyTo(before, { target, edits, listed, dryRun }, ctx);
    });
  },
});

async function applyTo(
  before: Content,
  task: EditTask,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const { target, dryRun } = task;
  const exact = decodeExact(before.bytes);
  refuseForeign(before, exact, task);
  let applied;
  try {
    applied = applyEdits(
      exact.text,
      task.edits.map((each) => ({
        ...each,
        oldText: asExact(each.oldText, exact.encoding),
        newText: asExact(each.newText, exact.encoding),
      })),
      {
        maxLength: EDIT_BYTES,
        ...(exact.encoding === "bytes" ? { splits: beginsInside } : {}),
      },
    );
  } catch (error) {
    throw error instanceof EditRefusal
      ? await refusal(error, exact, task)
      : error;
  }
  if (applied.text === exact.text) {
    throw failure(`edit: the edits leave ${target.shown} as it is`, {
      notes: ["a later one takes back what earlier ones did"],
    });
  }
  const bytes = encodeExact(applied.text, exact.encoding);
  if (bytes.length > EDIT_BYTES) throw tooLarge(task);
  const diff = await unifiedDiff(
    exact.text,
    applied.text,
    applied.changes,
    (line) => showExact(line.replace(/^\ufeff/, ""), exact.encoding),
  );
  const notes = dryRun ? [] : await putInPlace(
    { prefix: "edit: write", tool: "edit", target, bytes, before },
    ctx,
  );
  const made = counted(applied.replacements, "replacement");
  return answer(
    dryRun
      ? `would edit ${target.shown} (${made}); nothing was written`
      : `edited ${target.shown} (${made})`,
    {
      notes: [
        ...target.notes,
        ...notes,
        `diff:\n${diff.text.trimEnd()}${diff.left ? `\n… ${diff.left}` : ""}`,
      ],
      meta: {
        replacements: applied.replacements,
        bytes: bytes.length,
        ...(dryRun ? { dry_run: true } : {}),
      },
    },
  );
}

interface Given {
  oldText: string | undefined;
  newText: string | undefined;
  replaceAll: boolean | undefined;
}

/** The edits asked for: the pair, or the list. */
function editsOf(given: Given & { list: Given[] | undefined }): Edit[] {
  if (given.list?.length === 0 && !given.oldText && !given.newText) {
    throw failure(
      "edit: edits is empty: give at least one { old_string, new_string }, or the pair itself",
    );
  }
  if (!given.list || given.list.length === 0) return [checked(given, "")];
  if (given.oldText || given.newText) {
    throw failure(
      "edit: give old_string and new_string, or edits, not both",
    );
  }
  if (given.replaceAll) {
    throw failure(
      "edit: give replace_all inside of edits, to each that it is for",
    );
  }
  return given.list.map((each, index) => checked(each, `edits[${index}]: `));
}

function checked({ oldText, newText, replaceAll }: Given, where: string): Edit {
  if (!oldText) throw failure(`edit: ${where}old_string is required`);
  if (newText === undefined) {
    throw failure(`edit: ${where}new_string is required`, {
      notes: ['to delete the text, give new_string as ""'],
    });
  }
  if (oldText === newText) {
    throw failure(`edit: ${where}old_string and new_string are identical`);
  }
  refuseIllFormed("edit", `${where}old_string`, oldText);
  refuseIllFormed("edit", `${where}new_string`, newText);
  return { oldText, newText, replaceAll: replaceAll ?? false };
}

/** UTF-8 must not get into a file of another encoding; where it already is in the majority, it is that file's own. */
function refuseForeign(
  before: Content,
  { encoding }: ExactText,
  { target, edits }: EditTask,
): void {
  if (encoding !== "bytes" || mostlyUtf8(before.bytes)) return;
  // deno-lint-ignore no-control-regex
  if (edits.every(({ newText }) => /^[\x00-\x7f]*$/.test(newText))) return;
  throw failure(
    `edit: ${target.shown} is not UTF-8, and new_string is not plain ASCII`,
    {
      notes: [
        "UTF-8 characters would damage the file; edit with ASCII only, or convert the file first, for example with iconv in bash",
      ],
    },
  );
}

/** Whether the byte before is the beginning of something that is not UTF-8: in Shift-JIS or GBK half a character. */
function beginsInside(text: string, start: number): boolean {
  if (start === 0 || text.charCodeAt(start - 1) < 0x80) return false;
  const bytes = encodeExact(text.slice(Math.max(0, start - 4), start), "bytes");
  for (let length = 2; length <= bytes.length; length++) {
    const from = bytes.length - length;
    if (sequenceLength(bytes, from) === length) return false;
  }
  return true;
}
