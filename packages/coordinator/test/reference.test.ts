import { encodeMetadata } from '@weir/core/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareWithNewest, type RestoreChoice } from '../src/recovery-choice.js';
import {
  decodeReference,
  encodeReference,
  identityOf,
  isAtLeast,
  isSame,
  referenceTo,
  type CheckpointIdentity,
} from '../src/reference.js';
import { metadataOf } from './plan.js';

const identity: fc.Arbitrary<CheckpointIdentity> = fc.record({
  lineage: fc.constantFrom('a', 'b'),
  attempt: fc.integer({ min: 1, max: 3 }),
  checkpointId: fc.integer({ min: 1, max: 4 }),
});

describe('the reference to a savepoint', () => {
  test('says what it was told, whatever the names', () => {
    fc.assert(
      fc.property(identity, fc.string(), fc.string(), (which, job, pointer) => {
        const reference = { ...which, job, pointer };
        expect(decodeReference(encodeReference(reference), 'chk-4')).toEqual(reference);
      }),
    );
  });

  test('is about the savepoint whose metadata it was made from', () => {
    const metadata = metadataOf({ checkpointId: 4, attempt: 2 });
    const reference = referenceTo(metadata, '/mine/s');
    expect(reference).toEqual({ job: 'orders', lineage: 'first', attempt: 2, checkpointId: 4, pointer: '/mine/s' });
    expect(isSame(reference, metadata)).toBe(true);
  });

  test('is told from metadata', () => {
    expect(decodeReference(encodeMetadata(metadataOf()), 'chk-1')).toBeUndefined();
    expect(decodeReference(new Uint8Array(0), 'chk-1')).toBeUndefined();
  });

  test('that is damaged, or of another version, is an error that names its place', () => {
    const text = new TextDecoder().decode(encodeReference(referenceTo(metadataOf(), '/s')));
    const broken = [
      text.slice(0, -5),
      text.replace('"version":1', '"version":2'),
      text.replace('weir-savepoint-reference', 'weir-finished'),
      text.replace('"attempt":1', '"attempt":"1"'),
    ];
    for (const bytes of broken) {
      expect(bytes).not.toBe(text);
      expect(() => decodeReference(new TextEncoder().encode(bytes), '/state/chk-1')).toThrow(
        /^CHECKPOINT_UNREADABLE.*\/state\/chk-1/,
      );
    }
  });
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
