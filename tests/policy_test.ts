import { assert, assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "../lib/command.ts";
import { tightened } from "../lib/config.ts";
import { Policy, type Subject } from "../lib/policy.ts";
import {
  type Effect,
  EFFECTS,
  MAX_RULE_CHARS,
  MAX_RULES,
  policyFrom,
  type PolicyLayer,
  type Rule,
} from "../lib/rules.ts";
import { loadConfig } from "../lib/config.ts";
import type { Platform } from "../lib/platform.ts";

const ROOT = "/w/project";
const facts = {
  platform: { os: "linux", home: "/home/me" },
  roots: [ROOT],
} as const;

function layer(rules: unknown[], otherwise?: Effect): Promise<PolicyLayer> {
  return policyFrom(
    { rules, ...(otherwise ? { default: otherwise } : {}) },
    "/f.yaml",
  );
}

async function effect(
  rules: unknown[],
  subject: Subject,
  otherwise?: Effect,
): Promise<Effect> {
  const policy = await Policy.load([await layer(rules, otherwise)], facts);
  return policy.decide(subject).effect;
}

Deno.test("a file denies before it asks, and asks before it allows, in whatever order the rules stand", async () => {
  const rules = EFFECTS.map((key) => ({ [key]: true, tool: "read" }));
  for (const order of [[0, 1, 2], [2, 1, 0], [1, 2, 0]]) {
    const ordered = order.map((i) => rules[i]!);
    assertEquals(await effect(ordered, { tool: "read" }), "deny");
    const asking = ordered.filter((rule) => !("deny" in rule));
    assertEquals(await effect(asking, { tool: "read" }, "deny"), "ask");
    const allowing = asking.filter((rule) => !("ask" in rule));
    assertEquals(await effect(allowing, { tool: "read" }, "deny"), "allow");
  }
  assertEquals(await effect(rules, { tool: "grep" }), "allow");
  assertEquals(await effect(rules, { tool: "grep" }, "ask"), "ask");
});

Deno.test("a rule holds for what fits all that it names", async () => {
  const rules = [{ deny: true, tool: "{write,edit}", path: "docs" }];
  for (
    const [tool, path, expected] of [
      ["write", `${ROOT}/docs/a`, "deny"],
      ["edit", `${ROOT}/docs`, "deny"],
      ["read", `${ROOT}/docs/a`, "allow"],
      ["write", `${ROOT}/src/a`, "allow"],
      ["write", undefined, "allow"],
    ] as const
  ) assertEquals(await effect(rules, { tool, path }), expected);
  assertEquals(
    await effect([{ deny: true, tool: "rousseau_*" }], {
      tool: "rousseau_undo",
    }),
    "deny",
  );
  assertEquals(await effect([{ deny: true }], { tool: "anything" }), "deny");
});

Deno.test("a pattern of paths is absolute, from a root, or a name anywhere, and means what is inside", async () => {
  for (
    const [pattern, path, isMeant] of [
      ["/srv/x", "/srv/x", true],
      ["/srv/x", "/srv/x/y/z", true],
      ["/srv/x/", "/srv/x/y", true],
      ["/srv/x/**", "/srv/x/y", true],
      ["/srv/x/**", "/srv/x", true],
      ["/srv/x", "/srv/xy", false],
      ["/srv/x", `${ROOT}/srv/x`, false],
      ["/srv/*.pem", "/srv/a.pem", true],
      ["/srv/*.pem", "/srv/a/b.pem", false],
      ["/srv/**/*.pem", "/srv/a/b.pem", true],
      ["/**", "/any", true],
      ["/", "/any", true],
      ["**", "/any/where", true],
      ["conf/keys", `${ROOT}/conf/keys/a`, true],
      ["conf/keys/**", `${ROOT}/conf/keys`, true],
      ["./conf", `${ROOT}/conf/a`, true],
      ["./conf", `${ROOT}/a/conf`, false],
      ["conf/keys", `${ROOT}/a/conf/keys`, false],
      ["conf/keys", "/conf/keys", false],
      ["**/keys", `${ROOT}/a/b/keys/c`, true],
      ["secrets", `${ROOT}/a/secrets/b/c`, true],
      ["secrets/", `${ROOT}/a/secrets/b`, true],
      ["*.env", `${ROOT}/a/x.env`, true],
      ["*.env", "/elsewhere/x.env", true],
      ["*.env", `${ROOT}/a/x.envy`, false],
      // What lies above the root is where the operator put it.
      ["project", `${ROOT}/a`, false],
      ["w", `${ROOT}/a`, false],
      ["w", "/w/other", true],
      ["~/notes", "/home/me/notes/a", true],
      ["~/notes", "/home/you/notes/a", false],
      ["a,b", `${ROOT}/a,b`, true],
      ["a,b", `${ROOT}/a`, false],
      ["{a,b}", `${ROOT}/a`, true],
      ["A", `${ROOT}/a`, false],
    ] as const
  ) {
    assertEquals(
      await effect([{ deny: true, path: pattern }], { tool: "read", path }),
      isMeant ? "deny" : "allow",
      `${pattern} ${path}`,
    );
  }
});

Deno.test("patterns of paths follow the system's case, composition and separators", async () => {
  const decide = async (os: Platform["os"], pattern: string, path: string) =>
    (await Policy.load([await layer([{ deny: true, path: pattern }])], {
      platform: { os, home: undefined },
      roots: os === "windows" ? ["C:\\Work"] : ["/Users/me/w"],
    })).decide({ tool: "read", path }).effect;
  assertEquals(
    await decide("darwin", "SECRETS", "/Users/me/w/secrets/a"),
    "deny",
  );
  assertEquals(
    await decide("darwin", "caf\u00e9", "/Users/me/w/cafe\u0301"),
    "deny",
  );
  for (const pattern of ["C:/work/keys", "c:\\Work\\Keys\\**", "keys/a", "A"]) {
    assertEquals(
      await decide("windows", pattern, "C:\\Work\\Keys\\a"),
      "deny",
      pattern,
    );
  }
  assertEquals(await decide("windows", "C:/x", "D:\\x"), "allow");
});

Deno.test("what closes fits any part of a command, what allows only the whole of it", async () => {
  const closing = [{ deny: true, command: "rm -r*" }];
  const allowing = [{ allow: true, tool: "bash", command: "git status" }];
  const bash = (command: string) => ({ tool: "bash", command });
  assertEquals(await effect(closing, bash("cd x && rm -rf y")), "deny");
  assertEquals(await effect(closing, bash("rm y")), "allow");
  assertEquals(await effect(closing, { tool: "read" }), "allow");
  assertEquals(await effect(allowing, bash("git status -s"), "deny"), "allow");
  for (
    const more of ["git status; x", "git status $(x)", "git status | x", "x"]
  ) {
    assertEquals(await effect(allowing, bash(more), "deny"), "deny", more);
  }
  // As a whole, text by text, anything may be allowed.
  const whole = [{ allow: true, command: "make && make test | tee log" }];
  assertEquals(
    await effect(whole, bash(" make && make test | tee log\n"), "ask"),
    "allow",
  );
  assertEquals(
    await effect(whole, bash("make && make test | tee log2"), "ask"),
    "ask",
  );
});

Deno.test("of several files the strictest holds, and is named", async () => {
  const machine = await policyFrom({ rules: [], default: "ask" }, "/etc/p");
  const own = await policyFrom({
    rules: [{ allow: true, tool: "read" }, { deny: "no", tool: "bash" }],
  }, "/own");
  const policy = await Policy.load([machine, own], facts);
  assertEquals(policy.decide({ tool: "read" }), {
    effect: "ask",
    by: "policy.default in /etc/p",
  });
  assertEquals(policy.decide({ tool: "bash" }), {
    effect: "deny",
    by: "policy.rules[1] in /own",
    reason: "no",
  });
});

Deno.test("the decision is the strictest of any rules in any order, and a further rule or file never loosens one that closes", async () => {
  let seed = 20_261_201;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  const tools = ["read", "write", "bash"];
  const folders = ["a", "b", "a/c"];
  const commands = ["ls", "git push", "rm"];
  const rule = (): Record<string, unknown> => ({
    [pick(EFFECTS)]: true,
    ...(random(2) ? { tool: pick(tools) } : {}),
    ...(random(2) ? { path: `./${pick(folders)}` } : {}),
  });
  /** Said once more, and simpler. */
  const fits = (item: Rule, { tool, path }: Subject) =>
    (item.tool ?? tool) === tool &&
    (item.path === undefined ||
      `${path}/`.startsWith(`${ROOT}/${item.path.slice(2)}/`));
  const rank = (effect: Effect) => EFFECTS.indexOf(effect);
  const expected = (layers: readonly PolicyLayer[], subject: Subject) =>
    layers.map(({ rules, otherwise }) =>
      Math.max(
        ...rules.filter((item) => fits(item, subject)).map(({ effect }) =>
          rank(effect)
        ),
        rules.some((item) => fits(item, subject)) ? 0 : rank(otherwise),
      )
    ).reduce((a, b) => Math.max(a, b), 0);
  for (let round = 0; round < 400; round++) {
    const layers = await Promise.all(
      Array.from(
        { length: 1 + random(3) },
        () => layer(Array.from({ length: random(5) }, rule), pick(EFFECTS)),
      ),
    );
    const subject = {
      tool: pick(tools),
      path: `${ROOT}/${pick(folders)}${pick(["", "/x"])}`,
      command: pick(commands),
    };
    const decide = async (layers: readonly PolicyLayer[]) =>
      rank((await Policy.load(layers, facts)).decide(subject).effect);
    const now = await decide(layers);
    assertEquals(now, expected(layers, subject), JSON.stringify(layers));
    assertEquals(now, await decide(layers.toReversed()));
    assertEquals(
      now,
      await decide(
        layers.map((l) => ({ ...l, rules: l.rules.toReversed() })),
      ),
    );
    const further = await layer([rule()], pick(EFFECTS));
    assert(await decide([...layers, further]) >= now);
    const closing = further.rules.filter(({ effect }) => effect !== "allow");
    const [first, ...rest] = layers;
    const more = { ...first!, rules: [...first!.rules, ...closing] };
    const before = first!.rules.some((item) => fits(item, subject))
      ? now
      : Math.max(expected(rest, subject), 0);
    assert(await decide([more, ...rest]) >= before);
  }
});

Deno.test("mistakes in rules are told with where they stand and what should stand there", async () => {
  const wrong = async (raw: unknown) =>
    (await assertRejects(() => policyFrom(raw, "/f.yaml"), UsageError)).message;
  for (
    const [raw, problem] of [
      [[], "policy: must hold rules, default"],
      [
        { rule: [] },
        'policy: unknown key "rule"; did you mean "rules"?',
      ],
      [{ default: "no" }, "policy.default: must be one of allow, ask, deny"],
      [{ rules: {} }, "policy.rules: must be a list of rules"],
      [{ rules: [1] }, "policy.rules[0]: must hold keys and values"],
      [{ rules: [{}] }, "policy.rules[0]: must have one of allow, ask, deny"],
      [
        { rules: [{ ask: true, deny: true }] },
        "policy.rules[0]: must have one of allow, ask, deny",
      ],
      [
        { rules: [{ deny: false }] },
        "policy.rules[0].deny: must be true, or say why",
      ],
      [
        { rules: [{ deny: true }, { ask: true, paht: "x" }] },
        'policy.rules[1]: unknown key "paht"; did you mean "path"?',
      ],
      [
        { rules: [{ deny: true, path: "" }] },
        `policy.rules[0].path: must be a text of 1 to ${MAX_RULE_CHARS} characters`,
      ],
      [
        { rules: [{ deny: true, tool: "a".repeat(MAX_RULE_CHARS + 1) }] },
        `policy.rules[0].tool: must be a text of 1 to ${MAX_RULE_CHARS} characters`,
      ],
      [
        { rules: [{ deny: true, path: "a[" }] },
        'policy.rules[0].path: is no pattern: missing ] for a "["; write "\\[" for the character itself',
      ],
      [
        { rules: [{ deny: true, tool: "read", command: "ls" }] },
        'policy.rules[0].command: is for the tool "bash" alone',
      ],
      [
        { rules: Array(MAX_RULES + 1).fill({ deny: true }) },
        `policy.rules: has ${MAX_RULES + 1} rules, at most ${MAX_RULES} may be`,
      ],
    ] as const
  ) assertEquals(await wrong(raw), `/f.yaml: ${problem}`);
  await policyFrom(
    {
      rules: Array(MAX_RULES).fill({
        deny: "x".repeat(MAX_RULE_CHARS),
        tool: "a".repeat(MAX_RULE_CHARS),
      }),
    },
    "/f.yaml",
  );
});

const platform: Platform = {
  os: "linux",
  env: () => undefined,
  home: "/home/me",
  temp: "/tmp",
  cwd: "/",
  execPath: undefined,
  uid: 1000,
};

/** Settings from the operator's file and the project's. */
async function loaded(own: string, project: string) {
  const readTextFile = (path: string) =>
    path.endsWith("config.yaml")
      ? Promise.resolve(own)
      : Promise.resolve(project);
  const { config } = await loadConfig({ flags: {}, platform, readTextFile });
  return await tightened(config, "/repo", { platform, readTextFile });
}

Deno.test("S11: a project's file adds rules that close, and none that allows", async () => {
  const { config, warnings } = await loaded(
    "policy: { default: ask, rules: [{ allow: true, tool: read }] }",
    `
policy:
  rules:
    - allow: true
    - deny: keep out
      path: vault
    - ask: true
      tool: bash
`,
  );
  assertEquals(warnings, [
    "policy.rules[0] in /repo/.rousseau.yaml would allow something; passed over",
  ]);
  const policy = await Policy.load(config.policy!, {
    platform,
    roots: ["/repo"],
  });
  const decide = (tool: string, path?: string) =>
    policy.decide({ tool, path }).effect;
  assertEquals(decide("read", "/repo/a"), "allow");
  assertEquals(decide("read", "/repo/vault/a"), "deny");
  assertEquals(decide("write", "/repo/a"), "ask");
  assertEquals(decide("bash"), "ask");
});

Deno.test("without rules in any file there is no policy to load", async () => {
  const { config } = await loaded("mode: open", "mode: read-only");
  assertEquals(config.policy, undefined);
});
