import assert from 'node:assert/strict';
import { isWeirError } from '@weir/core/contracts';
import { seededRandom } from '../seeded-random.js';
import { CHANGES, fill, type Size } from './changes.js';
import { emptyContents } from './contents.js';
import { failsWith, type Check } from './fixture.js';
import type { KeyedStores } from './keyed-stores.js';
import type { Photograph } from './photograph.js';

const KEY_COUNT = 40;

async function filled(stores: KeyedStores, size: Size): Promise<void> {
  for (let i = 0; i < KEY_COUNT; i++) fill(stores.at(i), i, size);
  await stores.carryOver();
}

/** A capture is the state at its moment, whatever happens afterwards. */
export function captureChecks(check: Check): void {
  for (const { title, apply } of CHANGES) {
    for (const size of ['small', 'large'] as const) {
      check(`does not see that ${title} after the capture (${size})`, async (stores) => {
        await filled(stores, size);
        const before = stores.contents;
        const photograph = stores.photograph();
        for (let i = 0; i < KEY_COUNT; i++) apply(stores.at(i), i);
        assert.deepStrictEqual(await photograph.develop(), before, 'the capture');
        const after = stores.contents;
        assert.deepStrictEqual(await stores.photograph().develop(), after, 'the next capture');
      });

      check(`does not see that ${title} while it is written (${size})`, async (stores) => {
        await filled(stores, size);
        const before = stores.contents;
        const photograph = stores.photograph();
        const random = seededRandom(KEY_COUNT);
        const order = Array.from({ length: KEY_COUNT }, (_, i) => ({ i, at: random() })).sort((a, b) => a.at - b.at);
        for (const { i } of order) {
          await photograph.step(1);
          apply(stores.at(i), i);
        }
        assert.deepStrictEqual(await photograph.develop(), before, 'the capture');
        assert.deepStrictEqual(await stores.photograph().develop(), stores.contents, 'the next capture');
      });
    }
  }

  check('does not see keys that appear after the capture', async (stores) => {
    await filled(stores, 'small');
    const before = stores.contents;
    const photograph = stores.photograph();
    for (let i = KEY_COUNT; i < 2 * KEY_COUNT; i++) {
      fill(stores.at(i), i, 'small');
      await photograph.step(1);
      if (i % 3 === 0) stores.at(i).count.clear();
    }
    assert.deepStrictEqual(await photograph.develop(), before);
  });

  check('finds every key although others go while it is written', async (stores) => {
    await filled(stores, 'small');
    const before = stores.contents;
    const photograph = stores.photograph();
    for (let i = 0; i < KEY_COUNT; i += 2) {
      await photograph.step(1);
      const { count, last, items, index } = stores.at((i * 7) % KEY_COUNT);
      for (const state of [count, last, items, index]) state.clear();
    }
    assert.deepStrictEqual(await photograph.develop(), before);
  });

  check('captures an empty state, and writes nothing', async (stores) => {
    const photograph = stores.photograph();
    stores.at('a').count.update(1);
    assert.deepStrictEqual(await photograph.develop(), emptyContents());
  });
}

/** Captures beside one another. */
export function coexistenceChecks(check: Check): void {
  for (const order of ['in their order', 'in the reverse order', 'in turns'] as const) {
    check(`keeps captures apart that are written ${order}`, async (stores) => {
      await filled(stores, 'large');
      const expected = [];
      const photographs = [];
      for (const [n, { apply }] of CHANGES.entries()) {
        expected.push(stores.contents);
        photographs.push(stores.photograph());
        for (let i = 0; i < KEY_COUNT; i++) {
          if ((i + n) % 3 === 0) fill(stores.at(i), n, 'small');
          else apply(stores.at(i), i);
        }
      }
      if (order === 'in turns') {
        for (let turn = 0; turn < 40; turn++) await photographs[(turn * 5) % photographs.length]!.step(2);
      }
      const entries = [...photographs.entries()];
      for (const [i, photograph] of order === 'in the reverse order' ? entries.reverse() : entries) {
        assert.deepStrictEqual(await photograph.develop(), expected[i], `capture ${String(i)}`);
      }
    });
  }

  check('leaves other captures alone when one is released', async (stores) => {
    await filled(stores, 'small');
    const moments = [];
    for (let n = 0; n < 4; n++) {
      moments.push({ photograph: stores.photograph(), expected: stores.contents });
      for (let i = n; i < KEY_COUNT; i += 2) stores.at(i).items.add(n);
      for (let i = 0; i < KEY_COUNT; i += 3) stores.at(i).count.update(`after ${String(n)}`);
    }
    await moments[1]!.photograph.step(3);
    moments[3]!.photograph.release();
    moments[0]!.photograph.release();
    for (let i = 0; i < KEY_COUNT; i++) stores.at(i).last.update('later');
    await moments[1]!.photograph.giveUp(new Error('given up'));
    for (let i = 0; i < KEY_COUNT; i++) stores.at(i).index.clear();
    assert.deepStrictEqual(await moments[2]!.photograph.develop(), moments[2]!.expected);
  });

  check('goes on unharmed after a capture was given up while it was written', async (stores) => {
    await filled(stores, 'large');
    const photograph = stores.photograph();
    await photograph.step(2);
    for (let i = 0; i < KEY_COUNT; i += 2) stores.at(i).count.update('later');
    await photograph.giveUp(new Error('the checkpoint has expired'));
    assert.equal(stores.at(0).count.value(), 'later');
    assert.equal(stores.at(1).count.value(), 1);
    assert.deepStrictEqual(await stores.photograph().develop(), stores.contents);
  });

  check('fails the capture, and not a record, for a value that cannot be encoded', async (stores) => {
    await filled(stores, 'small');
    try {
      stores.at(1).last.update(() => undefined);
    } catch (error) {
      // A backend that encodes at once says so at once.
      assert(isWeirError(error, 'VALUE_NOT_SERIALIZABLE'));
      return;
    }
    await failsToDevelop(stores, () => {
      stores.at(1).last.update('a value again');
    });
    stores.at(1).last.clear();
    stores.at(2).last.update(() => undefined);
    await failsToDevelop(stores, () => undefined);
    stores.at(2).last.clear();
    assert.deepStrictEqual(await stores.photograph().develop(), stores.contents);
  });
}

/** What happens meanwhile succeeds, but the capture is refused for a value, when it is taken or when it is written. */
async function failsToDevelop(stores: KeyedStores, meanwhile: () => void): Promise<void> {
  let photograph: Photograph;
  try {
    photograph = stores.photograph();
  } catch (error) {
    assert(isWeirError(error, 'VALUE_NOT_SERIALIZABLE'));
    return;
  }
  meanwhile();
  await failsWith('VALUE_NOT_SERIALIZABLE', () => photograph.contents());
  photograph.release();
}
