/**
 * Why there is no sandbox, and what would change that: from what the sandbox's program said when it was tried.
 *
 * @module
 */

/** What is known when the trial failed. */
export interface Trial {
  /** What the program wrote to standard error; undefined: there is no such program. */
  errors: string | undefined;
  /** Whether this process runs inside a container. */
  container: boolean;
  /** Whether the system lets only named programs make user namespaces (`apparmor_restrict_unprivileged_userns`). */
  appArmor: boolean;
}

/** Why and what to do, a sentence each, no full stop. */
export interface SandboxFault {
  /** Why there is none. */
  reason: string;
  /** What a person does about it; undefined where nothing is to be done. */
  fix: string | undefined;
}

/** Reads a failed trial of bubblewrap. */
export function sandboxFault(trial: Trial): SandboxFault {
  if (trial.errors === undefined) {
    return {
      reason: trial.container
        ? "container"
        : "bubblewrap (bwrap) is not installed",
      fix: trial.container
        ? undefined
        : "install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap)",
    };
  }
  if (/Requires run access/.test(trial.errors)) {
    return {
      reason: "this process may not start bwrap",
      fix: "start it with Deno's --allow-run",
    };
  }
  if (trial.container) return { reason: "container", fix: undefined };
  const refused =
    /RTM_NEWADDR|uid map|new namespace|user namespace|Operation not permitted|Permission denied/i
      .test(trial.errors);
  if (refused && trial.appArmor) {
    return {
      reason:
        "AppArmor lets no ordinary program make user namespaces on this system",
      fix:
        "give bwrap a profile that may (the package apparmor-profiles has one: bwrap-userns-restrict), or set the sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    };
  }
  if (refused) {
    return {
      reason: `this system refuses user namespaces (${
        firstLine(trial.errors)
      })`,
      fix:
        "allow them (sysctl user.max_user_namespaces above 0, and kernel.unprivileged_userns_clone=1 where that exists)",
    };
  }
  return {
    reason: `bubblewrap does not work here (${firstLine(trial.errors)})`,
    fix: "run: bwrap --unshare-user --ro-bind / / true",
  };
}

function firstLine(text: string): string {
  const line = text.split("\n").find((line) => line.trim() !== "") ?? "";
  return line.trim().slice(0, 200) || "no message";
}
