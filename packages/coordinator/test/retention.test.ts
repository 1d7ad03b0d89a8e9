import type { RetentionPolicy } from '@weir/core/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deletesAtEnd, subsume, type CompletedCheckpoint, type JobOutcome } from '../src/retention.js';

function completed(...owners: readonly CompletedCheckpoint['owner'][]): CompletedCheckpoint[] {
  return owners.map((owner, i) => ({
    checkpointId: i + 1,
    stored: { id: i + 1, pointer: `chk-${String(i + 1)}`, complete: true },
    owner,
  }));
}
const ids = (checkpoints: readonly CompletedCheckpoint[]): number[] => checkpoints.map((c) => c.checkpointId);

describe('subsumption', () => {
  test.each([
    [
      'testAddCheckpointMoreThanMaxRetained: retaining 1, only the newest stays',
      completed('job', 'job', 'job'),
      1,
      [3],
      [1, 2],
    ],
    ['the newest numRetained stay', completed('job', 'job', 'job', 'job'), 2, [3, 4], [1, 2]],
    ['nothing goes while there is room', completed('job', 'job'), 3, [1, 2], []],
    ['the restored checkpoint of a user makes room for the first of the job', completed('user', 'job'), 1, [2], [1]],
    ['the newest stays whoever owns it, and so does the newest of the job', completed('job', 'user'), 1, [1, 2], []],
    [
      'the reference to the newest stays with it',
      [...completed('job', 'job', 'job'), ...completed('job', 'job', 'job').slice(2)],
      1,
      [3, 3],
      [1, 2],
    ],
    ['the walk does not stop at one that has to stay', completed('job', 'user', 'user'), 1, [1, 3], [2]],
  ] as const)('%s', (_title, all, numRetained, kept, dropped) => {
    const { retained, subsumed } = subsume(all, numRetained);
    expect(ids(retained)).toEqual(kept);
    expect(ids(subsumed)).toEqual(dropped);
  });

  test('adding one after the other ends like a walk over a list from which one is struck out at a time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<('job' | 'user')[]>('job', 'user')),
        fc.integer({ min: 1, max: 4 }),
        (owners, n) => {
          const all = completed(...owners);
          const model = [...all];
          for (const c of all) {
            const newestOwn = all.findLast((x) => x.owner === 'job');
            if (model.length > n && c !== all.at(-1) && (c.owner === 'user' || c !== newestOwn)) {
              model.splice(model.indexOf(c), 1);
            }
          }
          const { retained, subsumed } = subsume(all, n);
          expect(retained).toEqual(model);
          expect([...retained, ...subsumed].sort((a, b) => a.checkpointId - b.checkpointId)).toEqual(all);
          expect(retained.at(-1)).toBe(all.at(-1));
        },
      ),
    );
  });
});

describe('the end of a job', () => {
  const rows: Record<RetentionPolicy, Record<JobOutcome, boolean>> = {
    'no-externalized': { finished: true, stopped: true, cancelled: true, failed: true, suspended: false },
    'delete-on-cancellation': { finished: true, stopped: true, cancelled: true, failed: false, suspended: false },
    'retain-on-cancellation': { finished: true, stopped: true, cancelled: false, failed: false, suspended: false },
  };
  test.each(
    Object.entries(rows).flatMap(([policy, row]) =>
      Object.entries(row).map(([outcome, deletes]) => ({ policy, outcome, deletes })),
    ),
  )('with $policy, a $outcome job has its checkpoints deleted: $deletes', ({ policy, outcome, deletes }) => {
    expect(deletesAtEnd(policy as RetentionPolicy, outcome as JobOutcome)).toBe(deletes);
  });
});
