/**
 * Packs the part of the library that runs on Node as an npm tarball, `dist/rousseau-VERSION.tgz`.
 *
 * @module
 */
import ts from "typescript";
import about from "../deno.json" with { type: "json" };

const root = new URL("../", import.meta.url).pathname;
const folder = `${root}dist/npm`;

/** What npm is told of the package. */
const MANIFEST = {
  name: "rousseau",
  version: about.version,
  description: "Commands that are command-line verbs and MCP tools at once",
  license: about.license,
  type: "module",
  engines: { node: ">=20" },
  exports: { ".": { types: "./types/node.d.ts", default: "./node.js" } },
  files: ["*.js", "types"],
};

const TO_BASE64 =
  `Buffer.from(bytes).toString(options.alphabet ?? "base64").replace(options.omitPadding ? /=+$/ : "", "")`;
const FROM_BASE64 =
  `(/^[\\w+/-]*={0,2}$/.test(text) ? Uint8Array.from(Buffer.from(text, options.alphabet ?? "base64")) : (() => { throw new SyntaxError("not base64"); })())`;
const WITH_RESOLVERS = `function withResolvers() {
  let resolve, reject;
  const promise = new Promise((res, rej) => (resolve = res, reject = rej));
  return { promise, resolve, reject };
}
`;

await Deno.remove(folder, { recursive: true }).catch(() => {});
await Deno.mkdir(`${folder}/types`, { recursive: true });
await run(Deno.execPath(), [
  "bundle",
  `--config=${root}deno.json`,
  "--quiet",
  "--platform=browser",
  "--code-splitting",
  `--outdir=${folder}`,
  `${root}lib/node.ts`,
]);
await adapt();
await declare();
await Deno.writeTextFile(
  `${folder}/package.json`,
  `${JSON.stringify(MANIFEST, null, 2)}\n`,
);
await Deno.copyFile(`${root}LICENSE`, `${folder}/LICENSE`);
await run("npm", ["pack", "--silent", `--pack-destination=${root}dist`]);

/** Puts in what Node 20 lacks, without touching the globals of whoever uses the package. */
async function adapt(): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(".js")) continue;
    const path = `${folder}/${name}`;
    const text = (await Deno.readTextFile(path))
      .replaceAll("bytes.toBase64(options)", TO_BASE64)
      .replaceAll("Uint8Array.fromBase64(text, options)", FROM_BASE64);
    const adapted = text.replaceAll("Promise.withResolvers(", "withResolvers(");
    await Deno.writeTextFile(
      path,
      adapted === text ? text : `${adapted}\n${WITH_RESOLVERS}`,
    );
  }
}

/** Writes the types. What is wrong with the code, `deno check` has told; here types are only written down. */
async function declare(): Promise<void> {
  const files = new Map<string, string>();
  const program = ts.createProgram([`${root}lib/node.ts`], {
    allowImportingTsExtensions: true,
    declaration: true,
    emitDeclarationOnly: true,
    exactOptionalPropertyTypes: true,
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: ts.ModuleKind.NodeNext,
    skipLibCheck: true,
    strict: true,
    target: ts.ScriptTarget.ESNext,
    types: [],
  });
  program.emit(undefined, (path, text) => {
    files.set(path.split("/").at(-1)!.replace(/\.d\.ts$/, ""), text);
  });
  const wanted = ["node"];
  for (const name of wanted) {
    const text = files.get(name)!.replaceAll(
      /(from |import\()"\.\/(\w+)\.ts"/g,
      (_, before, other) => {
        if (!wanted.includes(other)) wanted.push(other);
        return `${before}"./${other}.js"`;
      },
    );
    await Deno.writeTextFile(`${folder}/types/${name}.d.ts`, text);
  }
}

async function run(program: string, args: string[]): Promise<void> {
  const { success } = await new Deno.Command(program, {
    args,
    cwd: folder,
    stdout: "null",
  }).spawn().status;
  if (!success) throw new Error(`Cannot pack: ${program} ${args[0]} failed`);
}
