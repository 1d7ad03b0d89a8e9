import { describe, expect, test } from 'vitest';
import type { RestorePlan } from '../../src/contracts/coordinator.js';
import type { JobEventBody } from '../../src/contracts/job-events.js';
import type { CommitMark, Sink } from '../../src/contracts/sink.js';
import { SinkPlaces } from '../../src/host/sink-places.js';
import { operatorContext } from '../support/operator-context.js';
import { sinkServices } from '../support/sinks.js';

const committables = (
  id: string,
  count: number,
): RestorePlan['subtasks'] extends ReadonlyMap<string, infer P> ? P : never => [
  {
    uid: 'out',
    keyed: [],
    operator: [],
    committables: {
      destination: { id, name: `/data/${id}` },
      serializer: { id: 'x', version: 1 },
      newest: 4,
      count,
      blob: { kind: 'inline', bytes: new Uint8Array() },
    },
  },
];
function restorePlan(subtasks: RestorePlan['subtasks'] = new Map()): RestorePlan {
  return {
    checkpointId: 4,
    lineage: 'l',
    pointer: 'chk-4',
    subtasks,
    enumerators: new Map(),
    isOwned: true,
    read: () => Promise.reject(new Error('nothing is read')),
  };
}
function places(
  committed: readonly CommitMark[],
  options: { allowDuplicates?: boolean; restore?: RestorePlan | undefined },
) {
  const events: JobEventBody[] = [];
  const { allowDuplicates = false, restore } = options;
  const sink: Sink<unknown> = {
    grade: 'exactly-once',
    destination: () => ({ id: 'here', name: '/data/here', committed }),
    open: () => ({ write: () => undefined, close: () => undefined }),
    committer: () => ({ commit: (all) => Promise.resolve(all.map(() => ({ kind: 'committed' }))) }),
  };
  const emit = (event: JobEventBody): void => void events.push(event);
  const opened = new SinkPlaces({ job: 'orders', restore, allowDuplicates, branch: () => 'branch', emit });
  const context = operatorContext({ uid: 'out' });
  const open = (lineage = 'l', other: Partial<Sink<unknown>> = {}) =>
    opened.open([{ sink: { ...sink, ...other }, context }], sinkServices({ lineage }));
  return { opened, open, events };
}
const NEWER: readonly CommitMark[] = [{ lineage: 'l', checkpointId: 6 }];

describe('a restore', () => {
  test('is refused where newer output is in the destination, and goes on as another history where that may be repeated', async () => {
    const refused = places(NEWER, { restore: restorePlan() });
    await expect(refused.open()).rejects.toMatchObject({
      code: 'CHECKPOINT_NOT_NEWEST',
      recoverable: false,
      message: expect.stringMatching(
        /Sink out of job orders.*checkpoint 6 in \/data\/here.*checkpoint 4 at chk-4.*allowDuplicates/,
      ),
    });
    const allowed = places(NEWER, { restore: restorePlan(), allowDuplicates: true });
    expect(await allowed.open()).toBe('branch');
    expect(allowed.events).toEqual([{ kind: 'warning', message: expect.stringContaining('is repeated') }]);
    expect(await places(NEWER, { restore: restorePlan(), allowDuplicates: true }).open('own')).toBe('own');
  });

  test('of what is newest keeps its lineage, and a fresh start is not compared', async () => {
    const newest = places([{ lineage: 'l', checkpointId: 4 }], { restore: restorePlan() });
    expect(await newest.open()).toBe('l');
    expect(newest.opened.of('out')).toMatchObject({ id: 'here' });
    expect(await places(NEWER, { restore: undefined }).open()).toBe('l');
    expect(newest.events).toEqual([]);
  });

  test('tells what stays prepared in other places, once for each of them', async () => {
    const subtasks = new Map([
      ['out#0', committables('here', 1)],
      ['out#1', [...committables('there', 2), ...committables('there', 3)]],
      ['out#2', [...committables('third', 1), ...committables('there', 4)]],
    ]);
    const { open, events } = places([], { restore: restorePlan(subtasks) });
    await open();
    const left = { kind: 'output-left', sink: 'out', checkpointId: 4 };
    expect(events).toEqual([
      { ...left, destination: '/data/there', committables: 9 },
      { ...left, destination: '/data/third', committables: 1 },
    ]);
  });
});

describe('a sink with a committer', () => {
  test.each([
    ['that does not say where it commits', {}, /does not say where/],
    ['that says nothing', { destination: () => undefined as never }, /does not say where/],
    ['whose place has no id', { destination: () => ({ id: '', name: 'x', committed: [] }) }, /no id/],
    ['whose place has no marks', { destination: () => ({ id: 'x', name: 'x' }) as never }, /list of marks/],
    [
      'whose marks are none',
      { destination: () => ({ id: 'x', name: 'x', committed: ['l'] }) as never },
      /list of marks/,
    ],
  ])('%s is refused by name', async (_what, sink, message) => {
    const other = 'destination' in sink ? sink : { destination: undefined as never };
    const opening = places([], {}).open('l', other);
    await expect(opening).rejects.toMatchObject({ code: 'PROTOCOL_VIOLATION', recoverable: false });
    await expect(opening).rejects.toThrow(message);
  });
});
