import { identityOf, isSame, type CheckpointIdentity } from '@weir/core/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAtLeast } from '../src/is-at-least.js';
import { compareWithNewest, type RestoreChoice } from '../src/recovery-choice.js';
import { metadataOf } from './plan.js';

const identity: fc.Arbitrary<CheckpointIdentity> = fc.record({
  lineage: fc.constantFrom('a', 'b'),
  attempt: fc.integer({ min: 1, max: 3 }),
  checkpointId: fc.integer({ min: 1, max: 4 }),
});

describe('of two checkpoints of one lineage', () => {
  test('exactly one is the later, unless they are the same or an attempt has used a number again', () => {
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        const both = isAtLeast(a, b) && isAtLeast(b, a);
        expect(both).toBe(isSame(a, b));
        if (a.lineage !== b.lineage) expect(isAtLeast(a, b)).toBe(false);
        else if (a.attempt === b.attempt) expect(isAtLeast(a, b)).toBe(a.checkpointId >= b.checkpointId);
        // A later attempt started from all there was, so it is only later with a larger number; an earlier one never is.
        else expect(isAtLeast(a, b)).toBe(a.attempt > b.attempt && a.checkpointId > b.checkpointId);
      }),
    );
  });

  test('that a path leads to the later one is told by their metadata; what is not known to be later is behind the newest', () => {
    const choice: RestoreChoice = {
      kind: 'restore',
      checkpoint: { id: 0, pointer: '/s', complete: true },
      isClaimed: false,
      newer: 'checkpoint 4',
      keepsLineage: false,
    };
    const metadata = metadataOf({ checkpointId: 4, attempt: 2 });
    const at = (parts: Partial<CheckpointIdentity>): CheckpointIdentity => ({ ...identityOf(metadata), ...parts });
    expect(compareWithNewest(choice, metadata, at({}))).toEqual({ ...choice, newer: undefined, keepsLineage: true });
    expect(compareWithNewest(choice, metadata, at({ checkpointId: 3 }))).toEqual({ ...choice, newer: undefined });
    for (const newest of [at({ checkpointId: 5 }), at({ attempt: 3 }), at({ lineage: 'other' })]) {
      expect(compareWithNewest(choice, metadata, newest)).toEqual(choice);
    }
  });
});
