import { createMemoryStateBackend, createMemoryStorage } from '@weir/backend-memory';
import { checkpointCoordinator } from '@weir/coordinator';
import { CheckpointStorageRole, StateBackendRole, type Plugin, type PluginList } from '@weir/core';
import type { StateBackend } from '@weir/core/contracts';
import {
  keyBy,
  keyedProcess,
  listState,
  mapState,
  reducingState,
  valueState,
  type Emit,
  type StateTtl,
  type StreamOperator,
} from '@weir/core/operators';
import { checkOperator, crash, elapse, runOperator } from '@weir/testkit';
import { expect, test } from 'vitest';

/** Of a record everything that is known of its key, from each kind of state. */
function knownOf(ttl: StateTtl): StreamOperator<string, string> {
  return (records) =>
    records.pipe(
      keyBy((record) => record.charAt(0)),
      keyedProcess({
        uid: 'known',
        state: {
          last: valueState<string>({ ttl }),
          all: listState<string>({ ttl }),
          times: mapState<string, number>({ ttl }),
          most: reducingState<string>({ ttl, reduce: (a, b) => (a > b ? a : b) }),
        },
        onRecord(record: string, { state: { last, all, times, most } }, emit: Emit<string>) {
          all.add(record);
          most.add(record);
          times.set(record, (times.get(record) ?? 0) + 1);
          const counted = [...times.entries()].map(([name, count]) => `${name}*${String(count)}`).toSorted();
          emit(
            [`${last.value() ?? '-'}>${record}`, [...all.values()].join('+'), counted.join('+'), most.value()].join(
              ' ',
            ),
          );
          last.update(record);
        },
      }),
    );
}

const TIMEOUT = 60_000;
const MINUTE = 60_000;
const SCRIPT = ['a1', 'b1', elapse(MINUTE / 2), 'a2', 'a1', elapse(MINUTE / 2), 'a2', 'b2', elapse(MINUTE), 'a3', 'b1'];
const ON_WRITE = [
  '->a1 a1 a1*1 a1',
  '->b1 b1 b1*1 b1',
  'a1>a2 a1+a2 a1*1+a2*1 a2',
  'a2>a1 a1+a2+a1 a1*2+a2*1 a2',
  // The first a1 is gone from the list.
  'a1>a2 a2+a1+a2 a1*2+a2*2 a2',
  '->b2 b2 b2*1 b2',
  '->a3 a3 a3*1 a3',
  '->b1 b1 b1*1 b1',
];
/** Reading keeps all of a key, for as long as the key comes. */
const ON_READ = ON_WRITE.with(4, 'a1>a2 a1+a2+a1+a2 a1*2+a2*2 a2');

/** The same backend, of which every checkpoint is an incremental one. */
function alwaysIncremental(backend: StateBackend): StateBackend {
  return {
    ...backend,
    async open(scope) {
      const store = await backend.open(scope);
      const capture = store.capture.bind(store);
      store.capture = ({ checkpointId }) => capture({ checkpointId, mode: 'incremental' });
      return store;
    },
  };
}

const backends: readonly [string, (backend: StateBackend) => StateBackend][] = [
  ['full', (backend) => backend],
  ['incremental', alwaysIncremental],
];

function pluginsOf(made: (backend: StateBackend) => StateBackend): PluginList {
  const services: Plugin = {
    name: 'services',
    install(binder) {
      binder.provide(StateBackendRole, 'memory', () => made(createMemoryStateBackend()));
      binder.provide(CheckpointStorageRole, 'memory', () => createMemoryStorage());
    },
  };
  return [checkpointCoordinator(), services];
}

test.each(backends)('state expires at its time however the job is run, crashed and restored from %s checkpoints', async (_what, made) => {
  const plugins = pluginsOf(made);
  for (const [update, expected] of [['on-write', ON_WRITE], ['on-read-and-write', ON_READ]] as const)
    await checkOperator(knownOf({ after: MINUTE, update, cleanupPerRecord: 100 }), { plugins, input: SCRIPT, expected });
}, TIMEOUT); // prettier-ignore

test.each(backends)(
  'what has expired does not come back with %s checkpoints, crash after crash',
  async (_what, made) => {
    const script = SCRIPT.flatMap((item) => [item, crash()]);
    const ttl: StateTtl = { after: MINUTE, cleanupPerRecord: 0 };
    expect(await runOperator(script, knownOf(ttl), { plugins: pluginsOf(made) })).toEqual(ON_WRITE);
  },
  TIMEOUT,
);
