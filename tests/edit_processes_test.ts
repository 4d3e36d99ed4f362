import { assert, assertEquals } from "@std/assert";
import { FileWorld } from "./file_world.ts";

const PROCESSES = 8;
const EDITS = 50;

Deno.test("E20: 8 processes with 50 edits each on one file lose none", async () => {
  await using world = await FileWorld.make();
  const lines = Array.from(
    { length: PROCESSES * EDITS },
    (_, i) => `<${i % PROCESSES}.${Math.floor(i / PROCESSES)}> open\n`,
  );
  await world.file("shared.txt", lines.join(""));
  const script = new URL("fixtures/edit_worker.ts", import.meta.url).pathname;
  const config = new URL("deno.json", import.meta.url).pathname;
  const outputs = await Promise.all(
    Array.from(
      { length: PROCESSES },
      (_, worker) =>
        new Deno.Command(Deno.execPath(), {
          args: [
            "run",
            "-A",
            "--no-check",
            "--config",
            config,
            script,
            world.base,
            String(worker),
            String(EDITS),
          ],
          stdout: "null",
          stderr: "piped",
        }).output(),
    ),
  );
  for (const { success, stderr } of outputs) {
    assert(success, new TextDecoder().decode(stderr));
  }
  assertEquals(
    await world.bytes("shared.txt"),
    lines.join("").replaceAll("open", "done"),
  );
});
