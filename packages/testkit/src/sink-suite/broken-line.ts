import assert from 'node:assert/strict';
import type { CommitOutcome } from '@weir/core/contracts';
import type { BrokenLine, SinkBench, SinkCheck } from './fixture.js';
import { allCommitted, markOf, runOne } from './running-sink.js';

/** More operations than any commit of one checkpoint needs. */
const MOST_STEPS = 200;

/** What is left when the outside fails, or the process dies, at any operation of a commit or of what comes before. */
export function brokenLineChecks<T>(check: SinkCheck<T>): void {
  check('shows all of a piece or nothing, and has noted it before, wherever its process dies', async (bench) => {
    await eachStep(bench, 'dies', async (arm, at) => {
      const first = await runOne(bench, 2 * at);
      await first.write(at * 30, at * 30 + 25);
      const id = 10 * at;
      const prepared = await first.prepare(id);
      const broken = arm();
      await firstOf(first.commit(prepared), broken.reached);
      const isReached = broken.heal();
      const seen = (await bench.fixture.visible()).length - (at - 1) * 25;
      assert(seen === 0 || seen === 25, `${String(seen)} of 25 records can be seen`);
      const mark = await markOf(bench);
      assert(
        seen === 0 || mark >= id,
        `output of checkpoint ${String(id)} can be seen, and the mark is ${String(mark)}`,
      );
      const second = await runOne(bench, 2 * at + 1, { restoredFrom: { lineage: 'lineage', checkpointId: id } });
      allCommitted(await second.commit(prepared));
      await bench.seen(...Array.from({ length: at }, (_, i) => [(i + 1) * 30, (i + 1) * 30 + 25] as const));
      return isReached;
    });
  });

  check('never says that it has committed what it could not', async (bench) => {
    await eachStep(bench, 'fails', async (arm, at) => {
      const first = await runOne(bench, at);
      await first.write(at * 30, at * 30 + 25);
      const prepared = await first.prepare(at);
      const broken = arm();
      const outcomes = await first.commit(prepared).catch((): CommitOutcome[] => []);
      const isReached = broken.heal();
      const said = outcomes.filter(({ kind }) => kind === 'committed' || kind === 'already-committed').length;
      assert(
        said === 0 || (await bench.fixture.visible()).length === at * 25,
        'said to be committed, and not to be seen',
      );
      for (const outcome of outcomes)
        assert.notEqual(outcome.kind, 'failed', 'a line that breaks is no reason to give up');
      allCommitted(await first.commit(prepared));
      await bench.seen(...Array.from({ length: at }, (_, i) => [(i + 1) * 30, (i + 1) * 30 + 25] as const));
      return isReached;
    });
  });

  check('never says that it has prepared what it could not', async (bench) => {
    if (bench.fixture.line === undefined) return;
    let kept = 0;
    const ranges: (readonly [number, number])[] = [];
    await eachStep(bench, 'fails', async (arm, at) => {
      const first = await runOne(bench, 2 * at);
      const broken = arm();
      const prepared = await (async () => {
        await first.write(at * 30, at * 30 + 25);
        return first.prepare(at);
      })().catch(() => undefined);
      const isReached = broken.heal();
      await first.close().catch(() => undefined);
      const second = await runOne(bench, 2 * at + 1);
      if (prepared !== undefined) {
        allCommitted(await second.commit(prepared));
        ranges.push([at * 30, at * 30 + 25]);
        kept++;
      }
      await bench.seen(...ranges);
      return isReached;
    });
    assert(kept > 0, 'what is prepared while nothing fails');
  });
}

/** Settles with whichever comes first: of a process that died the other never does. */
function firstOf(work: Promise<unknown>, death: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      resolve();
    };
    work.then(over, over);
    void death.then(over);
  });
}

/** Runs `body` with the line broken at the first operation, then the second, until one is not reached any more. */
async function eachStep<T>(
  bench: SinkBench<T>,
  how: 'fails' | 'dies',
  body: (arm: () => BrokenLine, at: number) => Promise<boolean>,
): Promise<void> {
  const { line } = bench.fixture;
  if (line === undefined) return;
  for (let at = 1; at < MOST_STEPS; at++) if (!(await body(() => line.breakAt(at, how), at))) return;
  assert.fail(`still at work after ${String(MOST_STEPS)} operations`);
}
