import type { CheckpointLocation } from '../contracts/checkpoint-storage.js';
import type { Clock } from '../contracts/clock.js';
import { SILENT } from '../contracts/logger.js';
import type { OperatorSnapshot, RecordedKind } from '../contracts/snapshot.js';
import type {
  KeyedStateStore,
  ListState,
  MapState,
  Slice,
  StateBackend,
  StateDeclaration,
  ValueState,
} from '../contracts/state-backend.js';
import { assertKey } from '../element/assert-key.js';
import type { Key } from '../element/key.js';
import { KEY_TYPES, keyTypeOf, type KeyType } from '../element/key-type.js';
import { KeyedOutput } from '../snapshot/keyed-output.js';
import { defaultSerializer } from '../state/default-serializer.js';
import { withErrorContext } from '../state/with-error-context.js';
import { TIMER_DOMAINS, timerStateOf } from '../time/timer-states.js';
import { keptAs } from './kept-as.js';
import type { OperatorData, StateData } from './savepoint-data.js';

export interface KeyedDataOptions {
  readonly job: string;
  readonly backend: StateBackend;
  readonly location: CheckpointLocation;
  readonly maxParallelism: number;
  readonly clock: Clock;
}

/** The whole thread is the writer's. */
const UNHURRIED: Slice = { isOver: () => false, next: () => Promise.resolve() };

/** Puts an operator's state by key into a store of the backend, as a job would, and writes what that captures. Empty if there is none. */
export async function writeKeyedData(
  data: OperatorData,
  options: KeyedDataOptions,
): Promise<Pick<OperatorSnapshot, 'keyed' | 'keyTypes'>> {
  const declarations = declarationsOf(data);
  if (declarations.length === 0) return { keyed: [] };
  const { job, backend, location, maxParallelism, clock } = options;
  const range = { first: 0, last: maxParallelism - 1 };
  const scope = { job, operator: data.uid, subtask: 0, keyGroups: range, maxParallelism, clock, logger: SILENT };
  const opened = await backend.open({ ...scope, states: declarations });
  const types = new Set<KeyType>();
  const store: KeyStore = {
    setCurrentKey(key) {
      types.add(keyTypeOf(key));
      opened.setCurrentKey(key);
    },
    handle: (name) => opened.handle(name),
  };
  try {
    for (const [name, state] of Object.entries(data.states ?? {})) await fill(store, data.uid, name, state);
    await fillTimers(store, data);
    const kinds = new Map<string, RecordedKind>(
      Object.entries(data.states ?? {}).map(([name, { kind }]) => [name, kind]),
    );
    const output = new KeyedOutput({ range, watermark: data.watermark, sections: 'private', sharedKey: '', location });
    const capture = opened.capture({ checkpointId: location.id, mode: 'full' });
    try {
      const section: KeyedOutput['section'] = ({ state, ...rest }) =>
        output.section({ ...rest, state: { ...state, kind: kinds.get(state.name) ?? state.kind } });
      await capture.write({ section }, UNHURRIED);
      const { handles } = await output.finish();
      return handles.length === 0
        ? { keyed: [] }
        : { keyed: handles, keyTypes: KEY_TYPES.filter((type) => types.has(type)) };
    } finally {
      capture.release();
    }
  } finally {
    await opened.close();
  }
}

function declarationsOf({ uid, states = {}, timers }: OperatorData): readonly StateDeclaration[] {
  const declared = Object.entries(states).map(([name, { kind, serializer = defaultSerializer }]) => ({
    name,
    kind: keptAs(kind),
    serializer: withErrorContext(serializer, uid, name),
  }));
  const ofTimers = TIMER_DOMAINS.map((domain) => ({
    name: timerStateOf(domain),
    kind: 'map' as const,
    serializer: defaultSerializer,
  }));
  return timers === undefined ? declared : [...declared, ...ofTimers];
}

type KeyStore = Pick<KeyedStateStore, 'setCurrentKey' | 'handle'>;

async function fill(store: KeyStore, operator: string, name: string, data: StateData): Promise<void> {
  // A store's handles are of the kinds that were declared.
  const handle = store.handle(name);
  const at = (key: Key): void => {
    assertKey(key, `State '${name}' of operator ${operator}`);
    store.setCurrentKey(key);
  };
  switch (data.kind) {
    case 'value':
    case 'reducing':
    case 'aggregating':
      for await (const { key, value } of data.entries) {
        at(key);
        (handle as ValueState<unknown>).update(value);
      }
      return;
    case 'list':
      for await (const { key, values } of data.entries) {
        at(key);
        for (const value of values) (handle as ListState<unknown>).add(value);
      }
      return;
    case 'map':
      for await (const { key, mapKey, value } of data.entries) {
        at(key);
        (handle as MapState<Key, unknown>).set(mapKey, value);
      }
  }
}

async function fillTimers(store: KeyStore, { uid, timers }: OperatorData): Promise<void> {
  if (timers === undefined) return;
  for await (const { domain, key, time } of timers) {
    assertKey(key, `A timer of operator ${uid}`);
    store.setCurrentKey(key);
    (store.handle(timerStateOf(domain)) as MapState<Key, unknown>).set(time, true);
  }
}
