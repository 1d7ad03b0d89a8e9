import {
  keyGroupRange,
  subtaskOfKeyGroup,
  type ChannelStateHandle,
  type CommittablesHandle,
  type KeyedStateHandle,
  type OperatorMetadata,
  type OperatorStateHandle,
  type OperatorStateMode,
  type OperatorStateShare,
  type SubtaskState,
} from '@weir/core/contracts';
import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { reassign, type Reassignment } from '../src/reassign/reassign.js';

const serializer = { id: 'test', version: 1 };
const blob = { kind: 'inline' as const, bytes: new Uint8Array() };
const MAX = 24;

/** Values of a state are named for the old subtask they are from and their place in it. */
function stateOf(subtask: number, name: string, mode: OperatorStateMode, count: number): OperatorStateHandle {
  return {
    name,
    mode,
    serializer,
    count,
    blob: { kind: 'blob', path: String(subtask), length: 1, algorithm: 'crc32', checksum: 0 },
  };
}
function valuesOf(shares: readonly OperatorStateShare[], name: string): readonly string[] {
  return shares
    .filter((share) => share.name === name)
    .flatMap(({ blob, count, share = { from: 0, to: count } }) => {
      const from = blob.kind === 'blob' ? blob.path : '';
      return Array.from({ length: share.to - share.from }, (_, i) => `${from}.${String(share.from + i)}`);
    });
}
function operatorOf(subtasks: readonly (Partial<SubtaskState> | undefined)[]): OperatorMetadata {
  return {
    uid: 'op',
    parallelism: subtasks.length,
    maxParallelism: MAX,
    status: 'running',
    enumerator: undefined,
    subtasks: subtasks.flatMap((state, index) =>
      state === undefined ? [] : [{ index, keyed: [], operator: [], committables: undefined, channels: [], ...state }],
    ),
  };
}
const onto = (found: OperatorMetadata, parallelism: number): Reassignment =>
  reassign(found, { parallelism, maxParallelism: MAX });
const operatorStateOf = (parts: Reassignment[number] | undefined): readonly OperatorStateShare[] =>
  (parts ?? []).flatMap(({ operator }) => operator);
const namesOf = (reassigned: Reassignment, name: string): readonly (readonly string[])[] =>
  reassigned.map((parts) => valuesOf(operatorStateOf(parts), name));

describe('testRepartitionSplitDistributeState: two elements in each of two list states', () => {
  const found = operatorOf([
    { operator: [stateOf(0, 'one', 'list', 2)] },
    { operator: [stateOf(1, 'two', 'list', 2)] },
  ]);

  test('of two subtasks onto three go in single pieces to two subtasks each', () => {
    const three = onto(found, 3);
    expect(namesOf(three, 'one')).toEqual([['0.0'], ['0.1'], []]);
    expect(namesOf(three, 'two')).toEqual([['1.1'], [], ['1.0']]);
  });
  test('onto one stay together', () => {
    const one = onto(found, 1);
    expect(namesOf(one, 'one')).toEqual([['0.0', '0.1']]);
    expect(namesOf(one, 'two')).toEqual([['1.0', '1.1']]);
  });
  test('onto two again are unchanged', () => {
    expect(onto(found, 2)).toEqual(
      found.subtasks.map(({ operator }) => [{ uid: 'op', keyed: [], operator, committables: undefined, channels: [] }]),
    );
  });
});

describe('list state', () => {
  const counts = fc.array(fc.record({ one: fc.nat(7), two: fc.nat(7), three: fc.nat(7) }), {
    minLength: 1,
    maxLength: 9,
  });
  const NAMES = ['one', 'two', 'three'] as const;

  property.prop([counts, fc.integer({ min: 1, max: 9 })])(
    'goes to exactly one subtask, value by value, in contiguous runs, and loads differ by at most one over all states',
    (old, parallelism) => {
      fc.pre(old.length !== parallelism);
      const found = operatorOf(
        old.map((count, index) => ({
          operator: NAMES.filter((name) => count[name] > 0).map((name) => stateOf(index, name, 'list', count[name])),
        })),
      );
      const dealt = onto(found, parallelism);
      const loads = dealt.map((parts) => NAMES.flatMap((name) => valuesOf(operatorStateOf(parts), name)).length);
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(1);
      for (const name of NAMES) {
        const all = old.flatMap((count, index) =>
          Array.from({ length: count[name] }, (_, i) => `${String(index)}.${String(i)}`),
        );
        const runs = namesOf(dealt, name);
        expect(runs.flat().toSorted()).toEqual(all.toSorted());
        for (const run of runs) {
          const at = run.length === 0 ? 0 : all.indexOf(run[0]!);
          expect(run).toEqual(all.slice(at, at + run.length));
        }
      }
    },
  );
});

describe('testRepartitionUnionState: union state', () => {
  test.each([1, 2, 3])('goes to everybody, all of it, at %i', (parallelism) => {
    const found = operatorOf([
      { operator: [stateOf(0, 'all', 'union', 2)] },
      undefined,
      { operator: [stateOf(2, 'all', 'union', 1)] },
    ]);
    expect(namesOf(onto(found, parallelism), 'all')).toEqual(
      Array.from({ length: parallelism }, () => ['0.0', '0.1', '2.0']),
    );
  });

  test('does not move the list state beside it while the parallelism stays', () => {
    const found = operatorOf([
      { operator: [stateOf(0, 'own', 'list', 3), stateOf(0, 'all', 'union', 1)] },
      { operator: [stateOf(1, 'all', 'union', 1)] },
    ]);
    expect(namesOf(onto(found, 2), 'own')).toEqual([['0.0', '0.1', '0.2'], []]);
  });
});

describe.each<[string, readonly (Partial<SubtaskState> | undefined)[], readonly string[]]>([
  [
    'testRepartitionBroadcastState',
    [{ operator: [stateOf(0, 'rules', 'broadcast', 1)] }, { operator: [stateOf(1, 'rules', 'broadcast', 1)] }],
    ['0.0', '1.0'],
  ],
  [
    'testRepartitionBroadcastStateWithNullSubtaskState',
    [undefined, { operator: [stateOf(1, 'rules', 'broadcast', 1)] }],
    ['1.0'],
  ],
  [
    'testRepartitionBroadcastStateWithEmptySubtaskState',
    [{ operator: [stateOf(0, 'rules', 'broadcast', 1)] }, {}],
    ['0.0'],
  ],
])('%s: each new subtask gets one copy', (_name, old, copies) => {
  test.each([3, 1, 2])('at %i', (parallelism) => {
    expect(namesOf(onto(operatorOf(old), parallelism), 'rules')).toEqual(
      Array.from({ length: parallelism }, (_, index) => [copies[index % copies.length]]),
    );
  });
});

test('a subtask keeps its own broadcast copy while the parallelism stays, also behind one that has none', () => {
  const found = operatorOf([
    undefined,
    { operator: [stateOf(1, 'rules', 'broadcast', 1)] },
    { operator: [stateOf(2, 'rules', 'broadcast', 1)] },
  ]);
  expect(namesOf(onto(found, 3), 'rules')).toEqual([['1.0'], ['1.0'], ['2.0']]);
});

describe('keyed state', () => {
  const parallelisms = fc.integer({ min: 1, max: MAX });
  const present = fc.uniqueArray(fc.nat(MAX - 1), { maxLength: MAX });

  function handleOf(subtask: number, parallelism: number, groups: readonly number[]): KeyedStateHandle {
    const range = keyGroupRange(subtask, parallelism, MAX);
    const own = groups.filter((group) => group >= range.first && group <= range.last).toSorted((a, b) => a - b);
    return {
      range,
      format: 'canonical',
      states: [{ name: 'total', kind: 'value', serializer }],
      groups: own.map((keyGroup) => ({ keyGroup, offset: keyGroup * 10, length: 10 })),
      blob,
    };
  }

  property.prop([parallelisms, parallelisms, present])(
    'goes, group by group, to the one subtask that owns it, and no other is given its bytes',
    (before, after, groups) => {
      const found = operatorOf(
        Array.from({ length: before }, (_, index) => ({ keyed: [handleOf(index, before, groups)] })),
      );
      const given = onto(found, after).flatMap((parts, index) =>
        parts.flatMap(({ keyed }) =>
          keyed.flatMap((handle) =>
            ('groups' in handle ? handle.groups : []).map(({ keyGroup, offset }) => ({ keyGroup, offset, index })),
          ),
        ),
      );
      expect(given.toSorted((a, b) => a.keyGroup - b.keyGroup)).toEqual(
        groups
          .toSorted((a, b) => a - b)
          .map((keyGroup) => ({ keyGroup, offset: keyGroup * 10, index: subtaskOfKeyGroup(keyGroup, after, MAX) })),
      );
    },
  );

  test('every subtask is told what the keys of all of them have been, as far as that is known', () => {
    const keyed = [handleOf(0, 1, [1])];
    const found = operatorOf([{ keyed, keyTypes: ['string'] }, { keyed, keyTypes: ['string', 'number'] }, { keyed }]);
    for (const parallelism of [3, 1])
      for (const [part] of onto(found, parallelism)) expect(part?.keyTypes).toEqual(['string', 'number']);
    expect(onto(operatorOf([{ keyed }]), 1)[0]?.[0]).not.toHaveProperty('keyTypes');
  });

  test('of several old subtasks comes as several handles, each with the part of its range that is wanted', () => {
    const all = Array.from({ length: MAX }, (_, group) => group);
    const [middle] = onto(operatorOf([0, 1].map((index) => ({ keyed: [handleOf(index, 2, all)] }))), 3)[1]!;
    expect(middle!.keyed.map(({ range }) => range)).toEqual([
      { first: 8, last: 11 },
      { first: 12, last: 15 },
    ]);
  });

  property.prop([parallelisms])(
    'testCreateKeyGroupPartitions: every group is in the range of the subtask it is routed to',
    (parallelism) => {
      for (let group = 0; group < MAX; group++) {
        const { first, last } = keyGroupRange(subtaskOfKeyGroup(group, parallelism, MAX), parallelism, MAX);
        expect(group >= first && group <= last).toBe(true);
      }
    },
  );
});

describe('committables', () => {
  const handle = (newest: number): CommittablesHandle => ({
    destination: { id: 'place', name: 'place' },
    serializer,
    newest,
    count: 1,
    blob,
  });

  property.prop([fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 9 })])(
    'go to exactly one subtask, whatever the parallelism was',
    (has, parallelism) => {
      const found = operatorOf(has.map((present, index) => (present ? { committables: handle(index) } : undefined)));
      const given = onto(found, parallelism).flatMap((parts) =>
        parts.flatMap(({ committables }) => committables?.newest ?? []),
      );
      expect(given.toSorted((a, b) => a - b)).toEqual(has.flatMap((present, index) => (present ? [index] : [])));
    },
  );

  test('stay where they were while the parallelism does', () => {
    const found = operatorOf([0, 1, 2].map((index) => ({ committables: handle(index) })));
    expect(onto(found, 3).map((parts) => parts.map(({ committables }) => committables?.newest))).toEqual([
      [0],
      [1],
      [2],
    ]);
  });
});

describe('in-flight elements', () => {
  const flying = (toSubtask: number): ChannelStateHandle => ({
    kind: 'input',
    edge: { producer: 'in', output: 0, consumer: 'op', input: 0 },
    fromSubtask: 0,
    toSubtask,
    serializer,
    timed: false,
    count: 1,
    blob,
  });
  const found = operatorOf([{ channels: [flying(0)] }, { channels: [flying(1)] }]);
  const given = (parallelism: number): readonly (readonly number[])[] =>
    onto(found, parallelism).map((parts) =>
      parts.flatMap(({ channels = [] }) => channels.map(({ toSubtask }) => toSubtask)),
    );

  test('stay where they were while the parallelism does', () => {
    expect(given(2)).toEqual([[0], [1]]);
  });
  test('are given to everybody at another: the key of each says whose it is', () => {
    expect(given(3)).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
  });
});

test('a subtask that nothing falls to has nothing to restore', () => {
  const found = operatorOf([{ operator: [stateOf(0, 'one', 'list', 1)] }]);
  expect(onto(found, 3).map((parts) => parts.length)).toEqual([1, 0, 0]);
});
