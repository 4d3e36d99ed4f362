/**
 * Between a call and its tool: what the rules say is done before anything else is, the person is asked, and the tool's
 * paths are held to the rules, too.
 *
 * @module
 */
import { escapeControls } from "./clip.ts";
import {
  type AnyCommand,
  CommandError,
  type CommandOutput,
} from "./command.ts";
import { Decisions } from "./decisions.ts";
import { pathsOf } from "./paths.ts";
import { expandHome, fromUser } from "./platform.ts";
import { Policy, type Verdict } from "./policy.ts";
import { named, refusal, RuledScope } from "./ruled_scope.ts";
import type { Access, Scope } from "./scope.ts";
import type { ToolContext } from "./tool.ts";

/** UTF-16 units of a call that a person is shown: what is longer is refused, since its end would be hidden. */
export const MAX_ASKED_CHARS = 4_000;

/** The question's name within a call. */
const ASK_KEY = "rousseau/policy";

/** Tools whose every path passes the scope. Programs find theirs by themselves, and keep the scope that their sandbox needs. */
const FILE_TOOLS: ReadonlySet<string> = new Set([
  "read",
  "write",
  "edit",
  "grep",
  "rousseau_undo",
]);

type Args = Record<string, unknown>;

/**
 * Calls a tool as the rules have it.
 *
 * @throws {CommandError} naming the rule that refuses.
 */
export async function runByRules(
  { tool: name, run }: { tool: string; run: NonNullable<AnyCommand["run"]> },
  args: Record<string, unknown>,
  ctx: ToolContext,
): Promise<CommandOutput> {
  const policy = await policyOf(ctx);
  const path = await realPathOf(name, args, ctx);
  const command = name === "bash" ? textOf(args.command) : undefined;
  const verdict = policy.decide({ tool: name, path, command });
  const decisions = Decisions.of(ctx);
  const note = (
    decision: "allowed" | "denied" | "asked",
    { by }: Verdict,
    more: { answer?: "accept" | "decline" | "cancel" | "unable" } = {},
  ) => {
    decisions.note(ctx.signal, {
      decision,
      by,
      ...(path === undefined ? {} : { path }),
      ...more,
    });
    ctx.logger.info("policy.decided", { tool: name, decision, by, ...more });
  };
  if (verdict.effect === "deny") {
    note("denied", verdict);
    throw refusal(`${name}: refused by ${named(verdict)}`);
  }
  if (verdict.effect === "ask") {
    note("asked", verdict);
    const answer = await asked(name, args, { path, command, verdict }, ctx);
    if (answer !== "accept") {
      note("denied", verdict, {
        answer: answer instanceof CommandError ? "unable" : answer,
      });
      if (answer instanceof CommandError) throw answer;
      throw refusal(
        `${name}: refused by the person, whom ${named(verdict)} asks first (${
          answer === "decline" ? "declined" : "not answered"
        })`,
      );
    }
    ctx.signal.throwIfAborted();
    note("allowed", verdict, { answer });
  } else note("allowed", verdict);
  return await run(
    args,
    !FILE_TOOLS.has(name) ? ctx : {
      ...ctx,
      scope: new RuledScope(ctx, {
        tool: name,
        policy,
        approved: verdict.effect === "ask"
          ? { by: verdict.by, path }
          : undefined,
        refused: ({ by }, path) =>
          decisions.note(ctx.signal, { decision: "denied", by, path }),
      }),
    },
  );
}

/** The rules, made ready for the roots that this call works in. */
function policyOf(ctx: ToolContext): Promise<Policy> {
  const known = ctx.process.get(
    "policies",
    () => new WeakMap<Scope, Promise<Policy>>(),
  );
  let policy = known.get(ctx.scope);
  if (!policy) {
    policy = Policy.load(ctx.config.policy ?? [], {
      platform: ctx.platform,
      // A client that narrows its roots does not move the places that rules speak of.
      roots: [...new Set([...ctx.roots ?? [], ...ctx.scope.roots])],
    });
    known.set(ctx.scope, policy);
  }
  return policy;
}

/**
 * The path that a call is about, resolved; undefined where there is none. Of one that is not there, or that the tool
 * itself will refuse, as much is resolved as can be.
 */
async function realPathOf(
  tool: string,
  args: Args,
  { scope, platform }: ToolContext,
): Promise<string | undefined> {
  const [given, access] = pathIn(tool, args) ?? [];
  if (access === undefined) return undefined;
  if (given === undefined) return scope.roots[0];
  const path = tool === "rousseau_undo"
    ? fromUser(platform, given) ?? given
    : given;
  for (const how of [access, "write"] as const) {
    try {
      return (await scope.resolve(path, how)).real;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { refused, path: real } = error.meta ?? {};
      if (refused === true && typeof real === "string") return real;
    }
  }
  const { resolve } = pathsOf(platform.os);
  return resolve(scope.roots[0] ?? "/", expandHome(platform, path));
}

function pathIn(
  tool: string,
  args: Args,
): [path: string | undefined, access: Access] | undefined {
  switch (tool) {
    case "read":
      return [textOf(args.path), "read"];
    case "write":
    case "edit":
      return [textOf(args.path), "write"];
    case "grep":
      return [textOf(args.path), "search"];
    case "bash":
      return [textOf(args.cwd), "search"];
    case "rousseau_undo":
      return args.file === undefined ? undefined : [textOf(args.file), "write"];
    default:
      return undefined;
  }
}

/** What the person says, or why nobody could be asked. */
async function asked(
  tool: string,
  args: Args,
  about: {
    path: string | undefined;
    command: string | undefined;
    verdict: Verdict;
  },
  ctx: ToolContext,
): Promise<"accept" | "decline" | "cancel" | CommandError> {
  const { path, command, verdict } = about;
  // What is written can be long, and is read best in the file's difference afterwards; all else is shown.
  const left = WRITTEN[tool] ?? (command === undefined ? [] : ["command"]);
  const rest = Object.entries(args).filter(([name]) => !left.includes(name));
  const shown = visible([
    ...(command === undefined ? [] : [command]),
    ...(path === undefined ? [] : [`${command ? "in" : "on"} ${path}`]),
    ...(rest.length > 0 ? [JSON.stringify(Object.fromEntries(rest))] : []),
  ].join("\n"));
  if (shown.length > MAX_ASKED_CHARS) {
    return refusal(
      `${tool}: ${
        named(verdict)
      } asks the person first, who could not see all of this call: it has ${shown.length} characters, at most ${MAX_ASKED_CHARS} can be shown. Put what is long into a file`,
    );
  }
  const message = `Allow ${tool}?\n\n${shown}\n\n(${named(verdict)})`;
  try {
    return (await ctx.ask(ASK_KEY, { message })).action;
  } catch (error) {
    // What ends a call of 2026-07-28 until the answer is there is none of these.
    if (!(error instanceof CommandError)) throw error;
    return refusal(
      `${tool}: ${
        named(verdict)
      } asks the person first, and this was not possible: ${
        ctx.terminal ? "standard input is no terminal" : error.message
      }`,
    );
  }
}

/** Arguments that a question leaves out. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  write: ["content"],
  edit: ["old_string", "new_string", "edits"],
};

/** Text that says to a person what it says to the machine: nothing invisible, nothing that turns it around. */
function visible(text: string): string {
  return escapeControls(text).text.replaceAll(
    /[\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
