import assert from 'node:assert/strict';
import type { SinkCheck } from './fixture.js';
import { allCommitted, runOne } from './running-sink.js';

const BATCH = 1000;

/** A writer that keeps records itself until a checkpoint has passed. */
export function boundCheck<T>(check: SinkCheck<T>, mostHeld: number): void {
  check('waits for a barrier once it holds as much as it may, and then goes on', async (bench) => {
    let isComing = (): void => undefined;
    let isThere = false;
    const nextBarrier = (): Promise<void> =>
      new Promise((resolve) => {
        if (isThere) resolve();
        isComing = resolve;
      });
    const { writer, prepare, commit } = await runOne(bench, 1, { nextBarrier });
    let written = 0;
    let waiting: void | Promise<void> = undefined;
    while (waiting === undefined && written <= mostHeld) {
      waiting = writer.write(bench.records(written, written + BATCH));
      written += BATCH;
    }
    assert(waiting !== undefined, `after ${String(written)} records it takes more`);
    isThere = true;
    isComing();
    await waiting;
    allCommitted(await commit(await prepare(1)));
    await bench.seen([0, written]);
    await writer.write(bench.records(written, written + 1));
    allCommitted(await commit(await prepare(2)));
    await bench.seen([0, written + 1]);
  });
}
