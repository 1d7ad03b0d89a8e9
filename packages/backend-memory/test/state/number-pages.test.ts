import { fc, test as property } from '@fast-check/vitest';
import { keyGroupOf, type Key, type KeyedCapture, type KeyedSection } from '@weir/core/contracts';
import { describe, expect, test } from 'vitest';
import { developed, openStore, restoredFrom, valuesOf, type OpenStore } from '../support/store.js';

/** So many keys of one key group lie on one page. */
const KEYS: readonly number[] = Array.from({ length: 20_000 }, (_, i) => i)
  .filter((i) => keyGroupOf(i, 128) === 5)
  .slice(0, 80);

type State = ReadonlyMap<number, unknown>;
async function contentOf(sections: readonly KeyedSection[]): Promise<ReadonlyMap<Key, unknown>> {
  return valuesOf((await restoredFrom(sections)).store);
}
const rowsIn = (sections: readonly KeyedSection[]): number => sections.reduce((sum, { count }) => sum + count, 0);

/** A capture that is written step by step, to a storage that takes what it is given at the next step only. */
class Writing {
  readonly #capture: KeyedCapture;
  readonly #expected: State;
  readonly #sections: KeyedSection[] = [];
  readonly #written: Promise<void>;
  #isWritten = false;
  #next: (() => void) | undefined;

  constructor({ store }: OpenStore, checkpointId: number, expected: State) {
    this.#expected = expected;
    this.#capture = store.capture({ checkpointId, mode: 'full' });
    const pause = (): Promise<void> =>
      new Promise((resolve) => {
        this.#next = resolve;
      });
    const section = async (given: KeyedSection): Promise<void> => {
      await pause();
      this.#sections.push({ ...given, rows: Uint8Array.from(given.rows) });
    };
    this.#written = this.#capture.write({ section }, { isOver: () => true, next: pause }).then(() => {
      this.#isWritten = true;
    });
    this.#written.catch(() => undefined);
  }

  async step(): Promise<void> {
    const next = this.#next;
    this.#next = undefined;
    next?.();
    // What follows from it takes a few promises.
    for (let i = 0; i < 10; i++) await Promise.resolve();
  }
  async check(): Promise<void> {
    while (!this.#isWritten) await this.step();
    this.#capture.release();
    expect(await contentOf(this.#sections)).toEqual(this.#expected);
    expect(rowsIn(this.#sections), 'each entry once').toBe(this.#expected.size);
  }
  giveUp(): void {
    this.#capture.release();
  }
}

const key = fc.constantFrom(...KEYS);
/** In five bytes, in nine, and what is no number. */
const small = fc.integer({ min: 0, max: 9 });
const value = fc.oneof({ weight: 20, arbitrary: small }, fc.constantFrom(2 ** 40, 1.5, -0), fc.constant('text'));
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('update' as const), key, value: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('update' as const), key, value }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), key }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('capture' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('step' as const), which: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('check' as const), which: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('giveUp' as const), which: fc.nat({ max: 2 }) }) },
);

describe('a page of numbers', () => {
  property.prop([fc.array(step, { minLength: 30, maxLength: 120 }), fc.boolean()], { numRuns: 300 })(
    'is in every capture as it was at its moment',
    async (history, isFull) => {
      const opened = await openStore();
      const state = new Map<number, unknown>();
      const put = (at: number, content: unknown): void => {
        opened.store.setCurrentKey(at);
        opened.value.update(content);
        state.set(at, content);
      };
      // With all keys there from the start, nearly all changes are of values.
      if (isFull) for (const each of KEYS) put(each, 0);
      let writings: Writing[] = [];
      let checkpointId = 1;
      const ended = (which: number): Writing | undefined => {
        const writing = writings[which];
        writings = writings.filter((other) => other !== writing);
        return writing;
      };
      for (const action of history) {
        if (action.kind === 'update') put(action.key, action.value);
        else if (action.kind === 'capture') writings.push(new Writing(opened, checkpointId++, new Map(state)));
        else if (action.kind === 'step') await writings[action.which]?.step();
        else if (action.kind === 'check') await ended(action.which)?.check();
        else if (action.kind === 'giveUp') ended(action.which)?.giveUp();
        else {
          opened.store.setCurrentKey(action.key);
          opened.value.clear();
          state.delete(action.key);
        }
      }
      for (const writing of writings) await writing.check();
      await new Writing(opened, checkpointId, state).check();
    },
  );

  const filled = async (content: (i: number) => unknown): Promise<OpenStore> => {
    const opened = await openStore();
    KEYS.forEach((each, i) => {
      opened.store.setCurrentKey(each);
      opened.value.update(content(i));
    });
    return opened;
  };
  const change = (opened: OpenStore, content: unknown): number => {
    const before = opened.serializer.encoded;
    opened.store.setCurrentKey(KEYS[0]!);
    opened.value.update(content);
    return opened.serializer.encoded - before;
  };

  test('is taken at the first change once its keys are known, and by itself before', async () => {
    const opened = await filled((i) => i);
    const encoded: number[] = [];
    for (let checkpointId = 1; checkpointId <= 5; checkpointId++) {
      const capture = opened.store.capture({ checkpointId, mode: 'full' });
      encoded.push(change(opened, checkpointId));
      await developed(capture);
    }
    // The first change of all takes one entry along with it, then the page has its rows ready.
    expect(encoded).toEqual([1, 1, KEYS.length, KEYS.length, KEYS.length]);
  });

  test('is not taken whole by a single record before it is known, but by several together', async () => {
    const opened = await filled((i) => i);
    const capture = opened.store.capture({ checkpointId: 1, mode: 'full' });
    const encoded = KEYS.slice(0, 4).map((each) => {
      const before = opened.serializer.encoded;
      opened.store.setCurrentKey(each);
      opened.value.update(-1);
      return opened.serializer.encoded - before;
    });
    expect(encoded).toEqual([1, KEYS.length - 1, 0, 0]);
    expect(await contentOf(await developed(capture))).toEqual(new Map(KEYS.map((each, i) => [each, i])));
  });

  test('that a value does not fit into is written entry by entry', async () => {
    const opened = await filled((i) => (i === 7 ? 'text' : i));
    for (let checkpointId = 1; checkpointId <= 4; checkpointId++) {
      const capture = opened.store.capture({ checkpointId, mode: 'full' });
      expect(change(opened, checkpointId)).toBe(1);
      await developed(capture);
    }
  });

  test('that was no page of numbers when a capture began to take its entries is not taken again', async () => {
    const opened = await filled((i) => i);
    for (let checkpointId = 1; checkpointId <= 3; checkpointId++)
      await developed(opened.store.capture({ checkpointId, mode: 'full' }));
    const last = KEYS.at(-1)!;
    const state = new Map<number, unknown>(KEYS.map((each, i) => [each, i]));
    const put = (at: number, content: unknown): void => {
      opened.store.setCurrentKey(at);
      opened.value.update(content);
      state.set(at, content);
    };
    put(last, 'text');
    const first = new Writing(opened, 4, new Map(state));
    // It comes to the last entries first, and has not come to the others.
    const before = opened.serializer.encoded;
    while (opened.serializer.encoded === before) await first.step();
    expect(opened.serializer.encoded - before).toBeLessThan(KEYS.length);
    put(last, 1);
    const second = new Writing(opened, 5, new Map(state));
    put(KEYS[0]!, 1);
    await first.check();
    await second.check();
  });

  test('whose values keep changing their lengths is written anew each time', async () => {
    const opened = await filled((i) => i);
    for (let checkpointId = 1; checkpointId <= 12; checkpointId++) {
      const capture = opened.store.capture({ checkpointId, mode: 'full' });
      const expected = valuesOf(opened.store);
      change(opened, checkpointId % 2 === 0 ? 1 : 1.5);
      expect(await contentOf(await developed(capture))).toEqual(expected);
    }
    const capture = opened.store.capture({ checkpointId: 13, mode: 'full' });
    expect(change(opened, 1.5), 'nothing is kept ready any more').toBe(1);
    await developed(capture);
  });
});
