/** The real program goes on working with the permissions that it has left. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ProgramWorld } from "../program_world.ts";

Deno.test("in mode read-only everything is recorded and found after the server has given up writing", async () => {
  await using world = await ProgramWorld.make({ "a.txt": "one\n" }, {
    flags: ["--mode", "read-only"],
  });
  const { server } = world;
  for (let round = 1; round <= 3; round++) {
    assertEquals(await server.text("read", { path: "a.txt" }), "one\n");
    await server.text("grep", { pattern: `word${round}` });
    // Asks for what was recorded, which waits until it is.
    assertStringIncludes(
      await server.text("rousseau_search_sessions", { query: `word${round}` }),
      `word${round}`,
    );
  }
  const { result } = await server.request("resources/list");
  const session = result.resources.find(({ uri }: { uri: string }) =>
    uri.startsWith("rousseau://sessions/")
  );
  const read = await server.request("resources/read", { uri: session.uri });
  for (const word of ["word1", "word2", "word3"]) {
    assertStringIncludes(read.result.contents[0].text, word);
  }
  await server.close();
  assertEquals(server.stderr, "");
});

Deno.test("commands get the variables that were there at the start", async () => {
  await using world = await ProgramWorld.make({}, {
    flags: ["--env", "MY_NAME"],
    env: { MY_NAME: "ann", OTHER: "x", LC_TIME: "C" },
  });
  for (let round = 0; round < 2; round++) {
    const { text } = await world.bash(
      'echo "$MY_NAME ${OTHER-none} $LC_TIME"; cd ~ && echo home',
    );
    assertEquals(text, "ann none C\nhome\n");
  }
});
