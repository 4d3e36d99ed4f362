/** Files, and a store that records the calls by which they are changed. */
import { assertEquals } from "@std/assert";
import { KEEPER_KEY } from "../lib/checkpoint.ts";
import { type AnyCommand, CommandError, toToolResult } from "../lib/command.ts";
import type { JsonObject } from "../lib/mcp.ts";
import { prepareInput } from "../lib/schema.ts";
import { STORE_KEY } from "../lib/session_tools.ts";
import type { SessionStore } from "../lib/store.ts";
import type { ToolContext } from "../lib/tool.ts";
import { undoCommand, undoTool } from "../lib/undo.ts";
import { FileWorld } from "./file_world.ts";
import { callStart, testStore } from "./sessions.ts";

/** Files, and a store that records a call by which they are changed. */
export class UndoWorld implements AsyncDisposable {
  private constructor(
    readonly files: FileWorld,
    readonly store: SessionStore,
  ) {}

  static async make(path?: string): Promise<UndoWorld> {
    const files = await FileWorld.make();
    const { store } = testStore({
      roots: [files.root],
      ...(path ? { path } : {}),
    });
    files.context.process.get(STORE_KEY, () => store);
    files.context.process.get(KEEPER_KEY, () => store.checkpoints);
    const world = new UndoWorld(files, store);
    world.call("1");
    return world;
  }

  /** A recorded call; what is changed with its context belongs to its session. */
  call(connectionId: string): ToolContext {
    const start = callStart({ connectionId });
    const context = {
      ...this.files.context,
      signal: connectionId === "1"
        ? this.files.context.signal
        : start.context.signal,
    };
    this.store.observer.started({ ...start, context });
    return context;
  }

  /** `rousseau undo`. */
  undo(args: JsonObject = {}): Promise<{ text: string; isError: boolean }> {
    return this.#run(undoCommand, args, this.files.context);
  }

  /** The tool, called in the conversation of `ctx`. */
  tool(
    args: JsonObject = {},
    ctx: ToolContext = this.files.context,
  ): Promise<{ text: string; isError: boolean }> {
    return this.#run(undoTool, args, ctx);
  }

  async #run(
    command: AnyCommand,
    args: JsonObject,
    ctx: ToolContext,
  ): Promise<{ text: string; isError: boolean }> {
    const prepared = prepareInput(command.input ?? { type: "object" }, args);
    assertEquals(prepared.error, undefined);
    try {
      const output = await command.run?.(prepared.value, ctx);
      const [block] = toToolResult(output ?? "").content;
      return { text: block?.type === "text" ? block.text : "", isError: false };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { text: error.message, isError: true };
    }
  }

  /** Everything in the root: content and mode. */
  async state(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for await (const { name, isFile } of Deno.readDir(this.files.root)) {
      if (!isFile) continue;
      const { mode } = await Deno.stat(this.files.path(name));
      found[name] = `${((mode ?? 0) & 0o777).toString(8)} ${await this.files
        .bytes(name)}`;
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.files[Symbol.asyncDispose]();
  }
}
