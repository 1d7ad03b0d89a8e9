import type {
  Key,
  KeyGroup,
  KeyGroupRange,
  KeyedSection,
  StateDeclaration,
  StateEntry,
  StateHandle,
  StateMeta,
} from '@weir/core/contracts';
import type { Captures } from '../capture/captures.js';
import type { RowSource } from '../capture/preserved.js';
import type { CurrentKey } from './current-key.js';
import type { GroupPages } from './group-pages.js';
import type { PageRun } from './page-run.js';
import type { Slot } from './page.js';
import type { Sweep } from './sweeps.js';

/** One declared state of a store: what captures and restores see of it. */
export interface StoredState<V = unknown> {
  readonly meta: StateMeta;
  readonly handle: StateHandle;
  /** About how many rows it would be stored in. */
  readonly rows: number;
  /** See `KeyedStateStore.lookAhead`. */
  lookAhead(keys: readonly Key[]): void;
  group(group: KeyGroup): GroupPages<V>;
  /** When the entry changed last, or one that was in the slot before; see `ChangeLog.mark`. */
  markOf(slot: Slot): number;
  /** Gives an entry, as it is now, to every capture up to `version` that does not hold it yet and has to. */
  preserve(slot: Slot, version: number): void;
  /** A quicker way to the same for many. */
  readonly runs?: RowSource<PageRun> | undefined;
  /** See `KeyedStateStore.sweep`. There if the state has an expiry. */
  readonly sweep?: Sweep | undefined;
  /** Rows, or changes to those that are there. */
  restore(section: KeyedSection): void;
  entries(): Iterable<StateEntry>;
}

/** What the states of one store share. */
export interface StoreParts {
  readonly operator: string;
  readonly keyGroups: KeyGroupRange;
  readonly maxParallelism: number;
  readonly current: CurrentKey;
  readonly captures: Captures;
}

export function metaOf({ name, kind, serializer }: StateDeclaration): StateMeta {
  return { name, kind, serializer: { id: serializer.id, version: serializer.version } };
}
