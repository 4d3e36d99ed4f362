import { assert, assertEquals } from "@std/assert";
import {
  commandWords,
  holds,
  isPlainly,
  MAX_NESTED,
  patternWords,
} from "../lib/command_words.ts";

const held = (pattern: string, text: string) =>
  holds(patternWords(pattern), commandWords(text));
const plain = (pattern: string, text: string) =>
  isPlainly(patternWords(pattern), commandWords(text));

Deno.test("a plain command begins with the words of a rule, however they are quoted", () => {
  for (
    const text of [
      "git push",
      "git push --force origin main",
      "'git' \"push\" x",
      'g""it pu\\sh',
      "git \\\n push",
      "$'gi\\x74' push *.ts",
      "  git   push  # a comment",
    ]
  ) assert(plain("git push", text), text);
});

Deno.test("what is more than one plain command fits no rule by its words", () => {
  for (
    const text of [
      "git push; rm x",
      "git push && rm x",
      "git push | sh",
      "git push & rm x",
      "git push &",
      "git push\nrm x",
      "git push > ~/.bashrc",
      "git push < x",
      "git push <<E\nE",
      "git push <<< x",
      "git push $(rm x)",
      "git push `rm x`",
      'git push "$(rm x)"',
      "git push <(rm x)",
      "git push $X",
      'git push "${X:=y}"',
      "git push $((a[$(rm x)]))",
      "PATH=. git push",
      "(git push)",
      "{ git push; }",
      "! git push",
      "time git push",
      "coproc git push",
      "if git push; then :; fi",
      "git() { rm x; }; git push",
      "eval 'git push'",
      "command git push",
      "$'git push'",
      "git push '",
      "git push (",
      "git commit",
      "./git push",
      "gitx push",
      "git pushx",
      "git",
      "",
      "# git push",
    ]
  ) assert(!plain("git push", text), text);
});

Deno.test("a command is found wherever it stands, and however it is called", () => {
  for (
    const text of [
      "git push",
      "cd x && git push",
      "true; git push",
      "git push | tee x",
      "echo $(git push)",
      "echo `git push`",
      'echo "a $(git push) b"',
      "cat <(git push)",
      "x=$(git push)",
      "cat <<E\n$(git push)\nE",
      "f() { git push; }; f",
      "if true; then git push; fi",
      "for i in 1; do git push; done",
      "case x in *) git push ;; esac",
      "(( a[$(git push)] ))",
      "[[ -n $(git push) ]]",
      "coproc git push",
      "X=1 git push",
      "! git push",
      "time git push",
      "/usr/bin/git push",
      "\\git push",
      "sudo git push",
      "sudo -u me git push",
      "env -i X=1 git push",
      "nohup nice -n 5 git push",
      "timeout 5 git push",
      "echo x | xargs -n 1 git push",
      "find . -exec git push ;",
      "sh -c 'git push'",
      "bash -lc 'cd x; git push'",
      "sudo bash -c \"sh -c 'git push'\"",
      "eval git push",
      'eval "git" "push"',
      "git -C dir push",
      "git -c a=b -c c=d push",
      "git --no-pager push",
      "git push '",
      "if git push",
      "( ( git push",
    ]
  ) assert(held("git push", text), text);
});

Deno.test("a command is not found in other commands' words", () => {
  for (
    const text of [
      "echo git push",
      "git commit -m push",
      "grep 'git push' x",
      "gitpush",
      "git pull",
      "git",
      "echo 'sudo git push'",
    ]
  ) assert(!held("git push", text), text);
});

Deno.test("a star in a word stands for any text in one word, and for one that is not known", () => {
  assert(plain("npm run *", "npm run test"));
  assert(!plain("npm run *", "npm run"));
  assert(plain("npm run te*:*x", "npm run test:unix"));
  assert(!plain("npm run te*:*x", "npm run test:y"));
  assert(!plain("a*a", "a"));
  assert(held("rm *", "rm $X"));
  assert(!held("rm x", "rm $X"));
  assert(held("*", "x"));
});

Deno.test("scripts within scripts are looked into to a depth, once each, and no further than time allows", () => {
  const nested = (depth: number) => {
    let text = "git push";
    for (let i = 0; i < depth; i++) {
      text = `sh -c '${text.replaceAll("'", "'\\''")}'`;
    }
    return text;
  };
  assert(held("git push", nested(MAX_NESTED)));
  assert(!held("git push", nested(MAX_NESTED + 1)));
  // Each word could be the command that the words before it run.
  const many = `sudo ${"sh eval ".repeat(2000)} '${"sudo sh x ".repeat(2000)}'`;
  const started = performance.now();
  for (
    const text of [
      many,
      "$(".repeat(60_000),
      '"$('.repeat(40_000),
      "${x:-".repeat(24_000),
      "(".repeat(120_000),
    ]
  ) {
    commandWords(text);
    assert(held("git push", `git push; ${text}`), text.slice(0, 20));
  }
  assert(performance.now() - started < 10_000);
});

Deno.test("a rule's text that is no plain command is split at spaces", () => {
  assertEquals(patternWords("git  push"), ["git", "push"]);
  assertEquals(patternWords("'a b' c"), ["a b", "c"]);
  assertEquals(patternWords("a; b"), ["a;", "b"]);
  assertEquals(patternWords("rm $X"), ["rm", "$X"]);
});
