import assert from 'node:assert/strict';
import type { CheckpointStorage, JobStorage, StorageLock } from '@weir/core/contracts';
import { afterWaiting, failsWith, type Bench, type Check } from './fixture.js';

const NEVER_ABORTED = new AbortController().signal;

function lock(bench: Bench, job: JobStorage, waitMs = 0): Promise<StorageLock> {
  return afterWaiting(bench.clock, job.lock({ waitMs, signal: NEVER_ABORTED }));
}

/** What holds also where nobody has to be kept out. */
export function attemptChecks(check: Check): void {
  check('tells the next owner of the lock the latest attempt', async (bench) => {
    const job = await bench.open();
    const first = await lock(bench, job);
    assert.equal(first.previousAttempt, 0);
    await first.verify();
    await first.recordAttempt(3);
    await first.recordAttempt(4);
    await first.verify();
    await first.release();
    await first.release();
    const second = await lock(bench, await bench.open());
    assert.equal(second.previousAttempt, 4);
    await second.release();
    assert.equal((await lock(bench, await bench.open())).previousAttempt, 4);
  });
}

/** Keeping other processes out. */
export function lockChecks(check: Check): void {
  check(
    'keeps a second owner out for as long as it is willing to wait, in this process and in another',
    async (bench) => {
      await lock(bench, await bench.open());
      for (const job of [await bench.open(), await bench.openInAnotherProcess()]) {
        await failsWith('STORAGE_LOCKED', () => lock(bench, job));
        const start = bench.clock.monotonic();
        await failsWith('STORAGE_LOCKED', () => lock(bench, job, 10_000));
        assert(bench.clock.monotonic() - start >= 10_000, 'it has waited');
      }
    },
  );

  check('lets another job in', async (bench) => {
    await lock(bench, await bench.open('orders'));
    const other = await lock(bench, await bench.openInAnotherProcess('payments'));
    assert.equal(other.previousAttempt, 0);
  });

  check('gives the lock to one who waits once it is released', async (bench) => {
    const owner = await lock(bench, await bench.open());
    await owner.recordAttempt(7);
    const job = await bench.openInAnotherProcess();
    const waiting = job.lock({ waitMs: 3_600_000, signal: NEVER_ABORTED });
    waiting.catch(() => undefined);
    await bench.clock.advance(250);
    await owner.release();
    const next = await afterWaiting(bench.clock, waiting);
    assert.equal(next.previousAttempt, 7);
    await next.verify();
  });

  check('stops waiting when asked to', async (bench) => {
    await lock(bench, await bench.open());
    const controller = new AbortController();
    const job = await bench.openInAnotherProcess();
    const waiting = job.lock({ waitMs: 3_600_000, signal: controller.signal });
    const reason = new Error('no longer wanted');
    controller.abort(reason);
    await assert.rejects(afterWaiting(bench.clock, waiting), (error) => error === reason);
  });

  check('gives the lock of a dead process away, and lets the dead one do nothing more', async (bench) => {
    const dead = await lock(bench, await bench.open());
    await dead.recordAttempt(5);
    const job = await bench.openInAnotherProcess();
    await killFirst(bench);
    const owner = await lock(bench, job);
    assert.equal(owner.previousAttempt, 5);
    await failsWith('STORAGE_FENCED', () => dead.verify());
    await owner.recordAttempt(6);
    await failsWith('STORAGE_FENCED', () => dead.verify());
    await failsWith('STORAGE_FENCED', () => dead.recordAttempt(7));
    await dead.release();
    await owner.verify();
    await failsWith('STORAGE_LOCKED', async () => lock(bench, await bench.openInAnotherProcess()));
  });

  check('gives the lock of a dead process to one of many who want it', async (bench) => {
    await lock(bench, await bench.open());
    const jobs = await Promise.all(Array.from({ length: 5 }, () => bench.openInAnotherProcess()));
    await killFirst(bench);
    await oneOf(bench, jobs);
  });

  check('gives a lock that nobody has to one of many who want it', async (bench) => {
    const another: CheckpointStorage | undefined = await bench.fixture.anotherProcess?.();
    await oneOf(bench, await Promise.all(Array.from({ length: 5 }, () => bench.open('orders', another))));
  });
}

async function killFirst({ fixture }: Bench): Promise<void> {
  assert('killFirst' in fixture, 'the fixture needs killFirst for a storage that locks');
  await fixture.killFirst();
}

async function oneOf(bench: Bench, jobs: readonly JobStorage[]): Promise<void> {
  const results = await Promise.allSettled(jobs.map((job) => lock(bench, job)));
  const owners = results.filter((result) => result.status === 'fulfilled');
  assert.equal(owners.length, 1, 'owners');
  await owners[0]?.value.verify();
}
