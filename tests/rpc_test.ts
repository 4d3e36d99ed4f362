import {
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
} from "@std/assert";
import {
  BigId,
  ErrorCode,
  errorLine,
  idFromEnds,
  idKey,
  parse,
  resultLine,
  RpcError,
} from "../lib/rpc.ts";

function refused(line: string): [code: number, id: unknown, message: string] {
  const message = parse(line);
  if (message.kind !== "invalid") throw new Error(`accepted: ${message.kind}`);
  return [message.error.code, message.id, message.error.message];
}

Deno.test("parse tells requests, notifications and responses apart", () => {
  assertEquals(
    parse('{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":2}}'),
    {
      kind: "request",
      id: 1,
      method: "a",
      params: { b: 2 },
    },
  );
  assertEquals(parse('{"jsonrpc":"2.0","method":"a"}'), {
    kind: "notification",
    method: "a",
    params: undefined,
  });
  assertEquals(parse('{"jsonrpc":"2.0","id":"x","result":3}'), {
    kind: "response",
    id: "x",
    result: 3,
    error: undefined,
  });
  assertEquals(
    parse('{"jsonrpc":"2.0","id":null,"error":{"code":1}}').kind,
    "response",
  );
});

Deno.test("J12: the ids 0 and the empty string are ids", () => {
  for (const id of [0, "", -1, 9007199254740991, "null"]) {
    const message = parse(
      JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }),
    );
    assertEquals(message.kind === "request" && message.id, id);
  }
});

Deno.test("parse keeps a big integer id digit for digit", () => {
  const digits = "123456789012345678901234567890";
  const message = parse(
    `{"params":{"id":1,"s":"\\"id\\":5,{["},"id" : ${digits} ,"jsonrpc":"2.0","method":"ping"}`,
  );
  if (message.kind !== "request") throw new Error(message.kind);
  assertInstanceOf(message.id, BigId);
  assertEquals(
    resultLine(message.id, {}),
    `{"jsonrpc":"2.0","id":${digits},"result":{}}`,
  );
  assertEquals(JSON.stringify({ id: message.id }), `{"id":${digits}}`);
});

Deno.test("parse takes the last of two members named id, as JSON.parse does", () => {
  const message = parse(
    '{"id":99999999999999999991,"jsonrpc":"2.0","method":"ping","id":99999999999999999992}',
  );
  assertEquals(
    message.kind === "request" && (message.id as BigId).digits,
    "99999999999999999992",
  );
});

Deno.test("parse keeps big integers in requestId and progressToken", () => {
  const params = (line: string) => {
    const message = parse(line);
    if (!("params" in message)) throw new Error(message.kind);
    return JSON.stringify(message.params);
  };
  assertEquals(
    params(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99999999999999999991}}',
    ),
    '{"requestId":99999999999999999991}',
  );
  assertEquals(
    params(
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":-99999999999999999991}}}',
    ),
    '{"_meta":{"progressToken":-99999999999999999991}}',
  );
});

Deno.test("J11: a null id is refused", () => {
  assertEquals(
    refused('{"jsonrpc":"2.0","id":null,"method":"ping"}').slice(0, 2),
    [
      ErrorCode.invalidRequest,
      undefined,
    ],
  );
});

Deno.test("J13: a fractional id is refused, and so is any that is no string or integer", () => {
  for (
    const id of ["1.5", "1e400", "true", "[]", "{}", "12345678901234567890.5"]
  ) {
    assertEquals(
      refused(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`).slice(0, 2),
      [
        ErrorCode.invalidRequest,
        undefined,
      ],
    );
  }
});

Deno.test("a message of another shape is -32600, with the id where there is one", () => {
  for (
    const [line, id] of [
      ["1", undefined],
      ["null", undefined],
      ['"a"', undefined],
      ["{}", undefined],
      ['{"jsonrpc":"2.0","id":7}', 7],
      ['{"jsonrpc":"1.0","id":7,"method":"ping"}', 7],
      ['{"id":"s","method":"ping"}', "s"],
      ['{"jsonrpc":"2.0","id":7,"method":5}', 7],
      ['{"jsonrpc":2.0,"id":7,"method":"ping"}', 7],
    ] as const
  ) {
    assertEquals(refused(line).slice(0, 2), [ErrorCode.invalidRequest, id]);
  }
});

Deno.test("a method without an id is a notification, whatever else is wrong with it", () => {
  assertEquals(parse('{"method":"ping"}').kind, "notification");
});

Deno.test("J04: a line that is not JSON is -32700", () => {
  for (
    const line of [
      '{"a":',
      "hello",
      "{'a':1}",
      '{"jsonrpc":"2.0"}}',
      "\uFEFF{}",
      "[1,",
      "\x01",
    ]
  ) {
    assertEquals(refused(line).slice(0, 2), [ErrorCode.parse, undefined]);
  }
});

Deno.test("J22: Content-Length framing is named, before and after a body", () => {
  for (
    const line of [
      "Content-Length: 52",
      "content-length:5",
      '{"id":1}Content-Length: 52',
    ]
  ) {
    const [code, , message] = refused(line);
    assertEquals(code, ErrorCode.parse);
    assertStringIncludes(message, "Content-Length framing is not spoken here");
  }
});

Deno.test("parse is not misled by names of Object.prototype", () => {
  const message = parse(
    '{"__proto__":{"id":1,"method":"x"},"constructor":1,"jsonrpc":"2.0","id":2,"method":"__proto__","params":{"__proto__":{"a":1}}}',
  );
  assertEquals(message.kind === "request" && [message.id, message.method], [
    2,
    "__proto__",
  ]);
  assertEquals(
    refused('{"__proto__":{"id":1,"method":"x","jsonrpc":"2.0"}}').slice(0, 2),
    [
      ErrorCode.invalidRequest,
      undefined,
    ],
  );
  assertEquals(({} as Record<string, unknown>).a, undefined);
});

Deno.test("parse survives any depth", () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
    const deep = open.repeat(200_000) + (open === "[" ? "" : "1") +
      close.repeat(200_000);
    for (
      const line of [
        deep,
        `{"jsonrpc":"2.0","id":99999999999999999991,"method":"a","params":{"x":${deep}}}`,
      ]
    ) {
      parse(line);
    }
  }
  const message = parse(
    `{"jsonrpc":"2.0","params":{"x":${"[".repeat(50_000)}${
      "]".repeat(50_000)
    }},"id":99999999999999999991,"method":"a"}`,
  );
  if (message.kind === "request") {
    assertEquals((message.id as BigId).digits, "99999999999999999991");
  }
});

Deno.test("parse reads the members of a batch, big ids included", () => {
  const batch = parse(
    '[{"jsonrpc":"2.0","id":1,"method":"a"},3,{"jsonrpc":"2.0","id":99999999999999999991,"method":"b"}]',
  );
  if (batch.kind !== "batch") throw new Error(batch.kind);
  assertEquals(batch.messages.map((m) => m.kind), [
    "request",
    "invalid",
    "request",
  ]);
  const last = batch.messages[2]!;
  assertEquals(
    last.kind === "request" && (last.id as BigId).digits,
    "99999999999999999991",
  );
  assertEquals(parse("[]"), { kind: "batch", messages: [] });
});

Deno.test("idFromEnds finds an id in the head, or as the last member", () => {
  const args = '"params":{"id":3,"x":"';
  assertEquals(idFromEnds(`{"jsonrpc":"2.0","id":5,${args}`, 'xx"}}'), 5);
  assertEquals(
    idFromEnds(`{"jsonrpc":"2.0","id":"a\\"b",${args}`, 'xx"}}'),
    'a"b',
  );
  assertEquals(
    idFromEnds(`{"method":"a",${args}`, 'xx"},"jsonrpc":"2.0","id":7}'),
    7,
  );
  assertEquals(idFromEnds(`{"method":"a",${args}`, 'xx"},"id" : "q" } '), "q");
  assertEquals(
    idFromEnds(
      `{"method":"a",${args}`,
      'x"},"id":99999999999999999991}',
    ) instanceof BigId,
    true,
  );
});

Deno.test("idFromEnds invents no id", () => {
  const args = '"params":{"id":3,"x":"';
  assertEquals(idFromEnds(`{"method":"a",${args}`, 'xx"}}'), undefined);
  assertEquals(idFromEnds(`{"method":"a",${args}`, 'xx","id":7}}'), undefined);
  assertEquals(idFromEnds(`{"method":"a",${args}`, '\\"id\\":7}'), undefined);
  assertEquals(idFromEnds(`{"method":"a",${args}`, '"\\"id":7}'), undefined);
  assertEquals(idFromEnds('{"id":12', ""), undefined);
  assertEquals(idFromEnds('{"id":1.5,"x":1', ""), undefined);
  assertEquals(idFromEnds("not json", ""), undefined);
  assertEquals(idFromEnds('{"id":4,"result":{"x":"', 'xx"}}'), undefined);
});

Deno.test("idKey tells numbers, strings and big integers apart", () => {
  assertEquals(
    new Set([
      idKey(1),
      idKey("1"),
      idKey(new BigId("12345678901234567890")),
      idKey("12345678901234567890"),
    ]).size,
    4,
  );
  assertEquals(
    idKey(new BigId("12345678901234567890")),
    idKey(new BigId("12345678901234567890")),
  );
});

Deno.test("errorLine writes a null id, leaves an undefined one out, and carries data", () => {
  const error = new RpcError(-32600, "no", { a: 1 });
  assertEquals(
    errorLine(null, error),
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no","data":{"a":1}}}',
  );
  assertEquals(
    errorLine(undefined, new RpcError(1, "x")),
    '{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}',
  );
});

Deno.test("a lone surrogate leaves as an escape", () => {
  assertEquals(
    resultLine("\ud800", "\udc00"),
    '{"jsonrpc":"2.0","id":"\\ud800","result":"\\udc00"}',
  );
});
