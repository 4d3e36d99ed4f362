/** What `rousseau sessions` shows and asks on a real terminal. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { commandLine, environment, Folders, run } from "../harness.ts";
import { record, testStore } from "../sessions.ts";
import { need } from "./programs.ts";

/** Runs the program on a terminal, answers with `answer` where `wait` is shown, and gives all that was shown. */
async function onTerminal(
  folders: Folders,
  args: readonly string[],
  { wait = "", answer = "" } = {},
): Promise<{ code: number; shown: string }> {
  await need("python3");
  const script = new URL("../fixtures/dialogue.py", import.meta.url).pathname;
  const { code, stdout } = await new Deno.Command("python3", {
    args: [script, wait, answer, ...await commandLine(args)],
    cwd: folders.root,
    env: await environment(folders, { env: { TERM: "xterm" } }),
    clearEnv: true,
  }).output();
  return { code, shown: new TextDecoder().decode(stdout) };
}

async function withSession(
  body: (folders: Folders, id: string) => Promise<void>,
): Promise<void> {
  await using folders = await Folders.make();
  const { store } = testStore({
    path: folders.database,
    roots: [folders.root],
  });
  record(store, { arguments: { command: "deno test" } });
  await store.flush();
  const { items: [session] } = await store.list({ limit: 1 });
  await store.close();
  await body(folders, session!.id);
}

Deno.test("sessions delete asks on a terminal, and deletes on yes alone", async () => {
  await withSession(async (folders, id) => {
    const args = ["sessions", "delete", id.slice(0, 8), "--root", folders.root];
    const question = `Delete session ${id.slice(0, 8)}, bash: deno test? [y/N]`;
    const no = await onTerminal(folders, args, { wait: "[y/N]", answer: "" });
    assertStringIncludes(no.shown, question);
    assertStringIncludes(no.shown, "rousseau: nothing was deleted");
    assertEquals(no.code, 1);
    const list = ["sessions", "list", "--root", folders.root];
    assertStringIncludes((await run(folders, list)).stdout, id.slice(0, 8));
    const refused = await run(folders, args, { input: "y\n" });
    assertEquals(
      [refused.code, refused.stderr],
      [1, "rousseau: refusing to delete without --yes\n"],
    );
    const yes = await onTerminal(folders, args, { wait: "[y/N]", answer: "y" });
    assertEquals(yes.code, 0, yes.shown);
    assertEquals((await run(folders, list)).stdout, "(no sessions)\n");
  });
});

Deno.test("sessions list is coloured on a terminal and nowhere else", async () => {
  await withSession(async (folders, id) => {
    const list = ["sessions", "list", "--root", folders.root];
    const short = id.slice(0, 8);
    const { shown } = await onTerminal(folders, list);
    assertStringIncludes(shown, `\x1b[1m${short}\x1b[22m`);
    const { stdout } = await run(folders, list);
    assertMatch(stdout, new RegExp(`^${short}  `));
    assertEquals(stdout.includes("\x1b"), false);
  });
});

Deno.test("sessions import shows a bar on a terminal, which is gone in the end", async () => {
  await withSession(async (folders) => {
    let lines = "";
    for (let i = 0; i < 3_000; i++) {
      lines += `${
        JSON.stringify({
          type: "user",
          uuid: `${i}`,
          sessionId: "11111111-2222-4333-8444-555555555555",
          cwd: folders.root,
          timestamp: "2026-11-01T10:00:00.000Z",
          message: { role: "user", content: `line ${i} ${"word ".repeat(50)}` },
        })
      }\n`;
    }
    const file = await folders.write("claude/a.jsonl", lines);
    const args = ["sessions", "import", "claude-code", file];
    const { code, shown } = await onTerminal(folders, args);
    assertEquals(code, 0, shown);
    const [bar, ...after] = shown.split("\r\x1b[K");
    assertMatch(bar ?? "", /^Claude Code {2}█*░+ {2}\d+ %$/);
    assertMatch(after.at(-1) ?? "", /^claude-code: 1 files, 1 with something/);
    const off = await run(folders, args);
    assertEquals([off.code, off.stderr], [0, ""]);
  });
});
