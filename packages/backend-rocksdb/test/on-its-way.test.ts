import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RocksDriver } from '../src/driver/rocks-driver.js';
import { countingDriver } from './support/counting-driver.js';
import { describeRocks, useDirectory } from './support/driver.js';
import { openStore, type OpenStore } from './support/store.js';
import { StoredFiles, nativeOf } from './support/stored-files.js';

/** One use of state by one key; gives what it has read. */
type Use = readonly [key: number, what: keyof typeof USES, at: number];

const USES = {
  update: ({ value }, n) => {
    value.update(n % 2 === 0 ? n : { n });
  },
  clear: ({ value }) => {
    value.clear();
  },
  read: ({ value }) => value.value(),
  change: ({ value }, n) => {
    const found = value.value();
    if (typeof found === 'object' && found !== null) Object.assign(found, { n });
  },
  add: ({ list }, n) => {
    list.add(n % 3 === 0 ? { n } : n);
  },
  'clear list': ({ list }) => {
    list.clear();
  },
  'read list': ({ list }) => [...list.values()],
  set: ({ map }, n) => {
    map.set(n % 4, n);
  },
  delete: ({ map }, n) => {
    map.delete(n % 4);
  },
  get: ({ map }, n) => map.get(n % 4),
  'read map': ({ map }) => [...map.entries()].sort(),
  'clear map': ({ map }) => {
    map.clear();
  },
} satisfies Record<string, (state: States, n: number) => unknown>;

type States = Pick<OpenStore, 'value' | 'list' | 'map'>;

function use(to: OpenStore, uses: readonly Use[]): string[] {
  return uses.map(([key, what, n]) => {
    to.store.setCurrentKey(key);
    return JSON.stringify(USES[what](to, n) ?? null);
  });
}

/** Looks at enough other keys for a small cache to let go of all that it may. */
function look({ store, value }: OpenStore): void {
  for (let i = 0; i < 300; i++) {
    store.setCurrentKey(1000 + (i % 100));
    value.value();
  }
}

const uses = fc.array(
  fc.tuple(fc.nat(5), fc.constantFrom(...(Object.keys(USES) as (keyof typeof USES)[])), fc.nat(20)),
  { maxLength: 40 },
);

describeRocks('what a capture of RocksDB state has frozen', (driver) => {
  const place = useDirectory();
  let runs = 0;

  test.each([1, 3000, 1_000_000])(
    'is read, changed and captured again while it is on its way to the database, with a cache of %i bytes',
    async (cacheSize) => {
      await fc.assert(
        fc.asyncProperty(fc.array(uses, { minLength: 2, maxLength: 4 }), uses, async (rounds, between) => {
          const dir = place(String(runs++));
          const writes = new HeldWrites(driver);
          const files = new StoredFiles();
          await using to = await openStore(writes.driver, `${dir}/held`, { cacheSize });
          // The same without captures and with everything in memory.
          await using undisturbed = await openStore(driver, `${dir}/undisturbed`);
          using _ = writes;
          const same = (round: readonly Use[]): void => {
            expect(use(to, round)).toEqual(use(undisturbed, round));
          };
          const captured: {
            readonly written: ReturnType<StoredFiles['write']>;
            readonly contents: readonly string[];
          }[] = [];
          for (const [n, round] of rounds.entries()) {
            same(round);
            const capture = to.store.capture({ checkpointId: n + 1, mode: 'incremental' });
            captured.push({ written: files.write(capture), contents: undisturbed.contents() });
          }
          const all = Promise.all(captured.map(({ written }) => written));
          while ((await Promise.race([writes.asked(), all])) === 'asked') {
            look(to);
            same(between);
            writes.letGo();
          }
          const handles = await all;
          for (const [n, { contents }] of captured.entries()) {
            await using restored = await openStore(driver, `${dir}/restored`);
            await restored.store.restoreNative!(nativeOf(handles[n]!), files);
            expect(restored.contents()).toEqual(contents);
          }
          same(between);
          expect(to.contents()).toEqual(undisturbed.contents());
        }),
        { numRuns: 25 },
      );
    },
    120_000,
  );
});

/** Writes on other threads do not begin before they are let go of, one by one, and at the end all of them. */
class HeldWrites implements Disposable {
  readonly driver: RocksDriver;
  readonly #held: (() => void)[] = [];
  #isOver = false;
  #ask = (): void => undefined;

  constructor(driver: RocksDriver) {
    const counting = countingDriver(driver);
    counting.before('writeAside', async () => {
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#held.push(resolve);
        this.#ask();
      });
    });
    this.driver = counting;
  }

  /** There is one to be let go of. */
  async asked(): Promise<'asked'> {
    if (this.#held.length === 0) await new Promise<void>((resolve) => (this.#ask = resolve));
    return 'asked';
  }
  letGo(): void {
    this.#held.shift()?.();
  }
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const resolve of this.#held) resolve();
  }
}
