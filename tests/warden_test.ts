import { assertEquals } from "@std/assert";
import { MAX_REPORT_BYTES, readReport, underWarden } from "../lib/warden.ts";
import { SIGNALS } from "../lib/signals.ts";

/** What runs under the warden, here outside of any sandbox: what it left is then all that this machine runs. */
async function report(command: string) {
  const [program, ...args] = underWarden(["/bin/sh", "-c", command]);
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
    "warden: ended with 0\nsleep\nweb server\n",
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
    fault: undefined,
  });
  assertEquals(readReport("bwrap: Can't chdir to /x\n", 1), {
    code: 1,
    signal: undefined,
    leftovers: [],
    fault: "bwrap: Can't chdir to /x",
  });
});

Deno.test("a report at the limit of its size is read", () => {
  const mark = "warden: ended with 137\n";
  const noise = "x".repeat(MAX_REPORT_BYTES - mark.length);
  assertEquals(readReport(noise + mark, 137).signal, "SIGKILL");
});
