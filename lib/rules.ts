/**
 * Rules on calls as they stand in files: what may stand there, and what is wrong with what stands there. What follows
 * from them is {@linkcode Policy}'s.
 *
 * @module
 */
import { UsageError } from "./command.ts";
import { didYouMean } from "./nearest.ts";
import { POLICY_KEY } from "./settings.ts";

/** Rules that one file may hold. */
export const MAX_RULES = 200;

/** UTF-16 units of each text in a rule. */
export const MAX_RULE_CHARS = 1_000;

/** What becomes of a call, from the mildest to the strictest. */
export const EFFECTS = ["allow", "ask", "deny"] as const;

/** One of {@linkcode EFFECTS}. */
export type Effect = typeof EFFECTS[number];

/** One rule. It holds for the calls that fit all of `tool`, `path` and `command` that it has. */
export interface Rule {
  /** What becomes of them. */
  effect: Effect;
  /** How people find it, such as `policy.rules[2] in /etc/rousseau/policy.yaml`. */
  name: string;
  /** Why, in the operator's words. */
  reason?: string;
  /** A pattern of tools' names. */
  tool?: string;
  /** A pattern of real paths: absolute, or from a root. What it names is meant with everything in it. */
  path?: string;
  /** The first words of a command of `bash`, or the whole of it. */
  command?: string;
}

/** The rules of one file, which decides by itself. */
export interface PolicyLayer {
  /** The file. */
  source: string;
  /** In the order of the file. */
  rules: readonly Rule[];
  /** What becomes of a call that no rule fits. */
  otherwise: Effect;
}

/**
 * The rules under `policy` in a parsed file.
 *
 * @throws {UsageError} naming file, rule and key.
 */
export async function policyFrom(
  raw: unknown,
  source: string,
): Promise<PolicyLayer> {
  const fail = (where: string, problem: string): never => {
    throw new UsageError(`${source}: ${where}: ${problem}`);
  };
  if (!isRecord(raw)) return fail(POLICY_KEY, "must hold rules, default");
  unknownKeys(
    raw,
    ["rules", "default"],
    (key, hint) => fail(POLICY_KEY, `unknown key "${key}"${hint}`),
  );
  const { rules = [], default: otherwise = "allow" } = raw;
  if (!isEffect(otherwise)) {
    return fail(`${POLICY_KEY}.default`, `must be one of ${names(EFFECTS)}`);
  }
  if (!Array.isArray(rules)) {
    return fail(`${POLICY_KEY}.rules`, "must be a list of rules");
  }
  if (rules.length > MAX_RULES) {
    return fail(
      `${POLICY_KEY}.rules`,
      `has ${rules.length} rules, at most ${MAX_RULES} may be`,
    );
  }
  const { Globs, GlobError } = await import("./glob.ts");
  const made = rules.map((item: unknown, i) => {
    const where = `${POLICY_KEY}.rules[${i}]`;
    if (!isRecord(item)) return fail(where, "must hold keys and values");
    unknownKeys(
      item,
      RULE_KEYS,
      (key, hint) => fail(where, `unknown key "${key}"${hint}`),
    );
    const effects = EFFECTS.filter((effect) => item[effect] !== undefined);
    const [effect] = effects;
    if (effect === undefined || effects.length > 1) {
      return fail(where, `must have one of ${names(EFFECTS)}`);
    }
    const why = item[effect];
    if (why !== true && !isText(why)) {
      return fail(`${where}.${effect}`, "must be true, or say why");
    }
    const rule: Rule = { effect, name: `${where} in ${source}` };
    if (why !== true) rule.reason = why;
    for (const key of PARTS) {
      const text = item[key];
      if (text === undefined) continue;
      if (!isText(text)) {
        return fail(
          `${where}.${key}`,
          `must be a text of 1 to ${MAX_RULE_CHARS} characters`,
        );
      }
      rule[key] = text;
      if (key === "command") continue;
      try {
        new Globs([text]);
      } catch (error) {
        if (!(error instanceof GlobError)) throw error;
        return fail(`${where}.${key}`, `is no pattern: ${error.message}`);
      }
    }
    if (rule.command !== undefined && (rule.tool ?? "bash") !== "bash") {
      return fail(`${where}.command`, 'is for the tool "bash" alone');
    }
    return rule;
  });
  return { source, rules: made, otherwise };
}

/** Rules that name a tool which is none of `tools`, and what to do about it; a pattern may fit none. */
export function* strayRules(
  { rules }: PolicyLayer,
  tools: readonly string[],
): Generator<string> {
  for (const { name, tool } of rules) {
    if (tool === undefined || tools.includes(tool) || !/^\w+$/.test(tool)) {
      continue;
    }
    yield `${name}: there is no tool "${tool}"${didYouMean(tool, tools)}`;
  }
}

const PARTS = ["tool", "path", "command"] as const;
const RULE_KEYS: readonly string[] = [...EFFECTS, ...PARTS];

function unknownKeys(
  record: Record<string, unknown>,
  known: readonly string[],
  fail: (key: string, hint: string) => never,
): void {
  for (const key of Object.keys(record)) {
    if (!known.includes(key)) {
      fail(key, didYouMean(key, known) || `; there are ${names(known)}`);
    }
  }
}

function names(words: readonly string[]): string {
  return words.join(", ");
}

function isEffect(value: unknown): value is Effect {
  return EFFECTS.some((effect) => effect === value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" &&
    value.length <= MAX_RULE_CHARS;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
