/**
 * What secrets look like: the prefixes that issuers give theirs, and the names under which people keep them.
 *
 * @module
 */

/** A prefix that an issuer gives its secrets, and what follows; `pattern` is anchored at the prefix. */
export type Issued = readonly [prefix: string, kind: string, pattern: RegExp];

/** Every known prefix. */
export const ISSUED: readonly Issued[] = [
  ["AKIA", "AWS access key", /AKIA[0-9A-Z]{16}(?![\w-])/y],
  ["ASIA", "AWS access key", /ASIA[0-9A-Z]{16}(?![\w-])/y],
  ["AIza", "Google API key", /AIza[\w-]{35}/y],
  ["GOCSPX-", "Google client secret", /GOCSPX-[\w-]{20,}/y],
  ["github_pat_", "GitHub token", /github_pat_\w{40,}/y],
  ["ghp_", "GitHub token", /ghp_[0-9A-Za-z]{30,}/y],
  ["gho_", "GitHub token", /gho_[0-9A-Za-z]{30,}/y],
  ["ghu_", "GitHub token", /ghu_[0-9A-Za-z]{30,}/y],
  ["ghs_", "GitHub token", /ghs_[0-9A-Za-z]{30,}/y],
  ["ghr_", "GitHub token", /ghr_[0-9A-Za-z]{30,}/y],
  ["glpat-", "GitLab token", /glpat-[\w-]{20,}/y],
  ["gldt-", "GitLab token", /gldt-[\w-]{20,}/y],
  ["glrt-", "GitLab token", /glrt-[\w-]{20,}/y],
  ["sk-ant-", "Anthropic key", /sk-ant-[\w-]{16,}/y],
  ["sk-proj-", "OpenAI key", /sk-proj-[\w-]{16,}/y],
  ["sk-or-", "OpenRouter key", /sk-or-[\w-]{16,}/y],
  ["sk-", "API key", /sk-(?=[\w-]*[0-9])(?=[\w-]*[A-Z])[\w-]{20,}/y],
  ["sk_live_", "Stripe key", /sk_live_[0-9A-Za-z]{16,}/y],
  ["sk_test_", "Stripe key", /sk_test_[0-9A-Za-z]{16,}/y],
  ["rk_live_", "Stripe key", /rk_live_[0-9A-Za-z]{16,}/y],
  ["whsec_", "webhook secret", /whsec_[0-9A-Za-z]{16,}/y],
  ["xoxa-", "Slack token", /xoxa-[\w-]{10,}/y],
  ["xoxb-", "Slack token", /xoxb-[\w-]{10,}/y],
  ["xoxe-", "Slack token", /xoxe-[\w-]{10,}/y],
  ["xoxp-", "Slack token", /xoxp-[\w-]{10,}/y],
  ["xoxr-", "Slack token", /xoxr-[\w-]{10,}/y],
  ["xoxs-", "Slack token", /xoxs-[\w-]{10,}/y],
  ["xapp-", "Slack token", /xapp-[\w-]{10,}/y],
  ["npm_", "npm token", /npm_[0-9A-Za-z]{36}(?![\w-])/y],
  ["pypi-AgE", "PyPI token", /pypi-AgE[\w-]{40,}/y],
  ["hf_", "Hugging Face token", /hf_[0-9A-Za-z]{30,}/y],
  ["dop_v1_", "DigitalOcean token", /dop_v1_[0-9a-f]{64}/y],
  ["shpat_", "Shopify token", /shpat_[0-9a-fA-F]{32}/y],
  ["sbp_", "Supabase token", /sbp_[0-9a-f]{40}/y],
  ["dapi", "Databricks token", /dapi[0-9a-f]{32}(?![\w-])/y],
  ["dckr_pat_", "Docker token", /dckr_pat_[\w-]{20,}/y],
  ["glsa_", "Grafana token", /glsa_[0-9A-Za-z]{32}_[0-9a-f]{8}/y],
  ["lin_api_", "Linear key", /lin_api_[0-9A-Za-z]{32,}/y],
  ["ATATT3", "Atlassian token", /ATATT3[\w-]{40,}/y],
  ["PMAK-", "Postman key", /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/y],
  ["figd_", "Figma token", /figd_[\w-]{30,}/y],
  ["gsk_", "Groq key", /gsk_[0-9A-Za-z]{40,}/y],
  ["xai-", "xAI key", /xai-[0-9A-Za-z]{40,}/y],
  ["pplx-", "Perplexity key", /pplx-[0-9A-Za-z]{40,}/y],
  ["r8_", "Replicate token", /r8_[0-9A-Za-z]{30,}/y],
  ["tskey-", "Tailscale key", /tskey-[\w-]{16,}/y],
  ["AGE-SECRET-KEY-1", "age key", /AGE-SECRET-KEY-1[0-9A-Z]{40,}/y],
  ["hvs", "Vault token", /hvs\.[\w-]{24,}/y],
  ["ya29", "Google token", /ya29\.[\w-]{20,}/y],
  ["SG", "SendGrid key", /SG\.[\w-]{16,32}\.[\w-]{16,64}/y],
  ["eyJ", "JWT", /eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?/y],
];

/** {@linkcode ISSUED} by the first character of the prefix. */
export const BY_FIRST: readonly (readonly Issued[] | undefined)[] = (() => {
  const table: (Issued[] | undefined)[] = new Array(128).fill(undefined);
  for (const issued of ISSUED) {
    const first = issued[0].charCodeAt(0);
    (table[first] ??= []).push(issued);
  }
  return table;
})();

const SECRET_NAMES =
  /(?:(password|passwd|passphrase|(?:^|[_.-])pwd|(?:^|[_.-])pass)|(secret)|(token|(?:^|[_.-])pat)|((?:api|access|secret|private|account|signing|encryption|shared)[_.-]?key|secret[_.-]?access[_.-]?key)|(credentials)|((?:^|[_.-])authorization)|((?:^|-)cookie))$/i;

const NAME_KINDS = [
  "password",
  "secret",
  "token",
  "key",
  "credentials",
  "authorization",
  "cookie",
] as const;

/** Names that end like a secret's and hold none. */
const HARMLESS_NAMES =
  /(?:progress|next|page|continuation|sync|cancellation|stop|end|eos|bos|pad)[_.-]?token$/i;

/** The last two letters of every name in {@linkcode SECRET_NAMES}, as bits: a cheap first look. */
const ENDINGS = (() => {
  const table = new Uint32Array(26);
  for (const ending of "rd wd se ss et en ey ls on ie at".split(" ")) {
    const [first, last] = [
      ending.charCodeAt(0) - 97,
      ending.charCodeAt(1) - 97,
    ];
    table[last] = (table[last] as number) | 1 << first;
  }
  return table;
})();

/** Whether the word that ends at `end` can be the end of a secret's name. */
export function mayEndName(text: string, end: number): boolean {
  const last = (text.charCodeAt(end - 1) | 32) - 97;
  if (last < 0 || last > 25) return false;
  const first = (text.charCodeAt(end - 2) | 32) - 97;
  return first >= 0 && first <= 25 &&
    ((ENDINGS[last] as number) >> first & 1) === 1;
}

/** What a name says its value is, or undefined. */
export function secretName(name: string): string | undefined {
  if (name.length > 64) return undefined;
  const found = SECRET_NAMES.exec(name);
  if (!found || HARMLESS_NAMES.test(name)) return undefined;
  return NAME_KINDS[found.slice(1).findIndex((group) => group !== undefined)];
}

/** A variable, a placeholder, a masked value or what `redact` left. */
export function isReference(value: string): boolean {
  return /^(?:[$%<{*.]|\[redacted|process\.env|import\.meta|os\.|env[.[(]|x{4,}$|your[-_ ]|changeme$|undefined$|null$|none$|true$|false$|string\b|\(|\.\.\.)/i
    .test(value);
}

/** Whether an unquoted value calls, indexes or reaches into something. */
export function isCode(value: string): boolean {
  return /[()[\]{}]|^\w+\.[a-z]\w*/.test(value);
}

/** Whether an unquoted value is one that somebody chose, rather than a type, a placeholder, a variable or a remark. */
export function isChosen(value: string): boolean {
  if (isReference(value) || isCode(value) || NOT_CHOSEN.test(value)) {
    return false;
  }
  // A variable is called like what it holds.
  return !/^[a-z_.]+;?$/i.test(value) ||
    !/pass|pwd|secret|token|key|cred/i.test(value);
}

const NOT_CHOSEN =
  /^(?:[A-Z][A-Z_.-]*|[A-Z][a-z]+[?;]?|(?:number|boolean|integer|object|unknown|symbol|buffer|bytes|required|optional|missing|invalid|incorrect|expired|rejected|accepted|correct|enabled|disabled|hidden|default|example|redacted|revoked|prompt|unset|not-set)[?;]?)$/;
