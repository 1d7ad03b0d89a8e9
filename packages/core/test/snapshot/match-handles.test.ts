import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type {
  KeyedStateHandle,
  NativeStateHandle,
  OperatorSnapshot,
  SectionsHandle,
} from '../../src/contracts/snapshot.js';
import { batch } from '../../src/element/element.js';
import type { Key } from '../../src/element/key.js';
import { stateReports } from '../../src/environment/state-reports.js';
import { keyedProcessOperator } from '../../src/operator/keyed-process.js';
import { restoredState } from '../../src/snapshot/restored-state.js';
import { declarations, valueState, type States } from '../../src/state/descriptors.js';
import { droppedNames, droppedState } from '../../src/state/dropped.js';
import { VirtualClock } from '@weir/testkit';
import { OperatorBench } from '../support/operator-bench.js';

const range = { first: 0, last: 127 };
const META = { name: 'total', kind: 'value', serializer: { id: 'msgpack', version: 1 } } as const;
const CANONICAL: SectionsHandle = {
  range,
  format: 'canonical',
  states: [META],
  groups: [],
  blob: { kind: 'inline', bytes: new Uint8Array() },
};
const NATIVE: NativeStateHandle = {
  range,
  format: 'native',
  engine: 'rocksdb',
  engineVersion: '9',
  options: {},
  states: [META],
  watermark: undefined,
  files: [],
};
const CHANGES: readonly (readonly [string, States])[] = [
  ['is of another version', { total: valueState<number>({ version: 2, migrate: { 1: (n: number) => n } }) }],
  ['is renamed', { sum: valueState<number>({ renamedFrom: 'total' }) }],
  ['is dropped', { total: droppedState() }],
  ['is given a time to live', { total: valueState<number>({ ttl: { after: '1 h' } }) }],
];

const declaredOf = (states: States) => ({
  states: declarations('sums', states, new VirtualClock()),
  dropped: droppedNames(states),
});
function restored(handle: KeyedStateHandle, isOwned = true) {
  const part: OperatorSnapshot = { uid: 'sums', keyed: [handle], operator: [] };
  return restoredState(7, 'sums', [part], { read: () => Promise.reject(new Error('nothing is read')), isOwned });
}

describe("a state in files of a backend's own format", () => {
  test('is taken as it is, also beside one that is new', () => {
    const declared = declaredOf({ more: valueState(), total: valueState() });
    expect(restored(NATIVE).nativeStates(declared, range)).toEqual([NATIVE]);
    expect(restored(NATIVE).baseFor(declared)).toEqual({ checkpointId: 7, handles: [NATIVE], isOwned: true });
  });

  test.each(CHANGES)('that %s comes under its present name, and is no base', (_what, states) => {
    const declared = declaredOf(states);
    const [handle] = restored(NATIVE).nativeStates(declared, range);
    expect(handle?.states).toEqual([{ ...META, name: declared.states[0]?.name ?? 'total' }]);
    expect(restored(NATIVE).baseFor(declared).isOwned).toBe(false);
  });

  test('that is not declared any more is refused', () => {
    expect(() => restored(NATIVE).nativeStates(declaredOf({ more: valueState() }), range)).toThrow(
      /^CHECKPOINT_INCOMPATIBLE: The checkpoint holds state 'total' of operator 'sums' in chk-7/,
    );
  });

  test('is said to be incompatible where another backend is installed', () => {
    const stored = { parts: [{ uid: 'sums', keyed: [NATIVE], operator: [] }], enumerator: undefined };
    const keyed = declaredOf({ total: valueState() });
    const where = "operator 'sums' in chk-7";
    expect(stateReports(stored, { keyed }, 'rocksdb', where)).toMatchObject([{ verdict: 'restored' }]);
    expect(stateReports(stored, { keyed }, 'hashmap', where)).toMatchObject([
      {
        name: 'total',
        verdict: 'incompatible',
        code: 'CHECKPOINT_INCOMPATIBLE',
        why: expect.stringContaining("'rocksdb'"),
      },
    ]);
  });
});

describe('the base of the next checkpoint', () => {
  test('is what was restored where nothing has changed, and it is the job’s own', () => {
    const declared = declaredOf({ total: valueState() });
    expect(restored(CANONICAL).baseFor(declared).isOwned).toBe(true);
    expect(restored(CANONICAL, false).baseFor(declared).isOwned).toBe(false);
  });

  test.each(CHANGES)(
    'is nothing where a state %s: what it would refer to is not as it is declared',
    (_what, states) => {
      expect(restored(CANONICAL).baseFor(declaredOf(states)).isOwned).toBe(false);
    },
  );
});

test('what an operator of another kind, or one that does not say what it reads, finds is told', () => {
  const stored = { parts: [{ uid: 'sums', keyed: [CANONICAL], operator: [] }], enumerator: undefined };
  const none = { states: [], dropped: [] };
  expect(stateReports(stored, { keyed: none }, undefined, 'x')).toMatchObject([{ verdict: 'incompatible' }]);
  expect(stateReports(stored, {}, undefined, 'x')).toMatchObject([{ verdict: 'unknown' }]);
});

test('files from before there were versions are of version 1, and go through the steps from there', async () => {
  const path = new URL('../golden/keyed-sections-v1.json', import.meta.url);
  const golden = JSON.parse(readFileSync(path, 'utf8')) as { readonly handle: SectionsHandle; readonly bytes: string };
  const handle: SectionsHandle = {
    ...golden.handle,
    blob: { kind: 'inline', bytes: new Uint8Array(Buffer.from(golden.bytes, 'hex')) },
  };
  const total = valueState<string>({
    version: 3,
    migrate: { 1: (n: number) => n * 2, 2: (n: number) => `${String(n)}!` },
  });
  const state = { total, recent: droppedState(), 'by-day': droppedState() };
  const bench = await OperatorBench.open(
    (context) =>
      keyedProcessOperator<Key, Key, typeof state, unknown>(context, {
        keyOf: (key) => key,
        state,
        onRecord: (_key, { state: { total } }, emit) => emit(total.value()),
      }),
    { restore: [{ uid: 'operator', keyed: [handle], operator: [] }], keyGroups: { first: 0, last: 500 } },
  );
  bench.send(batch(['SFO', 7]));
  expect(bench.records).toEqual(['84!', '1!']);
});
