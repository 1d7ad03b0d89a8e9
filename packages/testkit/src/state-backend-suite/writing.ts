import assert from 'node:assert/strict';
import type { KeyedSection, Slice } from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import { contentsOfSections, contentsOfStores } from './contents.js';
import { MAX_PARALLELISM, type States } from './declarations.js';
import type { StateBackendSuiteOptions } from './fixture.js';
import { openStore } from './keyed-stores.js';

const WHOLE = { first: 0, last: MAX_PARALLELISM - 1 };
const NEVER_OVER: Slice = { isOver: () => false, next: () => Promise.resolve() };

/** How captures are written: in slices, and no faster than they are taken. */
export function writingChecks(test: TestFunction, { create, pressedAbove }: StateBackendSuiteOptions): void {
  test('asks for the next slice again and again while much is written', async () => {
    const store = await openStore(await create());
    const { count, index } = handles(store);
    for (let i = 0; i < 2000; i++) {
      store.setCurrentKey(i);
      (count as States['count']).update(i);
    }
    store.setCurrentKey('a');
    for (let i = 0; i < 2000; i++) (index as States['index']).set(i, i);
    const capture = store.capture({ checkpointId: 1, mode: 'full' });
    let slices = 0;
    await capture.write(
      { section: () => undefined },
      {
        isOver: () => true,
        next: async () => {
          slices++;
        },
      },
    );
    capture.release();
    assert(slices >= 10, `4,000 rows were written in ${String(slices)} slices`);
    await store.close();
  });

  test('leaves a section alone until it is taken, and gives no other before', async () => {
    const store = await openStore(await create());
    const { count, items } = handles(store);
    const change = (round: number): void => {
      for (let i = 0; i < 500; i++) {
        store.setCurrentKey(i);
        (count as States['count']).update(round + i);
        (items as States['items']).add('x'.repeat(500));
      }
    };
    change(1);
    const expected = contentsOfStores([store]);
    const capture = store.capture({ checkpointId: 1, mode: 'full' });
    const sections: KeyedSection[] = [];
    let taken: (() => void) | undefined;
    let goOn = (): void => undefined;
    const end = { hasCome: false };
    const writing = capture.write(
      {
        section(section) {
          assert.equal(taken, undefined, 'a section came before the last was taken');
          sections.push(section);
          return new Promise((resolve) => {
            taken = resolve;
            goOn();
          });
        },
      },
      NEVER_OVER,
    );
    const copies: KeyedSection[] = [];
    const stop = (): void => {
      end.hasCome = true;
      goOn();
    };
    writing.then(stop, stop);
    for (;;) {
      if (taken === undefined && !end.hasCome)
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      if (end.hasCome) break;
      change(copies.length * 1000);
      const section = sections.at(-1)!;
      copies.push({ ...section, rows: Uint8Array.from(section.rows) });
      const resolve = taken as unknown as () => void;
      taken = undefined;
      resolve();
    }
    await writing;
    capture.release();
    assert.deepStrictEqual(contentsOfSections(copies, WHOLE), expected);
    await store.close();
  });

  if (pressedAbove === undefined) {
    test('is never pressed, as its captures hold nothing of their own', async () => {
      const store = await openStore(await create());
      const { last } = handles(store);
      const capture = store.capture({ checkpointId: 1, mode: 'full' });
      for (let round = 0; round < 2; round++) {
        for (let i = 0; i < 100; i++) {
          store.setCurrentKey(i);
          (last as States['last']).update('x'.repeat(1000));
        }
      }
      assert.equal(store.isOverBudget(), false);
      capture.release();
      await store.close();
    });
    return;
  }

  test('is pressed while captures hold more than they may, and no longer', async () => {
    const store = await openStore(await create());
    const { last } = handles(store);
    const text = 'x'.repeat(1000);
    const keys = Math.ceil((pressedAbove * 2) / text.length) + 1;
    const updateAll = (): void => {
      for (let i = 0; i < keys; i++) {
        store.setCurrentKey(i);
        (last as States['last']).update(text);
      }
    };
    updateAll();
    assert.equal(store.isOverBudget(), false, 'without captures');
    const written = store.capture({ checkpointId: 1, mode: 'full' });
    assert.equal(store.isOverBudget(), false, 'before anything is preserved');
    updateAll();
    assert.equal(store.isOverBudget(), true, 'after all was updated');
    await written.write({ section: () => undefined }, NEVER_OVER);
    assert.equal(store.isOverBudget(), false, 'after all was written');
    written.release();
    const released = store.capture({ checkpointId: 2, mode: 'full' });
    updateAll();
    assert.equal(store.isOverBudget(), true, 'after all was updated again');
    released.release();
    assert.equal(store.isOverBudget(), false, 'after the release');
    await store.close();
  });
}

function handles(store: { handle(name: string): unknown }): Readonly<Record<keyof States, unknown>> {
  return {
    count: store.handle('count'),
    last: store.handle('last'),
    items: store.handle('items'),
    index: store.handle('index'),
  };
}
