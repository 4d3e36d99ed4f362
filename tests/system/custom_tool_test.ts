/** Tools without code inside the sandbox, from the command line and over MCP. Needs bubblewrap. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { commandLine } from "../harness.ts";
import { need } from "./programs.ts";

const CONFIG = `sandbox: require
custom_tools:
  - name: peek
    description: Prints a file
    input: { type: object, properties: { file: { type: string } }, required: [file] }
    argv: [cat, --, "{file}"]
  - name: put
    description: Writes a file
    input: { type: object, properties: { file: { type: string } }, required: [file] }
    argv: [sh, -c, 'echo x > "$ARG_FILE"']
  - name: net
    description: Counts network devices other than the loopback
    argv: [sh, -c, 'grep -c -v -e "|" -e " lo:" /proc/net/dev; true']
  - name: keys
    description: Runs among the keys
    argv: [pwd]
    cwd: KEYS
`;

Deno.test("a tool without code is held by the sandbox and the deny list, from a shell and over MCP", async () => {
  await need("bwrap");
  await Deno.mkdir("/srv", { recursive: true });
  const base = await Deno.realPath(await Deno.makeTempDir({ dir: "/srv" }));
  try {
    for (const name of ["root", "home/.ssh"]) {
      await Deno.mkdir(`${base}/${name}`, { recursive: true });
    }
    await Deno.writeTextFile(`${base}/home/.ssh/id_rsa`, "secret");
    await Deno.writeTextFile(`${base}/root/a.txt`, "plain");
    await Deno.writeTextFile(
      `${base}/c.yaml`,
      CONFIG.replace("KEYS", `${base}/home/.ssh`),
    );
    const run = async (args: string[], input = "") => {
      const [program, ...rest] = await commandLine([
        "--config",
        `${base}/c.yaml`,
        "--root",
        `${base}/root`,
        ...args,
      ]);
      const child = new Deno.Command(program!, {
        args: rest,
        clearEnv: true,
        env: {
          HOME: `${base}/home`,
          PATH: Deno.env.get("PATH")!,
          DENO_DIR: Deno.env.get("DENO_DIR") ??
            `${Deno.env.get("HOME")}/.cache/deno`,
          ROUSSEAU_STATE_PATH: ":memory:",
        },
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
      const { code, stdout, stderr } = await child.output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, out: text(stdout), err: text(stderr) };
    };
    const calls: [string, Record<string, string>, number, string][] = [
      ["peek", { file: "a.txt" }, 0, "plain"],
      ["peek", { file: `${base}/home/.ssh/id_rsa` }, 1, "peek: exit status 1"],
      ["put", { file: "b.txt" }, 0, ""],
      ["put", { file: `${base}/b.txt` }, -1, "put: exit status"],
      ["net", {}, 0, "0"],
      ["keys", {}, 1, "keys: "],
    ];
    for (const [name, args, code, says] of calls) {
      const options = Object.entries(args).map(([key, value]) =>
        `--${key}=${value}`
      );
      const shell = await run([name, ...options]);
      assertEquals(shell.code === 0, code === 0, `${name}: ${shell.err}`);
      if (code > 0) assertEquals(shell.code, code);
      assertStringIncludes(shell.out + shell.err, says);
      const lines = [
        {
          id: 0,
          method: "initialize",
          params: { protocolVersion: "2025-06-18", capabilities: {} },
        },
        { id: 1, method: "tools/call", params: { name, arguments: args } },
      ].map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`);
      const { out } = await run(["mcp"], lines.join(""));
      const { result } = out.trim().split("\n").map((line) => JSON.parse(line))
        .find(({ id }) => id === 1);
      assertEquals(result.isError ?? false, code !== 0, name);
      assertStringIncludes(result.content[0].text, says);
      for (const text of [shell.out, JSON.stringify(result)]) {
        assertEquals(text.includes("secret"), false);
      }
    }
    assertEquals(
      (await Array.fromAsync(Deno.readDir(`${base}/root`))).map(({ name }) =>
        name
      ).toSorted(),
      ["a.txt", "b.txt"],
    );
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});
