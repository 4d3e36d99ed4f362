/**
 * What the rules say of a call. Each file decides by itself: `deny` before `ask` before `allow`, else its default; of
 * all files the strictest holds. Pure.
 *
 * @module
 */
import type { CommandWords, Words } from "./command_words.ts";
import { Globs } from "./glob.ts";
import { foldPath, isWithin, pathsOf, relativeTo } from "./paths.ts";
import { expandHome, type Platform } from "./platform.ts";
import { type Effect, EFFECTS, type PolicyLayer, type Rule } from "./rules.ts";

/** What is decided on. */
export interface Subject {
  /** The tool's name. */
  tool: string;
  /** A real path that it uses. */
  path?: string | undefined;
  /** The command that it runs, as it is written. */
  command?: string | undefined;
}

/** What becomes of it, and by what. */
export interface Verdict {
  /** What becomes of it. */
  effect: Effect;
  /** The rule, or the default, by the name that people find it under. */
  by: string;
  /** Why, in the operator's words. */
  reason?: string;
  /** It is by a rule on the words of a command. */
  isAboutCommand?: true;
}

/** What the paths in rules are read by. */
export interface PolicyFacts {
  /** The system's rules for paths, and the home. */
  platform: Pick<Platform, "os" | "home">;
  /** Real paths that relative patterns start from. */
  roots: readonly string[];
}

/** The rules in force, ready to be asked. */
export class Policy {
  readonly #layers: readonly Layer[];
  readonly #reader: typeof import("./command_words.ts") | undefined;
  #lastCommand: string | undefined;
  #lastWords: CommandWords | undefined;

  private constructor(
    layers: readonly PolicyLayer[],
    facts: PolicyFacts,
    reader: typeof import("./command_words.ts") | undefined,
  ) {
    this.#reader = reader;
    this.#layers = layers.map(({ source, rules, otherwise }) => ({
      rules: EFFECTS.toReversed().flatMap((effect) =>
        rules.filter((rule) => rule.effect === effect)
      ).map((rule) => ({
        rule,
        tool: rule.tool === undefined ? undefined : new Globs([rule.tool]),
        path: rule.path === undefined
          ? undefined
          : new PathPattern(rule.path, facts),
        words: rule.command === undefined
          ? undefined
          : reader?.patternWords(rule.command),
      })),
      otherwise: {
        effect: otherwise,
        by: `policy.default in ${source}`,
      },
    }));
  }

  /** Makes the rules ready. What reads commands is loaded only where a rule is about them. */
  static async load(
    layers: readonly PolicyLayer[],
    facts: PolicyFacts,
  ): Promise<Policy> {
    const isAboutCommands = layers.some(({ rules }) =>
      rules.some(({ command }) => command !== undefined)
    );
    return new Policy(
      layers,
      facts,
      isAboutCommands ? await import("./command_words.ts") : undefined,
    );
  }

  /** What becomes of a call. */
  decide(subject: Subject): Verdict {
    let strictest: Verdict | undefined;
    for (const layer of this.#layers) {
      const verdict = this.#decideIn(layer, subject);
      if (!strictest || rank(verdict) > rank(strictest)) strictest = verdict;
    }
    return strictest ?? { effect: "allow", by: "no rule" };
  }

  #decideIn({ rules, otherwise }: Layer, subject: Subject): Verdict {
    for (const compiled of rules) {
      if (!this.#fits(compiled, subject)) continue;
      const { effect, name: by, reason, command } = compiled.rule;
      return {
        effect,
        by,
        ...(reason === undefined ? {} : { reason }),
        ...(command === undefined ? {} : { isAboutCommand: true }),
      };
    }
    return otherwise;
  }

  #fits({ rule, tool, path, words }: Compiled, subject: Subject): boolean {
    if (tool && !tool.matches(subject.tool, subject.tool)) return false;
    if (rule.command !== undefined) {
      const { command } = subject;
      if (command === undefined) return false;
      const isWhole = command.trim() === rule.command.trim();
      if (!isWhole && !this.#speaksOf(words, rule.effect, command)) {
        return false;
      }
    }
    return !path ||
      (subject.path !== undefined && path.matches(subject.path));
  }

  /** What allows must be all that a command does; what closes may be any part of it. */
  #speaksOf(
    pattern: Words | undefined,
    effect: Effect,
    command: string,
  ): boolean {
    if (!this.#reader || !pattern) return false;
    if (command !== this.#lastCommand || !this.#lastWords) {
      this.#lastCommand = command;
      this.#lastWords = this.#reader.commandWords(command);
    }
    return effect === "allow"
      ? this.#reader.isPlainly(pattern, this.#lastWords)
      : this.#reader.holds(pattern, this.#lastWords);
  }
}

interface Layer {
  /** Those that deny first, then those that ask, then those that allow. */
  rules: readonly Compiled[];
  otherwise: Verdict;
}

interface Compiled {
  rule: Rule;
  tool: Globs | undefined;
  path: PathPattern | undefined;
  words: Words | undefined;
}

function rank({ effect }: Verdict): number {
  return EFFECTS.indexOf(effect);
}

/** A pattern of paths: absolute, from each root, or, without a slash, a name at any depth. */
class PathPattern {
  readonly #globs: Globs | undefined;
  readonly #isAbsolute: boolean;
  readonly #isAnchored: boolean;
  readonly #os: Platform["os"];
  readonly #roots: readonly string[];
  #lastFolder: string | undefined;
  #isFolderMeant = false;

  constructor(text: string, { platform, roots }: PolicyFacts) {
    const { os } = platform;
    this.#os = os;
    const paths = pathsOf(os);
    this.#roots = roots.map((root) => foldPath(os, root));
    const whole = expandHome(platform, text);
    this.#isAbsolute = paths.isAbsolute(whole);
    const slashed = foldPath(
      os,
      os === "windows" ? whole.replaceAll("\\", "/") : whole,
    );
    // What is in a folder is meant with it, and it with what is in it: `x/**` is `x`.
    const folder = slashed.replace(/(\/(\*\*)?)+$/, "");
    this.#isAnchored = /^.+\/[^/]/.test(slashed);
    const place = this.#isAbsolute ? folder.replace(/^\/+/, "") : folder;
    this.#globs = place === "" ? undefined : new Globs([
      plainCommas(
        this.#isAbsolute
          ? `/${place}`
          : this.#isAnchored
          ? `./${folder.replace(/^\.\//, "")}`
          : folder,
      ),
    ]);
  }

  /** Whether it names the place, or a folder around it. */
  matches(real: string): boolean {
    if (!this.#globs) return true;
    const paths = pathsOf(this.#os);
    const folded = foldPath(this.#os, real);
    const folder = paths.dirname(folded);
    if (folder !== this.#lastFolder) {
      this.#isFolderMeant = this.#spelled(folder).some((parts) =>
        parts.some((_, i) => this.#isMeant(parts.slice(0, i + 1)))
      );
      this.#lastFolder = folder;
    }
    return this.#isFolderMeant ||
      this.#spelled(folded).some((parts) => this.#isMeant(parts));
  }

  #isMeant(parts: readonly string[]): boolean {
    const name = parts.at(-1);
    return name !== undefined && this.#globs!.matches(parts.join("/"), name);
  }

  /** The components of a path, from each place that the pattern starts from. */
  #spelled(folded: string): string[][] {
    const paths = pathsOf(this.#os);
    const parts = (path: string) =>
      path.split(paths.separator).filter((part) => part !== "");
    if (this.#isAbsolute) return [parts(folded)];
    const below = this.#roots.flatMap((root) =>
      isWithin(paths, root, folded)
        ? [parts(relativeTo(paths, root, folded))]
        : []
    );
    // Elsewhere there is no place to start from, but a name is one anywhere.
    return below.length > 0 || this.#isAnchored ? below : [parts(folded)];
  }
}

/** A comma is part of a name here, and outside of braces no list. */
function plainCommas(glob: string): string {
  return /[{[\\]/.test(glob) ? glob : glob.replaceAll(",", "\\,");
}
