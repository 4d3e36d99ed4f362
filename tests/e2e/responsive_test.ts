import { assert, assertStringIncludes } from "@std/assert";
import { measure, WITHIN } from "../soak/responsive.ts";

Deno.test("G04 G08: beside the slowest search, 60 MB of output and a read in 30 GB ping is answered; each ends at its limit, and then the processor is idle", async () => {
  if (Deno.build.os !== "linux") return;
  const { half, calls } = await measure(30, ["grep", "bash", "read"]);
  // Half of them: the machine may be busy with something else, which the soak run allows for.
  assert(half <= WITHIN, `${half} ms`);
  assertStringIncludes(calls.bash!.end.join(), "of 60000000 bytes left out");
  assertStringIncludes(calls.read!.end.join(), "was not reached");
  assertStringIncludes(
    calls.grep!.end[0]!,
    "grep: stopped after 20 s",
  );
  assertStringIncludes(calls.grep!.end[0]!, "no matches so far");
  // What ended last has nothing beside it.
  const { idle } = Object.values(calls).at(-1)!;
  assert(idle! <= 100, `${idle} ms`);
});
