/**
 * The figures of one session as HTML: calls by tool and by day, and the files that were changed most, with bars.
 *
 * @module
 */
import type { Message } from "./recorded.ts";
import { MOST_FILES, sizeText } from "./session_stats.ts";
import { isoTime, oneLine } from "./transcript.ts";

/** Text as it may stand in HTML, in attributes, too. */
export function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

/** Counts messages as they go by. */
export class Overview {
  readonly #begun = new Map<string, number>();
  readonly #tools = new Map<string, Row>();
  readonly #days = new Map<string, Row>();
  readonly #files = new Map<string, Row>();

  /** Counts one message. */
  add(message: Message): void {
    const { kind, tool, callId, createdAt } = message;
    if (tool === undefined) return;
    if (kind === "tool_use") {
      if (callId !== undefined) this.#begun.set(callId, createdAt);
      if (tool === "write" || tool === "edit") this.#addFile(message.json);
      return;
    }
    if (kind !== "tool_result") return;
    const begun = this.#begun.get(callId ?? "") ?? createdAt;
    const day = isoTime(createdAt).slice(0, 10);
    for (const row of [rowOf(this.#tools, tool), rowOf(this.#days, day)]) {
      row.count++;
      row.errors += message.isError ? 1 : 0;
      row.milliseconds += createdAt - begun;
      row.bytes += message.bytes;
    }
  }

  /** The figures, and the place for the strip of calls. */
  html(): string {
    const days = this.#days.size > 1 ? table(this.#days, this.#days.size) : "";
    return `<section class="overview" aria-label="Overview"><div id="line"></div>${
      table(this.#tools, Infinity)
    }${days}${table(this.#files, MOST_FILES)}</section>\n`;
  }

  #addFile(json: string | undefined): void {
    try {
      const { path } = JSON.parse(json ?? "{}");
      if (typeof path === "string") rowOf(this.#files, path).count++;
    } catch {
      // Arguments that were cut name no file.
    }
  }
}

interface Row {
  count: number;
  errors: number;
  milliseconds: number;
  bytes: number;
}

function rowOf(rows: Map<string, Row>, name: string): Row {
  let row = rows.get(name);
  if (!row) {
    row = { count: 0, errors: 0, milliseconds: 0, bytes: 0 };
    rows.set(name, row);
  }
  return row;
}

/** Rows with their bars; days in their order, everything else by count. */
function table(rows: ReadonlyMap<string, Row>, most: number): string {
  if (rows.size === 0) return "";
  const sorted = [...rows].sort(([a, { count: x }], [b, { count: y }]) =>
    DAY.test(a) && DAY.test(b) ? a.localeCompare(b) : y - x
  ).slice(0, most);
  const widest = Math.max(...sorted.map(([, { count }]) => count));
  return `<table>${
    sorted.map(([name, { count, errors, milliseconds, bytes }]) =>
      `<tr><th scope="row">${escape(oneLine(name))}</th><td>${count}</td>` +
      `<td class="bar"><i style="width:${
        (count / widest * 100).toFixed(1)
      }%"></i></td><td class="errors">${
        errors === 0 ? "" : `${errors} error${errors === 1 ? "" : "s"}`
      }</td><td>${
        milliseconds === 0 ? "" : `${(milliseconds / 1000).toFixed(1)} s`
      }</td><td>${bytes === 0 ? "" : sizeText(bytes)}</td></tr>`
    ).join("")
  }</table>`;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
