/**
 * Starts the real program in folders of its own, speaks to it line by line, and judges all that it writes.
 *
 * The program is `deno run` with the flags of the `mcp` task, or the executable that `ROUSSEAU_BIN` names.
 *
 * @module
 */
import { type Message, WireChecker } from "./wire_schema.ts";

export type { Message } from "./wire_schema.ts";

/** Milliseconds that a test waits for something that has to come before it fails. */
export const PATIENCE = 30_000;

/** True where leftover processes can be found. */
const CAN_LIST_PROCESSES = Deno.build.os === "linux";

/** Newest handshake revision, which tests use unless they are about another. */
export const REVISION = "2025-11-25";

/** Folders for one program: a root, a home, a state folder. Removed at the end. */
export class Folders implements AsyncDisposable {
  private constructor(
    readonly base: string,
    readonly root: string,
    readonly home: string,
    readonly state: string,
  ) {}

  static async make(): Promise<Folders> {
    const base = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "rousseau-test-" }),
    );
    const [root, home, state] = ["root", "home", "state"].map((name) =>
      `${base}/${name}`
    ) as [string, string, string];
    for (const folder of [root, home, state]) await Deno.mkdir(folder);
    return new Folders(base, root, home, state);
  }

  /** The store's file. */
  get database(): string {
    return `${this.state}/sessions.db`;
  }

  /** Writes a file under the root and returns its absolute path. */
  async write(name: string, content: string | Uint8Array): Promise<string> {
    const path = `${this.root}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await (typeof content === "string"
      ? Deno.writeTextFile(path, content)
      : Deno.writeFile(path, content));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.base, { recursive: true });
  }
}

/** How the program is started. */
export interface StartOptions {
  /** Arguments after the program; default `mcp --root ROOT`. */
  args?: readonly string[];
  /** Environment beside the least that is needed. */
  env?: Record<string, string>;
  /** Working directory; default the root. */
  cwd?: string;
  /** Leaves out HOME, PATH and the rest: only what the runtime itself needs, and `env`. */
  bare?: boolean;
  /** Another program's command line instead of ours. */
  program?: readonly string[];
  /** A resource URI that may lack a scheme. */
  exemptUri?: string;
  /** Another server runs in the same folders: processes there are not what this one left behind. */
  shared?: boolean;
}

/** The command line that starts the program: runtime, flags of the `mcp` task, arguments. */
export async function commandLine(args: readonly string[]): Promise<string[]> {
  const binary = Deno.env.get("ROUSSEAU_BIN");
  if (binary) return [await Deno.realPath(binary), ...args];
  const root = new URL("../", import.meta.url);
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const flags = (config.tasks.mcp.command as string).split(" ").filter((word) =>
    word.startsWith("--")
  );
  return [
    Deno.execPath(),
    "run",
    ...flags,
    new URL("main.ts", root).pathname,
    ...args,
  ];
}

let askedDirectory: Promise<string> | undefined;

/** The runtime's own cache, which `deno run` needs to find under another home. */
export function denoDirectory(): Promise<string> {
  return askedDirectory ??= askDirectory();
}

async function askDirectory(): Promise<string> {
  const given = Deno.env.get("DENO_DIR");
  if (given) return given;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** The environment a test's program gets. */
export async function environment(
  folders: Folders,
  options: Pick<StartOptions, "env" | "bare" | "program"> = {},
): Promise<Record<string, string>> {
  const usual = options.bare ? {} : {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: folders.home,
    LANG: "C.UTF-8",
    ROUSSEAU_STATE_PATH: folders.database,
  };
  const needsRuntime = options.program !== undefined ||
    !Deno.env.get("ROUSSEAU_BIN");
  const runtime: Record<string, string> = needsRuntime
    ? { DENO_DIR: await denoDirectory() }
    : {};
  return { ...usual, ...runtime, ...options.env };
}

/** What one run of the program on the command line gave. */
export interface RunResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program to its end, with `input` on standard input. */
export async function run(
  folders: Folders,
  args: readonly string[],
  options: StartOptions & { input?: string | Uint8Array } = {},
): Promise<RunResult> {
  const [command, ...rest] = options.program ?? await commandLine(args);
  const child = new Deno.Command(command as string, {
    args: rest,
    cwd: options.cwd ?? folders.root,
    env: await environment(folders, options),
    clearEnv: true,
    stdin: options.input === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (options.input !== undefined) {
    const bytes = typeof options.input === "string"
      ? new TextEncoder().encode(options.input)
      : options.input;
    const writer = child.stdin.getWriter();
    // The program may end before it has read everything.
    await writer.write(bytes).then(() => writer.close()).catch(() => {});
  }
  const { code, stdout, stderr } = await within(child.output(), "the exit");
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

/** A running server and the client's end of its pipes. */
export class Server implements AsyncDisposable {
  readonly folders: Folders;
  readonly child: Deno.ChildProcess;
  /** Every message the server wrote, in order. */
  readonly messages: Message[] = [];
  readonly #ownFolders: boolean;
  readonly #wire: WireChecker;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #problems: string[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #readers: Promise<unknown>[];
  readonly #shared: boolean;
  #stderr = "";
  #closedInput = false;
  #exited = false;
  #ended = false;
  /** A wait has failed: that error is told, not what follows from it. */
  #failed = false;
  #nextId = 1;

  private constructor(
    folders: Folders,
    own: boolean,
    child: Deno.ChildProcess,
    options: StartOptions,
  ) {
    this.folders = folders;
    this.#ownFolders = own;
    this.child = child;
    this.#shared = options.shared ?? false;
    this.#wire = new WireChecker(
      options.exemptUri === undefined ? {} : { exemptUri: options.exemptUri },
    );
    this.#writer = child.stdin.getWriter();
    this.#readers = [this.#readOutput(), this.#readErrors()];
  }

  /** Starts the program. Without `folders` it gets some that are removed with it. */
  static async start(
    options: StartOptions & { folders?: Folders } = {},
  ): Promise<Server> {
    const folders = options.folders ?? await Folders.make();
    const args = options.args ?? ["mcp", "--root", folders.root];
    const [command, ...rest] = options.program ?? await commandLine(args);
    const child = new Deno.Command(command as string, {
      args: rest,
      cwd: options.cwd ?? folders.root,
      env: await environment(folders, options),
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new Server(folders, options.folders === undefined, child, options);
  }

  /** Starts the program and shakes hands under `revision`. */
  static async open(
    options: StartOptions & { folders?: Folders; revision?: string } = {},
  ): Promise<Server> {
    const server = await Server.start(options);
    try {
      await server.initialize(options.revision);
    } catch (error) {
      await server[Symbol.asyncDispose]().catch(() => {});
      throw error;
    }
    return server;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The handshake; resolves to the result of `initialize`. */
  // deno-lint-ignore no-explicit-any
  async initialize(revision: string = REVISION): Promise<any> {
    const { result } = await this.request("initialize", {
      protocolVersion: revision,
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return result;
  }

  /** Writes messages, each on a line, in one write. A string is written as a line as it is. */
  send(...messages: (string | Message | Message[])[]): Promise<void> {
    const lines = messages.map((message) =>
      typeof message === "string" ? message : JSON.stringify(message)
    );
    return this.sendBytes(
      new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")),
      lines,
    );
  }

  /** Writes bytes as they are; `lines` are what they say, for the check of what comes back. */
  async sendBytes(bytes: Uint8Array, lines: string[] = []): Promise<void> {
    for (const line of lines) this.#wire.sent(line);
    await this.#writer.write(bytes);
  }

  /** Sends a request under a fresh id and resolves to its answer. */
  async request(method: string, params?: unknown): Promise<Message> {
    const id = `r${this.#nextId++}`;
    await this.send({
      jsonrpc: "2.0",
      id,
      method,
      ...(params === undefined ? {} : { params }),
    });
    return await this.answer(id);
  }

  /** Calls a tool and resolves to its result. */
  // deno-lint-ignore no-explicit-any
  async call(name: string, args: unknown = {}): Promise<any> {
    const message = await this.request("tools/call", { name, arguments: args });
    if (message.error) throw new Error(JSON.stringify(message.error));
    return message.result;
  }

  /** Calls a tool and resolves to the text of its first block. */
  async text(name: string, args: unknown = {}): Promise<string> {
    return (await this.call(name, args)).content[0].text;
  }

  /** Resolves to the answer to `id`, whether it has come or is still to come. */
  answer(id: string | number): Promise<Message> {
    return this.find(
      (message) => message.method === undefined && message.id === id,
      `the answer to ${JSON.stringify(id)}`,
    );
  }

  /** Resolves to the first message that fits, whether it has come or is still to come. */
  async find(
    fits: (message: Message) => boolean,
    what: string,
  ): Promise<Message> {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const found = this.messages.find(fits);
      if (found) return found;
      if (this.#ended) {
        this.#failed = true;
        throw new Error(`The server ended before ${what}: ${this.#report()}`);
      }
      if (!await this.#change(deadline)) {
        this.#failed = true;
        throw new Error(`Waited in vain for ${what}: ${this.#report()}`);
      }
    }
  }

  /** Resolves when standard error holds `pattern`. */
  async logged(pattern: RegExp): Promise<void> {
    const deadline = Date.now() + PATIENCE;
    while (!pattern.test(this.#stderr)) {
      if (this.#ended || !await this.#change(deadline)) {
        throw new Error(`Never logged ${pattern}: ${this.#report()}`);
      }
    }
  }

  /** Ends the server's input. */
  async closeInput(): Promise<void> {
    if (this.#closedInput) return;
    this.#closedInput = true;
    await this.#writer.close().catch(() => {});
  }

  /** Resolves when the process has ended and all it wrote was read; throws on what it should not have written. */
  async exit(): Promise<Deno.CommandStatus> {
    const status = await within(
      this.child.status,
      () => `the exit: ${this.#report()}`,
    );
    await Promise.all(this.#readers);
    this.#closedInput = true;
    await this.#writer.abort().catch(() => {});
    if (
      /^\s+at .+:\d+|Uncaught|panicked/m.test(this.#stderr)
    ) {
      this.#problems.push(`A stack trace on stderr: ${this.#stderr}`);
    }
    if (!this.#shared) {
      this.#problems.push(...await leftAfterExit(this.folders.base));
    }
    if (this.#problems.length > 0) {
      throw new Error(this.#problems.splice(0).join("\n"));
    }
    this.#exited = true;
    return status;
  }

  /** Ends the input and expects exit code 0. */
  async close(): Promise<void> {
    if (this.#exited) return;
    await this.closeInput();
    const { code, signal } = await this.exit();
    if (code !== 0 && signal === null) {
      throw new Error(`Exit code ${code}: ${this.#report()}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.close();
    } catch (error) {
      try {
        this.child.kill("SIGKILL");
      } catch { /* It has ended. */ }
      await this.child.status;
      await Promise.allSettled(this.#readers);
      if (!this.#failed) throw error;
    } finally {
      if (this.#ownFolders) await this.folders[Symbol.asyncDispose]();
    }
  }

  async #readOutput(): Promise<void> {
    for await (const line of lines(this.child.stdout)) {
      try {
        const parsed = await this.#wire.check(line);
        this.messages.push(...(Array.isArray(parsed) ? parsed : [parsed]));
      } catch (error) {
        this.#problems.push((error as Error).message);
      }
      this.#wake();
    }
    this.#ended = true;
    this.#wake();
  }

  async #readErrors(): Promise<void> {
    for await (
      const text of this.child.stderr.pipeThrough(new TextDecoderStream())
    ) {
      this.#stderr += text;
      this.#wake();
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Waits for the next change; false when the deadline came first. */
  #change(deadline: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(done);
        resolve(false);
      }, Math.max(0, deadline - Date.now()));
      this.#waiting.add(done);
    });
  }

  #report(): string {
    return JSON.stringify(
      {
        problems: this.#problems,
        stderr: this.#stderr.slice(-2000),
        last: this.messages.slice(-5),
      },
      null,
      1,
    ).slice(0, 6000);
  }
}

/** The lines of a byte stream, split at newlines only. */
export async function* lines(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string> {
  const parts: string[] = [];
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    let from = 0;
    for (
      let end = chunk.indexOf("\n");
      end >= 0;
      end = chunk.indexOf("\n", from)
    ) {
      yield parts.splice(0).join("") + chunk.slice(from, end);
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.slice(from));
  }
  if (parts.length > 0) yield parts.join("");
}

/** Waits at most {@linkcode PATIENCE} for `work`. */
export async function within<T>(
  work: Promise<T>,
  what: string | (() => string),
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        new Error(
          `Waited in vain for ${typeof what === "string" ? what : what()}`,
        ),
      ),
    PATIENCE,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What is left some moments after the exit: a killed process takes a little to vanish. */
async function leftAfterExit(base: string): Promise<string[]> {
  const deadline = Date.now() + 500;
  for (;;) {
    const left = await leftovers(base);
    if (left.length === 0 || Date.now() > deadline) return left;
  }
}

/** Processes whose working directory is in `base`: what a server left behind. */
export async function leftovers(base: string): Promise<string[]> {
  if (!CAN_LIST_PROCESSES) return [];
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const folder = await Deno.readLink(`/proc/${name}/cwd`);
      if (folder !== base && !folder.startsWith(`${base}/`)) continue;
      const command = await Deno.readTextFile(`/proc/${name}/cmdline`);
      // A zombie has no command line; whoever inherited it will reap it.
      if (command === "") continue;
      found.push(`Left running: ${name} ${command.replaceAll("\0", " ")}`);
    } catch { /* It ended, or is not ours to see. */ }
  }
  return found;
}

/** Resolves when `path` exists and is not empty, with its text; the folder it will be in must exist. */
export async function appears(path: string): Promise<string> {
  const watcher = Deno.watchFs(path.slice(0, path.lastIndexOf("/")));
  const timer = setTimeout(() => watcher.close(), PATIENCE);
  try {
    const text = () => Deno.readTextFile(path).catch(() => "");
    let found = await text();
    if (found !== "") return found;
    for await (const _ of watcher) {
      found = await text();
      if (found !== "") return found;
    }
    throw new Error(`Waited in vain for ${path}`);
  } finally {
    clearTimeout(timer);
    try {
      watcher.close();
    } catch { /* Closed by the timer or the loop. */ }
  }
}
