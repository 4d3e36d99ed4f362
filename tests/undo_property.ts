/** Random sequences of writes, edits, changes by others and undos, against a model of what has to come out. */
import { assert, assertEquals } from "@std/assert";
import { UndoWorld } from "./undo_world.ts";

/** How many undos there were, and what became of them. */
export interface Undos {
  undone: number;
  refused: number;
}

const NAMES = ["p", "q", "r"] as const;
const MODES = [0o644, 0o600, 0o755] as const;

/** A file that is there: its mode and content, as {@linkcode UndoWorld.state} tells. */
type State = string | undefined;

/** What a session did to one file: each state that a step found, and the one that it left. */
interface Step {
  step: number;
  before: State;
  after: State;
  /** Whether the mode that it left is not known later: it made the file, or was an undo. */
  isLoose: boolean;
}

/**
 * Plays `rounds` sequences. After each undo every file is exactly as the model says: as it was before the step or the
 * session, or, where that would undo what others did, everything is as it was before the undo.
 */
export async function tryUndos(rounds: number, seed: number): Promise<Undos> {
  const outcome: Undos = { undone: 0, refused: 0 };
  const pick = (count: number) => {
    seed = Math.imul(seed ^ seed >>> 15, 0x2c1b3c6d);
    seed = Math.imul(seed ^ seed >>> 12, 0x297a2d39) + 0x6d2b79f5 | 0;
    return ((seed ^ seed >>> 15) >>> 0) % count;
  };
  await using world = await UndoWorld.make();
  for (let round = 0; round < rounds; round++) {
    await play(world, round, pick, outcome);
  }
  return outcome;
}

async function play(
  world: UndoWorld,
  round: number,
  pick: (count: number) => number,
  outcome: Undos,
): Promise<void> {
  const { files } = world;
  await world.store.delete(undefined);
  for (const name of NAMES) {
    await Deno.remove(files.path(name)).catch(() => {});
    if (pick(2) === 0) continue;
    await files.file(name, `start ${round} ${name} w1 ${pick(100)}\n`);
    await Deno.chmod(files.path(name), MODES[pick(3)]!);
  }
  const context = world.call(`round${round}`);
  const chains = new Map<string, Step[]>(NAMES.map((name) => [name, []]));
  const note = (name: string, before: State, after: State, step: number) =>
    chains.get(name)!.push({
      step,
      before,
      after,
      isLoose: before === undefined,
    });
  for (let i = pick(10) + 1; i > 0; i--) {
    const name = NAMES[pick(3)]!;
    const path = files.path(name);
    const before = await world.state();
    const action = pick(12);
    if (action < 7) {
      const answer = action < 5
        ? await files.write(
          { path: name, content: `w${pick(5)}\n`, append: pick(3) === 0 },
          context,
        )
        : await files.edit({
          path: name,
          old_string: "w1",
          new_string: `w2 ${i}`,
          replace_all: true,
        }, context);
      const step = /undo: step (\d+)/.exec(answer.note)?.[1];
      if (step) note(name, before[name], (await world.state())[name], +step);
    } else if (action === 7) {
      await Deno.writeTextFile(path, `hand ${round} ${i}`);
    } else if (action === 8) {
      await (pick(2) === 0
        ? Deno.remove(path)
        : Deno.chmod(path, MODES[pick(3)]!)).catch(() => {});
    } else {
      await undo(world, chains, pick, outcome);
    }
  }
  await undo(world, chains, pick, outcome);
}

/** Undoes everything, a file or a step, and compares. */
async function undo(
  world: UndoWorld,
  chains: ReadonlyMap<string, Step[]>,
  pick: (count: number) => number,
  outcome: Undos,
): Promise<void> {
  const { files } = world;
  const now = await world.state();
  const all = [...chains.values()].flat();
  const how = pick(3);
  const name = NAMES[pick(3)]!;
  const one = all[pick(Math.max(1, all.length))];
  const args = how === 0 || !one
    ? {}
    : how === 1
    ? { file: files.path(name) }
    : { step: one.step };
  const { text, isError } = await world.undo(args);
  const after = await world.state();
  const said = `${JSON.stringify(args)}\n${text}\nnow ${JSON.stringify(now)}\n${
    JSON.stringify([...chains])
  }`;
  const chosen = [...chains].flatMap(([path, chain]) => {
    if (how === 1 && one && path !== name) return [];
    const steps = how === 2 && one
      ? chain.slice(chain.indexOf(one)).slice(chain.includes(one) ? 0 : 1 / 0)
      : chain;
    return steps.length === 0 ? [] : [{ path, steps }];
  });
  // What each file is to be, and whether only the session's own hands brought it from there to where it is.
  const wanted = chosen.map(({ path, steps }) => ({
    path,
    first: steps[0]!.before,
    isOurs: steps.every(({ after, isLoose }, i) =>
      isSame(
        after,
        i + 1 < steps.length ? steps[i + 1]!.before : now[path],
        isLoose,
      )
    ) && !(how === 2 && one && steps.length > 1),
  }));
  if (isError) {
    outcome.refused++;
    assertEquals(after, now, said);
    assert(wanted.length === 0 || wanted.some((file) => !file.isOurs), said);
    return;
  }
  outcome.undone++;
  for (const { path, first, isOurs } of wanted) {
    // Not ours, and still not refused: then it was already as it is to be. A mode that others gave stays.
    if (isOurs && !isSame(now[path], first, true)) {
      assertEquals(after[path], first, `${path} ${said}`);
    } else assertEquals(after[path], now[path], `${path} ${said}`);
  }
  for (const path of NAMES) {
    if (!wanted.some((file) => file.path === path)) {
      assertEquals(after[path], now[path], `${path} ${said}`);
    }
  }
  for (const [path, step] of stepsIn(text, files.root)) {
    chains.get(path)!.push({
      step,
      before: now[path],
      after: after[path],
      isLoose: true,
    });
  }
}

function isSame(a: State, b: State, isLoose: boolean): boolean {
  const content = (state: State) => state?.slice(state.indexOf(" ") + 1);
  return isLoose ? content(a) === content(b) : a === b;
}

function stepsIn(text: string, root: string): [string, number][] {
  return [...text.matchAll(/^(.+): [a-z ]+ \(undo: step (\d+)\)$/gm)]
    .map(([, path = "", step]) => [path.slice(root.length + 1), Number(step)]);
}
