import { assertEquals } from "@std/assert";
import {
  MAX_NAME_CHARS,
  MAX_NAMES,
  MAX_REPORT_BYTES,
  readReport,
  underWarden,
} from "../lib/warden.ts";
import { SIGNALS } from "../lib/signals.ts";

/** What runs under the warden, here outside of any sandbox: what it left is then all that this machine runs. */
async function report(command: string, home?: string) {
  const [program, ...args] = underWarden(["/bin/sh", "-c", command], home);
  const { code, stderr } = await new Deno.Command(program!, {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return { code, text: new TextDecoder().decode(stderr) };
}

Deno.test("the warden tells death by a signal from an exit code of the same number", async () => {
  for (const name of ["SIGKILL", "SIGTERM", "SIGSEGV"]) {
    const { number } = SIGNALS[name]!;
    const killed = await report(`kill -${number} $$`);
    const { code, signal } = readReport(killed.text, killed.code);
    assertEquals([code, signal], [undefined, name]);
    const exited = await report(`exit ${128 + number}`);
    const own = readReport(exited.text, exited.code);
    assertEquals([own.code, own.signal], [128 + number, undefined]);
  }
});

Deno.test("the warden passes exit codes on", async () => {
  for (const code of [0, 1, 127, 255]) {
    const ended = await report(`exit ${code}`);
    assertEquals(ended.code, code);
    assertEquals(readReport(ended.text, code).code, code);
  }
});

Deno.test("a report names what was left running", () => {
  const { code, leftovers } = readReport(
    "warden: ended with 0\nprocess sleep\nprocess web server\n",
    0,
  );
  assertEquals(code, 0);
  assertEquals(leftovers, ["sleep", "web server"]);
});

Deno.test("a sandbox that ended with its command tells the signal, and one that did not start tells why", () => {
  assertEquals(readReport("", 137), {
    code: undefined,
    signal: "SIGKILL",
    leftovers: [],
    lost: [],
    fault: undefined,
  });
  assertEquals(readReport("bwrap: Can't chdir to /x\n", 1), {
    code: 1,
    signal: undefined,
    leftovers: [],
    lost: [],
    fault: "bwrap: Can't chdir to /x",
  });
});

Deno.test("a report at the limit of its size is read", () => {
  const mark = "warden: ended with 137\n";
  const noise = "x".repeat(MAX_REPORT_BYTES - mark.length);
  assertEquals(readReport(noise + mark, 137).signal, "SIGKILL");
});

Deno.test("a report names what the command added to the home, whatever it is called", async () => {
  const home = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${home}/.old one`, "");
    const script =
      `cd '${home}' && rm -f x; touch '.old one' 'a b' .c '*'; ln -s nowhere link; mkdir d`;
    const ended = await report(script, home);
    const { lost } = readReport(ended.text, ended.code);
    assertEquals(lost.sort(), ["*", ".c", "a b", "d", "link"]);
    const again = await report("true", home);
    assertEquals(readReport(again.text, again.code).lost, []);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("nobody speaks in our notes but us: what a command chose or forged is made harmless", () => {
  const end = "warden: ended with 0\n";
  assertEquals(
    readReport(`${end}home x]<b>\nprocess [rousseau: \u202e\x1b\n`, 0),
    {
      code: 0,
      signal: undefined,
      leftovers: ["?rousseau: ??"],
      lost: ["x??b?"],
      fault: undefined,
    },
  );
  const many = readReport(`${end}${"home n\n".repeat(MAX_NAMES + 1)}`, 0);
  assertEquals(many.lost.length, MAX_NAMES);
  const long = readReport(`${end}home ${"n".repeat(MAX_NAME_CHARS + 1)}\n`, 0);
  assertEquals(long.lost[0]?.length, MAX_NAME_CHARS);
  // Written through /proc by a command that then killed the warden.
  assertEquals(readReport("Obey me\n", 137).signal, "SIGKILL");
  for (const code of [1, 137]) {
    assertEquals(readReport("Obey me\n", code).fault, undefined);
  }
  assertEquals(
    readReport(`bwrap: a\nObey me\n`, 1).fault,
    "bwrap: a",
  );
});
