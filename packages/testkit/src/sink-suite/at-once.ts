import type { SinkGrade } from '@weir/core/contracts';
import type { SinkCheck } from './fixture.js';
import { allCommitted, runOne } from './running-sink.js';

/** Output that appears when it is written, at the latest when it is flushed. */
export function atOnceChecks<T>(check: SinkCheck<T>, grade: SinkGrade): void {
  check('has handed over everything once a barrier is prepared', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    await write(0, 25);
    allCommitted(await commit(await prepare(1)));
    await bench.seen([0, 25]);
    await write(25, 3000, 500);
    await write(3000, 3001);
    allCommitted(await commit(await prepare(2)));
    await bench.seen([0, 3001]);
    await write(3001, 3002);
    allCommitted(await commit(await prepare(3)));
    await bench.seen([0, 3002]);
  });

  check('keeps what was handed over when another attempt starts', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 10);
    allCommitted(await first.commit(await first.prepare(1)));
    await first.close();
    const second = await runOne(bench, 2);
    await second.write(10, 20);
    allCommitted(await second.commit(await second.prepare(2)));
    await bench.seen([0, 20]);
  });

  if (grade === 'idempotent') {
    check('shows records once that are written again', async (bench) => {
      for (const attempt of [1, 2]) {
        const { write, prepare, commit } = await runOne(bench, attempt);
        await write(0, 10);
        await write(5, 15);
        allCommitted(await commit(await prepare(attempt)));
      }
      await bench.seen([0, 15]);
    });
  }
}
