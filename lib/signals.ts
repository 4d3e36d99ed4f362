/**
 * Signals: numbers, and the words that Go's standard library has for them.
 *
 * @module
 */

/** A signal's number on Linux (up to 15 the same on macOS, but for SIGBUS and the user-defined) and what it is called. */
export interface Signal {
  /** 1 to 31. */
  number: number;
  /** Such as `killed`. */
  text: string;
}

/** By name, such as `SIGKILL`. */
export const SIGNALS: Readonly<Record<string, Signal>> = {
  SIGHUP: { number: 1, text: "hangup" },
  SIGINT: { number: 2, text: "interrupt" },
  SIGQUIT: { number: 3, text: "quit" },
  SIGILL: { number: 4, text: "illegal instruction" },
  SIGTRAP: { number: 5, text: "trace/breakpoint trap" },
  SIGABRT: { number: 6, text: "aborted" },
  SIGBUS: { number: 7, text: "bus error" },
  SIGFPE: { number: 8, text: "floating point exception" },
  SIGKILL: { number: 9, text: "killed" },
  SIGUSR1: { number: 10, text: "user defined signal 1" },
  SIGSEGV: { number: 11, text: "segmentation fault" },
  SIGUSR2: { number: 12, text: "user defined signal 2" },
  SIGPIPE: { number: 13, text: "broken pipe" },
  SIGALRM: { number: 14, text: "alarm clock" },
  SIGTERM: { number: 15, text: "terminated" },
  SIGXCPU: { number: 24, text: "cpu time limit exceeded" },
  SIGXFSZ: { number: 25, text: "file size limit exceeded" },
  SIGSYS: { number: 31, text: "bad system call" },
};

/** The name for the exit code with which a shell reports a signal, 128 and its number; undefined for other codes. */
export function signalOfCode(code: number): string | undefined {
  return Object.keys(SIGNALS).find((name) =>
    SIGNALS[name]?.number === code - 128
  );
}
