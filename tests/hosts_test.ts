import { assertEquals, assertStringIncludes } from "@std/assert";
import { hostConfig, HOSTS } from "../lib/host_config.ts";
import {
  conversationKey,
  MAX_KEY_CHARS,
  rootsFromEnvironment,
  unexpanded,
} from "../lib/hosts.ts";
import { fakePlatform } from "./fake_files.ts";

const launch = {
  command: "/opt/rousseau",
  args: ["mcp", "--root", "/home/ann/my work"],
};

Deno.test("rootsFromEnvironment lists what is set, ours first", () => {
  const platform = fakePlatform("linux", {
    variables: {
      INIT_CWD: "/w/task",
      WORKSPACE_FOLDER_PATHS: "/w/a,/w/b",
      CLAUDE_PROJECT_DIR: "/w/c",
      ROUSSEAU_ROOT: "/w/d:/w/e",
    },
  });
  assertEquals(rootsFromEnvironment(platform), [
    { name: "ROUSSEAU_ROOT", folders: ["/w/d", "/w/e"], explicit: true },
    { name: "CLAUDE_PROJECT_DIR", folders: ["/w/c"], explicit: false },
    {
      name: "WORKSPACE_FOLDER_PATHS",
      folders: ["/w/a", "/w/b"],
      explicit: false,
    },
    { name: "INIT_CWD", folders: ["/w/task"], explicit: false },
  ]);
  assertEquals(rootsFromEnvironment(fakePlatform("linux")), []);
});

Deno.test("WORKSPACE_FOLDER_PATHS is read in every form that was seen", () => {
  const folders = (os: "linux" | "windows", value: string) =>
    rootsFromEnvironment(
      fakePlatform(os, { variables: { WORKSPACE_FOLDER_PATHS: value } }),
    )[0]?.folders;
  assertEquals(folders("linux", "/w/a"), ["/w/a"]);
  assertEquals(folders("linux", "/w/a, b"), ["/w/a, b"]);
  assertEquals(folders("linux", '["/w/a","/w/b"]'), ["/w/a", "/w/b"]);
  assertEquals(folders("linux", "file:///w/a%20b"), ["/w/a b"]);
  assertEquals(folders("linux", "/w/a:/w/b"), ["/w/a", "/w/b"]);
  assertEquals(folders("windows", "/c:/w/a"), ["c:/w/a"]);
  assertEquals(folders("windows", "C:\\w\\a;D:\\b"), ["C:\\w\\a", "D:\\b"]);
});

Deno.test("unexpanded finds a placeholder that the host left in", () => {
  assertEquals(unexpanded("${workspaceFolder}/x"), "${workspaceFolder}");
  assertEquals(unexpanded("/w/$x/{y}"), undefined);
});

Deno.test("conversationKey takes the request's thread before the environment's session", () => {
  const none = () => undefined;
  assertEquals(conversationKey({}, none), undefined);
  assertEquals(conversationKey({ threadId: 7 }, none), undefined);
  assertEquals(conversationKey({ threadId: "t" }, () => "s"), "threadId:t");
  assertEquals(
    conversationKey(
      {},
      (name) => name === "COPILOT_AGENT_SESSION_ID" ? "c" : undefined,
    ),
    "COPILOT_AGENT_SESSION_ID:c",
  );
  assertEquals(
    conversationKey({ threadId: "x".repeat(MAX_KEY_CHARS + 1) }, none)?.length,
    "threadId:".length + MAX_KEY_CHARS,
  );
});

Deno.test("hostConfig gives every host a block that parses and names the executable", () => {
  for (const host of HOSTS) {
    for (const os of ["linux", "darwin", "windows"] as const) {
      const { block, language, file } = hostConfig(
        host,
        fakePlatform(os),
        launch,
      );
      assertStringIncludes(block, "/opt/rousseau");
      assertStringIncludes(block, "/home/ann/my work");
      if (language === "json") JSON.parse(block);
      assertEquals(file.includes(os === "windows" ? "/" : "\\"), false, file);
    }
  }
});

Deno.test("hostConfig writes each host's own shape", () => {
  const block = (host: typeof HOSTS[number]) =>
    JSON.parse(hostConfig(host, fakePlatform("linux"), launch).block);
  const { command, args } = launch;
  assertEquals(block("claude-desktop"), {
    mcpServers: { rousseau: { command, args } },
  });
  assertEquals(block("claude-code"), {
    mcpServers: { rousseau: { type: "stdio", command, args } },
  });
  assertEquals(block("cursor"), {
    mcpServers: { rousseau: { command, args } },
  });
  for (const host of ["gemini", "qwen"] as const) {
    assertEquals(block(host), { mcpServers: { rousseau: { command, args } } });
    assertEquals(
      hostConfig(host, fakePlatform("linux"), launch).file,
      `/home/ann/.${host}/settings.json`,
    );
  }
  assertEquals(block("copilot"), {
    mcpServers: { rousseau: { type: "local", command, args, tools: ["*"] } },
  });
  assertEquals(block("vscode"), {
    servers: { rousseau: { type: "stdio", command, args } },
  });
  assertEquals(block("opencode").mcp.rousseau, {
    type: "local",
    command: [command, ...args],
    enabled: true,
  });
  assertEquals(block("zed").context_servers.rousseau, {
    command,
    args,
    env: {},
  });
  assertEquals(
    hostConfig("codex", fakePlatform("windows"), {
      command: "C:\\r\\rousseau.exe",
      args: ["mcp"],
    }).block,
    '[mcp_servers.rousseau]\ncommand = "C:\\\\r\\\\rousseau.exe"\nargs = ["mcp"]',
  );
});

Deno.test("hostConfig names each platform's file", () => {
  const file = (os: "linux" | "darwin" | "windows") =>
    hostConfig("claude-desktop", fakePlatform(os), launch).file;
  assertEquals(
    file("darwin"),
    "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json",
  );
  assertEquals(
    file("windows"),
    "C:\\Users\\Ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
  );
  assertEquals(
    file("linux"),
    "/home/ann/.config/Claude/claude_desktop_config.json",
  );
});

Deno.test("hostConfig quotes its command line for a shell", () => {
  const { notes } = hostConfig("claude-code", fakePlatform("linux"), launch);
  assertStringIncludes(
    notes.join("\n"),
    "rousseau -- /opt/rousseau mcp --root '/home/ann/my work'",
  );
});
