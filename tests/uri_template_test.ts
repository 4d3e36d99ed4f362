import { assertEquals, assertThrows } from "@std/assert";
import { MAX_URI_CHARS, UriTemplate } from "../lib/uri_template.ts";

Deno.test("UriTemplate gives the values of its variables, percent-decoded", () => {
  const template = new UriTemplate("a://x/{first}/y.{second}");
  assertEquals(template.names, ["first", "second"]);
  assertEquals(template.match("a://x/1/y.2"), { first: "1", second: "2" });
  assertEquals(template.match("a://x/%E2%82%AC/y.a%2Fb"), {
    first: "€",
    second: "a/b",
  });
});

Deno.test("UriTemplate matches whole URIs only, with a value for each variable", () => {
  const template = new UriTemplate("a:{id}.json");
  for (
    const uri of [
      "a:.json",
      "a:1.jsonx",
      "xa:1.json",
      "a:1/2.json",
      "a:1xjson",
      "a:%zz.json",
      "",
    ]
  ) {
    assertEquals(template.match(uri), undefined, uri);
  }
  assertEquals(template.match("a:1.json.json"), { id: "1.json" });
});

Deno.test("UriTemplate takes a query at the end, in any order and in part", () => {
  const template = new UriTemplate("a://{id}/log{?from,to}");
  assertEquals(template.names, ["id", "from", "to"]);
  const cases: [string, Record<string, string> | undefined][] = [
    ["a://x/log", { id: "x" }],
    ["a://x/log?", { id: "x" }],
    ["a://x/log?to=9&from=1", { id: "x", from: "1", to: "9" }],
    ["a://x/log?from=a%26b%3D%20c", { id: "x", from: "a&b= c" }],
    ["a://x/log?from=a=b", { id: "x", from: "a=b" }],
    ["a://x/log?from", { id: "x", from: "" }],
    ["a://x/log?from=1&from=2", undefined],
    ["a://x/log?id=1", undefined],
    ["a://x/log?other=1", undefined],
    ["a://x/log?from=%zz", undefined],
    ["a://x/log?from=1#part", undefined],
    ["a://x/log&from=1", undefined],
  ];
  for (const [uri, values] of cases) {
    assertEquals(template.match(uri), values, uri);
  }
});

Deno.test("UriTemplate tries no URI beyond its limit", () => {
  const template = new UriTemplate("a:{id}");
  assertEquals(
    template.match("a:" + "x".repeat(MAX_URI_CHARS - 2)) !== undefined,
    true,
  );
  assertEquals(template.match("a:" + "x".repeat(MAX_URI_CHARS - 1)), undefined);
});

Deno.test("UriTemplate takes names of Object.prototype as names", () => {
  const values = new UriTemplate("a:{__proto__}").match("a:1")!;
  assertEquals(Object.hasOwn(values, "__proto__"), true);
});

Deno.test("UriTemplate refuses what is beyond level 1, twice there, or without text between", () => {
  for (
    const text of [
      "{+a}",
      "{a*}",
      "{a,b}",
      "{}",
      "{a}{b}",
      "{a}/{a}",
      "{a",
      "a}",
      "{{a}}",
      "{?a}/{b}",
      "{?a}{?b}",
      "{?a,}",
      "{?}",
      "{a}{?a}",
      "?x=1{?a}",
      "{&a}",
    ]
  ) {
    assertThrows(() => new UriTemplate(`x:${text}`), TypeError, "Cannot use");
  }
});
