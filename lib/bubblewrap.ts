/**
 * The arguments of `bwrap`, which makes the sandbox on Linux. Pure: a plan in, an argument list out.
 *
 * @module
 */
import type { SandboxPlan } from "./sandbox_plan.ts";

/** How the namespaces are made. */
export interface Isolation {
  /**
   * False where user namespaces are refused and the process is root: then capabilities are dropped instead, which
   * keeps less.
   */
  userNamespace: boolean;
  /** `none`: no network but an own loopback. `shared`: that of the process that starts it. */
  network: "none" | "shared";
}

/** The arguments that isolate, for every command and for the probe. */
export function isolationArgs(isolation: Isolation): string[] {
  return [
    // As root without a user namespace, a shell keeps its capabilities and can remount the world writable.
    ...(isolation.userNamespace ? ["--unshare-user"] : []),
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    ...(isolation.network === "none" ? ["--unshare-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
  ];
}

/** The arguments that show the world of `plan`. Later ones lie on top of earlier ones. */
export function worldArgs(plan: SandboxPlan): string[] {
  const args: string[] = [];
  if (plan.world === "whole") {
    const option = plan.writable.includes("/") ? "--bind" : "--ro-bind";
    args.push(option, "/", "/", "--ro-bind-try", "/sys", "/sys");
  } else {
    for (const { path, target } of plan.links) {
      args.push("--symlink", target, path);
    }
  }
  args.push("--dev", "/dev", "--proc", "/proc");
  for (const path of KERNEL_SETTINGS) args.push("--ro-bind-try", path, path);
  const home = plan.home !== undefined && plan.home !== "/"
    ? plan.home
    : undefined;
  if (plan.world === "listed") {
    if (home !== undefined) args.push("--perms", "0700", "--tmpfs", home);
    args.push("--tmpfs", "/run", "--symlink", "/run", "/var/run");
  } else {
    for (const folder of plan.sockets) args.push("--tmpfs", folder);
  }
  if (plan.temp === undefined) args.push("--perms", "1777", "--tmpfs", "/tmp");
  else args.push("--bind", plan.temp, "/tmp");
  args.push("--perms", "1777", "--tmpfs", "/var/tmp");
  // Outer before inner, so that nothing is covered by the folder that holds it.
  const shown = [
    ...(plan.world === "listed"
      ? plan.readable.map((path) => ["--ro-bind-try", path] as const)
      : []),
    ...plan.writable.filter((path) => path !== "/")
      .map((path) => ["--bind-try", path] as const),
  ].sort(([, a], [, b]) => a.length - b.length || (a < b ? -1 : 1));
  for (const [option, path] of shown) args.push(option, path, path);
  for (const path of plan.frozen) args.push("--ro-bind-try", path, path);
  for (const { path, folder } of plan.hidden) {
    if (folder) args.push("--perms", "0500", "--tmpfs", path);
    else args.push("--ro-bind", "/dev/null", path);
  }
  for (const [name, value] of Object.entries(plan.variables)) {
    args.push("--setenv", name, value);
  }
  // Its sockets are not there.
  args.push("--unsetenv", "XDG_RUNTIME_DIR");
  if (plan.world === "listed") args.push("--remount-ro", "/");
  return args;
}

/**
 * The kernel lets root write these by its user id alone, without any capability and from within a user namespace:
 * `core_pattern` there is a program that the kernel starts, outside.
 */
const KERNEL_SETTINGS = [
  "/proc/sys",
  "/proc/fs",
  "/proc/acpi",
  "/proc/scsi",
  "/proc/mtrr",
  "/proc/sysrq-trigger",
];
