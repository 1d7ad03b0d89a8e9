import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Key, StateBackend } from '@weir/core/contracts';
import type { TestFunction } from '../suite.js';
import type { Contents } from './contents.js';
import type { StateBackendSuiteOptions } from './fixture.js';
import { KeyedStores, ORIGINS, type Origin } from './keyed-stores.js';
import { StateModel, type Access } from './model.js';
import type { Photograph } from './photograph.js';

/** One thing that happens: to the state of a key, or to a capture. */
type Event =
  | Access
  | { readonly kind: 'capture' }
  | { readonly kind: 'step'; readonly which: number; readonly budget: number }
  | { readonly kind: 'develop'; readonly which: number }
  | { readonly kind: 'release'; readonly which: number }
  | { readonly kind: 'carry over' };

/** Random histories against a model that is too simple to be wrong: every capture must be the model at its moment. */
export function historyChecks(test: TestFunction, { create, histories = 50, seed }: StateBackendSuiteOptions): void {
  for (const [origin, where] of Object.entries(ORIGINS)) {
    test(`shows in each capture the state at its moment, whatever happens in whichever order, ${where}`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 80, size: 'max' }), async (events) => {
          await replay(await create(), origin as Origin, events);
        }),
        { numRuns: histories, ...(seed === undefined ? {} : { seed }) },
      );
    });
  }
}

async function replay(backend: StateBackend, origin: Origin, events: readonly Event[]): Promise<void> {
  const stores = await KeyedStores.open(backend, origin);
  const model = new StateModel(backend.capabilities.keepsIdentity);
  let open: { readonly photograph: Photograph; readonly expected: Contents }[] = [];
  const take = (which: number): (typeof open)[number] | undefined => {
    const taken = open[which % open.length];
    open = open.filter((one) => one !== taken);
    return taken;
  };
  const develop = async (which: number): Promise<void> => {
    const taken = take(which);
    if (taken !== undefined) assert.deepStrictEqual(await taken.photograph.develop(), taken.expected, 'a capture');
  };

  for (const event of events) {
    switch (event.kind) {
      case 'capture':
        if (open.length < 4) open.push({ photograph: stores.photograph(), expected: model.copy() });
        break;
      case 'step':
        await open[event.which % open.length]?.photograph.step(event.budget);
        break;
      case 'develop':
        await develop(event.which);
        break;
      case 'release':
        take(event.which)?.photograph.release();
        break;
      case 'carry over':
        while (open.length > 0) await develop(0);
        await stores.carryOver();
        break;
      default:
        model.apply(event, stores.at(event.key));
    }
  }
  assert.deepStrictEqual(stores.contents, model.copy(), 'the state itself');
  while (open.length > 0) await develop(open.length - 1);
  await stores.close();
}

const key: fc.Arbitrary<Key> = fc.constantFrom('a', 'b', 'c', 'd', 'e', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9n, true, ['a', 1]);
const mapKey: fc.Arbitrary<Key> = fc.constantFrom('k', 'l', 1, 2, false, ['k']);
const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, false, 0, '', Number.NaN, 1, 2, 'text'),
  fc.record({ n: fc.nat(9), deep: fc.array(fc.nat(9), { maxLength: 2 }) }),
);
const state = fc.constantFrom('count' as const, 'last' as const);

/** Something that user code does with the state of some key. */
export const access: fc.Arbitrary<Access> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('update' as const), key, state, value }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('mutate' as const), key, state, thenUpdate: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('add' as const), key, value, times: fc.constantFrom(1, 2, 150) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('mutate elements' as const), key }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), key, mapKey, value }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('set many' as const), key, value }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), key, mapKey }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('mutate entry' as const), key, mapKey, thenSet: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mutate entries' as const), key }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('clear' as const),
      key,
      state: fc.constantFrom('count' as const, 'last' as const, 'items' as const, 'index' as const),
    }),
  },
);
const which = fc.nat(3);

const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 29, arbitrary: access },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('capture' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('step' as const), which, budget: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('develop' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('carry over' as const) }) },
);
