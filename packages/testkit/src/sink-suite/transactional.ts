import assert from 'node:assert/strict';
import type { SinkCheck } from './fixture.js';
import { allCommitted, run, runOne } from './running-sink.js';

/** Output that appears when a checkpoint commits it. */
export function transactionalChecks<T>(check: SinkCheck<T>): void {
  check('shows nothing before it is committed, and then everything', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    await write(0, 25);
    await bench.seen();
    const prepared = await prepare(1);
    await bench.seen();
    allCommitted(await commit(prepared));
    await bench.seen([0, 25]);
  });

  check('shows nothing of a lot of output before it is committed', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    await write(0, 5000, 1000);
    await write(5000, 5003, 1);
    await bench.seen();
    allCommitted(await commit(await prepare(1)));
    await bench.seen([0, 5003]);
  });

  check('prepares only what was written since it prepared last', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    for (const [checkpoint, from, to] of [
      [1, 0, 3],
      [2, 3, 40],
      [3, 40, 41],
    ] as const) {
      await write(from, to);
      allCommitted(await commit(await prepare(checkpoint)));
      await bench.seen([0, to]);
    }
  });

  check('makes nothing of a checkpoint without records', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    allCommitted(await commit(await prepare(1)));
    await bench.seen();
    await write(0, 5);
    allCommitted(await commit(await prepare(2)));
    allCommitted(await commit(await prepare(3)));
    await bench.seen([0, 5]);
  });

  check('shows output once that is committed again, also by another process', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 12);
    const prepared = await first.prepare(1);
    allCommitted(await first.commit(prepared));
    allCommitted(await first.commit(prepared));
    await bench.seen([0, 12]);
    const second = await runOne(bench, 2);
    allCommitted(await second.commit(prepared));
    await bench.seen([0, 12]);
  });

  check('commits in another process what was prepared in one that died', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 12);
    const prepared = await first.prepare(1);
    const second = await runOne(bench, 2);
    allCommitted(await second.commit(prepared));
    await bench.seen([0, 12]);
  });

  check('never says that output is committed which is lost', async (bench) => {
    const { fixture } = bench;
    if (fixture.losePrepared === undefined) return;
    const first = await runOne(bench, 1);
    await first.write(0, 12);
    const prepared = await first.prepare(1);
    assert(prepared.length > 0, 'written records make a committable');
    await fixture.losePrepared();
    const second = await runOne(bench, 2);
    const outcomes = await second.commit(prepared).catch(() => []);
    for (const { kind } of outcomes) assert(kind === 'failed' || kind === 'retry', `not ${kind}`);
    await bench.seen();
  });

  check('never shows what a process wrote and did not prepare before it died', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 10);
    const prepared = await first.prepare(1);
    await first.write(10, 5000, 1000);
    const second = await runOne(bench, 2);
    allCommitted(await second.commit(prepared));
    await second.write(10, 30);
    allCommitted(await second.commit(await second.prepare(2)));
    await bench.seen([0, 30]);
  });

  check('abandons what is not prepared when it is closed', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 10);
    const prepared = await first.prepare(1);
    await first.write(10, 20);
    await first.close();
    await bench.seen();
    const second = await runOne(bench, 2);
    allCommitted(await second.commit(prepared));
    await bench.seen([0, 10]);
  });

  check('keeps prepared output until an attempt that restores it has committed it', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 10);
    const prepared = await first.prepare(1);
    for (const attempt of [2, 3]) {
      const { write, close } = await runOne(bench, attempt);
      await write(10, 20);
      await close();
    }
    const last = await runOne(bench, 4);
    allCommitted(await last.commit(prepared));
    await last.write(10, 20);
    allCommitted(await last.commit(await last.prepare(2)));
    await bench.seen([0, 20]);
  });

  check('keeps what a savepoint holds while later attempts start, write and commit', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 10);
    const prepared = await first.prepare(1, 'savepoint');
    const second = await runOne(bench, 2);
    await second.write(10, 20);
    const preparedToo = await second.prepare(2);
    await second.prepare(3, 'savepoint');
    await second.close();
    const third = await runOne(bench, 3);
    await third.write(20, 30);
    allCommitted(await third.commit(await third.prepare(4)));
    await bench.seen([20, 30]);
    allCommitted(await third.commit(preparedToo));
    allCommitted(await third.commit(prepared));
    await bench.seen([0, 30]);
  });

  check('commits the output of several checkpoints at once, of aborted ones too', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    await write(0, 10);
    const one = await prepare(1);
    await write(10, 20);
    const two = await prepare(2);
    await write(20, 30);
    const three = await prepare(3);
    allCommitted(await commit([...one, ...two]));
    await bench.seen([0, 20]);
    allCommitted(await commit([...one, ...two, ...three]));
    await bench.seen([0, 30]);
  });

  check('keeps the output of subtasks apart, whichever of them commits it', async (bench) => {
    const { subtasks } = await run(bench, 1, { parallelism: 3 });
    const prepared = [];
    for (const [i, { write }] of subtasks.entries()) await write(i * 10, i * 10 + 10);
    for (const { prepare } of subtasks) prepared.push(await prepare(1));
    allCommitted(await subtasks[2]!.commit(prepared[0]!));
    await bench.seen([0, 10]);
    allCommitted(await subtasks[0]!.commit([...prepared[2]!, ...prepared[1]!]));
    await bench.seen([0, 30]);
  });

  check('publishes without checkpoints when it is told to at the end', async (bench) => {
    const { write, prepare, commit, close } = await runOne(bench, 1, { checkpointing: false });
    await write(0, 5000, 1000);
    allCommitted(await commit(await prepare(0)));
    await close();
    await bench.seen([0, 5000]);
  });
}
