/** Tools against somebody who swaps what they use, between their check and their use. */
import { CommandError } from "../lib/command.ts";
import { openChecked, replaceFile } from "../lib/files.ts";
import { createScope } from "../lib/scope.ts";
import { fakeConfig, fakePlatform } from "./fake_files.ts";
import type { SwapOrder } from "./fixtures/swapper.ts";

/** What came of it. */
export interface RaceReport {
  rounds: number;
  /** Times that the path was swapped there and back. */
  swaps: number;
  /** Rounds that ended well, and that were refused or found nothing. */
  done: number;
  refused: number;
  /** Rounds that read what is outside. */
  readOutside: number;
  /** Rounds after which content lay outside. */
  wroteOutside: number;
}

const OUTSIDE = "what is outside";
const WRITTEN = "what was written";

/** Reads and replaces `root/d/f` while the file, or its folder, is swapped for a link to one outside. */
export async function race(
  what: "file" | "folder",
  rounds: number,
): Promise<RaceReport> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const [root, out] = [`${base}/root`, `${base}/out`];
  await Deno.mkdir(`${root}/d`, { recursive: true });
  await Deno.mkdir(`${base}/tmp`);
  await Deno.mkdir(out);
  await Deno.writeTextFile(`${root}/d/f`, "mine");
  await Deno.writeTextFile(`${out}/f`, OUTSIDE);
  const path = what === "file" ? `${root}/d/f` : `${root}/d`;
  await Deno.symlink(what === "file" ? `${out}/f` : out, `${base}/theirs`);

  const { scope } = await createScope({
    platform: fakePlatform("linux", {
      temp: `${base}/tmp`,
      home: `${base}/home`,
      cwd: root,
    }),
    config: fakeConfig({ roots: [root] }),
  });
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(import.meta.resolve("./fixtures/swapper.ts"), {
    type: "module",
  });
  const stopped = Promise.withResolvers<void>();
  worker.onmessage = () => stopped.resolve();
  const order: SwapOrder = {
    path,
    mine: `${base}/mine`,
    theirs: `${base}/theirs`,
    shared,
  };
  worker.postMessage(order);
  while (Atomics.load(shared, 1) === 0) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  const report: RaceReport = {
    rounds,
    swaps: 0,
    done: 0,
    refused: 0,
    readOutside: 0,
    wroteOutside: 0,
  };
  for (let round = 0; round < rounds; round++) {
    const write = round % 4 === 3;
    try {
      const target = await scope.resolve(
        `${root}/d/f`,
        write ? "write" : "read",
      );
      if (write) {
        await replaceFile(target, new TextEncoder().encode(WRITTEN));
      } else {
        const { file } = await openChecked(target);
        const text = await new Response(file.readable).text();
        if (text === OUTSIDE) report.readOutside++;
      }
      report.done++;
    } catch (error) {
      if (
        !(error instanceof CommandError ||
          error instanceof Deno.errors.NotFound ||
          error instanceof Deno.errors.NotADirectory)
      ) throw error;
      report.refused++;
    }
    if (write && await holdsContent(out)) {
      report.wroteOutside++;
      await Deno.writeTextFile(`${out}/f`, OUTSIDE);
    }
  }
  Atomics.store(shared, 0, 1);
  await stopped.promise;
  worker.terminate();
  report.swaps = Atomics.load(shared, 1);
  await Deno.remove(base, { recursive: true });
  return report;
}

/** Whether anything outside holds what a tool wrote. */
async function holdsContent(folder: string): Promise<boolean> {
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${name}`).catch(() => "");
    if (name === "f" ? text !== OUTSIDE : text !== "") return true;
  }
  return false;
}
