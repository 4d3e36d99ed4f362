import { assertEquals } from "@std/assert";
import { diskView, ShellView } from "../lib/disk_view.ts";

Deno.test("a shell's view is the same as one's own", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/d`);
    await Deno.writeTextFile(`${folder}/it's "x" $y`, "text\n");
    await Deno.writeTextFile(`${folder}/.hidden`, "");
    await Deno.symlink("d", `${folder}/to folder`);
    await Deno.symlink("gone", `${folder}/dangling`);
    const paths = [
      "d",
      `it's "x" $y`,
      ".hidden",
      "to folder",
      "dangling",
      "none",
      "d/none",
    ].map((name) => `${folder}/${name}`);
    const own = diskView();
    const shell = new ShellView();
    const seen = (view: Pick<ShellView, "look">) =>
      Promise.all(paths.map((path) => view.look(path)));
    assertEquals(await seen(shell), await seen(own));
    assertEquals(await seen(own), [
      "folder",
      "file",
      "file",
      { link: "d" },
      { link: "gone" },
      undefined,
      undefined,
    ]);
    assertEquals(
      // A link that leads nowhere is no name that anything could be done with.
      (await shell.list(folder)).sort(),
      (await own.list(folder)).filter((name) => name !== "dangling").sort(),
    );
    assertEquals(await shell.list(`${folder}/none`), []);
    assertEquals(await shell.text(paths[1]!), "text\n");
    assertEquals(await own.text(`${folder}/none`), undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
