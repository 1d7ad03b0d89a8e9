import assert from 'node:assert/strict';
import type { CommitOutcome } from '@weir/core/contracts';
import { sinkContext } from '../contexts.js';
import type { SinkCheck } from './fixture.js';
import { allCommitted, markOf, run, runOne } from './running-sink.js';

/** Where output goes, and what is remembered there. */
export function destinationChecks<T>(check: SinkCheck<T>): void {
  check('says where its output is committed, the same to every process', async (bench) => {
    const first = await runOne(bench, 1);
    assert(first.destination, 'a sink with a committer has a destination');
    const { id, name, committed } = first.destination;
    assert(typeof id === 'string' && id !== '', 'an id');
    assert(typeof name === 'string' && name !== '', 'a name for messages');
    assert(Array.isArray(committed), 'a list of marks');
    await first.write(0, 5);
    allCommitted(await first.commit(await first.prepare(1)));
    assert.equal((await runOne(bench, 2)).destination?.id, id, 'the id that another process is told');
  });

  check('remembers in its destination how far commits have come, for other processes', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1);
    await write(0, 5);
    const one = await prepare(3);
    assert.equal(await markOf(bench), 0, 'the mark before anything was committed');
    allCommitted(await commit(one));
    assert.equal(await markOf(bench), 3, 'the mark after checkpoint 3');
    await write(5, 10);
    const two = await prepare(7);
    assert.equal(await markOf(bench), 3, 'the mark while checkpoint 7 is prepared');
    allCommitted(await commit(two));
    allCommitted(await commit(one));
    assert.equal(await markOf(bench), 7, 'the mark after checkpoint 7, and 3 again');
  });

  check('remembers what a lineage went on from', async (bench) => {
    const first = await runOne(bench, 1, { lineage: 'before' });
    await first.write(0, 5);
    allCommitted(await first.commit(await first.prepare(1)));
    const from = { lineage: 'before', checkpointId: 1 };
    const second = await runOne(bench, 2, { lineage: 'after', restoredFrom: from });
    await second.write(5, 10);
    allCommitted(await second.commit(await second.prepare(2)));
    const seen = await bench.fixture.sink().destination?.(sinkContext({ attempt: 3, lineage: 'after' }));
    const marks = new Map(seen?.committed.map((mark) => [mark.lineage, mark]));
    assert.equal(marks.get('before')?.checkpointId, 1);
    assert.equal(marks.get('after')?.checkpointId, 2);
    assert.deepEqual({ ...marks.get('after')?.from }, from);
  });

  check('keeps the output of lineages apart whose names and numbers are alike', async (bench) => {
    for (const [i, lineage] of ['a', 'aa', 'a-1', 'a.sink'].entries()) {
      const restoredFrom = i === 0 ? undefined : { lineage: 'a', checkpointId: i };
      const { write, prepare, commit, close } = await runOne(bench, 1, { lineage, restoredFrom });
      await write(i * 10, i * 10 + 10);
      const prepared = await prepare(i + 1);
      allCommitted(await commit(prepared));
      await bench.seen([0, i * 10 + 10]);
      await close();
      const again = await runOne(bench, 2, { lineage, restoredFrom: { lineage, checkpointId: i + 1 } });
      allCommitted(await again.commit(prepared));
      await again.close();
      await bench.seen([0, i * 10 + 10]);
    }
  });

  check('keeps the output of sinks apart whose names are alike', async (bench) => {
    const sinks = [];
    for (const uid of ['out', 'out1', 'out-1', 'out.1']) sinks.push(await runOne(bench, 1, { uid }));
    const prepared = [];
    for (const [i, { write, prepare }] of sinks.entries()) {
      await write(i * 10, i * 10 + 10);
      prepared.push(await prepare(1));
    }
    for (const [i, { commit }] of sinks.entries()) {
      allCommitted(await commit(prepared[i]!));
      await bench.seen([0, i * 10 + 10]);
    }
  });

  check('commits what it is told to, and nothing whose numbers begin alike', async (bench) => {
    const { write, prepare, commit } = await runOne(bench, 1, { parallelism: 12 });
    const prepared = [];
    for (let i = 0; i < 12; i++) {
      await write(i, i + 1);
      prepared.push(await prepare(i + 1));
    }
    allCommitted(await commit(prepared[0]!));
    await bench.seen([0, 1]);
    allCommitted(await commit(prepared[1]!));
    await bench.seen([0, 2]);
    const wide = await run(bench, 2, { parallelism: 12 });
    const parts = [];
    for (const [i, subtask] of wide.subtasks.entries()) {
      await subtask.write(20 + i, 21 + i);
      parts.push(await subtask.prepare(20));
    }
    allCommitted(await wide.subtasks[1]!.commit(parts[1]!));
    await bench.seen([0, 2], [21, 22]);
  });

  check('takes output for committed that was taken away after it was', async (bench) => {
    const { fixture } = bench;
    if (fixture.takeVisible === undefined) return;
    const first = await runOne(bench, 1);
    await first.write(0, 12);
    const prepared = await first.prepare(1);
    allCommitted(await first.commit(prepared));
    await fixture.takeVisible();
    for (const attempt of [2, 3]) {
      const again = await runOne(bench, attempt);
      allCommitted(await again.commit(prepared));
      await bench.seen();
      await again.write(attempt * 20, attempt * 20 + 5);
      allCommitted(await again.commit(await again.prepare(attempt)));
      await bench.seen([attempt * 20, attempt * 20 + 5]);
      await fixture.takeVisible();
    }
  });

  check('goes on saying that output is lost', async (bench) => {
    const { fixture } = bench;
    if (fixture.losePrepared === undefined) return;
    const first = await run(bench, 1, { parallelism: 2 });
    const [a, b] = first.subtasks;
    await a!.write(0, 12);
    const lost = await a!.prepare(1);
    await fixture.losePrepared();
    await b!.write(20, 30);
    const rest = await b!.prepare(1);
    const failed: CommitOutcome[] = [];
    failed.push(...(await a!.commit(lost).catch(() => [])));
    allCommitted(await b!.commit(rest));
    for (const attempt of [2, 3]) {
      const again = await runOne(bench, attempt);
      failed.push(...(await again.commit(lost).catch(() => [])));
    }
    for (const { kind } of failed) assert(kind === 'failed' || kind === 'retry', `not ${kind}`);
    await bench.seen([20, 30]);
  });

  check('never changes what it has prepared', async (bench) => {
    const first = await runOne(bench, 1);
    await first.write(0, 5);
    const payloads = (await first.writer.prepareCommit?.(1, 'checkpoint')) ?? [];
    const before = structuredClone(payloads);
    await first.write(5, 12);
    await first.prepare(2);
    await first.write(12, 20);
    assert.deepEqual(payloads, before, 'the payloads of the first checkpoint, which later ones hold as well');
    await first.close();
    assert.deepEqual(payloads, before, 'the payloads after the writer was closed');
  });
}
