/** The exported page of a session in a real browser. */
import { assert, assertEquals } from "@std/assert";
import { html } from "../../lib/session_html.ts";
import { record, testStore, withFolder } from "../sessions.ts";

/** Columns of pixels of a phone's page, which no window of the browser is as narrow as. */
const PHONE = 390;

/** A page within one that is as wide as a phone's. */
function onPhone(page: string): string {
  const inner = page.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<!doctype html><body style="margin: 0"><iframe style="width: ${PHONE}px; height: 800px; border: 0" srcdoc="${inner}"></iframe>`;
}

/** Searches, and notes what a person would see, where the test can read it. */
const PROBE = `<script>
const root = document.documentElement;
const noted = (window.frameElement ?? root).ownerDocument.documentElement;
const isShown = (each) => each.checkVisibility();
noted.dataset.width = innerWidth;
noted.dataset.fits = root.scrollWidth <= innerWidth;
noted.dataset.strip = document.querySelectorAll("#line a").length;
noted.dataset.order = ["header", ".overview", "nav", "main"].every((name, i, all) =>
  i === 0 || document.querySelector(all[i - 1]).getBoundingClientRect().bottom <= document.querySelector(name).getBoundingClientRect().top);
const closed = all.find((each) => !each.open);
noted.dataset.closed = closed.id;
const input = document.getElementById("search");
input.value = "NEEDLE";
input.dispatchEvent(new Event("input"));
noted.dataset.shown = all.filter(isShown).map((each) => each.id);
noted.dataset.opened = closed.open;
noted.dataset.count = count.textContent;
noted.dataset.marked = CSS.highlights.get("found").size;
noted.dataset.added = document.querySelector("ins").textContent;
noted.dataset.dark = getComputedStyle(document.body).backgroundColor;
</script>`;

async function page(): Promise<string> {
  const { store } = testStore();
  record(store, {
    tool: "read",
    arguments: { path: `/w/${"long".repeat(40)}.ts` },
    result: `the needle\n${"a line of hay\n".repeat(200)}`,
  });
  record(store, {
    tool: "edit",
    arguments: { path: "/w/a", old_string: "a\nb", new_string: "a\nc" },
    result: { content: [{ type: "text", text: "no match" }], isError: true },
  });
  const { items: [session] } = await store.list({ limit: 1 });
  const text = await store.read(
    session!.id,
    0,
    (found, messages) => [...html(found, messages)].join(""),
  );
  await store.close();
  return text!;
}

async function chromium(...args: string[]): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command("chromium", {
    args: ["--headless", "--no-sandbox", "--disable-gpu", ...args],
    env: { DBUS_SESSION_BUS_ADDRESS: "disabled:" },
  }).output();
  const decoder = new TextDecoder();
  assert(success, decoder.decode(stderr));
  return decoder.decode(stdout);
}

Deno.test("the page of a session is laid out, searched and coloured in a browser", async () => {
  await withFolder(async (folder) => {
    const file = `${folder}/session.html`;
    const probed = (await page()).replace("</body>", `${PROBE}</body>`);
    for (const width of [1100, PHONE]) {
      await Deno.writeTextFile(
        file,
        width === PHONE ? onPhone(probed) : probed,
      );
      for (const scheme of ["light", "dark"]) {
        const dom = await chromium(
          `--user-data-dir=${folder}/profile`,
          "--window-size=1100,900",
          `--blink-settings=preferredColorScheme=${scheme === "dark" ? 0 : 1}`,
          "--dump-dom",
          `file://${file}`,
        );
        const tag = /<html[^>]*>/.exec(dom)?.[0] ?? "";
        const data = Object.fromEntries(
          [...tag.matchAll(/data-(\w+)="([^"]*)"/g)]
            .map(([, name, value]) => [name, value]),
        );
        assertEquals(data, {
          width: `${width}`,
          fits: "true",
          strip: "2",
          order: "true",
          closed: "m1",
          shown: "m1",
          opened: "true",
          count: "1 of 4",
          marked: "2",
          added: "+ c",
          dark: scheme === "dark" ? "rgb(22, 24, 28)" : "rgb(255, 255, 255)",
        }, `${width} ${scheme}`);
      }
    }
  });
});
