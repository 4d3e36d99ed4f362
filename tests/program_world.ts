/**
 * The real program and a folder of files, so that a test reads like a conversation with its tools.
 *
 * @module
 */
import type { ContentBlock, JsonObject } from "../lib/mcp.ts";
import { RESULT_META } from "../lib/tool.ts";
import { Folders, Server, type StartOptions } from "./harness.ts";

/** An answer taken apart. */
export interface Taken {
  /** The first block's text. */
  text: string;
  /** The second block's text; empty where there is none. */
  note: string;
  isError: boolean;
  /** The figures. */
  meta: JsonObject;
  content: ContentBlock[];
}

/** A running program and its folders. */
export class ProgramWorld implements AsyncDisposable {
  private constructor(readonly folders: Folders, readonly server: Server) {}

  /** Starts the program, with `flags`, on `files`, by path from the root. */
  static async make(
    files: Record<string, string | Uint8Array> = {},
    options: StartOptions & { flags?: readonly string[] } = {},
  ): Promise<ProgramWorld> {
    const folders = await Folders.make();
    for (const [name, content] of Object.entries(files)) {
      await folders.write(name, content);
    }
    const args = ["mcp", "--root", folders.root, ...options.flags ?? []];
    return new ProgramWorld(
      folders,
      await Server.open({ args, ...options, folders }),
    );
  }

  get root(): string {
    return this.folders.root;
  }

  /** A path in the root. */
  path(name: string): string {
    return `${this.root}/${name}`;
  }

  /** Makes a file and gives its path. */
  file(name: string, content: string | Uint8Array): Promise<string> {
    return this.folders.write(name, content);
  }

  /** The bytes of a file, one character each, so that a difference can be read. */
  async bytes(name: string): Promise<string> {
    return Array.from(
      await Deno.readFile(this.path(name)),
      (byte) => String.fromCharCode(byte),
    ).join("");
  }

  /** Calls a tool. */
  async call(name: string, args: JsonObject): Promise<Taken> {
    const { content, isError, _meta } = await this.server.call(name, args);
    return {
      text: content[0]?.text ?? "",
      note: content[1]?.text ?? "",
      isError: isError ?? false,
      meta: _meta?.[RESULT_META] ?? {},
      content,
    };
  }

  /** Calls `read`. */
  read(args: JsonObject): Promise<Taken> {
    return this.call("read", args);
  }

  /** Calls `write`. */
  write(args: JsonObject): Promise<Taken> {
    return this.call("write", args);
  }

  /** Calls `edit`. */
  edit(args: JsonObject): Promise<Taken> {
    return this.call("edit", args);
  }

  /** Calls `grep`. */
  grep(args: JsonObject): Promise<Taken> {
    return this.call("grep", args);
  }

  /** The rows of an answer of `grep`, with paths from the root. */
  async rows(args: JsonObject): Promise<string[]> {
    const { text, isError } = await this.grep(args);
    if (isError) throw new Error(text);
    return text.replaceAll(`${this.root}/`, "").split("\n");
  }

  /** Calls `bash`. */
  bash(command: string, args: JsonObject = {}): Promise<Taken> {
    return this.call("bash", { command, ...args });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.server[Symbol.asyncDispose]();
    } finally {
      await this.folders[Symbol.asyncDispose]();
    }
  }
}
