/**
 * What the page of a session looks like, and what it does.
 *
 * @module
 */

/** The style sheet: light and dark, down to the width of a phone. */
export const STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1c1e21; --soft: #5b6270; --line: #d8dbe0; --call: #1f5fae; --bad: #b3261e; --code: #f5f6f8; --add: #ddf3e1; --gone: #fbe2df; --mark: #ffe08a; }
@media (prefers-color-scheme: dark) { :root { --back: #16181c; --text: #e4e6ea; --soft: #9aa0ab; --line: #353a42; --call: #7fb2f0; --bad: #f2988f; --code: #1f2329; --add: #17341e; --gone: #43201d; --mark: #6b5200; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; display: flex; flex-direction: column; }
main { order: 3; } nav { order: 2; } .overview { order: 1; }
h1 { font-size: 1.4rem; line-height: 1.3; overflow-wrap: anywhere; margin: 0 0 .5rem; }
h2 { font-size: .9rem; color: var(--soft); font-weight: 600; margin: 1rem 0 .4rem; }
header dl { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; margin: 0; font-size: .85rem; }
header dt { color: var(--soft); display: inline; } header dt::after { content: ": "; } header dd { display: inline; margin: 0; overflow-wrap: anywhere; }
.note, .part { color: var(--soft); font-size: .85rem; margin: .5rem 0; }
nav { position: sticky; top: 0; background: var(--back); padding: .6rem 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; border-bottom: 1px solid var(--line); }
nav input { flex: 1 1 12rem; min-width: 0; }
input, button { font: inherit; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--code); color: inherit; }
button { cursor: pointer; } :focus-visible { outline: 2px solid var(--call); outline-offset: 1px; }
#count { color: var(--soft); font-size: .85rem; } #count:empty { display: none; }
.overview { font-size: .85rem; } .overview table { border-collapse: collapse; width: 100%; margin-bottom: .8rem; }
.overview td, .overview th { padding: .1rem .6rem .1rem 0; text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; font-weight: normal; }
.overview th { text-align: left; overflow-wrap: anywhere; white-space: normal; max-width: 24rem; }
.overview td.bar { width: 50%; padding-right: 0; } .bar i { display: block; height: .7rem; border-radius: 2px; background: var(--call); min-width: 2px; }
.overview .errors { color: var(--bad); }
#line { display: flex; height: 1.6rem; gap: 1px; align-items: flex-end; margin: .6rem 0; }
#line a { flex: 1 1 0; min-width: 0; height: 70%; background: var(--call); opacity: .55; border-radius: 1px; } #line a.error { background: var(--bad); height: 100%; opacity: 1; } #line a:hover { opacity: 1; height: 100%; }
details { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .8rem; margin: .4rem 0; scroll-margin-top: 4rem; }
details.tool_use { border-color: var(--call); margin-top: .9rem; } details.error { border-color: var(--bad); } details:target { background: color-mix(in srgb, var(--mark) 25%, transparent); }
summary { cursor: pointer; display: flex; gap: .5rem; align-items: baseline; list-style: none; } summary::-webkit-details-marker { display: none; }
summary::before { content: "▸"; color: var(--soft); } details[open] > summary::before { content: "▾"; }
summary a { color: var(--soft); text-decoration: none; font-variant-numeric: tabular-nums; }
.who { font-weight: 600; white-space: nowrap; } .hint { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.hint, time { color: var(--soft); font-size: .85rem; } time { margin-left: auto; white-space: nowrap; } .error b { color: var(--bad); } details[open] .hint { visibility: hidden; }
pre, dl.args { background: var(--code); padding: .6rem; border-radius: 4px; font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; }
pre { max-height: 40rem; overflow: auto; }
dl.args { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; } .args dt { color: var(--soft); } .args dd { margin: 0; min-width: 0; }
.diff { padding: .4rem 0; } .diff del, .diff ins, .diff span { text-decoration: none; display: block; padding: 0 .6rem; min-height: 1.45em; } del { background: var(--gone); } ins { background: var(--add); }
::highlight(found) { background: var(--mark); color: inherit; }
[hidden] { display: none; }
@media (max-width: 30rem) { body { padding: .6rem; } .overview td.bar { width: 30%; } details { padding-left: .5rem; } }
@media print { nav { display: none; } pre { max-height: none; } }
`;

/** The script: the search, what matched, and the strip of calls. */
export const SCRIPT = `
const all = [...document.querySelectorAll("main details")];
const count = document.getElementById("count");
const line = document.getElementById("line");
const calls = all.filter((each) => each.classList.contains("tool_result"));
for (const each of calls.slice(0, 600)) {
  const link = document.createElement("a");
  link.href = "#" + each.id;
  link.title = each.querySelector("summary").textContent;
  if (each.classList.contains("error")) link.className = "error";
  line.append(link);
}
const reveal = () => { const each = document.getElementById(location.hash.slice(1)); if (each && "open" in each) each.open = true; };
addEventListener("hashchange", reveal);
reveal();
const wasOpen = new Map(all.map((each) => [each, each.open]));
const mark = (wanted) => {
  if (!globalThis.CSS || !CSS.highlights) return;
  CSS.highlights.delete("found");
  if (wanted === "") return;
  const ranges = [];
  for (const each of all) {
    if (each.hidden) continue;
    const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()) && ranges.length < 2000;) {
      const text = node.data.toLowerCase();
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, Math.min(at, node.length));
        range.setEnd(node, Math.min(at + wanted.length, node.length));
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
};
document.getElementById("search").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  let found = 0;
  for (const each of all) {
    const hit = each.textContent.toLowerCase().includes(wanted);
    each.hidden = !hit;
    each.open = wanted === "" ? wasOpen.get(each) : hit;
    if (hit) found++;
  }
  count.textContent = wanted === "" ? "" : found + " of " + all.length;
  mark(wanted);
});
document.getElementById("open").addEventListener("click", () => all.forEach((each) => each.open = true));
document.getElementById("close").addEventListener("click", () => all.forEach((each) => each.open = false));
`;
