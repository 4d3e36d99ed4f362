/**
 * A session as one HTML page that needs nothing else: a timeline of calls that open, search within it, edits as
 * differences, light and dark. Pure.
 *
 * @module
 */
import type { Message, SessionInfo } from "./recorded.ts";
import {
  isoTime,
  NOT_INSTRUCTIONS,
  oneLine,
  titleText,
  visibleText,
} from "./transcript.ts";

/** UTF-16 units of a call or an output above which it starts closed. */
export const OPEN_CHARS = 1_500;

/** The page, piece by piece. */
export function* html(
  session: SessionInfo,
  messages: Iterable<Message>,
): Generator<string> {
  const title = escape(oneLine(titleText(session)));
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<dl>${facts(session)}</dl>
<p class="note">${escape(NOT_INSTRUCTIONS)}</p>
<p class="tools"><label>Search <input id="search" type="search" autocomplete="off"></label>
<span id="count" role="status"></span>
<button id="open" type="button">Open all</button> <button id="close" type="button">Close all</button></p>
</header>
<main>
`;
  for (const message of messages) yield article(message);
  yield `</main>\n<script>${SCRIPT}</script>\n</body>\n</html>\n`;
}

function facts(session: SessionInfo): string {
  const { client } = session;
  const rows: [string, string | undefined][] = [
    ["Session", session.id],
    [
      "Client",
      client.name && [client.name, client.version].filter(Boolean).join(" "),
    ],
    ["Roots", session.roots.join(", ") || undefined],
    ["Begun", isoTime(session.createdAt)],
    ["Last call", isoTime(session.updatedAt)],
    ["Messages", String(session.messageCount)],
  ];
  return rows.filter(([, value]) => value).map(([name, value]) =>
    `<div><dt>${name}</dt><dd>${escape(oneLine(value as string))}</dd></div>`
  ).join("");
}

function article(message: Message): string {
  const { seq, kind, role, tool, isError, createdAt } = message;
  const body = bodyOf(message);
  const label = kind === "tool_use"
    ? `→ ${escape(oneLine(tool ?? ""))}`
    : kind === "tool_result"
    ? `← ${escape(oneLine(tool ?? ""))}${isError ? " <b>error</b>" : ""}`
    : escape(`${role} · ${kind}`);
  const time = isoTime(createdAt);
  const isOpen = body.length <= OPEN_CHARS;
  return `<details class="${kind}${isError ? " error" : ""}" id="m${seq}"${
    isOpen ? " open" : ""
  }><summary><a href="#m${seq}">${seq}</a> <span class="who">${label}</span> <span class="hint">${
    escape(hint(message))
  }</span> <time datetime="${time}">${
    time.slice(11, 19)
  }</time></summary>${body}</details>\n`;
}

function bodyOf(message: Message): string {
  switch (message.kind) {
    case "tool_use":
      return callBody(message);
    case "image":
      return `<p>A picture of ${message.bytes} bytes, not kept.</p>`;
    case "tool_result":
    case "text": {
      const part = message.hash === undefined
        ? ""
        : `<p class="part">of ${message.bytes} bytes; SHA-256 ${
          escape(message.hash)
        }</p>`;
      return (message.text === "" ? "" : pre(message.text)) + part;
    }
  }
}

/** The arguments; old and new text of an edit as removed and added lines. */
function callBody(message: Message): string {
  const args = parse(message.json);
  const edits = [args, ...(Array.isArray(args.edits) ? args.edits : [])]
    .filter((edit): edit is Record<string, string> =>
      typeof edit?.old_string === "string" &&
      typeof edit?.new_string === "string"
    );
  if (message.tool === "bash" && typeof args.command === "string") {
    const { command, ...rest } = args;
    return pre(command as string) + json(rest);
  }
  if (edits.length === 0) return json(args);
  const { old_string: _old, new_string: _new, edits: _edits, ...rest } = args;
  return json(rest) +
    edits.map((edit) =>
      `<pre class="diff">${lines(edit.old_string ?? "", "-", "del")}${
        lines(edit.new_string ?? "", "+", "ins")
      }</pre>`
    ).join("");
}

function lines(text: string, sign: string, tag: string): string {
  if (text === "") return "";
  return visibleText(text).replace(/\n$/, "").split("\n")
    .map((line) => `<${tag}>${sign} ${escape(line)}</${tag}>\n`).join("");
}

function json(value: Record<string, unknown>): string {
  return Object.keys(value).length === 0
    ? ""
    : pre(JSON.stringify(value, null, 2));
}

function pre(text: string): string {
  // A line feed right after the tag would be dropped.
  return `<pre>\n${escape(visibleText(text))}</pre>`;
}

/** One line that tells what a closed message is about. */
function hint(message: Message): string {
  const args = message.kind === "tool_use" ? parse(message.json) : {};
  const what = [args.command, args.path, args.pattern, args.query]
    .find((value) => typeof value === "string") ??
    (message.kind === "tool_use" ? "" : message.text.slice(0, 400));
  return oneLine(String(what)).slice(0, 100);
}

function parse(text: string | undefined): Record<string, unknown> {
  try {
    const value = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

const STYLE = `
:root { color-scheme: light dark; --back: #fff; --text: #1c1e21; --soft: #667; --line: #d8dbe0; --call: #1f5fae; --bad: #b3261e; --code: #f5f6f8; --add: #e3f5e6; --gone: #fbe6e4; }
@media (prefers-color-scheme: dark) { :root { --back: #16181c; --text: #e4e6ea; --soft: #9aa0ab; --line: #353a42; --call: #7fb2f0; --bad: #f2988f; --code: #1f2329; --add: #17341e; --gone: #43201d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; margin: 0 0 .5rem; }
dl { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; margin: 0; font-size: .85rem; }
dt { color: var(--soft); display: inline; } dt::after { content: ": "; } dd { display: inline; margin: 0; overflow-wrap: anywhere; }
.note, .part { color: var(--soft); font-size: .85rem; }
.tools { position: sticky; top: 0; background: var(--back); padding: .5rem 0; margin: 0; z-index: 1; }
input, button { font: inherit; padding: .2rem .5rem; max-width: 100%; }
details { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .8rem; margin: .4rem 0; }
details.tool_use { border-color: var(--call); } details.error { border-color: var(--bad); }
summary { cursor: pointer; overflow-wrap: anywhere; } summary a { color: var(--soft); text-decoration: none; font-variant-numeric: tabular-nums; }
.who { font-weight: 600; } .hint, time { color: var(--soft); font-size: .85rem; } .error b { color: var(--bad); } details[open] .hint { display: none; }
pre { background: var(--code); padding: .6rem; border-radius: 4px; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0; max-height: 40rem; }
del, ins { text-decoration: none; display: inline; } del { background: var(--gone); } ins { background: var(--add); }
[hidden] { display: none; }
`;

const SCRIPT = `
const all = [...document.querySelectorAll("main details")];
const count = document.getElementById("count");
document.getElementById("search").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  let found = 0;
  for (const each of all) {
    const hit = each.textContent.toLowerCase().includes(wanted);
    each.hidden = !hit;
    if (hit) found++;
  }
  count.textContent = wanted === "" ? "" : found + " of " + all.length;
});
document.getElementById("open").addEventListener("click", () => all.forEach((each) => each.open = true));
document.getElementById("close").addEventListener("click", () => all.forEach((each) => each.open = false));
`;
