import type {
  Key,
  KeyGroupRange,
  KeyedSection,
  StateDeclaration,
  StateEntry,
  StateHandle,
  StateMeta,
} from '@weir/core/contracts';
import type { Clock } from '../cache/clock.js';
import type { Generations } from '../cache/generations.js';
import type { PackedBatch } from '../cache/packed-batch.js';
import type { Rows } from '../rows.js';
import type { CurrentKey } from './current-key.js';

/** One declared state of a store. */
export interface StoredState {
  readonly meta: StateMeta;
  readonly handle: StateHandle;
  /** What its rows are known by in the database; another one after a restore of files that somebody else has numbered. */
  id: number;
  /** See `KeyedStateStore.lookAhead`. */
  lookAhead?(keys: readonly Key[]): void;
  /** Writes what a section holds, before the first record. */
  restore(section: KeyedSection, batch: PackedBatch): void;
  entries(): Iterable<StateEntry>;
}

/** What the states of one store share. */
export interface StoreParts {
  readonly operator: string;
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly current: CurrentKey;
  readonly clock: Clock;
  readonly generations: Generations;
  readonly rows: Rows;
}

export function metaOf({ name, kind, serializer }: StateDeclaration): StateMeta {
  return { name, kind, serializer: { id: serializer.id, version: serializer.version } };
}
