import assert from 'node:assert/strict';
import { content, equalBytes, failsWith, find, listed, writeCheckpoint, type Check } from './fixture.js';

/** The mark that the output of a checkpoint is committed. */
export function committedChecks(check: Check): void {
  check('keeps the mark that the output of a checkpoint is committed, for that checkpoint alone', async ({ open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    await writeCheckpoint(job, 2);
    const [one, two] = [await find(job, 1), await find(job, 2)];
    assert.equal(await job.readCommitted(one), undefined);
    for (const length of [5, 300]) {
      await job.writeCommitted(one, content(length));
      equalBytes((await job.readCommitted(one)) ?? new Uint8Array(0), content(length));
    }
    assert.equal(await job.readCommitted(two), undefined);
    equalBytes(await job.readMetadata(one), Uint8Array.of(1));
    await job.delete(one);
    assert.equal(await job.readCommitted(one), undefined);
    assert.deepEqual(await listed(job), ['2']);
  });

  check('marks nothing that is not there or not complete', async ({ open }) => {
    const job = await open();
    await writeCheckpoint(job, 1);
    const gone = await find(job, 1);
    await job.delete(gone);
    const open2 = await job.create(2);
    for (const stored of [gone, open2]) {
      await failsWith('STORAGE_FAILED', () => job.writeCommitted(stored, content(5)));
      assert.equal(await job.readCommitted(stored), undefined);
    }
    assert.deepEqual(await listed(job), ['2?']);
  });
}
