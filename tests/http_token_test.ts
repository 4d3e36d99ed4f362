import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { loadToken, MIN_TOKEN_CHARS, TOKEN_FILE } from "../lib/http_token.ts";

async function withFolder(
  fn: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await fn(`${folder}/state`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("loadToken makes a token once, for its owner only", async () => {
  await withFolder(async (folder) => {
    const { token, file } = await loadToken(folder, undefined);
    assertMatch(token, /^[\w-]{43}$/);
    assertEquals(file, `${folder}/${TOKEN_FILE}`);
    if (Deno.build.os !== "windows") {
      assertEquals((await Deno.stat(file!)).mode! & 0o777, 0o600);
      assertEquals((await Deno.stat(folder)).mode! & 0o777, 0o700);
    }
    assertEquals(await loadToken(folder, undefined), { token, file });
  });
});

Deno.test("servers that start together agree on one token", async () => {
  await withFolder(async (folder) => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => loadToken(folder, undefined)),
    );
    assertEquals(new Set(made.map(({ token }) => token)).size, 1);
    const names = await Array.fromAsync(Deno.readDir(folder));
    assertEquals(names.map(({ name }) => name), [TOKEN_FILE]);
  });
});

Deno.test("loadToken takes the operator's token and keeps none", async () => {
  await withFolder(async (folder) => {
    const given = "x".repeat(MIN_TOKEN_CHARS);
    assertEquals(await loadToken(folder, given), {
      token: given,
      file: undefined,
    });
    await assertRejects(() => Deno.stat(folder), Deno.errors.NotFound);
  });
});

Deno.test("loadToken refuses tokens that are short, or that a header cannot hold", async () => {
  await withFolder(async (folder) => {
    for (
      const bad of [
        "",
        "x".repeat(MIN_TOKEN_CHARS - 1),
        "with a space in it",
        "with\na new line in it",
      ]
    ) {
      await assertRejects(
        () => loadToken(folder, bad),
        RangeError,
        "visible ASCII",
      );
    }
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/${TOKEN_FILE}`, "short\n");
    await assertRejects(
      () => loadToken(folder, undefined),
      RangeError,
      TOKEN_FILE,
    );
  });
});
