import type { RestorePlan } from '../contracts/coordinator.js';
import type { Serializer } from '../contracts/serializer.js';
import type {
  Committable,
  KeyGroupRange,
  NativeStateHandle,
  OperatorRestore,
  StateMeta,
} from '../contracts/snapshot.js';
import type { KeyedGroup, StateDeclaration } from '../contracts/state-backend.js';
import type { CheckpointId, OperatorUid } from '../element/ids.js';
import { WeirError } from '../errors.js';
import type { RestoredState } from '../operator/operator.js';
import { readerOf } from '../state/stored-by.js';
import { readCommittables } from './committables.js';
import { readKeyedGroups } from './keyed-section-reader.js';
import { readOperatorState } from './operator-state.js';
import { openBlob } from './open-blob.js';
import { readNeeded } from './read-needed.js';

/** One operator's state in a checkpoint, read when it is asked for. */
export function restoredState(
  checkpointId: CheckpointId,
  uid: OperatorUid,
  parts: readonly OperatorRestore[],
  stored: Pick<RestorePlan, 'read' | 'readPart' | 'isOwned'>,
): RestoredState {
  const where = `operator '${uid}' in chk-${String(checkpointId)}`;
  const handles = parts.flatMap(({ keyed }) => keyed);
  return {
    checkpointId,
    base: { checkpointId, handles, isOwned: stored.isOwned },
    open: (blob) => openBlob(blob, stored, `state of ${where}`),
    nativeStates(states: readonly StateDeclaration[], range: KeyGroupRange): readonly NativeStateHandle[] {
      const native = handles.filter((handle) => handle.format === 'native');
      for (const { states: present } of native) for (const state of present) requireReadable(state, states, where);
      return native.filter((handle) => handle.range.first <= range.last && handle.range.last >= range.first);
    },
    async *keyedGroups(states: readonly StateDeclaration[], range: KeyGroupRange): AsyncGenerator<KeyedGroup> {
      for (const handle of handles) {
        if (handle.format === 'native') continue;
        for (const state of handle.states) requireReadable(state, states, where);
        const needed = await readNeeded(handle, range, stored);
        yield* readKeyedGroups(needed.handle, needed.bytes, range, `keyed state of ${where}`);
      }
    },
    operatorStates: new Map(parts.flatMap(({ operator }) => operator).map(({ name, mode }) => [name, mode])),
    async operatorState(name: string, serializer: Serializer): Promise<readonly unknown[]> {
      const handles = parts.flatMap(({ operator }) => operator).filter((handle) => handle.name === name);
      const values = handles.map(async (handle) =>
        readOperatorState(handle, await stored.read(handle.blob), serializer, `operator state '${name}' of ${where}`),
      );
      return (await Promise.all(values)).flat();
    },
    async committables(serializer: Serializer): Promise<readonly Committable[]> {
      const handles = parts.flatMap(({ committables }) => (committables === undefined ? [] : [committables]));
      const values = handles.map(async (handle) =>
        readCommittables(handle, await stored.read(handle.blob), serializer, `committables of ${where}`),
      );
      return (await Promise.all(values)).flat();
    },
  };
}

/** What is stored must be declared, with the same kind, and readable: nothing is dropped without a word. */
function requireReadable(stored: StateMeta, declared: readonly StateDeclaration[], where: string): void {
  const declaration = declared.find(({ name }) => name === stored.name);
  if (declaration === undefined) {
    throw new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      stored.name.startsWith('~')
        ? `The checkpoint holds timers of ${where}, which has no onTimer any more. Give it one again to restore them.`
        : `The checkpoint holds state '${stored.name}' of ${where}, which the operator does not declare any more. Declare it again to restore it.`,
      { recoverable: false },
    );
  }
  const kind = declaration.recordedAs ?? declaration.kind;
  if (kind !== stored.kind) {
    throw new WeirError(
      'CHECKPOINT_INCOMPATIBLE',
      `State '${stored.name}' of ${where} was stored as ${stored.kind} state and is declared as ${kind} state. Give the new one another name.`,
      { recoverable: false },
    );
  }
  readerOf(declaration.serializer, stored.serializer, `state '${stored.name}' of ${where}`);
}
