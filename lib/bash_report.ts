/**
 * What the shell tools say: texts, notes and figures made from how a command ended and what it printed.
 *
 * @module
 */
import { NOTE_PREFIX } from "./command.ts";
import type { JsonObject } from "./mcp.ts";
import type { Outcome } from "./execution.ts";
import type { Shown } from "./output.ts";
import { SIGNALS } from "./signals.ts";

/** Shown in place of no output: some hosts lose an empty string. */
export const NO_OUTPUT = "(no output)";

/** Characters that are kept free for the notes of an answer of `limit` characters. */
export function noteRoom(limit: number): number {
  return Math.min(1_000, Math.ceil(limit / 2));
}

/** Characters of a report as it reaches the host. */
export function reportLength({ text, notes }: Report): number {
  const frame = notes.length === 0 ? 0 : NOTE_PREFIX.length + 1;
  return text.length + frame + notes.join("\n").length;
}

/** What a report is made from. */
export interface ReportFacts {
  /** The tool's name; default `bash`. */
  tool?: string;
  /** The output as text. */
  shown: Shown;
  /** Bytes printed in all. */
  bytes: number;
  /** The file that holds the output, and how many bytes of it. */
  file?: { path: string; saved: number; readable: boolean } | undefined;
  /** Present once the command has ended. */
  outcome?: Outcome | undefined;
  /** Milliseconds it has run. */
  ageMs: number;
  /** The limit that the call or the configuration set, in seconds. */
  timeout?: number | undefined;
  /** Set when it is a job. */
  job?: string | undefined;
  /** The layer around the command. */
  sandbox?: string | undefined;
  /** Further notes. */
  more?: readonly string[];
}

/** Text, notes and figures of an answer. */
export interface Report {
  /** Block 1. */
  text: string;
  /** Block 2. */
  notes: string[];
  /** For programs. */
  meta: JsonObject;
  /** Whether the command failed. */
  isError: boolean;
  /** For the command line. */
  exitCode: number;
}

/** The last line of a failed command's text, as Go's standard library words it; undefined when it succeeded. */
export function failureLine(
  outcome: Outcome,
  timeout: number | undefined,
  tool = "bash",
): string | undefined {
  switch (outcome.reason) {
    case "timeout":
      return `${tool}: timed out after ${timeout}s`;
    case "shutdown":
      return `${tool}: stopped: the server is stopping`;
    case "cancelled":
      return `${tool}: stopped: the call was cancelled`;
    case "killed":
    case undefined: {
      const ended = endText(outcome);
      return ended === undefined ? undefined : `${tool}: ${ended}`;
    }
  }
}

/** How a job stands, for a note. */
export function stateText(
  outcome: Outcome | undefined,
  ageMs: number,
  timeout: number | undefined,
): string {
  const age = `${(ageMs / 1000).toFixed(1)} s`;
  if (!outcome) return `running for ${age}`;
  const how = outcome.reason === "timeout"
    ? `timed out after ${timeout} s`
    : outcome.reason === "killed"
    ? "killed by bash_kill"
    : outcome.reason === "shutdown"
    ? "stopped with the server"
    : endText(outcome) ?? "exit status 0";
  return `ended after ${age}: ${how}`;
}

/** A finished command's answer, or a running job's first one. */
export function report(facts: ReportFacts): Report {
  const { shown, outcome } = facts;
  const failure = outcome && failureLine(outcome, facts.timeout, facts.tool);
  const text = failure === undefined
    ? shown.text || (outcome ? NO_OUTPUT : "(no output yet)")
    : shown.text === "" || shown.text.endsWith("\n")
    ? shown.text + failure
    : `${shown.text}\n${failure}`;
  return {
    text,
    notes: [
      ...jobNotes(facts),
      ...droppedNotes(facts),
      ...textNotes(shown),
      ...leftoverNotes(outcome),
      ...(outcome?.remarks ?? []),
      ...(facts.more ?? []),
    ],
    meta: figures(facts),
    isError: failure !== undefined,
    exitCode: outcome ? exitCode(outcome) : 0,
  };
}

/** Notes on how the text differs from the bytes. */
export function textNotes(
  shown: Pick<Shown, "escaped" | "invalid">,
): string[] {
  const notes: string[] = [];
  if (shown.escaped > 0) {
    notes.push(
      shown.escaped === 1
        ? "1 control character is written as \\x.."
        : `${shown.escaped} control characters are written as \\x..`,
    );
  }
  if (shown.invalid) {
    notes.push("bytes that are not UTF-8 are shown as \ufffd");
  }
  return notes;
}

/** Figures for `_meta["rousseau/result"]`. */
export function figures(
  facts: Omit<ReportFacts, "shown" | "tool">,
): JsonObject {
  const { outcome, bytes, file, job, ageMs } = facts;
  return {
    ...(outcome?.code === undefined ? {} : { exit_code: outcome.code }),
    ...(outcome?.signal === undefined ? {} : { signal: outcome.signal }),
    ...(outcome?.reason === "timeout" ? { timed_out: true } : {}),
    duration_ms: Math.round(ageMs),
    bytes,
    ...(file ? { output_file: file.path } : {}),
    ...(job === undefined ? {} : { job, running: outcome === undefined }),
    ...(outcome && outcome.leftovers.length > 0
      ? { killed_leftovers: [...outcome.leftovers] }
      : {}),
    sandbox: facts.sandbox ?? "off",
  };
}

/** The exit code for a shell: the command's own, 124 for the time limit, 128 and the number for a signal. */
export function exitCode(outcome: Outcome): number {
  if (outcome.reason === "timeout") return 124;
  if (outcome.code !== undefined) return outcome.code;
  return 128 + (SIGNALS[outcome.signal ?? ""]?.number ?? 9);
}

function jobNotes({ job, outcome, ageMs, bytes, timeout }: ReportFacts) {
  if (job === undefined) return [];
  if (outcome) return [`job ${job} ${stateText(outcome, ageMs, timeout)}`];
  const next = JSON.stringify({ job, since: bytes, wait: 45 });
  return [
    `still running, job: ${job}; go on with bash_output ${next}, end it with bash_kill ${
      JSON.stringify({ job })
    }`,
  ];
}

function droppedNotes({ shown, bytes, file }: ReportFacts): string[] {
  if (shown.dropped === 0) return [];
  const left = `${shown.dropped} of ${bytes} bytes left out`;
  if (!file) return [`${left}; to keep all, redirect the output to a file`];
  const what = file.saved < bytes
    ? `the first ${file.saved} bytes are`
    : "the whole output is";
  const how = file.readable
    ? `read ${JSON.stringify({ path: file.path })} or grep in it`
    : "read it with sed -n or grep in bash";
  return [`${left}; ${what} in ${file.path} while this server runs: ${how}`];
}

function leftoverNotes(outcome: Outcome | undefined): string[] {
  if (!outcome || outcome.leftovers.length === 0) return [];
  const names = [...new Set(outcome.leftovers)].slice(0, 5).join(", ");
  return [
    `killed what the command left running: ${names}; what should go on (a server) needs background: true, without &`,
  ];
}

function endText({ code, signal }: Outcome): string | undefined {
  if (code === 0) return undefined;
  if (code !== undefined) return `exit status ${code}`;
  return signal === undefined
    ? "could not be ended"
    : `signal: ${SIGNALS[signal]?.text ?? signal}`;
}
