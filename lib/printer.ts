/**
 * What a command prints: results on standard output, everything else on standard error.
 *
 * @module
 */
import { fromBase64 } from "./base64.ts";
import {
  type AnyCommand,
  CommandError,
  NOTE_PREFIX,
  UsageError,
} from "./command.ts";
import type { ContentBlock, ToolResult } from "./mcp.ts";
import { ExitCode, type System } from "./system.ts";

/** The two output streams and what goes where. */
export class Printer {
  readonly #name: string;
  readonly #system: System;
  #hasStatus = false;

  /** Prints for the program `name`. */
  constructor(name: string, system: System) {
    this.#name = name;
    this.#system = system;
  }

  /** A result's blocks: results to standard output, notes to standard error. With `asJson`, its data where it has any. */
  async output(
    command: AnyCommand,
    { content: blocks, structuredContent }: ToolResult,
    asJson = false,
  ): Promise<void> {
    if (asJson && structuredContent !== undefined) {
      return await this.print(
        `${JSON.stringify(structuredContent, null, 2)}\n`,
      );
    }
    const isTerminal = this.#system.columns !== undefined;
    const results = blocks.filter((block) => !isNote(block));
    let open = false;
    for (const block of results) {
      if (open) await this.print("\n");
      const shown = blockBytes(block, isTerminal);
      await this.#clear();
      await write(this.#system.stdout, shown.bytes);
      open = shown.isText && shown.bytes.length > 0 &&
        shown.bytes.at(-1) !== NEWLINE;
    }
    if (open && (isTerminal || !command.verbatim)) await this.print("\n");
    for (const block of blocks) {
      if (isNote(block)) await this.warn(`${block.text}\n`);
    }
  }

  /** Text to standard output. */
  async print(text: string): Promise<void> {
    await this.#clear();
    await write(this.#system.stdout, encoder().encode(text));
  }

  /** Text to standard error. */
  async warn(text: string): Promise<void> {
    await this.#clear();
    await this.#say(text);
  }

  /** One line to standard error where that is a terminal, until something else is printed there. */
  async status(line: string): Promise<void> {
    if (!this.#system.stderrIsTerminal) return;
    await this.#clear();
    await this.#say(line);
    this.#hasStatus = true;
  }

  /** Takes the status away. */
  async #clear(): Promise<void> {
    if (!this.#hasStatus) return;
    this.#hasStatus = false;
    await this.#say("\r\x1b[K");
  }

  async #say(text: string): Promise<void> {
    try {
      await this.#system.stderr.write(encoder().encode(text));
    } catch {
      // Nobody is left to be told.
    }
  }

  /** A line to standard error, with the program's name before it. */
  complain(text: string): Promise<void> {
    return this.warn(`${this.#name}: ${text}\n`);
  }

  /** Says what failed, and resolves to the exit code for it. */
  async failure(error: unknown): Promise<number> {
    // The reader of standard output has seen enough.
    if (error instanceof Error && error.name === "BrokenPipe") {
      return ExitCode.done;
    }
    if (error instanceof UsageError) {
      await this.complain(error.message);
      return ExitCode.usage;
    }
    if (error instanceof CommandError) {
      await this.complain(error.message);
      for (const note of error.notes) {
        await this.warn(`${NOTE_PREFIX}${note}]\n`);
      }
      return ExitCode.failed;
    }
    await this.complain(
      error instanceof Error && !isFault(error)
        ? error.message || error.name
        : `internal error: ${error}`,
    );
    return ExitCode.failed;
  }
}

const NEWLINE = 0x0a;

/** Whether an error shows a mistake in the code rather than a condition of the world. */
function isFault(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError ||
    error instanceof RangeError;
}

function isNote(block: ContentBlock): block is ContentBlock & { text: string } {
  return block.type === "text" && block.text.startsWith(NOTE_PREFIX);
}

function blockBytes(
  block: ContentBlock,
  isTerminal: boolean,
): { bytes: Uint8Array; isText: boolean } {
  switch (block.type) {
    case "text":
      return { bytes: encoder().encode(block.text), isText: true };
    case "image":
    case "audio": {
      const bytes = fromBase64(block.data);
      if (!isTerminal) return { bytes, isText: false };
      const text = `[${block.mimeType}, ${bytes.length} bytes]`;
      return { bytes: encoder().encode(text), isText: true };
    }
    case "resource":
      return {
        bytes: block.resource.blob === undefined
          ? encoder().encode(block.resource.text ?? "")
          : fromBase64(block.resource.blob),
        isText: block.resource.blob === undefined,
      };
    case "resource_link":
      return {
        bytes: encoder().encode(`${block.uri}  ${block.title ?? block.name}`),
        isText: true,
      };
  }
}

function encoder(): TextEncoder {
  return new TextEncoder();
}

async function write(
  stream: WritableStream<Uint8Array>,
  bytes: Uint8Array,
): Promise<void> {
  if (bytes.length === 0) return;
  const writer = stream.getWriter();
  try {
    await writer.write(bytes);
  } finally {
    writer.releaseLock();
  }
}
