// deno-lint-ignore-file camelcase -- the arguments have the names of their schemas
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MAX_STDIN_BYTES, run, type RunOptions } from "../lib/cli.ts";
import {
  type AnyCommand,
  type CommandContext,
  CommandError,
  NOTE_PREFIX,
  UsageError,
} from "../lib/command.ts";
import { Stop, type System } from "../lib/system.ts";

const showArgs = (args: unknown) => JSON.stringify(args);

const root: AnyCommand = {
  name: "prog",
  summary: "A program",
  input: {
    type: "object",
    properties: {
      verbose: { type: "boolean" },
      root: { type: "array", items: { type: "string", format: "path" } },
      level: { enum: ["low", "high"] },
    },
    additionalProperties: false,
  },
  options: {
    verbose: { short: "v" },
    root: { env: "PROG_ROOT" },
    level: { env: "PROG_LEVEL" },
  },
  commands: [
    {
      name: "echo",
      aliases: ["say"],
      summary: "Echo words",
      input: {
        type: "object",
        properties: {
          words: { type: "array", items: { type: "string" } },
          repeat: { type: "integer", minimum: 1, default: 2 },
          ratio: { type: "number" },
          loud_voice: { type: "boolean", default: false },
          tag: { type: "array", items: { type: "string" } },
          kind: { enum: ["plain", "fancy"] },
          extra: { type: "object" },
          include: {
            anyOf: [{ type: "string" }, {
              type: "array",
              items: { type: "string" },
            }],
          },
        },
        additionalProperties: false,
      },
      positionals: ["words"],
      options: {
        repeat: { short: "n", env: "PROG_REPEAT" },
        loud_voice: { short: "l" },
        tag: { short: "t", env: "PROG_TAGS" },
      },
      run: showArgs,
    },
    {
      name: "copy",
      summary: "Copy",
      input: {
        type: "object",
        properties: {
          from: { type: "string" },
          to: { type: "string" },
          mode: { type: "string" },
        },
        required: ["from", "to", "mode"],
      },
      positionals: ["from", "to"],
      run: showArgs,
    },
    {
      name: "put",
      summary: "Put",
      input: {
        type: "object",
        properties: {
          path: { type: "string" },
          content: { type: "string", minLength: 0 },
        },
        required: ["path", "content"],
      },
      positionals: ["path", "content"],
      options: { content: { stdin: true } },
      run: showArgs,
    },
    {
      name: "group",
      summary: "A group",
      commands: [{ name: "one", summary: "One", run: () => "one" }],
    },
    {
      name: "globals",
      summary: "Show",
      run: (_args, ctx: CommandContext) => showArgs(ctx.terminal!.globals),
    },
  ],
};

async function cli(
  args: string[],
  more: Partial<System> & { tree?: AnyCommand; options?: RunOptions } = {},
) {
  const out: Uint8Array[] = [];
  const err: Uint8Array[] = [];
  const sink = (into: Uint8Array[]) =>
    new WritableStream<Uint8Array>({ write: (bytes) => void into.push(bytes) });
  const { tree = root, options, ...system } = more;
  const code = await run(tree, args, {
    stdin: new Blob([]).stream(),
    stdout: sink(out),
    stderr: sink(err).getWriter(),
    ...system,
  }, options);
  const text = async (chunks: Uint8Array[]) =>
    await new Blob(chunks as Uint8Array<ArrayBuffer>[]).text();
  return { code, out: await text(out), err: await text(err) };
}

async function values(args: string[], system: Partial<System> = {}) {
  const { code, out, err } = await cli(args, system);
  assertEquals([code, err], [0, ""]);
  return JSON.parse(out);
}

async function refusal(args: string[], system: Partial<System> = {}) {
  const { code, out, err } = await cli(args, system);
  assertEquals([code, out], [2, ""]);
  return err;
}

function one(run: AnyCommand["run"], more: Partial<AnyCommand> = {}) {
  return { tree: { name: "prog", summary: "P", run, ...more } as AnyCommand };
}

Deno.test("options are read as their schema's types, in every spelling", async () => {
  const expected = {
    words: ["a"],
    repeat: 3,
    loud_voice: true,
    tag: ["x", "y"],
  };
  for (
    const args of [
      ["--repeat", "3", "--loud-voice", "--tag", "x", "--tag", "y", "a"],
      ["--repeat=3", "--loud-voice=true", "--tag=x", "a", "--tag=y"],
      ["a", "-n", "3", "-l", "-t", "x", "-ty"],
      ["-ln3", "-t=x", "-t", "y", "a"],
      ["--no-loud-voice", "--repeat=1", "-n3", "-l", "-tx", "-ty", "--", "a"],
    ]
  ) assertEquals(await values(["echo", ...args]), expected, args.join(" "));
});

Deno.test("numbers, enums, JSON and one-or-many are typed", async () => {
  assertEquals(
    await values([
      "echo",
      "--ratio=-.5",
      "--kind",
      "fancy",
      "--extra",
      '{"a":[1]}',
      "--include",
      "*.ts",
    ]),
    {
      ratio: -0.5,
      kind: "fancy",
      extra: { a: [1] },
      include: "*.ts",
      repeat: 2,
      loud_voice: false,
    },
  );
  assertEquals(
    (await values(["echo", "--include", "a", "--include", "b"])).include,
    ["a", "b"],
  );
});

Deno.test("an option takes the next argument as its value whatever it looks like", async () => {
  for (
    const odd of [
      "--loud-voice",
      "-n",
      "--",
      "--help",
      "a\nb",
      "echo",
      "",
      "-5",
    ]
  ) {
    assertEquals(
      await values(["echo", "--tag", odd, "--tag=z"]),
      { tag: [odd, "z"], repeat: 2, loud_voice: false },
      JSON.stringify(odd),
    );
  }
});

Deno.test("-- ends the options, a lone dash and negative numbers are words", async () => {
  assertEquals(
    (await values(["echo", "--", "--repeat", "-x", "--", "help"])).words,
    ["--repeat", "-x", "--", "help"],
  );
  assertEquals((await values(["echo", "-", "-5", "one"])).words, [
    "-",
    "-5",
    "one",
  ]);
});

Deno.test("the root's options are taken anywhere, and an option may come from its variable", async () => {
  assertEquals(await values(["-v", "globals", "--level", "low"]), {
    verbose: true,
    level: "low",
  });
  const env = (vars: Record<string, string>) => ({
    env: (name: string) => vars[name],
  });
  assertEquals(
    await values(["globals"], env({ PROG_ROOT: "/a:/b,c", PROG_LEVEL: "" })),
    { root: ["/a", "/b,c"] },
  );
  assertEquals(
    await values(["globals"], {
      ...env({ PROG_ROOT: "C:\\a;D:\\b" }),
      pathSeparator: ";",
    }),
    { root: ["C:\\a", "D:\\b"] },
  );
  assertEquals(
    await values(["globals", "--root", "/x"], env({ PROG_ROOT: "/a" })),
    { root: ["/x"] },
  );
  assertEquals(
    await values(["echo"], env({ PROG_REPEAT: "7", PROG_TAGS: "a, b" })),
    { repeat: 7, tag: ["a", "b"], loud_voice: false },
  );
  assertStringIncludes(
    await refusal(["echo"], env({ PROG_REPEAT: "x" })),
    'PROG_REPEAT: must be an integer, got "x"',
  );
});

Deno.test("values never leak from one run to the next", async () => {
  assertEquals((await values(["echo", "--tag", "a", "-n5"])).tag, ["a"]);
  assertEquals(await values(["echo"]), { repeat: 2, loud_voice: false });
});

Deno.test("wrong usage is told on standard error with exit code 2", async () => {
  const cases: [string[], string][] = [
    [
      ["ecco"],
      'prog: unknown command "ecco"; did you mean "echo"?; see "prog --help"\n',
    ],
    [
      ["hepl"],
      'prog: unknown command "hepl"; did you mean "help"?; see "prog --help"\n',
    ],
    [
      ["--verison"],
      'prog: unknown option --verison; did you mean "--version"?; see "prog --help"\n',
    ],
    [
      ["group", "two"],
      'prog: unknown command "two"; see "prog group --help"\n',
    ],
    [
      ["echo", "--repat", "1"],
      'prog: unknown option --repat; did you mean "--repeat"?; see "prog echo --help"\n',
    ],
    [["echo", "-q"], 'prog: unknown option -q; see "prog echo --help"\n'],
    [
      ["echo", "--no-repeat"],
      'prog: unknown option --no-repeat; did you mean "--repeat"?; see "prog echo --help"\n',
    ],
    [["echo", "--repeat"], "prog: --repeat: needs a value\n"],
    [
      ["echo", "--repeat", "two"],
      'prog: --repeat: must be an integer, got "two"\n',
    ],
    [
      ["echo", "--repeat", "0"],
      "prog: repeat: must be an integer of at least 1, got number 0\n",
    ],
    [
      ["echo", "--loud-voice=maybe"],
      'prog: --loud-voice: must be true or false, got "maybe"\n',
    ],
    [["echo", "--no-loud-voice=x"], "prog: --no-loud-voice: takes no value\n"],
    [
      ["echo", "--kind", "fncy"],
      'prog: kind: must be one of "plain", "fancy", got string "fncy"; did you mean "fancy"?\n',
    ],
    [["echo", "--extra", "{a"], 'prog: --extra: must be JSON, got "{a"\n'],
    [["copy", "a"], 'prog: missing TO, --mode; see "prog copy --help"\n'],
    [
      ["copy", "a", "b", "c", "--mode=x"],
      "prog: copy: takes at most 2 (from, to), got 3\n",
    ],
    [
      ["copy", "a", "b", "--from=x"],
      "prog: from: given both as an option and by position\n",
    ],
    [
      ["globals", "--level=mid"],
      'prog: level: must be one of "low", "high", got string "mid"\n',
    ],
    [
      ["globals", "extra"],
      "prog: globals: takes no positional arguments\n",
    ],
  ];
  for (const [args, message] of cases) {
    assertEquals(await refusal(args), message, args.join(" "));
  }
});

Deno.test("help goes to standard output when asked for, to standard error when it is the complaint", async () => {
  for (
    const args of [
      ["--help"],
      ["-h"],
      ["help"],
      ["echo", "--help"],
      ["help", "echo"],
      ["say", "-h"],
      ["help", "group", "one"],
      ["copy", "-h"],
    ]
  ) {
    const { code, out, err } = await cli(args);
    assertEquals([code, err], [0, ""], args.join(" "));
    assert(out.startsWith("Usage: prog"), out);
  }
  for (const args of [[], ["group"]]) {
    const { code, out, err } = await cli(args);
    assertEquals([code, out], [2, ""]);
    assert(err.startsWith("Usage: prog"));
  }
});

Deno.test("--version prints the program and its version", async () => {
  assertEquals(
    await cli(["--version"], { options: { version: "1.2.3" } }),
    { code: 0, out: "prog 1.2.3\n", err: "" },
  );
});

Deno.test("a missing final newline is added, except to verbatim output that is no terminal", async () => {
  const text = async (output: string, verbatim: boolean, columns?: number) =>
    (await cli([], { ...one(() => output, { verbatim }), columns })).out;
  assertEquals(await text("a", false), "a\n");
  assertEquals(await text("a\n", false), "a\n");
  assertEquals(await text("a", true), "a");
  assertEquals(await text("a", true, 80), "a\n");
  assertEquals(await text("", false), "");
});

Deno.test("results go to standard output, notes to standard error", async () => {
  const { code, out, err } = await cli(
    [],
    one(() => [
      { type: "text", text: "one" },
      { type: "text", text: "two\n" },
      { type: "text", text: `${NOTE_PREFIX}left out 3]` },
    ]),
  );
  assertEquals([code, out, err], [0, "one\ntwo\n", "[rousseau: left out 3]\n"]);
});

Deno.test("a picture is bytes in a pipe and a description on a terminal", async () => {
  const picture = one(
    () => [{ type: "image", data: "AQID", mimeType: "image/png" }],
  );
  assertEquals((await cli([], picture)).out, "\x01\x02\x03");
  assertEquals(
    (await cli([], { ...picture, columns: 80 })).out,
    "[image/png, 3 bytes]\n",
  );
});

Deno.test("failures end with 1, wrong configuration with 2, and a result may bring its own code", async () => {
  const thrown = (error: Error) =>
    one(() => {
      throw error;
    });
  assertEquals(
    await cli([], thrown(new CommandError("read: gone", { notes: ["try x"] }))),
    { code: 1, out: "", err: "prog: read: gone\n[rousseau: try x]\n" },
  );
  assertEquals(await cli([], thrown(new UsageError("bad file"))), {
    code: 2,
    out: "",
    err: "prog: bad file\n",
  });
  assertEquals(await cli([], thrown(new TypeError("oops"))), {
    code: 1,
    out: "",
    err: "prog: internal error: TypeError: oops\n",
  });
  assertEquals(await cli([], thrown(new Error("cannot reach it"))), {
    code: 1,
    out: "",
    err: "prog: cannot reach it\n",
  });
  const result = { content: "out\nbash: exit status 3", isError: true };
  assertEquals(await cli([], one(() => result)), {
    code: 1,
    out: "out\nbash: exit status 3\n",
    err: "",
  });
  assertEquals(
    (await cli([], one(() => ({ ...result, exitCode: 3 })))).code,
    3,
  );
});

Deno.test("a handler that returns nothing has failed, and was not interrupted", async () => {
  const { code, out, err } = await cli([], one(() => undefined as never));
  assertEquals([code, out], [1, ""]);
  assertStringIncludes(err, "prog: internal error: TypeError");
});

Deno.test("a closed standard output ends the run quietly", async () => {
  const stdout = new WritableStream<Uint8Array>({
    write() {
      throw new Deno.errors.BrokenPipe("broken pipe");
    },
  });
  assertEquals(
    await cli([], { ...one(() => "text"), stdout }),
    { code: 0, out: "", err: "" },
  );
});

Deno.test("standard input stands in for an argument that asks for it", async () => {
  const stdin = () => ({ stdin: new Blob(["é\r\n"]).stream() });
  assertEquals(await values(["put", "p", "-"], stdin()), {
    path: "p",
    content: "é\r\n",
  });
  assertEquals(await values(["put", "p"], stdin()), {
    path: "p",
    content: "é\r\n",
  });
  assertEquals(await values(["put", "p", "x"], stdin()), {
    path: "p",
    content: "x",
  });
  assertEquals(
    await refusal(["put", "p"], { ...stdin(), stdinIsTerminal: true }),
    'prog: missing CONTENT; see "prog put --help"\n',
  );
  const broken = { stdin: new Blob([new Uint8Array([0xff, 0xfe])]).stream() };
  assertEquals(
    (await cli(["put", "p"], broken)).err,
    "prog: standard input is not UTF-8 text\n",
  );
});

Deno.test("standard input is taken up to its limit and refused beyond", async () => {
  const chunk = new Uint8Array(1024 * 1024).fill(97);
  const stream = (bytes: number) => {
    let left = bytes;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const size = Math.min(left, chunk.length);
        if (size === 0) return controller.close();
        left -= size;
        controller.enqueue(chunk.subarray(0, size));
      },
    });
  };
  const tree: AnyCommand = {
    ...root.commands!.find(({ name }) => name === "put")!,
    run: ({ content }) => String(content.length),
  };
  assertEquals(
    (await cli(["p"], { tree, stdin: stream(MAX_STDIN_BYTES) })).out,
    `${MAX_STDIN_BYTES}\n`,
  );
  assertStringIncludes(
    (await cli(["p"], { tree, stdin: stream(MAX_STDIN_BYTES + 1) })).err,
    "byte limit",
  );
});

Deno.test("an interrupt aborts the handler's signal and exits with 130, a termination with 143", async () => {
  for (const code of [130, 143]) {
    const controller = new AbortController();
    const running = cli([], {
      ...one((_args, ctx) => {
        queueMicrotask(() => controller.abort(new Stop(code)));
        return new Promise((_, reject) =>
          ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason))
        );
      }),
      signal: controller.signal,
    });
    assertEquals(await running, { code, out: "", err: "" });
  }
});

Deno.test("a handler that ignores its signal is left after the grace", async () => {
  const controller = new AbortController();
  const { code } = await cli([], {
    ...one(() => {
      controller.abort(new Stop(130));
      return new Promise(() => {});
    }),
    signal: controller.signal,
  });
  assertEquals(code, 130);
});

Deno.test("handlers get what extend adds, can warn, and cannot ask", async () => {
  const { out, err } = await cli([], {
    ...one(async (_args, ctx) => {
      ctx.terminal!.warn("careful");
      ctx.log("info", "quiet");
      ctx.log("error", "loud", { n: 1 });
      const refused = await ctx.ask("k", { message: "?" }).catch((e: Error) =>
        e.name
      );
      return `${(ctx as unknown as { extra: string }).extra} ${refused}`;
    }),
    options: {
      extend: (base) => ({ ...base, extra: "more" }) as CommandContext,
    },
  });
  assertEquals([out, err], [
    "more CommandError\n",
    'prog: careful\nprog: loud {"n":1}\n',
  ]);
});

Deno.test("unchecked root options are left to whoever reads them", async () => {
  const { code, out } = await cli(["globals", "--level=mid"], {
    options: { uncheckedGlobals: true },
  });
  assertEquals([code, out], [0, '{"level":"mid"}\n']);
});

Deno.test("an error quotes little of what is odd, and nothing that a terminal would act on", async () => {
  assertEquals(
    await refusal(["echo", "--repeat", "\u001b[2J\u202e\n"]),
    'prog: --repeat: must be an integer, got "\\u001b[2J\\u202e\\n"\n',
  );
  assertEquals(
    await refusal(["echo", "--repeat", "x".repeat(1 << 20)]),
    `prog: --repeat: must be an integer, got "${"x".repeat(40)}…"\n`,
  );
  assertEquals(
    await refusal(["\u001b[2J"]),
    'prog: unknown command "\\u001b[2J"; see "prog --help"\n',
  );
  assertEquals(
    await refusal(["echo", "--a\nb"]),
    'prog: unknown option --a\\nb; see "prog echo --help"\n',
  );
});

Deno.test("numbers are those of JSON, with a sign and zeros before them", async () => {
  for (const [text, value] of [["+5", 5], ["007", 7], ["1e3", 1000]] as const) {
    assertEquals((await values(["echo", `--repeat=${text}`])).repeat, value);
  }
  for (
    const text of ["1e999", "NaN", "Infinity", "", " 1", "0x10", "1_000", "١"]
  ) {
    assertStringIncludes(
      await refusal(["echo", `--repeat=${text}`]),
      "--repeat: must be an integer",
    );
  }
});

Deno.test("a value of 1 MB arrives whole, and of a repeated option the last counts", async () => {
  const long = "x".repeat(1 << 20);
  assertEquals((await values(["echo", "--tag", long, "--tag="])).tag, [
    long,
    "",
  ]);
  assertEquals(
    (await values(["echo", "--kind=plain", "--kind", "fancy"])).kind,
    "fancy",
  );
  assertEquals(
    (await values(["echo", "-l", "--no-loud-voice"])).loud_voice,
    false,
  );
});

Deno.test("a switch and an option named like its negation stay apart", async () => {
  const tree = one(showArgs, {
    input: {
      type: "object",
      properties: { x: { type: "boolean" }, no_x: { type: "boolean" } },
    },
  });
  assertEquals((await cli(["--x=false"], tree)).out, '{"x":false}\n');
  assertEquals((await cli(["--no-x"], tree)).out, '{"no_x":true}\n');
});

Deno.test("an argument whose name no option can have is one by the flag that is named for it", async () => {
  const tree: AnyCommand = {
    name: "prog",
    summary: "P",
    input: {
      type: "object",
      properties: { "größe": { type: "integer" }, "a b": { type: "string" } },
      required: ["größe"],
    },
    options: { "größe": { flag: "size" } },
    run: showArgs,
  };
  const { code, out } = await cli(["--size", "5"], { tree });
  assertEquals([code, out], [0, '{"größe":5}\n']);
  assertStringIncludes((await cli(["--help"], { tree })).out, "--size N");
  assertEquals(
    (await cli([], { tree })).err,
    'prog: missing --size; see "prog --help"\n',
  );
  const odd = { ...tree, options: { "größe": { flag: "größe" } } };
  assertStringIncludes(
    (await cli([], { tree: odd })).err,
    'flag "größe" has odd characters',
  );
});

Deno.test("an option of a command on the way is none of the command that it leads to", async () => {
  const tree: AnyCommand = {
    name: "prog",
    summary: "P",
    commands: [{
      name: "group",
      summary: "G",
      input: { type: "object", properties: { size: { type: "integer" } } },
      run: showArgs,
      commands: [{ name: "leaf", summary: "L", run: showArgs }],
    }],
  };
  assertEquals((await cli(["group", "--size=1"], { tree })).code, 0);
  const { code, err } = await cli(["group", "--size=1", "leaf"], { tree });
  assertEquals(code, 2);
  assertStringIncludes(err, "unknown option --size");
});

Deno.test("a tree that makes no sense is told before anything runs", async () => {
  const tree: AnyCommand = {
    name: "prog",
    summary: "P",
    commands: [{ name: "a b", summary: "A", run: () => "" }],
  };
  const { code, err } = await cli(["a b"], { tree });
  assertEquals(code, 1);
  assertStringIncludes(err, 'Cannot use command "prog a b"');
});
