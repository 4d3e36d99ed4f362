import { assertMatch, assertNotMatch } from "@std/assert";
import { outsideText } from "../lib/refusals.ts";

function outside(real: string, folder: string, write: boolean): string {
  const roots = ["/w/a"];
  return outsideText({ real, folder, roots, write, readable: false });
}

Deno.test("a refusal names the path itself, never the whole disk or a home to be read", () => {
  assertMatch(outside("/root", "/", false), /--read "\/root"/);
  assertMatch(outside("/root/x", "/root", false), /--read "\/root\/x"/);
  assertNotMatch(outside("/x", "/", true), /--root "\/"/);
});

Deno.test("a refused write in a home names a folder inside it", () => {
  assertMatch(outside("/root/x", "/root", true), /--root "\/root\/FOLDER"/);
  assertMatch(
    outside("/home/ann/x", "/home/ann", true),
    /--root "\/home\/ann\/FOLDER"/,
  );
});

Deno.test("any other refusal names the folder that holds the path", () => {
  assertMatch(outside("/srv/b/x", "/srv/b", true), /--root "\/srv\/b"/);
  assertMatch(outside("/srv/b/x", "/srv/b", false), /--read "\/srv\/b"/);
});
