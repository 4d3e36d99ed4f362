/**
 * The environment of children: built from nothing, so that what the host put into ours reaches a command only when it
 * is on a list.
 *
 * @module
 */
import type { Config } from "./config.ts";
import type { Platform } from "./platform.ts";

/** Variables that tell programs who and where they are. */
const BASIC = words(`
  PATH HOME USER LOGNAME SHELL TMPDIR TZ COLUMNS LINES CI
  LANG LANGUAGE LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY
  LC_NAME LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME LOCALE_ARCHIVE
  XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_BIN_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS
  NO_PROXY no_proxy SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE
  CURL_CA_BUNDLE GIT_SSL_CAINFO GIT_SSL_CAPATH PIP_CERT AWS_CA_BUNDLE CARGO_HTTP_CAINFO DENO_CERT DENO_TLS_CA_STORE
`);

/** Where toolchains live. */
const TOOLCHAINS = words(`
  JAVA_HOME JDK_HOME GRADLE_HOME GRADLE_USER_HOME MAVEN_HOME M2_HOME SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
  GOPATH GOROOT GOBIN GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN
  NVM_DIR FNM_DIR VOLTA_HOME N_PREFIX PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR DENO_INSTALL DENO_INSTALL_ROOT
  VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION PIPX_HOME POETRY_HOME UV_CACHE_DIR
  RBENV_ROOT GEM_HOME GEM_PATH BUNDLE_PATH COMPOSER_HOME DOTNET_ROOT FLUTTER_ROOT
  HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR NIX_PATH NIX_PROFILES
  PKG_CONFIG_PATH MANPATH
`);

/** Without these, programs on Windows do not start. */
const WINDOWS = words(`
  SystemRoot SystemDrive windir ComSpec PATHEXT TEMP TMP USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA
  ProgramData ProgramFiles ProgramFiles(x86) ProgramW6432 CommonProgramFiles CommonProgramFiles(x86)
  CommonProgramW6432 PUBLIC USERNAME USERDOMAIN COMPUTERNAME OS NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE
  PSModulePath MSYS2_PATH_TYPE
`);

/** Proxies, passed on without user name and password. */
const PROXIES = words(`
  HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY http_proxy https_proxy ftp_proxy all_proxy
`);

/** Nothing may wait for a key: no pager, no editor, no prompt, no colours. */
const QUIET: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_MERGE_AUTOEDIT: "no",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
};

/** Where programs are looked for when we have no PATH ourselves. */
const DEFAULT_PATH =
  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Folders that are in every PATH: one that names no other was not made by a login shell. */
const SYSTEM_FOLDERS = words(`
  /bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /usr/games /usr/local/games /snap/bin
`);

/** What {@linkcode childEnvironment} needs to know. */
export interface EnvironmentSources {
  /** Whose variables are read. */
  platform: Platform;
  /** Names that the operator passes on. */
  config: Pick<Config, "env" | "bash">;
  /** Names of all our variables, for `PREFIX*`; empty when they may not be listed. */
  names?: readonly string[];
  /** The login shell's PATH, where it was asked. */
  loginPath?: string | undefined;
}

/** The environment of every child, before the call's own `env` is added. */
export function childEnvironment(
  { platform, config, names = [], loginPath }: EnvironmentSources,
): Record<string, string> {
  const out: Record<string, string> = {};
  const pass = (name: string) => {
    const value = platform.env(name);
    if (value !== undefined) out[name] = value;
  };
  for (const name of [...BASIC, ...TOOLCHAINS]) pass(name);
  if (platform.os === "windows") WINDOWS.forEach(pass);
  for (const name of PROXIES) {
    const value = platform.env(name);
    if (value !== undefined) out[name] = withoutCredentials(value);
  }
  if (platform.home !== undefined && platform.os !== "windows") {
    out.HOME ??= platform.home;
  }
  Object.assign(out, QUIET);
  for (const pattern of [...config.env, ...config.bash.envPassthrough]) {
    for (const name of expand(pattern, names)) {
      if (!isLoaderVariable(name)) pass(name);
    }
  }
  if (platform.os !== "windows") {
    out.PATH = mergePaths(loginPath, ownPath(platform) || DEFAULT_PATH);
  }
  return out;
}

/**
 * What is wrong with the names in a call's `env`, or undefined when nothing is. The dynamic loader's variables would
 * let a command pose as another.
 */
export function environmentFault(
  env: Readonly<Record<string, unknown>>,
): string | undefined {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      return `env: ${
        JSON.stringify(name)
      } is not a variable name: use letters, digits and _`;
    }
    if (isLoaderVariable(name)) {
      return `env: ${name} is refused: variables of the dynamic loader (LD_*, DYLD_*) are never passed to commands`;
    }
    if (typeof value !== "string") return `env: ${name} should be a string`;
    if (value.includes("\0")) return `env: ${name} contains a NUL byte`;
  }
  return undefined;
}

/**
 * Whether the login shell should be asked for its PATH: ours names nothing but system folders, as that of a program
 * started from a dock or menu does. A PATH with anything else in it was made on purpose, and is left as it is.
 */
export function wantsLoginPath(platform: Platform): boolean {
  if (platform.os === "windows") return false;
  return ownPath(platform).split(":").every((folder) =>
    folder === "" || SYSTEM_FOLDERS.includes(folder)
  );
}

/**
 * The PATH we were started with, or nothing. Deno 2.9 puts a folder with a `node` of its own in front where it finds
 * none, also when there is no PATH at all; commands should not mistake it for Node.
 */
function ownPath(platform: Platform): string {
  return (platform.env("PATH") ?? "").split(":").filter((folder) =>
    !folder.endsWith("/node_compat_bin")
  ).join(":");
}

/** The folders of `first`, then those of `then` that are not among them. */
export function mergePaths(first: string | undefined, then: string): string {
  const folders = [...(first ?? "").split(":"), ...then.split(":")];
  return [...new Set(folders.filter((folder) => folder !== ""))].join(":");
}

/** A proxy's URL without user name and password. */
export function withoutCredentials(url: string): string {
  const at = url.lastIndexOf("@");
  if (at < 0) return url;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(url)?.[0] ?? "";
  return scheme + url.slice(at + 1);
}

function expand(pattern: string, names: readonly string[]): string[] {
  if (!pattern.endsWith("*")) return [pattern];
  const prefix = pattern.slice(0, -1);
  return names.filter((name) => name.startsWith(prefix));
}

function isLoaderVariable(name: string): boolean {
  return /^(LD|DYLD)_/i.test(name);
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
