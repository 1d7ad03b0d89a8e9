import { WeirError, isWeirError, messageOf } from '@weir/core/contracts';
import type { KeyGroupRange, KeyedSection, NativeStateHandle, StateMeta, StoredBytes } from '@weir/core/contracts';
import { turnOfEventLoop } from '../adapters/event-loop.js';
import { removeDirectory } from '../adapters/local-files.js';
import type { RocksDatabase, RocksOptions } from '../driver/rocks-driver.js';
import type { Rows } from '../rows.js';
import type { StoredState } from '../state/stored-state.js';
import { batchesOf, sectionsOf } from './copy-rows.js';
import type { Databases } from './databases.js';
import { download } from './download.js';
import { requireNativeReadable, sequenceOf } from './native-format.js';

/** The store that files are restored into. */
export interface RestoreTarget {
  readonly operator: string;
  readonly range: KeyGroupRange;
  readonly states: ReadonlyMap<string, StoredState>;
  readonly rows: Rows;
  readonly databases: Databases;
  restore(section: KeyedSection): void;
  assertOpen(): void;
}

/**
 * Takes over what a handle holds of the target's key groups. `opened`: all of it is the target's, so the target goes on with the files
 * themselves; otherwise it has copied its rows out of them.
 */
export async function restoreFiles(
  handle: NativeStateHandle,
  stored: StoredBytes,
  target: RestoreTarget,
): Promise<'opened' | 'copied'> {
  const { databases, rows } = target;
  requireNativeReadable(handle, databases.libraryVersion, `operator '${target.operator}'`);
  const place = databases.newPlace('restored');
  await download(handle, stored, place);
  target.assertOpen();
  if (isWhole(handle, target)) {
    rows.replace(open(place, 'open', target));
    rows.sequence = sequenceOf(handle);
    takeIds(handle.states, target.states);
    return 'opened';
  }
  const database = open(place, 'read', target);
  try {
    await copy(database, handle, target);
  } finally {
    database.close();
    // What cannot be removed now goes with the working directory.
    await removeDirectory(place).catch(() => undefined);
  }
  rows.sequence = Math.max(rows.sequence, sequenceOf(handle));
  return 'copied';
}

/** The same key groups, so nobody else has rows of them, and every value can be read as it is. */
function isWhole({ range, states }: NativeStateHandle, target: RestoreTarget): boolean {
  return (
    range.first === target.range.first &&
    range.last === target.range.last &&
    states.every((state) => isSame(state, target.states.get(state.name)))
  );
}
function isSame({ kind, serializer }: StateMeta, declared: StoredState | undefined): boolean {
  return (
    declared?.meta.kind === kind &&
    declared.meta.serializer.id === serializer.id &&
    declared.meta.serializer.version === serializer.version
  );
}

/** The states that the files know keep the ids that they have there; those that are new come behind them. */
function takeIds(stored: readonly StateMeta[], states: ReadonlyMap<string, StoredState>): void {
  const ids = new Map(stored.map(({ name }, id) => [name, id]));
  let next = stored.length;
  for (const [name, state] of states) state.id = ids.get(name) ?? next++;
}

async function copy(database: RocksDatabase, handle: NativeStateHandle, target: RestoreTarget): Promise<void> {
  const first = Math.max(handle.range.first, target.range.first);
  const last = Math.min(handle.range.last, target.range.last);
  for (let group = first; group <= last; group++) {
    for (const [storedId, state] of handle.states.entries()) {
      const declared = target.states.get(state.name);
      // Given up, by an operator that says so.
      if (declared === undefined) continue;
      if (isSame(state, declared)) {
        for (const batch of batchesOf(database, group, storedId, declared.id)) {
          target.rows.write(batch);
          await turnOfEventLoop();
          target.assertOpen();
        }
      } else {
        for (const section of sectionsOf(database, group, storedId, state)) target.restore(section);
      }
    }
  }
}

function open(place: string, mode: RocksOptions['mode'], { databases, operator }: RestoreTarget): RocksDatabase {
  try {
    return databases.open(place, mode);
  } catch (error) {
    if (!isWeirError(error, 'ROCKSDB_FAILED')) throw error;
    // Every file is as it was written, and yet they are no database.
    throw new WeirError(
      'CHECKPOINT_UNREADABLE',
      `The files of operator '${operator}' cannot be opened by RocksDB ${databases.libraryVersion}: ${messageOf(error)}`,
      { cause: error, recoverable: false },
    );
  }
}
