import { createMemoryStateBackend, type MemoryStateOptions } from '@weir/backend-memory';
import {
  SILENT,
  defaultSerializer,
  type Key,
  type KeyedCapture,
  type KeyedSection,
  type KeyedStateStore,
  type ListState,
  type MapState,
  type Serializer,
  type Slice,
  type ValueState,
} from '@weir/core/contracts';
import { VirtualClock } from '@weir/testkit';

/** Counts the values that were encoded. */
export interface CountingSerializer extends Serializer {
  encoded: number;
}
export function countingSerializer(): CountingSerializer {
  const counting: CountingSerializer = {
    ...defaultSerializer,
    encoded: 0,
    encode(value, out) {
      counting.encoded++;
      defaultSerializer.encode(value, out);
    },
  };
  return counting;
}

export interface OpenStore {
  readonly store: KeyedStateStore;
  readonly serializer: CountingSerializer;
  readonly value: ValueState<unknown>;
  readonly list: ListState<unknown>;
  readonly map: MapState<Key, unknown>;
}

/** A store of all key groups with a state of each kind. */
export async function openStore(options: MemoryStateOptions = {}): Promise<OpenStore> {
  const serializer = countingSerializer();
  const store = await createMemoryStateBackend(options).open({
    job: 'orders',
    operator: 'totals',
    subtask: 0,
    keyGroups: { first: 0, last: 127 },
    maxParallelism: 128,
    states: [
      { name: 'value', kind: 'value', serializer },
      { name: 'list', kind: 'list', serializer },
      { name: 'map', kind: 'map', serializer },
    ],
    clock: new VirtualClock(),
    logger: SILENT,
  });
  return {
    store,
    serializer,
    value: store.handle('value') as ValueState<unknown>,
    list: store.handle('list') as ListState<unknown>,
    map: store.handle('map') as MapState<Key, unknown>,
  };
}

export const NEVER_OVER: Slice = { isOver: () => false, next: () => Promise.resolve() };

/** The sections of a capture, which is released. */
export async function developed(capture: KeyedCapture): Promise<readonly KeyedSection[]> {
  const sections: KeyedSection[] = [];
  await capture.write(
    {
      section(section) {
        sections.push({ ...section, rows: Uint8Array.from(section.rows) });
      },
    },
    NEVER_OVER,
  );
  capture.release();
  return sections;
}

/** What the value state holds, by key. */
export function valuesOf(store: KeyedStateStore): Map<Key, unknown> {
  return new Map([...store.entries('value')].map((entry) => [entry.key, entry.kind === 'value' ? entry.value : entry]));
}

export async function restoredFrom(sections: readonly KeyedSection[]): Promise<OpenStore> {
  const opened = await openStore();
  for (const section of sections) opened.store.restore(section);
  return opened;
}
