import assert from 'node:assert/strict';
import { content, equalBytes, find, listed, writeCheckpoint, type Check } from './fixture.js';

/** The mark of a finished job. */
export function finishedChecks(check: Check): void {
  check('keeps the mark of a finished job until it is cleared', async ({ open }) => {
    const job = await open();
    await job.clearFinished();
    for (const length of [5, 3, 0, 30_000]) {
      await job.writeFinished(content(length));
      const bytes = await job.readFinished();
      assert(bytes, 'the mark is there');
      equalBytes(bytes, content(length));
    }
    await job.clearFinished();
    await job.clearFinished();
    assert.equal(await job.readFinished(), undefined);
  });

  check('keeps mark and checkpoints apart', async ({ open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    await job.writeFinished(content(5));
    assert.deepEqual(await listed(job), ['1']);
    await job.delete(await find(job, 1));
    equalBytes((await job.readFinished()) ?? new Uint8Array(0), content(5));
    await writeCheckpoint(job, 2);
    await job.clearFinished();
    assert.deepEqual(await listed(job), ['2']);
  });
}

/** What a new process finds. */
export function durabilityChecks(check: Check): void {
  check('shows another process what is complete and what is not', async ({ open, openInAnotherProcess }) => {
    const job = await open();
    const [handle] = await writeCheckpoint(job, 1);
    await job.create(2);
    await job.writeFinished(content(5));
    await job.writeCommitted(await find(job, 1), content(6));
    const seen = await openInAnotherProcess();
    assert.deepEqual(await listed(seen), ['1', '2?']);
    const stored = await find(seen, 1);
    equalBytes(await seen.readMetadata(stored), Uint8Array.of(1));
    equalBytes(await seen.read(stored, handle!), content(100_000, 1));
    equalBytes((await seen.readFinished()) ?? new Uint8Array(0), content(5));
    equalBytes((await seen.readCommitted(stored)) ?? new Uint8Array(0), content(6));
    await seen.delete(await find(seen, 2));
    assert.deepEqual(await listed(await open()), ['1']);
  });

  check('reads the same as often as it is asked', async ({ open, openInAnotherProcess }) => {
    const [handle] = await writeCheckpoint(await open(), 1);
    for (let i = 0; i < 5; i++) {
      const job = await openInAnotherProcess();
      const stored = await job.resolve((await find(job, 1)).pointer);
      equalBytes(await job.readMetadata(stored), Uint8Array.of(1));
      equalBytes(await job.read(stored, handle!), content(100_000, 1));
      await job.close();
    }
  });
}
