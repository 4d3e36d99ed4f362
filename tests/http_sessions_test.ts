import { assertEquals } from "@std/assert";
import {
  HttpSessions,
  MAX_KEPT_STREAMS,
  MAX_SESSIONS,
  SESSION_IDLE_MS,
} from "../lib/http_sessions.ts";
import { McpServer } from "../lib/server.ts";

function sessions(): HttpSessions {
  return new HttpSessions(new McpServer({ name: "test", version: "1.0.0" }));
}

Deno.test("HttpSessions ends the session that was idle longest when there are too many", () => {
  const table = sessions();
  const all = Array.from({ length: MAX_SESSIONS }, () => {
    const session = table.make();
    table.add(session);
    return session;
  });
  table.use(all[0]!.id);
  table.add(table.make());
  assertEquals(table.size, MAX_SESSIONS);
  assertEquals(table.use(all[0]!.id), all[0]);
  assertEquals(table.use(all[1]!.id), undefined);
  assertEquals(all[1]!.own.isEnded, true);
  for (const session of table.values()) table.end(session);
  assertEquals(table.size, 0);
});

Deno.test("HttpSessions ends a session past its time, unless somebody listens to it", async () => {
  const table = sessions();
  const [idle, heard] = [table.make(), table.make()];
  table.add(idle);
  table.add(heard);
  const reader = heard.own.read().getReader();
  idle.usedAt = heard.usedAt = performance.now() - SESSION_IDLE_MS - 1;
  table.add(table.make());
  assertEquals([table.use(idle.id), table.use(heard.id)], [undefined, heard]);
  await reader.cancel();
  for (const session of table.values()) table.end(session);
});

Deno.test("a session keeps a bounded number of streams that have ended, and all that have not", () => {
  const session = sessions().make();
  const open = session.newStream();
  const lost = session.newStream();
  lost.end();
  for (let i = 0; i < MAX_KEPT_STREAMS; i++) {
    const stream = session.newStream();
    stream.send("x");
    stream.end();
  }
  session.newStream();
  assertEquals(session.resume("s2.0"), undefined);
  assertEquals(session.resume("s1.0") !== undefined, true);
  assertEquals(session.resume("nothing"), undefined);
  assertEquals(session.resume("s99.0"), undefined);
  open.end();
  session.end();
});
