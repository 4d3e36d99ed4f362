/**
 * The profile of `sandbox-exec`, which makes the sandbox on macOS. Pure: a plan in, a profile out.
 *
 * @module
 */
import { aliases } from "./folders.ts";
import type { Platform } from "./platform.ts";
import type { SandboxPlan } from "./sandbox_plan.ts";

/** The program; part of macOS. */
export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** The profile for `plan`. Of several rules that fit an operation, the last decides. */
export function seatbeltProfile(
  platform: Platform,
  plan: SandboxPlan,
  network: boolean,
): string {
  const filter = (kind: "subpath" | "literal", path: string) =>
    aliases(platform, path).map((one) => `(${kind} ${quoted(one)})`);
  const folders = (paths: readonly string[]) =>
    paths.flatMap((path) => filter("subpath", path));
  const rules = [
    "(version 1)",
    "(deny default)",
    "(allow process-fork process-exec process-info* signal sysctl-read)",
    "(allow mach-lookup mach-register ipc-posix-shm* ipc-posix-sem*)",
    // The shared caches of the system, and folders on the way to what is allowed, which only tell that they are there.
    "(allow file-read-metadata)",
    '(allow file-read* (literal "/") (subpath "/System") (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/dev"))',
    '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/fd/"))',
    "(allow pseudo-tty)",
    '(allow file-ioctl file-read* file-write* (regex #"^/dev/(ptmx|ttys[0-9]+)$"))',
  ];
  if (plan.world === "whole") rules.push("(allow file-read*)");
  else rules.push(rule("allow file-read*", folders(plan.readable)));
  const temp = plan.temp === undefined ? [] : [plan.temp];
  rules.push(
    rule(
      "allow file-read* file-write*",
      folders([...plan.writable, ...temp]),
    ),
  );
  rules.push(rule("deny file-write*", folders(plan.frozen)));
  rules.push(
    rule(
      "deny file-read* file-write*",
      plan.hidden.flatMap(({ path }) => filter("subpath", path)),
    ),
  );
  if (network) {
    rules.push("(allow network*)");
  } else {
    // Sockets in the file system are network-outbound here, not files: nothing but the own machine's ports is open.
    rules.push('(allow network-bind network-inbound (local ip "localhost:*"))');
    rules.push('(allow network-outbound (remote ip "localhost:*"))');
    rules.push("(deny network-outbound (remote unix-socket))");
  }
  return rules.filter((line) => line !== "").join("\n");
}

function rule(action: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${action} ${filters.join(" ")})`;
}

/** A string of the profile's language: backslash and quote escaped. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
