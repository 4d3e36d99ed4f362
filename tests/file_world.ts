/**
 * A context for the file tools without a server: real files in a temporary folder, the real scope around it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type AnyCommand, CommandError, toToolResult } from "../lib/command.ts";
import type { Config } from "../lib/config.ts";
import { edit } from "../lib/edit.ts";
import type { ContentBlock, JsonObject } from "../lib/mcp.ts";
import type { Platform } from "../lib/platform.ts";
import { read } from "../lib/read.ts";
import { Printed } from "../lib/results.ts";
import { prepareInput } from "../lib/schema.ts";
import { createScope } from "../lib/scope.ts";
import { ProcessState, RESULT_META } from "../lib/tool.ts";
import type { ToolContext } from "../lib/tool.ts";
import { write } from "../lib/write.ts";

/** What a test may set. */
export interface FileWorldOptions {
  answerChars?: number;
  mode?: Config["mode"];
  denyRead?: readonly string[];
}

/** An answer taken apart. */
export interface FileAnswer {
  /** The text of block 1; empty when that is no text. */
  text: string;
  /** The second block. */
  note: string;
  isError: boolean;
  meta: JsonObject;
  content: ContentBlock[];
}

/** A root folder with the tools `read`, `write` and `edit` on it. */
export class FileWorld implements AsyncDisposable {
  /** Real path of the root. */
  readonly root: string;
  readonly context: ToolContext;
  /** The folder around the root. */
  readonly base: string;

  private constructor(base: string, context: ToolContext) {
    this.base = base;
    this.root = `${base}/root`;
    this.context = context;
  }

  /** Makes the folder and a process's worth of context. */
  static async make(options: FileWorldOptions = {}): Promise<FileWorld> {
    const base = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "rousseau-test-" }),
    );
    for (const name of ["root", "home", "temp"]) {
      await Deno.mkdir(`${base}/${name}`);
    }
    const platform: Platform = {
      os: "linux",
      env: () => undefined,
      home: `${base}/home`,
      temp: `${base}/temp`,
      cwd: base,
      execPath: undefined,
      uid: undefined,
    };
    const config = {
      mode: options.mode ?? "workspace",
      roots: [`${base}/root`],
      read: [],
      scope: { denyRead: options.denyRead ?? [], denyWrite: [] },
      limits: { answerChars: options.answerChars ?? 20_000 },
      state: { path: undefined },
    } as unknown as Config;
    const { scope } = await createScope({ platform, config });
    return new FileWorld(base, {
      signal: new AbortController().signal,
      progress: () => {},
      ...new Printed(),
      log: () => {},
      client: { capabilities: {} },
      ask: () => Promise.reject(new Error("nobody to ask")),
      meta: {},
      scope,
      config,
      platform,
      logger: {} as ToolContext["logger"],
      process: new ProcessState(),
    });
  }

  /** A path in the root. */
  path(name: string): string {
    return `${this.root}/${name}`;
  }

  /** Makes a file and gives its path. */
  async file(name: string, content: string | Uint8Array): Promise<string> {
    await Deno.writeFile(
      this.path(name),
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    return this.path(name);
  }

  /** The bytes of a file, one character each, so that a difference can be read. */
  async bytes(name: string): Promise<string> {
    return Array.from(
      await Deno.readFile(this.path(name)),
      (byte) => String.fromCharCode(byte),
    ).join("");
  }

  /** Calls `read`. */
  read(args: JsonObject, context = this.context): Promise<FileAnswer> {
    return call(read, args, context);
  }

  /** Calls `write`. */
  write(args: JsonObject, context = this.context): Promise<FileAnswer> {
    return call(write, args, context);
  }

  /** Calls `edit`. */
  edit(args: JsonObject, context = this.context): Promise<FileAnswer> {
    return call(edit, args, context);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.base, { recursive: true });
  }
}

/** Bytes from text of one character per byte. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, "latin1"));
}

/** UTF-16 with its byte-order mark. */
export function utf16(text: string, littleEndian: boolean): Uint8Array {
  return utf16Units(`\ufeff${text}`, littleEndian);
}

/** UTF-16, lone surrogates included. */
export function utf16Units(
  text: string,
  littleEndian: boolean,
): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(text, "utf16le");
  return new Uint8Array(littleEndian ? bytes : bytes.swap16());
}

async function call(
  tool: AnyCommand,
  args: JsonObject,
  context: ToolContext,
): Promise<FileAnswer> {
  try {
    const { value, error } = prepareInput(tool.input!, args);
    if (error !== undefined) throw new CommandError(`${tool.name}: ${error}`);
    const result = toToolResult(await tool.run!(value, context));
    const [first, second] = result.content;
    return {
      text: first?.type === "text" ? first.text : "",
      note: second?.type === "text" ? second.text : "",
      isError: result.isError ?? false,
      meta: (result._meta?.[RESULT_META] ?? {}) as JsonObject,
      content: result.content,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return {
      text: error.message,
      note: error.notes.join("\n"),
      isError: true,
      meta: error.meta ?? {},
      content: [],
    };
  }
}
