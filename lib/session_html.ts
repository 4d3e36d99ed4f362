/**
 * A session as one HTML page that needs nothing else: a timeline of calls that open, search within it, edits as
 * differences, figures as bars, light and dark. Pure.
 *
 * @module
 */
import type { Message, SessionInfo } from "./recorded.ts";
import { SCRIPT, STYLE } from "./html_page.ts";
import { escape, Overview } from "./html_overview.ts";
import {
  decidedText,
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
</header>
<nav><input id="search" type="search" autocomplete="off" placeholder="Search this session" aria-label="Search this session">
<span id="count" role="status"></span>
<button id="open" type="button">Open all</button> <button id="close" type="button">Close all</button></nav>
<main>
`;
  const overview = new Overview();
  let day = "";
  for (const message of messages) {
    const its = isoTime(message.createdAt).slice(0, 10);
    if (its !== day) yield `<h2 class="day">${day = its}</h2>\n`;
    overview.add(message);
    yield article(message);
  }
  // Counted while the messages went by; the style puts it above them.
  yield `</main>\n${overview.html()}<script>${SCRIPT}</script>\n</body>\n</html>\n`;
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
  return `<details data-at="${createdAt}" class="${kind}${
    isError ? " error" : ""
  }" id="m${seq}"${
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
      const decided = message.kind === "tool_result"
        ? decidedText(message)
        : undefined;
      return (message.text === "" ? "" : pre(message.text)) + part +
        (decided === undefined ? "" : `<p class="part">${escape(decided)}</p>`);
    }
  }
}

/** The arguments, a name and a value each; what `write` and `edit` put in place of what as removed and added lines. */
function callBody(message: Message): string {
  const args = parse(message.json);
  if (message.tool === "bash" && typeof args.command === "string") {
    const { command, ...rest } = args;
    return pre(command) + values(rest);
  }
  if (message.tool === "write" && typeof args.content === "string") {
    const { content, ...rest } = args;
    return values(rest) + change("", content);
  }
  const edits = [args, ...(Array.isArray(args.edits) ? args.edits : [])]
    .filter((edit): edit is Record<string, string> =>
      typeof edit?.old_string === "string" &&
      typeof edit?.new_string === "string"
    );
  if (edits.length === 0) {
    // Arguments too long to be kept whole are no JSON any more.
    return values(args) || (message.json ?? "{}") === "{}"
      ? values(args)
      : pre(message.json ?? "");
  }
  const { old_string: _old, new_string: _new, edits: _edits, ...rest } = args;
  return values(rest) +
    edits.map((edit) => change(edit.old_string ?? "", edit.new_string ?? ""))
      .join("");
}

/** Old lines and new ones; those that both begin and end with stand once. */
function change(old: string, next: string): string {
  const [gone, come] = [linesOf(old), linesOf(next)];
  const most = Math.min(gone.length, come.length);
  let head = 0;
  while (head < most && gone[head] === come[head]) head++;
  let tail = 0;
  while (tail < most - head && gone.at(-1 - tail) === come.at(-1 - tail)) {
    tail++;
  }
  return `<pre class="diff">${marked(gone.slice(0, head), " ", "span")}${
    marked(gone.slice(head, gone.length - tail), "-", "del")
  }${marked(come.slice(head, come.length - tail), "+", "ins")}${
    marked(gone.slice(gone.length - tail), " ", "span")
  }</pre>`;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : visibleText(text).replace(/\n$/, "").split("\n");
}

function marked(lines: readonly string[], sign: string, tag: string): string {
  return lines.map((line) => `<${tag}>${sign} ${escape(line)}</${tag}>`)
    .join("");
}

function values(args: Record<string, unknown>): string {
  const rows = Object.entries(args).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `<dt>${escape(oneLine(name))}</dt><dd>${
      escape(visibleText(text))
    }</dd>`;
  });
  return rows.length === 0 ? "" : `<dl class="args">${rows.join("")}</dl>`;
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
