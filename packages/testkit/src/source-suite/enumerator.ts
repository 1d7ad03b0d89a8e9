import assert from 'node:assert/strict';
import type { SourceSplit } from '@weir/core/contracts';
import { idsOf, take, type SourceCheck, type SourceSuiteOptions } from './fixture.js';

/** Dealing splits out. */
export function enumeratorChecks<T>(check: SourceCheck<T>, { capabilities }: SourceSuiteOptions<T>): void {
  check('declares the grade and the end that it is said to have', async ({ fixture }) => {
    const { grade, bounded } = fixture.source();
    assert.deepEqual({ grade, bounded }, capabilities);
  });

  check('deals the same splits out in the same order, however often it is asked', async ({ ids, splits }) => {
    assert.deepEqual(idsOf(await splits()), ids);
    assert.deepEqual(idsOf(await splits()), ids);
  });

  check('deals out splits that a checkpoint takes, each with an id of its own', async ({ splits, stored }) => {
    const all = await splits();
    for (const split of all) {
      assert.equal(typeof split.id, 'string');
      assert.deepEqual(stored(split), split);
    }
    assert.equal(new Set(idsOf(all)).size, all.length);
  });

  check('deals each split out once over all subtasks', async ({ ids, enumerate }) => {
    const enumerator = await enumerate(undefined, 3);
    const dealt = ids.flatMap((_, i) => take(enumerator, 1, i % 3));
    assert.deepEqual(idsOf(dealt).sort(), [...ids].sort());
    for (const subtask of [0, 1, 2])
      assert(typeof enumerator.assign(subtask) !== 'object', 'no split is dealt out twice');
  });

  if (capabilities.bounded) {
    check('says that there are no more splits, and goes on to say it', async ({ ids, enumerate }) => {
      const enumerator = await enumerate();
      take(enumerator, ids.length);
      assert.equal(enumerator.assign(0), 'end');
      assert.equal(enumerator.assign(1), 'end');
      assert.equal(enumerator.assign(0), 'end');
    });
  }

  check('gives splits that are handed back to others, and says that there are some', async ({ ids, enumerate }) => {
    const enumerator = await enumerate(undefined, 2);
    const dealt = take(enumerator, ids.length, 0);
    let announced = 0;
    enumerator.onAvailable = () => announced++;
    enumerator.handBack(dealt);
    assert(announced > 0, 'onAvailable is called');
    assert.deepEqual(sorted(take(enumerator, ids.length, 1)), sorted(dealt), 'each as it was');
    assert(typeof enumerator.assign(1) !== 'object', 'each is given to one only');
  });

  check('has splits that were handed back in its snapshots', async ({ ids, enumerate, stored }) => {
    const before = await enumerate();
    const dealt = take(before, ids.length);
    before.handBack(dealt);
    const after = await enumerate(stored(before.snapshot()));
    assert.deepEqual(sorted(take(after, ids.length)), sorted(dealt));
  });

  check('goes on without exactly those splits that are finished', async ({ ids, enumerate, stored }) => {
    for (const id of ids) {
      const before = await enumerate();
      const dealt = take(before, ids.length);
      before.finished(id);
      before.handBack(dealt.filter((split) => split.id !== id));
      const after = await enumerate(stored(before.snapshot()));
      const rest = ids.filter((other) => other !== id);
      assert.deepEqual(idsOf(take(after, rest.length)).sort(), [...rest].sort(), `split ${id} is finished`);
      assert(typeof after.assign(0) !== 'object', `split ${id} is finished`);
    }
  });

  check('goes on from every snapshot without losing or repeating a split', async ({ ids, enumerate, stored }) => {
    for (let dealt = 0; dealt <= ids.length; dealt++) {
      for (let finished = 0; finished <= dealt; finished++) {
        const before = await enumerate();
        const given = idsOf(take(before, dealt));
        for (const id of given.slice(0, finished)) before.finished(id);
        const after = await enumerate(stored(before.snapshot()));
        const rest = idsOf(take(after, ids.length - dealt));
        assert.deepEqual(rest, ids.slice(dealt), `after ${String(dealt)} splits, ${String(finished)} of them finished`);
        assert(typeof after.assign(0) !== 'object', 'what is assigned or finished is not dealt out again');
      }
    }
  });

  check('remembers over several restores which splits are finished', async ({ ids, enumerate, stored }) => {
    let enumerator = await enumerate();
    for (const id of ids) {
      assert.deepEqual(idsOf(take(enumerator, 1)), [id]);
      enumerator = await enumerate(stored(enumerator.snapshot()));
      enumerator.finished(id);
      enumerator = await enumerate(stored(enumerator.snapshot()));
    }
    assert(typeof enumerator.assign(0) !== 'object');
  });

  check('gives splits that are handed back after a restore to others', async ({ ids, enumerate, stored }) => {
    const before = await enumerate();
    const dealt = take(before, ids.length).map(stored);
    const after = await enumerate(stored(before.snapshot()));
    after.handBack(dealt);
    assert.deepEqual(idsOf(take(after, ids.length, 1)).sort(), [...ids].sort());
  });

  check('takes fresh snapshots that later steps do not change', async ({ ids, enumerate, stored }) => {
    const enumerator = await enumerate();
    const snapshot = enumerator.snapshot();
    assert(snapshot !== undefined, 'undefined would be taken for a first start');
    const then = stored(snapshot);
    for (const { id } of take(enumerator, ids.length)) enumerator.finished(id);
    assert.deepEqual(snapshot, then);
  });

  check('can be closed twice', async ({ enumerate }) => {
    const enumerator = await enumerate();
    await enumerator.close();
    await enumerator.close();
  });
}

function sorted(splits: readonly SourceSplit[]): readonly SourceSplit[] {
  return [...splits].sort((a, b) => (a.id < b.id ? -1 : 1));
}
