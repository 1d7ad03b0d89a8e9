import { describe, expect, test } from 'vitest';
import type { Source, SplitEnumerator } from '../../src/contracts/source.js';
import { Sources } from '../../src/host/sources.js';
import { SplitAssignment } from '../../src/host/split-assignment.js';
import { staticSplits } from '../../src/operator/static-splits.js';
import { operatorContext } from '../support/operator-context.js';

const split = (id: string): { id: string } => ({ id });

function sourceOf(enumerator: () => SplitEnumerator): Source<unknown> {
  const source: Source<unknown, 'replayable', { readonly id: string }, number> = {
    grade: 'replayable',
    bounded: true,
    enumerator,
    open: () => Promise.reject(new Error('nothing is read here')),
  };
  return source;
}
async function sourcesWith(enumerators: Readonly<Record<string, SplitEnumerator>>, parallelism = 2): Promise<Sources> {
  const sources = new Sources();
  for (const [uid, enumerator] of Object.entries(enumerators))
    await sources.start(
      sourceOf(() => enumerator),
      operatorContext({ uid, parallelism }),
      undefined,
    );
  return sources;
}

describe('splits', () => {
  test('are not given out between the snapshot of a checkpoint and the last barrier that a reader has sent on', async () => {
    const sources = await sourcesWith({ in: staticSplits([split('a'), split('b')]) });
    const [first, second] = [sources.client('in', 0), sources.client('in', 1)];
    let told = 0;
    first.onAvailable = () => told++;
    expect(first.request()).toEqual(split('a'));
    sources.snapshot(1);
    expect([first.request(), second.request()]).toEqual([undefined, undefined]);
    sources.triggered(1, () => 2);
    sources.injected('in', 1);
    expect([first.request(), told]).toEqual([undefined, 0]);
    sources.injected('in', 1);
    expect(told).toBe(1);
    expect([first.request(), second.request()]).toEqual([split('b'), 'end']);
  });

  test('are given out again at once if every reader has finished, and nobody sends a barrier on', async () => {
    const sources = await sourcesWith({ in: staticSplits([split('a')]), other: staticSplits([split('b')]) }, 1);
    sources.snapshot(1);
    sources.triggered(1, (uid) => (uid === 'in' ? 0 : 1));
    expect(sources.client('in', 0).request()).toEqual(split('a'));
    expect(sources.client('other', 0).request()).toBeUndefined();
  });

  test('are given out again when the checkpoint is given up', async () => {
    const sources = await sourcesWith({ in: staticSplits([split('a')]) });
    const client = sources.client('in', 0);
    sources.snapshot(1);
    expect(client.request()).toBeUndefined();
    sources.release(1);
    expect(client.request()).toEqual(split('a'));
  });

  test('are held back until every checkpoint that is on its way has passed', async () => {
    const sources = await sourcesWith({ in: staticSplits([split('a')]) }, 1);
    const client = sources.client('in', 0);
    sources.snapshot(1);
    sources.snapshot(2);
    sources.triggered(1, () => 1);
    sources.triggered(2, () => 1);
    sources.injected('in', 1);
    expect(client.request()).toBeUndefined();
    sources.injected('in', 2);
    expect(client.request()).toEqual(split('a'));
  });

  test('of one source do not wait for the readers of another', async () => {
    const sources = await sourcesWith({ one: staticSplits([split('a')]), other: staticSplits([split('b')]) }, 1);
    sources.snapshot(1);
    sources.injected('one', 1);
    expect(sources.client('one', 0).request()).toEqual(split('a'));
    expect(sources.client('other', 0).request()).toBeUndefined();
  });

  test('that are found later are offered to everybody who waits, and to whoever asks before that', () => {
    const found: { id: string }[] = [];
    const enumerator: SplitEnumerator = { ...staticSplits([]), assign: () => found.shift() };
    const assignment = new SplitAssignment(operatorContext(), enumerator);
    const told: number[] = [];
    const clients = [0, 1, 2].map((subtask) => {
      const client = assignment.client(subtask);
      client.onAvailable = () => told.push(subtask);
      return client;
    });
    enumerator.onAvailable?.();
    expect(told).toEqual([]);
    clients[0]?.request();
    clients[2]?.request();
    found.push(split('late'));
    enumerator.onAvailable?.();
    expect(told).toEqual([0, 2]);
    expect(clients[2]?.request()).toEqual(split('late'));
  });

  test('that are found while an enumerator is asked are not missed', () => {
    const enumerator: SplitEnumerator = {
      ...staticSplits([]),
      assign: () => {
        enumerator.onAvailable?.();
        return undefined;
      },
    };
    const client = new SplitAssignment(operatorContext(), enumerator).client(0);
    let told = 0;
    client.onAvailable = () => told++;
    expect(client.request()).toBeUndefined();
    expect(told).toBe(1);
  });
});

describe('an enumerator that answers', () => {
  test.each<[string, unknown, string]>([
    ['null', null, 'assign() of its enumerator returned null'],
    ['a promise', Promise.resolve(undefined), 'returned a promise'],
    ['a split without an id', { path: 'a' }, 'returned an object'],
    ['a split with a number for its id', { id: 1 }, 'returned an object'],
    ['another word', 'done', 'returned "done"'],
  ])('%s where a split is due is named', async (_what, answer, text) => {
    const sources = await sourcesWith({ in: { ...staticSplits([]), assign: () => answer as never } });
    expect(() => sources.client('in', 0).request()).toThrow(/PROTOCOL_VIOLATION.*Source in of job test/);
    expect(() => sources.client('in', 0).request()).toThrow(text);
  });

  test('the same split to two subtasks is named: both would read it', async () => {
    const sources = await sourcesWith({ in: { ...staticSplits([]), assign: () => split('a') } });
    expect(sources.client('in', 0).request()).toEqual(split('a'));
    expect(() => sources.client('in', 1).request()).toThrow(
      /PROTOCOL_VIOLATION.*split a: .*again while it is being read/,
    );
    sources.client('in', 0).finished('a');
    expect(sources.client('in', 1).request()).toEqual(split('a'));
  });

  test('with a split that a restored reader goes on with is named', async () => {
    const sources = await sourcesWith({ in: staticSplits([split('a')]) });
    sources.client('in', 0).restored('a');
    expect(() => sources.client('in', 1).request()).toThrow(/PROTOCOL_VIOLATION/);
  });

  test.each<[string, unknown]>([
    ['nothing, which a restore would take for a first start', undefined],
    ['a promise', Promise.resolve({})],
  ])('a snapshot of %s is named', async (_what, answer) => {
    const sources = await sourcesWith({ in: { ...staticSplits([]), snapshot: () => answer } });
    expect(() => sources.snapshot(1)).toThrow(/PROTOCOL_VIOLATION.*Source in of job test: snapshot\(\)/);
  });

  test('a snapshot with an error is named', async () => {
    const broken = {
      ...staticSplits([]),
      snapshot: (): never => {
        throw new Error('boom');
      },
    };
    const sources = await sourcesWith({ in: broken });
    expect(() => sources.snapshot(1)).toThrow(/SOURCE_FAILED.*Source in of job test.*boom/);
  });

  test('to less than what an enumerator is asked is named at the start', async () => {
    const { handBack: _, ...rest } = staticSplits([]);
    await expect(sourcesWith({ in: rest as SplitEnumerator })).rejects.toThrow(
      /PROTOCOL_VIOLATION.*Source in of job test: enumerator\(\) returned an object, which has no handBack\(\)/,
    );
  });
});

describe('the state of an enumerator', () => {
  test('comes back where it was', async () => {
    const before = await sourcesWith({ in: staticSplits([split('a'), split('b')]) });
    before.client('in', 0).request();
    const [snapshot] = before.snapshot(1);
    const after = new Sources();
    const again = staticSplits([split('a'), split('b')]);
    await after.start(
      sourceOf(() => again),
      operatorContext({ uid: 'in' }),
      snapshot,
    );
    expect(after.client('in', 0).request()).toEqual(split('b'));
    expect(after.client('in', 0).request()).toBe('end');
  });

  test('that no serializer takes is refused with the name of the source', async () => {
    const sources = await sourcesWith({ in: { ...staticSplits([]), snapshot: () => ({ find: () => 'a function' }) } });
    expect(() => sources.snapshot(1)).toThrow(/VALUE_NOT_SERIALIZABLE.*'in'/);
    sources.release(1);
    expect(sources.client('in', 0).request()).toBe('end');
  });
});

describe('an enumerator', () => {
  test('is given what it may know, and nothing of the engine', async () => {
    let seen: object = {};
    const sources = new Sources();
    const source = sourceOf(() => staticSplits([]));
    await sources.start(
      { ...source, enumerator: (context) => ((seen = { ...context }), source.enumerator(context)) },
      operatorContext({ uid: 'in' }),
      undefined,
    );
    expect(Object.keys(seen).toSorted()).toEqual([
      'attempt',
      'clock',
      'job',
      'logger',
      'metrics',
      'parallelism',
      'random',
      'signal',
      'uid',
    ]);
  });

  test.each<[string, () => SplitEnumerator]>([
    [
      'cannot be made',
      () => {
        throw new Error('boom');
      },
    ],
    ['cannot find its splits', () => ({ ...staticSplits([]), start: () => Promise.reject(new Error('boom')) })],
  ])('that %s is named', async (_what, enumerator) => {
    const starting = new Sources().start(sourceOf(enumerator), operatorContext({ uid: 'in' }), undefined);
    await expect(starting).rejects.toMatchObject({
      code: 'SOURCE_FAILED',
      message: expect.stringMatching(/Source in .*boom/),
    });
  });

  test('is closed whatever the others do', async () => {
    let closed = 0;
    const failing: SplitEnumerator = { ...staticSplits([]), close: () => Promise.reject(new Error('stuck')) };
    const fine: SplitEnumerator = {
      ...staticSplits([]),
      close: () => {
        closed++;
      },
    };
    const sources = await sourcesWith({ a: failing, b: fine });
    await expect(sources.close()).rejects.toThrow('stuck');
    expect(closed).toBe(1);
  });
});
