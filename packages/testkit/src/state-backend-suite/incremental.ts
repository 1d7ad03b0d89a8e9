import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { StateBackend } from '@weir/core/contracts';
import { seededRandom } from '../seeded-random.js';
import type { TestFunction } from '../suite.js';
import {
  bytesBeyond,
  CheckpointedStores,
  type CompletedCheckpoint,
  type OpenCheckpoint,
} from './checkpointed-stores.js';
import { emptyContents } from './contents.js';
import type { StateBackendSuiteOptions } from './fixture.js';
import { access } from './histories.js';
import { StateModel, type Access } from './model.js';
import { sizeOf } from './shelf.js';

/** One thing that happens: to the state of a key, or to a checkpoint. `which` counts the open ones. */
type Event =
  | Access
  | { readonly kind: 'capture' }
  | { readonly kind: 'step'; readonly which: number; readonly budget: number }
  | { readonly kind: 'write'; readonly which: number }
  | { readonly kind: 'complete'; readonly which: number; readonly isToldLater: boolean }
  | { readonly kind: 'abort'; readonly which: number }
  | { readonly kind: 'tell' }
  | { readonly kind: 'savepoint' }
  | { readonly kind: 'restart'; readonly factor: number; readonly isOwned: boolean };

/** Checkpoints that are made of what earlier ones have stored. For backends that promise them. */
export function incrementalChecks(test: TestFunction, options: StateBackendSuiteOptions): void {
  const { create, histories = 50, seed } = options;
  const check = (title: string, body: (stores: CheckpointedStores) => Promise<void>): void => {
    test(title, async () => {
      const backend = await create();
      if (backend.capabilities.incremental !== true) return;
      const stores = await CheckpointedStores.open(backend);
      await body(stores);
      await stores.close();
    });
  };

  check('stores only what has changed since the last completed checkpoint', async (stores) => {
    fillMany(stores);
    const full = await stores.checkpoint();
    stores.at('key 7').count.update('changed');
    const small = await stores.checkpoint();
    assert(bytesBeyond(small, full) < sizeOf(full.handles) / 5, 'one key of a thousand has changed');
    assert.equal((await stores.read(small, 1)).count.get("'key 7'"), 'changed');
  });

  check('stores again what an aborted checkpoint has stored', async (stores) => {
    fillMany(stores);
    await stores.checkpoint();
    stores.at('key 7').count.update('changed');
    const aborted = stores.capture(stores.contents);
    await stores.write(aborted);
    stores.abort(aborted);
    stores.at('key 8').count.update('changed');
    const { count } = await stores.read(await stores.checkpoint(), 1);
    assert.deepStrictEqual([count.get("'key 7'"), count.get("'key 8'")], ['changed', 'changed']);
  });

  check('goes on from what was restored, if that is its own', async (stores) => {
    fillMany(stores);
    const full = await stores.checkpoint();
    await stores.restart(full, 1);
    stores.at('key 7').count.clear();
    const small = await stores.checkpoint();
    assert(bytesBeyond(small, full) < sizeOf(full.handles) / 5, 'one key of a thousand has changed');
    assert.deepStrictEqual(await stores.read(small, 1), stores.contents);
  });

  check('stores everything again where what was restored is not its own', async (stores) => {
    fillMany(stores);
    await stores.restart(await stores.checkpoint(), 1, false);
    assert.deepStrictEqual(await stores.read(await stores.checkpoint(), 1), stores.contents);
  });

  check('stores what is in its own key groups and nothing else after it was restored into fewer', async (stores) => {
    fillMany(stores);
    await stores.restart(await stores.checkpoint(), 2);
    for (let i = 0; i < 50; i++) stores.at(`key ${String(i)}`).count.update('changed');
    const checkpoint = await stores.checkpoint();
    for (const parallelism of [1, 2, 4]) {
      assert.deepStrictEqual(await stores.read(checkpoint, parallelism), stores.contents);
    }
  });

  check('gives everything in canonical rows where a full capture is asked for', async (stores) => {
    fillMany(stores);
    await stores.checkpoint();
    stores.at('key 7').count.update('changed');
    assert.deepStrictEqual(await stores.savepoint(), stores.contents);
    assert.deepStrictEqual(await stores.read(await stores.checkpoint(), 1), stores.contents);
  });

  test('restores from any checkpoint the state at its moment, whatever became of others, at any parallelism', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 100, size: 'max' }), async (events) => {
        const backend = await create();
        if (backend.capabilities.incremental === true) await replay(backend, events);
      }),
      { numRuns: histories, ...(seed === undefined ? {} : { seed }) },
    );
  });
}

/** Several hundred kilobytes that cannot be compressed much: in small files what a backend notes about them would weigh more than what is in them. */
function fillMany(stores: CheckpointedStores): void {
  const random = seededRandom(3);
  for (let i = 0; i < 1000; i++) {
    stores.at(`key ${String(i)}`).count.update(Array.from({ length: 40 }, () => random().toString(36)).join());
  }
}

async function replay(backend: StateBackend, events: readonly Event[]): Promise<void> {
  const stores = await CheckpointedStores.open(backend);
  let model = new StateModel(backend.capabilities.keepsIdentity);
  let open: OpenCheckpoint[] = [];
  let latest: CompletedCheckpoint | undefined;
  let untold: CompletedCheckpoint[] = [];
  const tell = (): void => {
    for (const completed of untold) stores.notify(completed);
    untold = [];
  };

  // So much that what changes is little of it.
  for (let i = 0; i < 10; i++) {
    model.apply({ kind: 'set many', key: i, value: i }, stores.at(i));
    model.apply({ kind: 'add', key: i, value: i, times: 20 }, stores.at(i));
  }
  for (const event of events) {
    const chosen = 'which' in event ? open[event.which % open.length] : undefined;
    switch (event.kind) {
      case 'capture':
        if (open.length < 3) open.push(stores.capture(model.copy()));
        break;
      case 'step':
        if (chosen !== undefined && chosen.handles === undefined) await stores.step(chosen, event.budget);
        break;
      case 'write':
        if (chosen !== undefined) await stores.write(chosen);
        break;
      case 'complete': {
        if (chosen === undefined) break;
        latest = await stores.complete(chosen);
        untold.push(latest);
        // Those before it are overtaken.
        const overtaken = open.filter(({ id }) => id < chosen.id);
        open = open.filter(({ id }) => id > chosen.id);
        for (const parallelism of [1, 2 * stores.parallelism]) {
          assert.deepStrictEqual(
            await stores.read(latest, parallelism),
            latest.expected,
            `checkpoint ${String(latest.id)}, restored by ${String(parallelism)}`,
          );
        }
        if (!event.isToldLater) tell();
        for (const each of overtaken) stores.abort(each);
        break;
      }
      case 'tell':
        tell();
        break;
      case 'abort':
        if (chosen === undefined) break;
        stores.abort(chosen);
        open = open.filter((other) => other !== chosen);
        break;
      case 'savepoint':
        assert.deepStrictEqual(await stores.savepoint(), model.copy(), 'a full capture');
        break;
      case 'restart': {
        for (const each of open) stores.abort(each);
        const parallelism = Math.min(4, Math.max(1, stores.parallelism * event.factor));
        await stores.restart(latest, parallelism, event.isOwned);
        const contents = latest?.expected ?? emptyContents();
        assert.deepStrictEqual(stores.contents, contents, 'what was restored');
        model = new StateModel(backend.capabilities.keepsIdentity, contents);
        [open, untold] = [[], []];
        if (!event.isOwned) latest = undefined;
        break;
      }
      default:
        model.apply(event, stores.at(event.key));
    }
  }
  assert.deepStrictEqual(stores.contents, model.copy(), 'the state itself');
  const last = await stores.complete(stores.capture(model.copy()));
  assert.deepStrictEqual(await stores.read(last, stores.parallelism), model.copy(), 'the last checkpoint');
  for (const each of open) stores.abort(each);
  await stores.close();
}

const which = fc.nat(2);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 24, arbitrary: access },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('capture' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('step' as const), which, budget: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('write' as const), which }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('complete' as const), which, isToldLater: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('tell' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('savepoint' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      factor: fc.constantFrom(1, 1, 2, 0.5),
      isOwned: fc.constantFrom(true, true, true, false),
    }),
  },
);
