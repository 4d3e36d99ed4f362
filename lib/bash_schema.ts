/**
 * Arguments of the shell tools, and where what they share is kept.
 *
 * @module
 */

/** Where the commands that run are found in a context's `process` (`Jobs`), once there was one. */
export const JOBS_KEY = "jobs";

/** Seconds that `bash_output` waits at most; hosts give a call up after 60. */
export const MAX_WAIT_S = 45;

/** Seconds that `timeout` may ask for: a day. */
export const MAX_TIMEOUT_S = 86_400;

/** Arguments of `bash`. */
export const BASH_INPUT = {
  type: "object",
  properties: {
    command: { type: "string" },
    timeout: {
      type: "number",
      minimum: 0.1,
      maximum: MAX_TIMEOUT_S,
      description: "Seconds until it is killed",
    },
    cwd: { type: "string", description: "Folder to run in" },
    env: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Variables to add",
    },
    background: {
      type: "boolean",
      description: "Return a job at once; for servers and watchers",
    },
  },
  required: ["command"],
  additionalProperties: false,
} as const;

/** Arguments of `bash_output`. */
export const BASH_OUTPUT_INPUT = {
  type: "object",
  properties: {
    job: { type: "string", description: "Such as j1" },
    since: {
      type: "integer",
      default: 0,
      description: "Byte offset; negative from the end",
    },
    wait: {
      type: "number",
      minimum: 0,
      maximum: MAX_WAIT_S,
      description: "Seconds to wait for more",
    },
  },
  required: ["job"],
  additionalProperties: false,
} as const;

/** Arguments of `bash_kill`. */
export const BASH_KILL_INPUT = {
  type: "object",
  properties: { job: { type: "string" } },
  required: ["job"],
  additionalProperties: false,
} as const;
