import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { staticSplits } from '../../src/operator/static-splits.js';
import { operatorContext } from '../support/operator-context.js';

const split = (id: string): { id: string } => ({ id });
const splits = (...ids: string[]): { id: string }[] => ids.map(split);

async function started(ids: readonly string[], restored?: unknown): Promise<ReturnType<typeof staticSplits>> {
  const enumerator = staticSplits(ids.map(split));
  await enumerator.start(restored);
  return enumerator;
}
function drain(enumerator: ReturnType<typeof staticSplits>): string[] {
  const ids: string[] = [];
  for (let next = enumerator.assign(0); typeof next === 'object'; next = enumerator.assign(0)) ids.push(next.id);
  return ids;
}

describe('a fresh start', () => {
  test('deals the splits out in the order of the list, then says that there are no more', async () => {
    const enumerator = await started(['a', 'b', 'c']);
    expect([enumerator.assign(1), enumerator.assign(0), enumerator.assign(1)]).toEqual(splits('a', 'b', 'c'));
    expect(enumerator.assign(0)).toBe('end');
  });
  test('tells the discovery that nothing is restored', async () => {
    const seen: boolean[] = [];
    const find = async (restored: boolean): Promise<{ id: string }[]> => {
      seen.push(restored);
      return splits('a');
    };
    await staticSplits(find).start(undefined);
    const before = staticSplits(find);
    await before.start(undefined);
    await staticSplits(find).start(before.snapshot());
    expect(seen).toEqual([false, false, true]);
  });
  test('refuses two splits of one id', async () => {
    await expect(started(['a', 'b', 'a'])).rejects.toThrow(/PROTOCOL_VIOLATION.*"a"/);
  });
});

describe('splits that are handed back', () => {
  test('are announced and go to whoever asks next, before the others', async () => {
    const enumerator = await started(['a', 'b', 'c']);
    const a = enumerator.assign(0);
    enumerator.assign(0);
    let announced = 0;
    enumerator.onAvailable = () => announced++;
    enumerator.handBack([a as { id: string }, split('b')]);
    expect(announced).toBe(1);
    expect(drain(enumerator)).toEqual(['a', 'b', 'c']);
  });
  test('are ignored if they were never given out or are finished', async () => {
    const enumerator = await started(['a', 'b']);
    enumerator.assign(0);
    enumerator.finished('a');
    enumerator.handBack(splits('a', 'b', 'x'));
    expect(drain(enumerator)).toEqual(['b']);
  });
});

describe('a restore', () => {
  test('neither deals out again what is assigned nor what is finished', async () => {
    const before = await started(['a', 'b', 'c']);
    before.assign(0);
    before.assign(0);
    before.finished('a');
    const after = await started(['a', 'b', 'c'], before.snapshot());
    expect(drain(after)).toEqual(['c']);
    after.finished('b');
    expect(drain(await started(['a', 'b', 'c'], after.snapshot()))).toEqual([]);
  });
  describe('of splits that are fixed', () => {
    const context = operatorContext({ uid: 'in', job: 'sums' });
    const fixed = async (ids: readonly string[], restored?: unknown): Promise<ReturnType<typeof staticSplits>> => {
      const enumerator = staticSplits(ids.map(split), { context, fixed: true });
      await enumerator.start(restored);
      return enumerator;
    };
    /** The first is finished, the second is being read. */
    const state = async (): Promise<unknown> => {
      const enumerator = await fixed(['a', 'b', 'c']);
      enumerator.assign(0);
      enumerator.assign(0);
      enumerator.finished('a');
      return enumerator.snapshot();
    };

    test('goes on with the same ones', async () => {
      expect(drain(await fixed(['c', 'b', 'a'], await state()))).toEqual(['c']);
    });
    test.each([
      ['one more', ['a', 'b', 'c', 'd']],
      ['without one that waits', ['a', 'b']],
      ['without one that is read', ['a', 'c']],
      ['without one that is finished', ['b', 'c']],
      ['with another instead', ['a', 'b', 'd']],
      ['without any', []],
    ])('refuses others by name: %s', async (_how, ids) => {
      await expect(fixed(ids, await state())).rejects.toMatchObject({
        code: 'CHECKPOINT_INCOMPATIBLE',
        recoverable: false,
        message: expect.stringMatching(
          /Source in of job sums has other splits than the checkpoint: .* instead of "c", "b", "a"/,
        ),
      });
    });
  });

  test('adds splits that are new behind those that were waiting', async () => {
    const before = await started(['m', 'n']);
    before.assign(0);
    expect(drain(await started(['a', 'm', 'n', 'z'], before.snapshot()))).toEqual(['n', 'a', 'z']);
  });
  test('fails by name if a split that was still to be read is gone', async () => {
    const before = await started(['a', 'b', 'c']);
    before.assign(0);
    const attempt = started(['a', 'x'], before.snapshot());
    await expect(attempt).rejects.toMatchObject({ code: 'SOURCE_POSITION_GONE', recoverable: false });
    await expect(attempt).rejects.toThrow(/"b", "c".*"a", "x"/);
  });
  test('does not miss splits that are finished and gone', async () => {
    const before = await started(['a', 'b']);
    before.assign(0);
    before.finished('a');
    expect(drain(await started(['b'], before.snapshot()))).toEqual(['b']);
  });
  test('refuses the state of another enumerator', async () => {
    await expect(started(['a'], { cursor: 3 })).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE' });
    await expect(started(['a'], null)).rejects.toMatchObject({ code: 'CHECKPOINT_INCOMPATIBLE' });
  });
  test('is given plain data that later changes do not reach', async () => {
    const enumerator = await started(['a', 'b']);
    const snapshot = enumerator.snapshot();
    const copy = structuredClone(snapshot);
    drain(enumerator);
    enumerator.finished('a');
    expect(snapshot).toEqual(copy);
  });
});

type Step = { kind: 'assign' } | { kind: 'finish' | 'hand-back'; pick: number } | { kind: 'restore' };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('assign' as const) }),
  fc.record({ kind: fc.constantFrom('finish' as const, 'hand-back' as const), pick: fc.nat(20) }),
  fc.record({ kind: fc.constant('restore' as const) }),
);

property.prop([fc.uniqueArray(fc.string(), { maxLength: 8 }), fc.array(step, { maxLength: 60 })])(
  'a split has one owner at most and is finished at most once, whatever happens in between',
  async (ids, steps) => {
    let enumerator = await started(ids);
    const owned: string[] = [];
    const finished: string[] = [];
    for (const { kind, ...rest } of steps) {
      if (kind === 'restore') enumerator = await started(ids, structuredClone(enumerator.snapshot()));
      else if (kind === 'assign') {
        const next = enumerator.assign(0);
        if (typeof next === 'object') owned.push(next.id);
      } else if (owned.length > 0) {
        const [id] = owned.splice((rest as { pick: number }).pick % owned.length, 1) as [string];
        if (kind === 'hand-back') enumerator.handBack([split(id)]);
        else {
          enumerator.finished(id);
          finished.push(id);
        }
      }
      expect(new Set([...owned, ...finished]).size).toBe(owned.length + finished.length);
    }
    expect([...owned, ...finished, ...drain(enumerator)].sort()).toEqual([...ids].sort());
  },
);
