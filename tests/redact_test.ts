import { assert, assertEquals, assertLess } from "@std/assert";
import {
  MIN_SECRET_CHARS,
  redact,
  REDACT_DEPTH,
  redactJson,
} from "../lib/redact.ts";

/** A made-up secret, put together here so that scanners of this repository find none. */
function fake(prefix: string, length: number, alphabet = ALPHABET): string {
  let out = prefix;
  for (let i = 0; i < length; i++) {
    out += alphabet[(i * 7 + 3) % alphabet.length];
  }
  return out;
}

const ALPHABET =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX = "0123456789abcdef";
const JWT = `${fake("eyJ", 20)}.${fake("eyJ", 40)}.${fake("", 43)}`;

const ISSUED: Record<string, string> = {
  "AWS access key": fake("AKIA", 16, UPPER),
  "Google API key": fake("AIza", 35),
  "Google client secret": fake("GOCSPX-", 28),
  "GitHub token": fake("ghp_", 36),
  "GitLab token": fake("glpat-", 20),
  "Anthropic key": fake("sk-ant-api03-", 60),
  "OpenAI key": fake("sk-proj-", 60),
  "API key": fake("sk-", 48),
  "Stripe key": fake("sk_live_", 24),
  "webhook secret": fake("whsec_", 32),
  "Slack token": fake("xoxb-", 40),
  "npm token": fake("npm_", 36),
  "PyPI token": fake("pypi-AgE", 80),
  "Hugging Face token": fake("hf_", 34),
  "DigitalOcean token": fake("dop_v1_", 64, HEX),
  "Shopify token": fake("shpat_", 32, HEX),
  "Databricks token": fake("dapi", 32, HEX),
  "Docker token": fake("dckr_pat_", 27),
  "Vault token": fake("hvs.", 30),
  "Google token": fake("ya29.", 60),
  "SendGrid key": `SG.${fake("", 22)}.${fake("", 43)}`,
  "age key": fake("AGE-SECRET-KEY-1", 58, UPPER),
  "JWT": JWT,
};

Deno.test("redact replaces what an issuer marks as its own, wherever it stands", () => {
  for (const [kind, secret] of Object.entries(ISSUED)) {
    for (
      const [before, after] of [
        ["", ""],
        ["a ", " b"],
        ["x=", "\n"],
        ['"', '"'],
        [
          "(",
          ")",
        ],
        ["\n", "\n"],
        ["\\n", "\\n"],
        ["é", "é"],
      ] as const
    ) {
      assertEquals(
        redact(before + secret + after),
        `${before}[redacted: ${kind}]${after}`,
      );
    }
  }
});

Deno.test("redact replaces every secret of a text and keeps the rest byte for byte", () => {
  const a = ISSUED["GitHub token"], b = ISSUED["Stripe key"];
  assertEquals(
    redact(`one ${a}\r\ntwo\u2028${b} ${a}`),
    "one [redacted: GitHub token]\r\ntwo\u2028[redacted: Stripe key] [redacted: GitHub token]",
  );
});

Deno.test("redact replaces a private-key block, with and without its end", () => {
  const body = Array.from({ length: 5 }, () => fake("", 64)).join("\n");
  for (const name of ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]) {
    const head = `-----BEGIN ${name}PRIVATE KEY-----`;
    assertEquals(
      redact(`a\n${head}\n${body}\n-----END ${name}PRIVATE KEY-----\nb`),
      "a\n[redacted: private key]\nb",
    );
    assertEquals(redact(`a ${head}\n${body}\n`), "a [redacted: private key]\n");
  }
  const json = JSON.stringify(
    `-----BEGIN PRIVATE KEY-----\n${body}\n-----END PRIVATE KEY-----\n`,
  );
  assertEquals(redact(json), '"[redacted: private key]\\n"');
  const certificate =
    `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----`;
  assertEquals(redact(certificate), certificate);
});

Deno.test("redact takes the password out of a URL and leaves who and where", () => {
  const cases: [string, string][] = [
    [
      "postgres://app:hunter22@db:5432/x",
      "postgres://app:[redacted: password]@db:5432/x",
    ],
    ["redis://:s3cr3t@cache/0", "redis://:[redacted: password]@cache/0"],
    [
      "mongodb+srv://u:p%40ss@h.net/?a=b",
      "mongodb+srv://u:[redacted: password]@h.net/?a=b",
    ],
    [
      `https://${fake("", 40)}@github.com/a/b.git`,
      "https://[redacted: token]@github.com/a/b.git",
    ],
    [
      `https://hooks.slack.com/services/T00000000/B00000000/${fake("", 24)}`,
      "https://hooks.slack.com/services/[redacted: webhook]",
    ],
  ];
  for (const [text, wanted] of cases) assertEquals(redact(text), wanted);
});

Deno.test("redact replaces values given to names that say what they are", () => {
  const cases: [string, string][] = [
    ["DB_PASSWORD=hunter2", "DB_PASSWORD=[redacted: password]"],
    ["export API_KEY='abc def'", "export API_KEY='[redacted: key]'"],
    ['"password": "hunter2"', '"password": "[redacted: password]"'],
    [
      '{\\"client_secret\\":\\"abcdef12\\"}',
      '{\\"client_secret\\":\\"[redacted: secret]\\"}',
    ],
    ["apiKey: 'k3yk3yk3y'", "apiKey: '[redacted: key]'"],
    [
      "aws_secret_access_key = abc/DEF+123xyz",
      "aws_secret_access_key = [redacted: key]",
    ],
    ["password: hunter22x", "password: [redacted: password]"],
    ["password=hunter2", "password=[redacted: password]"],
    ["password=correcthorse\nx=1", "password=[redacted: password]\nx=1"],
    [
      "user=me password=opened&x=1",
      "user=me password=[redacted: password]&x=1",
    ],
    ["passwd: letmein", "passwd: [redacted: password]"],
    [
      "db:\n  - password: letmein!\n  - x",
      "db:\n  - password: [redacted: password]\n  - x",
    ],
    ["api_key=abcdef", "api_key=[redacted: key]"],
    ["secret=swordfish", "secret=[redacted: secret]"],
    ["--client-secret=swordfish x", "--client-secret=[redacted: secret] x"],
    ["token=opensesame;path=/", "token=[redacted: token];path=/"],
    [
      "Server=h;User=u;Password=hunter22;Timeout=3",
      "Server=h;User=u;Password=[redacted: password];Timeout=3",
    ],
    [
      "AccountKey=abcDEF123/+==;Endpoint=x",
      "AccountKey=[redacted: key];Endpoint=x",
    ],
    ["?access_token=abc123def&x=1", "?access_token=[redacted: token]&x=1"],
    [
      "mysql --password hunter22 -h db",
      "mysql --password [redacted: password] -h db",
    ],
    ["curl -u me:hunter2 http://x", "curl -u me:[redacted: password] http://x"],
    [
      "Authorization: Bearer abcdefghijklmnop1234",
      "Authorization: Bearer [redacted: bearer token]",
    ],
    [
      "authorization: Basic dXNlcjpwYXNzd29yZA==",
      "authorization: Basic [redacted: password]",
    ],
    [
      "Set-Cookie: sid=abc; Path=/\nX: y",
      "Set-Cookie:[redacted: cookie]\nX: y",
    ],
    ["12345678:" + fake("AA", 33), "12345678:[redacted: Telegram token]"],
  ];
  for (const [text, wanted] of cases) assertEquals(redact(text), wanted);
});

Deno.test("redact keeps look-alikes", () => {
  const kept = [
    "commit 917fe3c0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "123e4567-e89b-12d3-a456-426614174000",
    "sha512-" + fake("", 86) + "==",
    "data:image/png;base64," + fake("iVBORw0KGgo", 4000),
    "password: string;",
    "password: string",
    "password: boolean",
    "  password: Secret\n",
    "password=",
    "password=\nnext=1",
    "password=password",
    "password=$PASSWORD",
    "password=%PASSWORD%",
    "password=PASSWORD",
    "password=<password>",
    "password=********",
    "connect(user=user, password=secret_value)",
    "connect(password=plain, user=user)",
    "password=self.secret",
    "api_key=settings.API_KEY",
    "api_key=os.environ['KEY']",
    "password = other",
    "Wrong password: retry",
    "password: incorrect",
    "if (password === other)",
    "if (password == other) {}",
    "password != other",
    "token=required",
    "api_key: str",
    "const token = parseToken(text);",
    "if (password === other.password) {}",
    "(token) => token.length",
    "password=$PASSWORD",
    "password: ${{ secrets.PASSWORD }}",
    "token: process.env.TOKEN",
    "API_KEY=<your key>",
    "the password: is kept in the vault",
    "secret: undefined",
    "token = tokens[i1]",
    "git@github.com:denoland/deno.git",
    "https://deno.land/std@0.224.0/assert/mod.ts",
    "npm:deno-std@1.4.0/streams",
    "http://localhost:8080/a@b",
    "sk-fading-circle-element-number",
    "the basic idea of a bearer bond",
    "progressToken: 'abcdef123456'",
    "max_tokens=4096000",
    "--passwordless yes",
    "ghp_short",
    "monkey: 'bananas1'",
    "AKIAlowercase",
    "eyJhbGciOi",
    "2026-11-30T21:00:00.000Z:AA",
  ];
  for (const text of kept) assertEquals(redact(text), text);
});

Deno.test("redact leaves values shorter than its limit", () => {
  assertEquals(MIN_SECRET_CHARS, 6);
  assertEquals(redact("PASSWORD=12345"), "PASSWORD=12345");
  assertEquals(redact("PASSWORD=123456"), "PASSWORD=[redacted: password]");
});

Deno.test("redact applied twice changes nothing more", () => {
  const text = [
    ...Object.values(ISSUED),
    "PASSWORD=hunter22",
    "postgres://a:hunter2@h/x",
  ]
    .join("\n");
  const once = redact(text);
  assertEquals(redact(once), once);
});

Deno.test("redactJson redacts strings and values under telling names, and copies", () => {
  const value = {
    a: [ISSUED["GitHub token"], 1, null, true],
    password: "x",
    apiKey: "",
    token: 5,
    nested: { accessToken: "y", keyword: "z" },
    ["__proto__"]: "p",
  };
  const before = JSON.stringify(value);
  assertEquals(redactJson(value), {
    a: ["[redacted: GitHub token]", 1, null, true],
    password: "[redacted: password]",
    apiKey: "",
    token: 5,
    nested: { accessToken: "[redacted: token]", keyword: "z" },
    ["__proto__"]: "p",
  });
  assertEquals(JSON.stringify(value), before);
});

Deno.test("redactJson stops at its depth instead of at the end of the stack", () => {
  let deep: unknown = "x";
  for (let i = 0; i < 100_000; i++) deep = [deep];
  const text = JSON.stringify(redactJson(deep));
  assert(text.includes("nested too deep"));
  assertEquals(text.split("[").length - 1, REDACT_DEPTH + 1);
});

Deno.test("redact stays linear on hostile text", () => {
  const hostile = [
    "a".repeat(1_000_000),
    "password=".repeat(100_000),
    "://".repeat(300_000),
    "://a:".repeat(200_000),
    "-----BEGIN ".repeat(90_000),
    "-----BEGIN PRIVATE KEY-----".repeat(30_000),
    "eyJ".repeat(300_000),
    "eyJaaaaaaaaaa.".repeat(70_000),
    "sk-" + "a-".repeat(500_000),
    ("sk-" + "a".repeat(40) + " ").repeat(20_000),
    ":".repeat(1_000_000),
    '"'.repeat(1_000_000),
    "password: '" + "x".repeat(1_000_000),
    "Bearer ".repeat(140_000),
    "password=letmein ".repeat(60_000),
    "\n                                password: x".repeat(20_000),
    "password=" + "pass".repeat(250_000),
  ];
  for (const text of hostile) {
    const before = performance.now();
    redact(text);
    assertLess(performance.now() - before, 1_500, text.slice(0, 20));
  }
});
